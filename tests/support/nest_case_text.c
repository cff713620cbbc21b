#include "base/text.h"
#include "tests/support/nest_case.h"

#include <inttypes.h>

static void add_space(struct text *text, const struct shape *shape, const struct dataspace *space)
{
	text_add(text, " %s%s[", space->written ? "=" : "", space->name);
	for (int r = 0; r < space->rank_count; r++) {
		const char *before = r ? ", " : "";
		for (int d = 0; d < shape->dimension_count; d++) {
			int64_t coefficient = space->ranks[r].coefficient[d];
			if (coefficient == 0)
				continue;
			text_add(text, "%s", before);
			if (coefficient > 1)
				text_add(text, "%" PRId64 "*", coefficient);
			text_add(text, "%s", shape->dimensions[d].name);
			before = "+";
		}
	}
	text_add(text, "]");
}

static void add_spaces(
	struct text *text, const struct shape *shape, const char *what, uint32_t mask)
{
	if (mask == 0)
		return;
	text_add(text, " %s", what);
	for (int t = 0; t < shape->space_count; t++)
		if (mask >> t & 1)
			text_add(text, ":%s", shape->spaces[t].name);
}

static void add_rate(struct text *text, const char *what, struct ratio rate)
{
	if (rate.num)
		text_add(text, " %s %" PRId64 "/%" PRId64, what, rate.num, rate.den);
}

static void add_level(struct text *text, const struct nest_case *nest, int i)
{
	const struct shape *shape = &nest->shape;
	const struct nest_level *level = &nest->hierarchy.levels[i];
	const struct mapping_row *row = &nest->mapping.rows[level->row];
	uint32_t kept = 0;
	for (int t = 0; t < shape->space_count; t++)
		kept |= (nest->mapping.residency[t] >> level->row & 1) << t;
	text_add(text, "%s%s:", level->name, level->storage ? "" : " (fans out)");
	for (int k = shape->dimension_count - 1; k >= 0; k--) {
		int d = row->temporal_order[k];
		if (row->temporal[d] > 1)
			text_add(text, " %s%u", shape->dimensions[d].name, row->temporal[d]);
	}
	add_spaces(text, shape, "| keeps", kept);
	if (level->size)
		text_add(text, " | size %" PRId64, level->size);
	if (level->ring)
		text_add(text, " | ring");
	add_rate(text, "read", level->store.read_rate);
	add_rate(text, "write", level->store.write_rate);
	add_rate(text, "shared", level->store.shared_rate);
	add_spaces(text, shape, "| no_reuse", level->no_temporal_reuse);
	add_spaces(text, shape, "| rmw_first_update", level->rmw_first_update);
	add_spaces(text, shape, "| no_coalesce", level->no_coalesce);
	text_add(text, "\n");
}

static void add_block(struct text *text, const struct nest_case *nest, int i)
{
	const struct shape *shape = &nest->shape;
	const struct nest_level *level = &nest->hierarchy.levels[i];
	const struct mapping_row *row = &nest->mapping.rows[level->block_row];
	text_add(text, "  block %" PRId64 " x %" PRId64 ":", level->fanout.x, level->fanout.y);
	for (int k = 0; k < shape->dimension_count; k++) {
		int d = row->spatial_order[k];
		if (row->spatial[d] > 1)
			text_add(text, " %s%u%s", shape->dimensions[d].name, row->spatial[d],
				row->spatial_y >> d & 1 ? "@y" : "");
	}
	text_add(text, "%s",
		!level->fanout.systolic          ? ""
		: nest->hierarchy.array_overlaps ? " | systolic, overlapping"
						 : " | systolic");
	add_spaces(text, shape, "| no_reuse", level->no_spatial_reuse);
	add_spaces(text, shape, "| no_link_transfer", level->no_link_transfer);
	text_add(text, "\n");
}

const char *nest_case_text(struct arena *arena, const struct nest_case *nest)
{
	struct text text = text_open(arena);
	text_add(&text, "extents");
	for (int d = 0; d < nest->shape.dimension_count; d++)
		text_add(&text, " %s=%" PRId64, nest->shape.dimensions[d].name,
			nest->shape.dimensions[d].extent);
	text_add(&text, ";");
	for (int t = 0; t < nest->shape.space_count; t++)
		add_space(&text, &nest->shape, &nest->shape.spaces[t]);
	text_add(&text, "\n(loops outermost first; blocks: X unless @y, the fastest first)\n");
	for (int i = nest->hierarchy.level_count - 1; i >= 0; i--) {
		const struct nest_level *level = &nest->hierarchy.levels[i];
		add_level(&text, nest, i);
		if (level->fanout.x * level->fanout.y > 1)
			add_block(&text, nest, i);
	}
	return text_read(&text);
}
