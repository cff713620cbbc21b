#include "solvers/map/ilp/orders.h"

#include "base/arena.h"

#include <math.h>

/* Ranks of loops that a row's domain gives: 0, 1, ... from inside; those between are `count`. */
static void given_ranks(const struct ilp_frame *frame, int j, int *rank)
{
	const struct space *space = frame->search->space;
	const struct row_domain *row =
		&space->domain->rows[space->levels[frame->nest.tiling[j]].row];
	int count = frame->dimension_count;
	for (int d = 0; d < count; d++)
		rank[d] = count;
	for (int i = 0; i < row->temporal_inner; i++)
		rank[row->temporal_order[i]] = i;
	for (int i = 0; i < row->temporal_outer; i++)
		rank[row->temporal_last[i]] = count + 1 + i;
}

static void order_level(struct ilp_orders *orders, int j)
{
	struct milp *milp = orders->milp;
	int count = orders->frame->dimension_count, rank[SHAPE_DIMENSIONS_MOST];
	given_ranks(orders->frame, j, rank);
	for (int a = 0; a < count; a++)
		for (int b = a + 1; b < count; b++) {
			if (orders->busy[j][a] < 0 || orders->busy[j][b] < 0)
				continue;
			int ab = milp_column(milp, rank[a] < rank[b], rank[a] <= rank[b], true, 0);
			int ba = milp_column(milp, 0, 1, false, 0);
			milp_row(milp, 1, 1);
			milp_entry(milp, ab, 1);
			milp_entry(milp, ba, 1);
			orders->inside[j][a][b] = ab;
			orders->inside[j][b][a] = ba;
		}
	for (int a = 0; a < count; a++)
		for (int b = a + 1; b < count; b++)
			for (int c = a + 1; c < count; c++) { /* no circle a, b, c */
				int(*inside)[SHAPE_DIMENSIONS_MOST] = orders->inside[j];
				if (b == c || inside[a][b] < 0 || inside[b][c] < 0 ||
					inside[c][a] < 0)
					continue;
				milp_row(milp, -INFINITY, 2);
				milp_entry(milp, inside[a][b], 1);
				milp_entry(milp, inside[b][c], 1);
				milp_entry(milp, inside[c][a], 1);
			}
}

void ilp_orders_open(struct ilp_orders *orders, struct milp *milp, const struct ilp_frame *frame)
{
	*orders = (struct ilp_orders){.milp = milp, .frame = frame};
	for (int j = 0; j < frame->nest.count; j++) {
		for (int d = 0; d < frame->dimension_count; d++) {
			const struct factor_domain *factor =
				ilp_factor(frame, frame->nest.tiling[j], d);
			bool may = j > 0 && frame->prime_count[d] && factor->most > 1;
			orders->busy[j][d] =
				may ? milp_column(milp, factor->least > 1, 1, true, 0) : -1;
			for (int b = 0; b < frame->dimension_count; b++)
				orders->inside[j][d][b] = -1;
		}
		order_level(orders, j);
	}
}

/* a >= b */
static void at_least(struct milp *milp, int a, int b)
{
	milp_row(milp, 0, INFINITY);
	milp_entry(milp, a, 1);
	milp_entry(milp, b, -1);
}

static void count_level(
	struct ilp_orders *orders, int t, int j, int before, int moved, struct ilp_counted *counted)
{
	struct milp *milp = orders->milp;
	uint32_t relevant = orders->frame->nest.spaces[t].relevant;
	for (int d = 0; d < orders->frame->dimension_count; d++) {
		if (relevant >> d & 1 || orders->busy[j][d] < 0)
			continue;
		int loop = counted->loop[j][d] = milp_column(milp, 0, 1, false, 0);
		at_least(milp, moved, loop);
		if (before >= 0)
			at_least(milp, loop, before);
		for (int a = 0; a < orders->frame->dimension_count; a++) {
			if (!(relevant >> a & 1) || orders->busy[j][a] < 0)
				continue;
			milp_row(milp, -1, INFINITY);
			milp_entry(milp, loop, 1);
			milp_entry(milp, orders->busy[j][a], -1);
			milp_entry(milp, orders->inside[j][a][d], -1);
		}
	}
}

const struct ilp_counted *ilp_counted(struct ilp_orders *orders, struct arena *arena, int t, int c)
{
	struct ilp_counted **at = &orders->counted[t][c];
	if (*at)
		return *at;
	const struct ilp_frame *frame = orders->frame;
	struct milp *milp = orders->milp;
	*at = arena_new(arena, struct ilp_counted);
	int before = -1; /* a relevant loop has appeared up to the level before */
	for (int j = 0; j < frame->nest.count; j++) {
		for (int d = 0; d < frame->dimension_count; d++)
			(*at)->loop[j][d] = -1;
		if (j <= c || j == 0)
			continue;
		int moved = milp_column(milp, 0, 1, false, 0);
		if (before >= 0)
			at_least(milp, moved, before);
		for (int d = 0; d < frame->dimension_count; d++)
			if (frame->nest.spaces[t].relevant >> d & 1 && orders->busy[j][d] >= 0)
				at_least(milp, moved, orders->busy[j][d]);
		milp_row(milp, -INFINITY, 0); /* and not without a cause */
		milp_entry(milp, moved, 1);
		if (before >= 0)
			milp_entry(milp, before, -1);
		for (int d = 0; d < frame->dimension_count; d++)
			if (frame->nest.spaces[t].relevant >> d & 1 && orders->busy[j][d] >= 0)
				milp_entry(milp, orders->busy[j][d], -1);
		count_level(orders, t, j, before, moved, *at);
		before = moved;
	}
	return *at;
}

void ilp_order_read(const struct ilp_orders *orders, const double *values, int j, uint8_t *order)
{
	int count = orders->frame->dimension_count, rank[SHAPE_DIMENSIONS_MOST], filled = 0;
	for (int d = 0; d < count; d++) {
		rank[d] = 0;
		for (int a = 0; a < count; a++)
			rank[d] += orders->inside[j][a][d] >= 0 &&
				   values[orders->inside[j][a][d]] > 0.5;
	}
	for (int r = 0; r < count; r++)
		for (int d = 0; d < count; d++)
			if (rank[d] == r)
				order[filled++] = (uint8_t)d;
}
