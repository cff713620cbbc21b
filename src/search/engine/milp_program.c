#include "search/engine/milp_program.h"

#include "base/fatal.h"

#include <math.h>

struct milp *milp_make(struct arena *arena)
{
	struct milp *milp = arena_new(arena, struct milp);
	milp->arena = arena;
	return milp;
}

int milp_column(struct milp *milp, double least, double most, bool integer, double cost)
{
	*array_add(milp->arena, &milp->columns) = (struct column){least, most, cost, integer};
	return (int)milp->columns.count - 1;
}

int milp_row(struct milp *milp, double least, double most)
{
	*array_add(milp->arena, &milp->rows) = (struct row){least, most, milp->entries.count};
	return (int)milp->rows.count - 1;
}

void milp_entry(struct milp *milp, int column, double coefficient)
{
	if (!milp->rows.count || column < 0 || (size_t)column >= milp->columns.count)
		BUG("no such row or column");
	*array_add(milp->arena, &milp->entries) = (struct entry){column, coefficient};
}

void milp_cost(struct milp *milp, int column, double cost)
{
	milp->columns.at[column].cost += cost;
}

void milp_fix(struct milp *milp, int column, double value)
{
	milp->columns.at[column].least = milp->columns.at[column].most = value;
}

struct milp_packed milp_packed_make(const struct milp *milp, struct arena *arena)
{
	size_t count = milp->columns.count + 1;
	return (struct milp_packed){arena_array(arena, int, count),
		arena_array(arena, double, count), arena_array(arena, int, count)};
}

int milp_pack(const struct milp *milp, size_t r, struct milp_packed *packed)
{
	size_t end = r + 1 < milp->rows.count ? milp->rows.at[r + 1].first : milp->entries.count;
	int count = 0;
	for (size_t k = milp->rows.at[r].first; k < end; k++) {
		const struct entry *entry = &milp->entries.at[k];
		int *place = &packed->place[entry->column];
		if (!*place) {
			*place = ++count;
			packed->columns[count] = entry->column + 1;
			packed->coefficients[count] = 0;
		}
		packed->coefficients[*place] += entry->coefficient;
	}
	for (int k = 1; k <= count; k++)
		packed->place[packed->columns[k] - 1] = 0;
	return count;
}

struct milp_size milp_size(const struct milp *milp)
{
	struct arena_mark mark = arena_mark(milp->arena);
	struct milp_packed packed = milp_packed_make(milp, milp->arena);
	struct milp_size size = {
		.rows = (int)milp->rows.count, .columns = (int)milp->columns.count};
	for (size_t c = 0; c < milp->columns.count; c++)
		size.integers += milp->columns.at[c].integer;
	for (size_t r = 0; r < milp->rows.count; r++)
		size.entries += (size_t)milp_pack(milp, r, &packed);
	arena_release(milp->arena, mark);
	return size;
}

double milp_margin(double mass, double value)
{
	return 2e-7 * (1 + mass + fabs(value));
}

bool milp_has(enum milp_backend backend)
{
	return backend == MILP_GLPK || milp_has_cbc();
}
