#include "solvers/map/uneven/part.h"

#include "base/number.h"

static int64_t extent_of(const struct nest_view *view, int d)
{
	return view->frame->search->shape->dimensions[d].extent;
}

bool uneven_is_open(const struct nest_view *view, const struct uneven_part *part, int d)
{
	uint32_t open = part->level == view->frame->count ? view->frame->search->domain->imperfect
							  : part->open[part->level + 1];
	return open >> d & 1;
}

int64_t uneven_cover(const struct nest_view *view, int j, int d)
{
	return number_ceil_div(extent_of(view, d), (int64_t)view->inside[j][d]);
}

/* Temporal loops of this level and those inside, where a loop outside has fixed it. */
static int64_t total(const struct nest_view *view, const struct uneven_part *part, int d)
{
	return part->level == view->frame->count
		       ? extent_of(view, d) / (int64_t)view->inside[part->level][d]
		       : part->rest[part->level + 1][d];
}

static int64_t bound_of(
	const struct nest_view *view, const struct uneven_part *part, int d, int64_t rest)
{
	if (!uneven_is_open(view, part, d))
		return total(view, part, d) / rest;
	return number_ceil_div(uneven_cover(view, part->level, d), rest);
}

/* The smallest divisor from `value` on; 0: none. */
static int64_t next_divisor(int64_t n, int64_t value)
{
	if (value > n)
		return 0;
	for (; value * value <= n; value++)
		if (n % value == 0)
			return value;
	int64_t other = n / value;
	while (n % other)
		other--;
	return n / other;
}

static struct factor_domain factor_of(const struct nest_view *view, int j, int d)
{
	const struct space *space = view->frame->search->space;
	if (j == view->frame->count)
		return (struct factor_domain){.least = 1, .most = 1};
	return space->domain->rows[space->levels[view->frame->tiling[j]].row].temporal[d];
}

/* Rests of an open dimension, all of which make up the extent. */
static void clip_open(const struct nest_view *view, const struct uneven_part *part, int d,
	int64_t *least, int64_t *most)
{
	int j = part->level;
	int64_t extent = extent_of(view, d), all = uneven_cover(view, part->level, d);
	int64_t edge = view->edge[j][d], within = view->within_edge[j][d], end = all;
	if (edge > 1) /* that loop needs all its iterations */
		end = number_ceil_div(number_ceil_div(extent, edge - 1), within) - 1;
	*most = number_min(*most, end);
	if (j == view->frame->count && edge == 1)
		*least = number_max(*least, all);
}

bool uneven_clip(const struct nest_view *view, const struct uneven_part *part, int d, int first,
	int64_t *least, int64_t *most)
{
	int j = part->level;
	bool open = uneven_is_open(view, part, d);
	struct factor_domain factor = factor_of(view, j, d);
	int64_t all = open ? uneven_cover(view, part->level, d) : total(view, part, d);
	if (j == 0)
		*most = number_min(*most, 1);
	if (first == d)
		factor.least = number_max(factor.least, 2);
	if (first == -1)
		factor.most = number_min(factor.most, 1);
	if (factor.most < factor.least)
		return false;
	*least = number_max(*least, number_ceil_div(all, factor.most));
	if (open)
		clip_open(view, part, d, least, most);
	if (factor.least > 1) /* ceil(all / rest) >= least */
		*most = number_min(
			*most, open ? (all - 1) / (factor.least - 1) : all / factor.least);
	if (*least > *most)
		return false;
	if (open)
		return true;
	*least = next_divisor(all, *least);
	int64_t other = next_divisor(all, number_ceil_div(all, *most));
	*most = other ? all / other : 0;
	return *least && *least <= *most;
}

void uneven_choose(const struct nest_view *view, struct uneven_part *part)
{
	int j = part->level;
	part->open[j] = 0;
	for (int d = 0; d < view->frame->search->shape->dimension_count; d++) {
		bool open = uneven_is_open(view, part, d);
		part->bound[j][d] = bound_of(view, part, d, part->least[d]);
		part->rest[j][d] = part->least[d];
		if (open && part->bound[j][d] == 1 && view->edge[j][d] == 1)
			part->open[j] |= 1u << d;
	}
}
