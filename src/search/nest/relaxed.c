#include "search/nest/relaxed.h"

#include "base/arena.h"
#include "base/number.h"

#define FANOUT_LIFTED (INT64_C(1) << 31)

struct relaxed *relaxed_open(struct arena *arena, const struct domain *domain)
{
	struct relaxed *relaxed = arena_new(arena, struct relaxed);
	relaxed->domain = *domain;
	relaxed->hierarchy = *domain->hierarchy;
	relaxed->domain.hierarchy = &relaxed->hierarchy;
	return relaxed;
}

void relaxed_set_size(struct relaxed *relaxed, int level, int64_t words)
{
	struct nest_level *at = &relaxed->hierarchy.levels[level];
	at->least_utilization *= (double)at->size / (double)words;
	at->size = words;
}

void relaxed_set_fanout(struct relaxed *relaxed, int level, int64_t x, int64_t y)
{
	struct nest_level *block = &relaxed->hierarchy.levels[level];
	block->fanout_x = x;
	block->fanout_y = y;
	struct row_domain *row = &relaxed->domain.rows[block->block_row];
	for (int d = 0; d < relaxed->domain.shape->dimension_count; d++)
		if (row->spatial[d].most_by < 0)
			row->spatial[d].most = number_min(
				number_max(x, y), relaxed->domain.shape->dimensions[d].extent);
}

void relaxed_lift_size(struct relaxed *relaxed, int level)
{
	relaxed->hierarchy.levels[level].size = 0;
}

void relaxed_lift_fanout(struct relaxed *relaxed, int level)
{
	relaxed_set_fanout(relaxed, level, FANOUT_LIFTED, FANOUT_LIFTED);
}
