#include "solvers/map/ilp/compact.h"

#include "base/arena.h"
#include "solvers/map/ilp/terms.h"

#include <math.h>

static double log_prime(const struct ilp_compact *compact, int d, int k)
{
	return log((double)compact->frame->prime[d][k]);
}

static const struct nest_level *block_of(const struct ilp_compact *compact, int row)
{
	const struct nest_search *search = compact->frame->search;
	return &search->hierarchy->levels[search->space->levels[row].level];
}

static const struct row_domain *domain_of(const struct ilp_compact *compact, int row)
{
	const struct space *space = compact->frame->search->space;
	return &space->domain->rows[space->levels[row].row];
}

static void add_copies(struct ilp_compact *compact, int row, int d)
{
	const struct ilp_frame *frame = compact->frame;
	int64_t most = ilp_factor(frame, row, d)->most;
	bool spatial = ilp_spatial(frame, row);
	for (int axis = 0; axis < ILP_AXES; axis++)
		for (int k = 0; k < frame->prime_count[d]; k++) {
			int times = 0;
			int64_t product = frame->prime[d][k];
			for (; times < frame->power[d][k] && product <= most; times++)
				product *= frame->prime[d][k];
			bool may = spatial ? ilp_may_run_along(compact->frame, row, d, axis)
					   : axis == ILP_X;
			compact->copies[row][axis][d][k] =
				may && times ? milp_column(compact->milp, 0, times, true, 0) : -1;
		}
}

/* A loop of a fan-out runs along one axis. */
static void choose_axis(struct ilp_compact *compact, int row, int d)
{
	const struct ilp_frame *frame = compact->frame;
	if (!ilp_may_run_along(compact->frame, row, d, ILP_X) ||
		!ilp_may_run_along(compact->frame, row, d, ILP_Y) || !frame->prime_count[d])
		return;
	int along_y = milp_column(compact->milp, 0, 1, true, 0);
	for (int axis = 0; axis < ILP_AXES; axis++)
		for (int k = 0; k < frame->prime_count[d]; k++) {
			int column = compact->copies[row][axis][d][k], most = frame->power[d][k];
			if (column < 0)
				continue;
			milp_row(compact->milp, -INFINITY, axis == ILP_X ? most : 0);
			milp_entry(compact->milp, column, 1);
			milp_entry(compact->milp, along_y, axis == ILP_X ? most : -most);
		}
}

/* Bounds of a row that the domain narrows; integers, so half a unit is room for rounding. */
static void narrow_bound(struct ilp_compact *compact, int row, int d)
{
	const struct factor_domain *factor = ilp_factor(compact->frame, row, d);
	int64_t extent = compact->frame->shape->dimensions[d].extent;
	struct ilp_line line = {.arena = compact->arena};
	if (factor->least <= 1 && factor->most >= extent)
		return;
	ilp_add_bound(compact, &line, row, d, 1);
	ilp_line_row(compact->milp, &line, factor->least > 1 ? log((double)factor->least - 0.5) : 0,
		log((double)factor->most + 0.5));
}

static void narrow_row(struct ilp_compact *compact, int row)
{
	const struct ilp_frame *frame = compact->frame;
	const struct row_domain *domain = domain_of(compact, row);
	bool spatial = ilp_spatial(frame, row);
	uint32_t over = spatial ? domain->spatial_over : domain->temporal_over;
	for (int d = 0; d < frame->dimension_count; d++)
		narrow_bound(compact, row, d);
	for (int t = 0; t < frame->shape->space_count; t++) {
		struct ilp_line line = {.arena = compact->arena};
		if (!(over >> t & 1))
			continue;
		for (int d = 0; d < frame->dimension_count; d++)
			if (frame->nest.spaces[t].relevant >> d & 1)
				ilp_add_bound(compact, &line, row, d, 1);
		ilp_line_row(compact->milp, &line, log(1.5), INFINITY);
	}
	for (int axis = 0; axis < ILP_AXES && spatial; axis++) {
		int64_t fan = axis == ILP_X ? block_of(compact, row)->fanout_x
					    : block_of(compact, row)->fanout_y;
		milp_row(compact->milp, -INFINITY, log((double)fan + 0.5));
		for (int d = 0; d < frame->dimension_count; d++)
			for (int k = 0; k < frame->prime_count[d]; k++)
				if (compact->copies[row][axis][d][k] >= 0)
					milp_entry(compact->milp, compact->copies[row][axis][d][k],
						log_prime(compact, d, k));
	}
}

static void add_bounds(struct ilp_compact *compact)
{
	const struct ilp_frame *frame = compact->frame;
	for (int r = 0; r < frame->row_count; r++)
		for (int d = 0; d < frame->dimension_count; d++) {
			add_copies(compact, r, d);
			if (ilp_spatial(frame, r))
				choose_axis(compact, r, d);
		}
	for (int d = 0; d < frame->dimension_count; d++)
		for (int k = 0; k < frame->prime_count[d]; k++) {
			milp_row(compact->milp, frame->power[d][k], frame->power[d][k]);
			for (int r = 0; r < frame->row_count; r++)
				for (int axis = 0; axis < ILP_AXES; axis++)
					if (compact->copies[r][axis][d][k] >= 0)
						milp_entry(compact->milp,
							compact->copies[r][axis][d][k], 1);
		}
	for (int r = 0; r < frame->row_count; r++)
		narrow_row(compact, r);
	const struct nest_search *search = frame->search;
	double multipliers = (double)search->hierarchy->compute_mesh_x *
			     (double)search->hierarchy->compute_mesh_y;
	double busy = search->domain->least_parallelism * multipliers;
	struct ilp_line line = {.arena = compact->arena};
	ilp_add_instances(compact, &line, -1, 1);
	if (busy > 1)
		ilp_line_row(compact->milp, &line, log(busy - 1e-3), INFINITY);
}

/* busy: some copy of some prime is there. */
static void tie_busy(struct ilp_compact *compact)
{
	const struct ilp_frame *frame = compact->frame;
	for (int j = 0; j < frame->nest.count; j++)
		for (int d = 0; d < frame->dimension_count; d++) {
			const int *copies = compact->copies[frame->nest.tiling[j]][ILP_X][d];
			int busy = compact->orders.busy[j][d];
			if (busy < 0)
				continue;
			for (int k = 0; k < frame->prime_count[d]; k++)
				if (copies[k] >= 0) {
					milp_row(compact->milp, -INFINITY, 0);
					milp_entry(compact->milp, copies[k], 1);
					milp_entry(compact->milp, busy, -frame->power[d][k]);
				}
			milp_row(compact->milp, 0, INFINITY);
			milp_entry(compact->milp, busy, -1);
			for (int k = 0; k < frame->prime_count[d]; k++)
				if (copies[k] >= 0)
					milp_entry(compact->milp, copies[k], 1);
		}
}

static void add_chains(struct ilp_compact *compact)
{
	const struct ilp_frame *frame = compact->frame;
	for (int t = 0; t < frame->shape->space_count; t++) {
		if (frame->chain_count[t] == 1)
			continue;
		compact->chain[t] = arena_array(compact->arena, int, frame->chain_count[t]);
		for (int i = 0; i < frame->chain_count[t]; i++)
			compact->chain[t][i] = milp_column(compact->milp, 0, 1, true, 0);
		milp_row(compact->milp, 1, 1);
		for (int i = 0; i < frame->chain_count[t]; i++)
			milp_entry(compact->milp, compact->chain[t][i], 1);
	}
}

static int copies_of(const struct ilp_compact *compact, const struct ilp_point *point, int r,
	enum ilp_axis axis, int d, int k)
{
	bool along = (point->along_y[r] >> d & 1) == (unsigned)axis;
	return along ? ilp_power(point->bounds[r][d], compact->frame->prime[d][k]) : 0;
}

struct ilp_compact *ilp_compact_make(struct arena *arena, const struct ilp_frame *frame,
	const struct ilp_cuts *cuts, double scale)
{
	enum objective objective = frame->search->wishes.objectives.at[0];
	if (objective != OBJECTIVE_LATENCY && !ilp_counts_accesses(objective))
		return NULL;
	struct ilp_compact *compact = arena_new(arena, struct ilp_compact);
	compact->arena = arena;
	compact->milp = milp_make(arena);
	compact->frame = frame;
	compact->scale = scale;
	add_bounds(compact);
	ilp_orders_open(&compact->orders, compact->milp, frame);
	tie_busy(compact);
	add_chains(compact);
	ilp_costs_add(compact, cuts);
	return compact;
}

static void stay_in_order(struct ilp_compact *compact, const struct ilp_point *point, int j)
{
	for (int i = 0; i < compact->frame->dimension_count; i++)
		for (int n = i + 1; n < compact->frame->dimension_count; n++) {
			int a = point->order[j][i], b = point->order[j][n];
			if (compact->orders.inside[j][a][b] >= 0) {
				milp_fix(compact->milp, compact->orders.inside[j][a][b], 1);
				milp_fix(compact->milp, compact->orders.inside[j][b][a], 0);
			}
		}
}

void ilp_compact_stay(struct ilp_compact *compact, const struct ilp_near *near)
{
	const struct ilp_frame *frame = compact->frame;
	for (int r = 0; r < frame->row_count; r++)
		for (int axis = 0; axis < ILP_AXES; axis++)
			for (int d = 0; d < frame->dimension_count; d++)
				for (int k = 0; k < frame->prime_count[d]; k++) {
					int column = compact->copies[r][axis][d][k];
					if (column < 0 ||
						(near->rows >> r & 1 && near->dimensions >> d & 1))
						continue;
					milp_fix(compact->milp, column,
						copies_of(compact, near->point, r, axis, d, k));
				}
	for (int j = 1; j < frame->nest.count && !near->orders; j++)
		stay_in_order(compact, near->point, j);
	for (int t = 0; t < frame->shape->space_count && !near->chains; t++)
		for (int i = 0; compact->chain[t] && i < frame->chain_count[t]; i++)
			milp_fix(compact->milp, compact->chain[t][i], near->point->chain[t] == i);
}

double ilp_compact_value(const struct ilp_compact *compact, double value)
{
	if (compact->frame->search->wishes.objectives.at[0] == OBJECTIVE_LATENCY)
		return exp(value);
	return (value + compact->constant) * compact->scale;
}

void ilp_compact_read(
	const struct ilp_compact *compact, const double *values, struct ilp_point *point)
{
	const struct ilp_frame *frame = compact->frame;
	*point = (struct ilp_point){.chain = {0}};
	for (int r = 0; r < frame->row_count; r++)
		for (int d = 0; d < frame->dimension_count; d++) {
			point->bounds[r][d] = 1;
			for (int axis = 0; axis < ILP_AXES; axis++)
				for (int k = 0; k < frame->prime_count[d]; k++) {
					int column = compact->copies[r][axis][d][k];
					long times = column < 0 ? 0 : lround(values[column]);
					if (times && axis == ILP_Y)
						point->along_y[r] |= 1u << d;
					for (; times > 0; times--)
						point->bounds[r][d] *= frame->prime[d][k];
				}
		}
	for (int j = 1; j < frame->nest.count; j++)
		ilp_order_read(&compact->orders, values, j, point->order[j]);
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int i = 0; compact->chain[t] && i < frame->chain_count[t]; i++)
			if (values[compact->chain[t][i]] > 0.5)
				point->chain[t] = i;
}
