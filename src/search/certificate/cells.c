#include "search/certificate/cells.h"

#include "base/arena.h"

static int dimension_count(const struct space *space)
{
	return space->domain->shape->dimension_count;
}

static int bounds_count_of(const struct space *space)
{
	int count = 0;
	for (int i = 0; i < space->level_count; i++)
		count += space->levels[i].spatial ? dimension_count(space) : 0;
	return count;
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

struct cells cells_make(struct arena *arena, const struct space *space)
{
	return (struct cells){space, completions_make(arena, space)};
}

static bool can_complete(const struct cells *cells, const int64_t *left)
{
	for (int d = 0; d < dimension_count(cells->space); d++)
		if (!completions_make_up(
			    cells->completions, cells->completions->count - 1, d, left[d]))
			return false;
	return true;
}

static void set_extents(const struct space *space, int64_t *left)
{
	for (int d = 0; d < dimension_count(space); d++)
		left[d] = space->domain->shape->dimensions[d].extent;
}

static int64_t instances_of(const struct space *space, int i)
{
	const struct nest_level *block = &space->domain->hierarchy->levels[space->levels[i].level];
	return block->fanout_x * block->fanout_y;
}

/* All spatial bounds, fan-out by fan-out, dimension by dimension. */
struct spread {
	const struct cells *cells;
	bool (*visit)(const struct cell *cell, void *user); /* NULL: they are only counted */
	void *user;
	int bounds_count;
	uint32_t *bounds;
	int64_t left[SHAPE_DIMENSIONS_MOST];
	uint64_t count;
};

static bool visit_residencies(struct spread *spread)
{
	uint64_t count = space_residency_count(spread->cells->space);
	spread->count++;
	for (uint64_t r = 0; spread->visit && r < count; r++) {
		struct cell cell = {r, spread->bounds};
		if (!spread->visit(&cell, spread->user))
			return false;
	}
	return true;
}

/* Number `at` of the bounds stands at tiling level i; `room` instances of its block are left. */
static bool spread_over(struct spread *spread, int at, int i, int64_t room)
{
	const struct space *space = spread->cells->space;
	int count = dimension_count(space), d = at % count;
	if (at == spread->bounds_count)
		return !can_complete(spread->cells, spread->left) || visit_residencies(spread);
	if (d == 0) {
		while (!space->levels[i].spatial)
			i++;
		room = instances_of(space, i);
	}
	const struct factor_domain *factor = &space->domain->rows[space->levels[i].row].spatial[d];
	const struct divisors *divisors = &spread->cells->completions->divisors[d];
	int64_t left = spread->left[d], most = number_min(number_min(left, room), factor->most);
	bool good = true;
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= most && good; k++) {
		int64_t bound = divisors->at[k];
		if (left % bound || bound < factor->least)
			continue;
		spread->bounds[at] = (uint32_t)bound;
		spread->left[d] = left / bound;
		good = spread_over(spread, at + 1, d + 1 == count ? i + 1 : i, room / bound);
	}
	spread->left[d] = left;
	return good;
}

static bool spread_all(struct spread *spread)
{
	struct arena *arena = arena_open();
	spread->bounds_count = bounds_count_of(spread->cells->space);
	spread->bounds = arena_array(arena, uint32_t, spread->bounds_count);
	set_extents(spread->cells->space, spread->left);
	bool done = spread_over(spread, 0, 0, 0);
	arena_close(arena);
	return done;
}

uint64_t cells_count(const struct cells *cells)
{
	struct spread spread = {.cells = cells};
	uint64_t count;
	bool fits = spread_all(&spread) && !__builtin_mul_overflow(spread.count,
						   space_residency_count(cells->space), &count);
	return fits ? count : UINT64_MAX;
}

bool cells_each(
	const struct cells *cells, bool (*visit)(const struct cell *cell, void *user), void *user)
{
	struct spread spread = {.cells = cells, .visit = visit, .user = user};
	return spread_all(&spread);
}
