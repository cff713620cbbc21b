#include "tests/support/random_inner.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/fatal.h"
#include "base/text.h"
#include "model/graph/inner_nest.h"
#include "model/nest/nest_mapping.h"
#include "tests/support/arch_text.h"
#include "tests/support/draws.h"

#include <stdio.h>

static void add_inner(struct random *random, struct text *text)
{
	int storages = 0;
	for (int i = 0; i < 3; i++) {
		int kind = (int)draw_below(random, 4);
		if (kind == 0)
			text_add(text,
				"  - !Container {name: c%d, spatial: {meshX: %d, meshY: %d}}\n", i,
				1 + (int)draw_below(random, 4), 1 + (int)draw_below(random, 3));
		storages += kind == 1;
		if (kind == 1)
			text_add(text,
				"  - !Component {name: rf%d, class: regfile, spatial: {meshX: %d}, "
				"attributes: {depth: %d, width: 16, read_bandwidth: %d, "
				"write_bandwidth: %d}}\n",
				i, 1 + (int)draw_below(random, 2), 64 << draw_below(random, 10),
				1 + (int)draw_below(random, 8), 1 + (int)draw_below(random, 8));
	}
	if (!storages)
		text_add(text, "  - !Component {name: rf, class: regfile, attributes: {depth: "
			       "100000, width: 16}}\n");
	text_add(text, "  - !Component {name: mac, class: fpmac, spatial: {meshX: %d}}\n",
		1 + (int)draw_below(random, 8));
}

const struct arch *random_array(struct random *random, bool boxes, struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text,
		"architecture:\n  nodes:\n"
		"  - !Container {name: system, attributes: {clock: 1GHz}}\n"
		"  - !Component {name: HBM, class: DRAM, attributes: {%sshared_bandwidth: 32GB/s}}\n",
		boxes ? "stick: 128B, alignment: 128, read_energy_per_byte: 3pJ, " : "");
	if (boxes)
		text_add(&text, "  - !Container {name: core, spatial: {meshX: 8}, attributes: "
				"{reduce_ring: {bandwidth: 32, reductions: [sum, max, min]}}}\n");
	text_add(&text,
		"  - !Component {name: LX, class: SRAM, attributes: {size: 2MiB, reserve: 0.2, "
		"alignment: 128, %sread_bandwidth: 64, write_bandwidth: 64}}\n",
		boxes ? "transfer: box, fill_bandwidth: 64, read_energy_per_byte: 1pJ, " : "");
	add_inner(random, &text);
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena, text_read(&text), diag);
	if (arch)
		return arch;
	diag_print(diag, stderr);
	BUG("the machine is refused");
}

static int64_t least_factor(int64_t n)
{
	for (int64_t p = 2; p * p <= n; p++)
		if (n % p == 0)
			return p;
	return n;
}

/* Whether loop d may go on in space at a row; it keeps to one axis. */
static bool has_instances(
	const struct arch *arch, struct mapping *mapping, int r, int d, int64_t factor)
{
	struct mapping_row *row = &mapping->rows[r];
	bool y = row->spatial_y >> d & 1;
	int64_t most = y ? arch->levels[r].fanout_y : arch->levels[r].fanout_x;
	for (int l = 0; l < mapping->loop_count; l++)
		if ((row->spatial_y >> l & 1) == y)
			factor *= row->spatial[l];
	return factor <= most;
}

static void put_factor(struct random *random, const struct arch *arch, struct mapping *mapping,
	int d, int64_t factor)
{
	bool boxes = arch_moves_boxes(arch);
	int own = arch->hbm, first = boxes ? arch->lx + 1 : 0;
	int r = first + (int)draw_below(random, arch->level_count - first);
	struct mapping_row *row = &mapping->rows[r];
	if (draw_chance(random, 2) && has_instances(arch, mapping, r, d, factor))
		row->spatial[d] *= (uint32_t)factor;
	else if (arch->levels[r].kind == LEVEL_STORAGE)
		row->temporal[d] *= (uint32_t)factor;
	else
		mapping->rows[own].temporal[d] *= (uint32_t)factor;
}

static void draw_rows(struct random *random, const struct arch *arch, const struct shape *shape,
	struct mapping *mapping)
{
	int first = arch_moves_boxes(arch) ? arch->lx + 1 : 0;
	for (int r = 0; r < arch->level_count; r++) {
		struct mapping_row *row = &mapping->rows[r];
		if (r < first && r != arch->hbm)
			continue;
		draw_shuffle(random, row->spatial_order, shape->dimension_count);
		draw_shuffle(random, row->temporal_order, shape->dimension_count);
		if (r >= first)
			row->spatial_y = (uint16_t)draw_below(random, 1 << shape->dimension_count);
		for (int i = 0; i < shape->space_count && r >= first; i++)
			if (arch->levels[r].kind == LEVEL_STORAGE && draw_below(random, 3))
				mapping->residency[i] |= 1u << r;
	}
	for (int d = 0; d < shape->dimension_count; d++)
		for (int64_t left = shape->dimensions[d].extent, p; left > 1; left /= p) {
			p = least_factor(left);
			put_factor(random, arch, mapping, d, p);
		}
}

void random_inner(struct random *random, struct plan *plan, struct arena *arena)
{
	for (int s = 0; s < plan->step_count; s++) {
		const char *why;
		struct mapping *mapping = &plan->steps[s].mapping;
		struct inner_question question = inner_nest_question(plan, s);
		struct inner_nest nest = inner_nest_make(&question, arena, &why);
		if (nest.hierarchy)
			draw_rows(random, plan->arch, nest.shape, mapping);
	}
}
