#include "solvers/map/order_classes.h"

#include "base/array.h"

#include <string.h>

/* An order as the dataspaces feel it. */
struct felt {
	uint64_t sequence[SHAPE_SPACES_MOST];
	struct order_class class;
};

/* Digits of a sequence: 1 + dimension, or one of these. */
enum { IRRELEVANT = SHAPE_DIMENSIONS_MOST + 1, DISJOINT, KINDS };

static bool is_plain(const struct nest_frame *frame, int t)
{
	return frame->spaces[t].plain && !frame->flagged;
}

static struct felt feel(const struct nest_frame *frame, const uint8_t *order,
	const uint32_t *bounds, uint64_t index)
{
	const struct shape *shape = frame->search->shape;
	struct felt felt = {.class.index = index};
	for (int t = 0; t < shape->space_count; t++) {
		const struct nest_space *space = &frame->spaces[t];
		uint32_t lone = space->alone & ~space->paired, within = 0;
		uint64_t last = 0;
		bool moved = false;
		for (int n = 0; n < shape->dimension_count; n++) {
			int d = order[n];
			if (bounds[d] <= 1)
				continue;
			moved |= space->alone >> d & 1;
			within |= moved ? 0 : 1u << d;
			uint64_t kind = (uint64_t)d + 1;
			if (!(space->relevant >> d & 1) && !frame->flagged)
				kind = IRRELEVANT;
			else if (lone >> d & 1 && !frame->flagged)
				kind = DISJOINT;
			if (!is_plain(frame, t) && (frame->flagged || kind != last))
				felt.sequence[t] = felt.sequence[t] * KINDS + kind;
			last = kind;
		}
		felt.class.within[t] = within;
	}
	return felt;
}

/* Whether `a` is never worse than `b`. */
static bool covers(const struct nest_frame *frame, const struct felt *a, const struct felt *b)
{
	const struct shape *shape = frame->search->shape;
	for (int t = 0; t < shape->space_count; t++) {
		if (a->sequence[t] != b->sequence[t])
			return false;
		uint32_t mine = a->class.within[t], other = b->class.within[t];
		bool fixed = (shape->spaces[t].written && !frame->timeloop) || !is_plain(frame, t);
		if (fixed ? mine != other : (mine & other) != other)
			return false;
	}
	return true;
}

struct order_classes order_classes_find(
	struct arena *arena, const struct nest_frame *frame, int j, const struct mapping *mapping)
{
	const struct space *space = frame->search->space;
	const struct tiling_level *level = &space->levels[frame->tiling[j]];
	struct mapping tried = *mapping;
	struct array(struct felt) list = {0};
	uint64_t count = space_level_count(space, level, mapping);
	for (uint64_t i = 0; i < count; i++) {
		space_level_arrange(space, level, i, &tried);
		const struct mapping_row *row = &tried.rows[level->row];
		struct felt felt = feel(frame, row->temporal_order, row->temporal, i);
		bool covered = false;
		for (size_t k = 0; k < list.count && !covered; k++)
			covered = covers(frame, &list.at[k], &felt);
		if (covered)
			continue;
		size_t kept = 0;
		for (size_t k = 0; k < list.count; k++)
			if (!covers(frame, &felt, &list.at[k]))
				list.at[kept++] = list.at[k];
		list.count = kept;
		*array_add(arena, &list) = felt;
	}
	struct order_classes classes = {
		list.count, arena_array(arena, struct order_class, list.count)};
	for (size_t k = 0; k < list.count; k++)
		classes.at[k] = list.at[k].class;
	return classes;
}
