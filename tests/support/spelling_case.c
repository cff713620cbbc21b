#include "tests/support/spelling_case.h"

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/nest_case.h"

#include <string.h>

/* --- the einsum */

/* True if both spellings can express the shape: an output of bare dimensions, each dimension at
 * most once in an operand. */
static bool is_both(const struct shape *shape)
{
	uint32_t read = 0;
	for (int t = 0; t < shape->space_count; t++) {
		const struct dataspace *space = &shape->spaces[t];
		read |= space->relevant;
		for (int d = 0; d < shape->dimension_count; d++) {
			int ranks = 0;
			for (int k = 0; k < space->rank_count; k++)
				ranks += space->ranks[k].coefficient[d] != 0;
			if (ranks > 1)
				return false;
		}
		for (int k = 0; space->written && k < space->rank_count; k++) {
			int64_t sum = 0;
			for (int d = 0; d < shape->dimension_count; d++)
				sum += space->ranks[k].coefficient[d];
			if (sum != 1)
				return false;
		}
	}
	return shape->space_count > 2 && read == (UINT32_C(1) << shape->dimension_count) - 1;
}

static void write_last(struct shape *shape)
{
	int last = shape->space_count - 1;
	for (int t = 0; t < last; t++)
		if (shape->spaces[t].written) {
			struct dataspace written = shape->spaces[t];
			memmove(&shape->spaces[t], &shape->spaces[t + 1],
				(size_t)(last - t) * sizeof written);
			shape->spaces[last] = written;
		}
}

static void add_indices(struct text *text, const struct shape *shape, const struct dataspace *space)
{
	text_add(text, "%s[", space->name);
	for (int k = 0; k < space->rank_count; k++) {
		const char *between = k ? "," : "";
		for (int d = 0; d < shape->dimension_count; d++) {
			int64_t coefficient = space->ranks[k].coefficient[d];
			if (!coefficient)
				continue;
			text_add(text, "%s%lld*%s", between, (long long)coefficient,
				shape->dimensions[d].name);
			between = " + ";
		}
	}
	text_add(text, "]");
}

/* "Z[m,n]" without factors: an output takes no others. */
static void add_output(struct text *text, const struct shape *shape, const struct dataspace *space)
{
	text_add(text, "%s[", space->name);
	for (int k = 0; k < space->rank_count; k++)
		for (int d = 0; d < shape->dimension_count; d++)
			if (space->ranks[k].coefficient[d])
				text_add(text, "%s%s", k ? "," : "", shape->dimensions[d].name);
	text_add(text, "]");
}

static const char *write_workload(struct arena *arena, const struct shape *shape)
{
	struct text text = text_open(arena);
	const struct dataspace *output = &shape->spaces[shape->space_count - 1];
	int reductions = 0;
	text_add(&text, "workload:\n  name: case\n  dimensions: {");
	for (int d = 0; d < shape->dimension_count; d++)
		text_add(&text, "%s%s: %lld", d ? ", " : "", shape->dimensions[d].name,
			(long long)shape->dimensions[d].extent);
	text_add(&text, "}\n  ops:\n  - \"");
	add_output(&text, shape, output);
	text_add(&text, " = ");
	for (int d = 0; d < shape->dimension_count; d++)
		if (!(output->relevant >> d & 1))
			text_add(&text, "%s%s", reductions++ ? "," : "sum(",
				shape->dimensions[d].name);
	text_add(&text, "%s", reductions ? ") " : "");
	for (int t = 0; t + 1 < shape->space_count; t++) {
		text_add(&text, "%s", t ? " * " : "");
		add_indices(&text, shape, &shape->spaces[t]);
	}
	text_add(&text, "\"\n");
	return text_read(&text);
}

/* Small extents, or such as make sticks. */
static void draw_shape(struct random *random, bool boxes, struct shape *shape)
{
	static const int64_t many[] = {1, 2, 3, 4, 8, 64, 100, 128, 192};
	struct nest_case_options options = nest_case_all;
	options.steps_most = 4000;
	do
		nest_case_shape(random, &options, shape);
	while (!is_both(shape));
	write_last(shape);
	int64_t room = 1 << 18;
	for (int d = 0; boxes && d < shape->dimension_count; d++) {
		int64_t extent = many[draw_below(random, 9)];
		shape->dimensions[d].extent = extent <= room ? extent : 2;
		room /= shape->dimensions[d].extent;
	}
}

/* --- a machine that moves words, and a mapping on it */

struct writing {
	struct random *random;
	const struct shape *shape;
	int64_t left[SHAPE_DIMENSIONS_MOST]; /* of each extent, for the levels inside */
	struct text machine, mapping, keep;
	bool ideal;
};

static void open_rows(struct writing *writing)
{
	for (int d = 0; d < writing->shape->dimension_count; d++)
		writing->left[d] = writing->shape->dimensions[d].extent;
}

static int64_t draw_factor(struct random *random, int64_t left, int64_t most)
{
	int64_t factor = 1 + draw_below(random, left < most ? left : most);
	while (left % factor)
		factor--;
	return factor;
}

/* The loops of one row in a random order, outermost first; `last`: all that is left. */
static void add_loops(struct writing *writing, const char *row, int64_t most, bool last)
{
	struct text *line = &writing->mapping;
	const struct shape *shape = writing->shape;
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	bool begun = false;
	for (int d = 0; d < shape->dimension_count; d++)
		order[d] = (uint8_t)d;
	draw_shuffle(writing->random, order, shape->dimension_count);
	for (int i = 0; i < shape->dimension_count; i++) {
		int d = order[i];
		int64_t factor = last ? writing->left[d]
				      : draw_factor(writing->random, writing->left[d], most);
		if (factor == 1)
			continue;
		if (!begun)
			text_add(line, "%s%s:", line->length ? " | " : "", row);
		begun = true;
		text_add(line, " %s%lld", shape->dimensions[d].name, (long long)factor);
		writing->left[d] /= factor;
		most = most < INT64_MAX ? most / factor : most;
	}
}

/* Adds the `keep` of a dataspace that some storages, not the outermost and innermost, bypass. */
static void add_keeps(struct writing *writing, int storages)
{
	for (int t = 0; t < writing->shape->space_count; t++) {
		uint32_t kept = 0, all = (UINT32_C(1) << storages) - 1;
		for (int i = 0; i < storages; i++)
			if (i == 0 || i == storages - 1 || !draw_chance(writing->random, 5))
				kept |= UINT32_C(1) << i;
		if (kept == all)
			continue;
		text_add(&writing->keep, "%s", writing->keep.length ? "; " : "");
		for (int i = 0; i < storages; i++)
			if (kept >> i & 1)
				text_add(&writing->keep, "%sS%c", i ? "," : "", 'a' + i);
		text_add(&writing->keep, ": %s", writing->shape->spaces[t].name);
	}
}

static void add_storage(struct writing *writing, const char *name, bool outermost)
{
	struct random *random = writing->random;
	struct text *text = &writing->machine;
	text_add(text, "  - !Component\n    name: %s\n    class: %s\n    attributes: {width: %lld",
		name, outermost ? "DRAM" : "SRAM", 16ll * (1 + draw_below(random, 4)));
	if (!outermost)
		text_add(text, ", depth: %lld", 4000ll * (1 + draw_below(random, 3)));
	if (!draw_chance(random, 3))
		text_add(text, ", read_bandwidth: %lld, write_bandwidth: %lld",
			1ll + draw_below(random, 8), 1ll + draw_below(random, 8));
	if (draw_chance(random, 3))
		text_add(text, ", network_fill_latency: %lld", 1ll + draw_below(random, 20));
	if (draw_chance(random, 3))
		text_add(text, ", network_drain_latency: %lld", 1ll + draw_below(random, 20));
	if (draw_chance(random, 4))
		text_add(text, ", round_time: %lldns", 1ll + draw_below(random, 40));
	text_add(text, ", vector_access_energy: %lld.5}\n", 1ll + draw_below(random, 90));
}

static void add_fan_out(struct writing *writing, const char *name)
{
	int64_t x = 1 + draw_below(writing->random, 4);
	text_add(&writing->machine, "  - !Container\n    name: %s\n    spatial: {meshX: %lld}\n",
		name, (long long)x);
	if (x > 1)
		add_loops(writing, name, x, false);
}

static void write_words(struct spelling_case *out, struct random *random)
{
	struct arena *arena = out->arena;
	struct writing writing = {.random = random,
		.shape = &out->shape,
		.machine = text_open(arena),
		.mapping = text_open(arena),
		.keep = text_open(arena)};
	int storages = 2 + (int)draw_below(random, 4);
	open_rows(&writing);
	text_add(&writing.machine,
		"architecture:\n  version: 0.4\n  name: machine\n  nodes:\n  - !Container\n    name: "
		"system\n    attributes: {datawidth: 16, global_cycle_seconds: 1e-9}\n");
	for (int i = 0; i < storages; i++) {
		const char *name = arena_format(arena, "S%c", 'a' + i);
		add_storage(&writing, name, i == 0);
		add_loops(&writing, name, INT64_MAX, i == storages - 1);
		if (i < storages - 1 && !draw_chance(random, 3))
			add_fan_out(&writing, arena_format(arena, "F%c", 'a' + i));
	}
	text_add(&writing.machine,
		"  - !Component\n    name: MAC\n    class: intmac\n    attributes: {datawidth: 16");
	writing.ideal = draw_chance(random, 3);
	if (writing.ideal)
		text_add(&writing.machine, ", mac_rate: %lld", 2ll + draw_below(random, 15));
	text_add(&writing.machine, "}\n");
	add_keeps(&writing, storages);
	if (writing.keep.length)
		text_add(&writing.mapping, "%skeep %s", writing.mapping.length ? " | " : "",
			text_read(&writing.keep));
	out->machine = text_read(&writing.machine);
	out->mapping = text_read(&writing.mapping);
	out->step = spelling_by_number(arena, &out->shape, out->mapping);
}

/* --- a machine that moves boxes */

static const char *write_ideal(struct spelling_case *out, struct random *random)
{
	return arena_format(out->arena,
		"  - !Component\n    name: array\n    class: fp16_array\n    attributes: {mac_rate: %lld, "
		"vector_rate: 64, mac_energy: 1.5pJ, vector_energy: 1pJ}\n",
		16ll << draw_below(random, 7));
}

/* Rows of elements with registers. */
static const char *write_array(struct spelling_case *out, struct random *random)
{
	return arena_format(out->arena,
		"  - !Container\n    name: PE\n    spatial: {meshX: %lld}\n"
		"  - !Component\n    name: RF\n    class: regfile\n    attributes: {width: 16, "
		"read_bandwidth: %lld, write_bandwidth: 4, vector_access_energy: 0.5}\n"
		"  - !Component\n    name: MAC\n    class: fp16_mac\n    attributes: {mac_rate: 1, "
		"vector_rate: 1, mac_energy: %lldpJ, vector_energy: 1pJ}\n",
		2ll << draw_below(random, 3), 1ll + draw_below(random, 4),
		1ll + draw_below(random, 9));
}

static void write_boxes(struct spelling_case *out, struct random *random)
{
	out->cores = 1 + (int)draw_below(random, 8);
	out->described = draw_chance(random, 2);
	out->machine = arena_format(out->arena,
		"architecture:\n  version: 0.4\n  name: machine\n  nodes:\n"
		"  - !Container\n    name: system\n    attributes: {clock: 1GHz, bundle_overhead: %lldns}\n"
		"  - !Component\n    name: HBM\n    class: DRAM\n    attributes: {shared_bandwidth: "
		"%lldGB/s, alignment: 128, stick: 128B, read_energy_per_byte: %lldpJ, "
		"write_energy_per_byte: 9pJ}\n"
		"  - !Container\n    name: core\n    spatial: {meshX: %lld}\n"
		"    attributes: {reduce_ring: {bandwidth: 32, energy_per_byte: 1pJ, reductions: [sum]}}\n"
		"  - !Component\n    name: LX\n    class: SRAM\n    attributes: {size: 2MiB, reserve: 0.5, "
		"transfer: box, alignment: 128, read_bandwidth: %lld, write_bandwidth: 64, "
		"fill_bandwidth: 32, read_energy_per_byte: 2pJ, write_energy_per_byte: 3pJ}\n"
		"%s",
		(long long)draw_below(random, 300), 16ll << draw_below(random, 6),
		1ll + draw_below(random, 90), (long long)out->cores, 8ll << draw_below(random, 4),
		out->described ? write_array(out, random) : write_ideal(out, random));
}

/* --- both */

/* True for the characters of a word. */
static bool is_word(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

const char *spelling_by_number(struct arena *arena, const struct shape *shape, const char *mapping)
{
	const char *keep = strstr(mapping, "keep ");
	struct text text = text_open(arena);
	size_t before = keep ? (size_t)(keep - mapping) + 5 : strlen(mapping);
	text_bytes(&text, mapping, before);
	for (const char *at = mapping + before; *at;) {
		size_t length = 0;
		while (is_word(at[length]))
			length++;
		const char *word = arena_format(arena, "%.*s", (int)length, at);
		int t = length ? shape_space(shape, word) : -1;
		if (t >= 0)
			text_add(&text, "%d", t);
		else
			text_bytes(&text, at, length ? length : 1);
		at += length ? length : 1;
	}
	return text_read(&text);
}

struct spelling_case spelling_case_draw(struct arena *arena, struct random *random, bool boxes)
{
	struct spelling_case out = {.arena = arena, .boxes = boxes, .cores = 1};
	draw_shape(random, boxes, &out.shape);
	out.problem = shape_write(arena, &out.shape);
	out.workload = write_workload(arena, &out.shape);
	if (boxes)
		write_boxes(&out, random);
	else
		write_words(&out, random);
	return out;
}
