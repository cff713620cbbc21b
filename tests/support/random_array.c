#include "tests/support/random_array.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/fatal.h"
#include "base/text.h"
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
