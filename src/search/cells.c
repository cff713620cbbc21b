#include "search/cells.h"

#include "base/arena.h"
#include "search/completions.h"

static int dimension_count(const struct space *space)
{
	return space->domain->shape->dimension_count;
}

int cell_bounds_count(const struct space *space)
{
	int count = 0;
	for (int i = 0; i < space->level_count; i++)
		count += space->levels[i].spatial ? dimension_count(space) : 0;
	return count;
}

struct cell cell_of(struct arena *arena, const struct space *space, const struct mapping *mapping)
{
	uint32_t *spatial = arena_array(arena, uint32_t, cell_bounds_count(space)), *at = spatial;
	uint64_t residency = 0;
	for (int i = 0; i < space->level_count; i++)
		for (int d = 0; space->levels[i].spatial && d < dimension_count(space); d++)
			*at++ = mapping->rows[space->levels[i].row].spatial[d];
	for (int i = 0; i < space->free_count; i++)
		if (mapping->residency[space->free[i].space] >> space->free[i].row & 1)
			residency |= UINT64_C(1) << i;
	return (struct cell){residency, spatial};
}

void cell_set(const struct space *space, const struct cell *cell, struct mapping *out)
{
	const uint32_t *at = cell->spatial;
	*out = space->blank;
	for (int i = 0; i < space->level_count; i++)
		for (int d = 0; space->levels[i].spatial && d < dimension_count(space); d++)
			out->rows[space->levels[i].row].spatial[d] = *at++;
	for (int i = 0; i < space->free_count; i++)
		if (cell->residency >> i & 1)
			out->residency[space->free[i].space] |= 1u << space->free[i].row;
}

int cell_compare(const struct space *space, const struct cell *a, const struct cell *b)
{
	for (int i = 0, count = cell_bounds_count(space); i < count; i++)
		if (a->spatial[i] != b->spatial[i])
			return a->spatial[i] < b->spatial[i] ? -1 : 1;
	return (a->residency > b->residency) - (a->residency < b->residency);
}

/* All spatial bounds, fan-out by fan-out, dimension by dimension. */
struct spread {
	const struct space *space;
	const struct completions *completions;
	bool (*visit)(const struct cell *cell, void *user);
	void *user;
	int bounds_count;
	uint32_t *bounds;
	int64_t left[SHAPE_DIMENSIONS_MOST];
};

static bool visit_residencies(struct spread *spread)
{
	uint64_t count = space_residency_count(spread->space);
	for (uint64_t r = 0; r < count; r++) {
		struct cell cell = {r, spread->bounds};
		if (!spread->visit(&cell, spread->user))
			return false;
	}
	return true;
}

/* Number `at` of the bounds stands at tiling level i; `room` instances of its block are left. */
static bool spread_over(struct spread *spread, int at, int i, int64_t room)
{
	const struct space *space = spread->space;
	int count = dimension_count(space), d = at % count;
	if (at == spread->bounds_count) {
		for (int k = 0; k < count; k++)
			if (!completions_make_up(spread->completions,
				    spread->completions->count - 1, k, spread->left[k]))
				return true;
		return visit_residencies(spread);
	}
	if (d == 0) {
		while (!space->levels[i].spatial)
			i++;
		const struct nest_level *block =
			&space->domain->hierarchy->levels[space->levels[i].level];
		room = block->fanout_x * block->fanout_y;
	}
	const struct factor_domain *factor = &space->domain->rows[space->levels[i].row].spatial[d];
	int64_t left = spread->left[d], most = number_min(number_min(left, room), factor->most);
	bool good = true;
	for (int64_t bound = factor->least; bound <= most && good; bound++) {
		if (left % bound)
			continue;
		spread->bounds[at] = (uint32_t)bound;
		spread->left[d] = left / bound;
		good = spread_over(spread, at + 1, d + 1 == count ? i + 1 : i, room / bound);
	}
	spread->left[d] = left;
	return good;
}

bool cells_each(
	const struct space *space, bool (*visit)(const struct cell *cell, void *user), void *user)
{
	if (space->free_count >= 64)
		return false;
	struct arena *arena = arena_open();
	struct spread spread = {.space = space,
		.completions = completions_make(arena, space),
		.visit = visit,
		.user = user,
		.bounds_count = cell_bounds_count(space),
		.bounds = arena_array(arena, uint32_t, cell_bounds_count(space))};
	for (int d = 0; d < dimension_count(space); d++)
		spread.left[d] = space->domain->shape->dimensions[d].extent;
	bool done = spread_over(&spread, 0, 0, 0);
	arena_close(arena);
	return done;
}
