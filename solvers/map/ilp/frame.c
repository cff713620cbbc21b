#include "solvers/map/ilp/ilp.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

int ilp_power(int64_t value, int64_t prime)
{
	int power = 0;
	for (; value % prime == 0; value /= prime)
		power++;
	return power;
}

static void find_primes(struct ilp_frame *frame, int d)
{
	int64_t extent = frame->shape->dimensions[d].extent;
	frame->prime_count[d] = number_primes(extent, frame->prime[d]);
	for (int k = 0; k < frame->prime_count[d]; k++)
		frame->power[d][k] = ilp_power(extent, frame->prime[d][k]);
}

static void find_chains(struct arena *arena, struct ilp_frame *frame, int t)
{
	const struct space *space = frame->search->space;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	uint32_t free[ARCH_LEVELS_MOST];
	int free_count = 0;
	for (int i = 0; i < space->free_count; i++)
		if (space->free[i].space == t)
			free[free_count++] = 1u << space->free[i].row;
	if (free_count > ILP_CHAINS_FREE_MOST)
		return;
	frame->chains[t] = arena_array(arena, struct ilp_chain, (size_t)1 << free_count);
	for (uint32_t choice = 0; choice < 1u << free_count; choice++) {
		uint32_t rows = space->blank.residency[t];
		struct ilp_chain chain = {0};
		for (int i = 0; i < free_count; i++)
			rows |= choice >> i & 1 ? free[i] : 0;
		for (int j = 0; j < frame->nest.count; j++)
			if (rows >> hierarchy->levels[frame->nest.level[j]].row & 1)
				chain.at[chain.count++] = j;
		if (chain.count)
			frame->chains[t][frame->chain_count[t]++] = chain;
	}
}

struct ilp_frame *ilp_frame_make(struct arena *arena, const struct nest_search *search)
{
	struct ilp_frame *frame = arena_new(arena, struct ilp_frame);
	frame->nest = nest_frame_make(search);
	frame->search = search;
	frame->shape = search->shape;
	frame->row_count = search->space->level_count;
	frame->dimension_count = search->shape->dimension_count;
	double extents[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < frame->dimension_count; d++) {
		extents[d] = (double)frame->shape->dimensions[d].extent;
		find_primes(frame, d);
	}
	for (int t = 0; t < frame->shape->space_count; t++) {
		frame->words[t] = nest_frame_words(&frame->nest, t, extents);
		find_chains(arena, frame, t);
	}
	return frame;
}

const struct factor_domain *ilp_factor(const struct ilp_frame *frame, int row, int d)
{
	const struct space *space = frame->search->space;
	const struct row_domain *domain = &space->domain->rows[space->levels[row].row];
	return space->levels[row].spatial ? &domain->spatial[d] : &domain->temporal[d];
}

bool ilp_spatial(const struct ilp_frame *frame, int row)
{
	return frame->search->space->levels[row].spatial;
}

bool ilp_inside(const struct ilp_frame *frame, int row, int j)
{
	return j >= 0 && row <= frame->nest.tiling[j];
}

bool ilp_counts_accesses(enum objective objective)
{
	return objective == OBJECTIVE_ENERGY || objective == OBJECTIVE_EDP ||
	       objective == OBJECTIVE_HBM_BYTES || objective >= OBJECTIVE_ACCESSES;
}

double ilp_price(const struct ilp_frame *frame, int j, enum nest_action action)
{
	enum objective objective = frame->search->wishes.objectives.at[0];
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->nest.level[j]];
	if (objective == OBJECTIVE_HBM_BYTES)
		return j == frame->nest.count - 1 ? (double)level->store.word_bits / 8 : 0;
	if (objective >= OBJECTIVE_ACCESSES)
		return frame->nest.level[j] == (int)objective - OBJECTIVE_ACCESSES;
	return level->energies.pj[action] / (double)level->store.block_words /
	       (double)level->store.cluster_size;
}

bool ilp_sums_meet(const struct ilp_frame *frame, int t, int p)
{
	uint32_t relevant = frame->nest.spaces[t].relevant;
	for (int r = 0; r < frame->row_count; r++)
		for (int d = 0; d < frame->dimension_count; d++)
			if (ilp_spatial(frame, r) && !ilp_inside(frame, r, p) &&
				!(relevant >> d & 1) && frame->prime_count[d] &&
				ilp_factor(frame, r, d)->most > 1)
				return false;
	return true;
}

bool ilp_may_run_along(const struct ilp_frame *frame, int row, int d, enum ilp_axis axis)
{
	const struct space *space = frame->search->space;
	const struct nest_level *block =
		&frame->search->hierarchy->levels[space->levels[row].level];
	const struct row_domain *domain = &space->domain->rows[space->levels[row].row];
	int count = frame->dimension_count, place = -1;
	if ((axis == ILP_X ? block->fanout.x : block->fanout.y) == 1)
		return false;
	if (domain->split < 0)
		return true;
	for (int i = 0; i < domain->spatial_inner; i++)
		if (domain->spatial_order[i] == d)
			place = i;
	for (int i = 0; i < domain->spatial_outer; i++)
		if (domain->spatial_last[i] == d)
			place = count - domain->spatial_outer + i;
	if (place < 0)
		return axis == ILP_X ? domain->split > 0 : domain->split < count;
	return axis == ILP_X ? place < domain->split : place >= domain->split;
}

double ilp_guess(const struct ilp_frame *frame)
{
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	enum objective objective = frame->search->wishes.objectives.at[0];
	double value = objective == OBJECTIVE_LATENCY;
	double multipliers = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	if (objective == OBJECTIVE_ENERGY || objective == OBJECTIVE_EDP)
		value += frame->nest.macs * hierarchy->compute_pj;
	for (int t = 0; t < frame->shape->space_count && ilp_counts_accesses(objective); t++)
		for (int k = 0; k < frame->chain_count[t] && k < 1; k++) {
			const struct ilp_chain *chain = &frame->chains[t][k];
			int last = chain->at[chain->count - 1];
			value += frame->nest.macs * ilp_price(frame, chain->at[0], NEST_READ);
			value += frame->words[t] * ilp_price(frame, last, NEST_READ);
		}
	if (objective == OBJECTIVE_EDP || objective == OBJECTIVE_LATENCY)
		value *= hierarchy_cycles_least(hierarchy, frame->nest.macs / multipliers);
	return fmax(value, 1);
}

bool ilp_point_mapping(
	const struct ilp_frame *frame, const struct ilp_point *point, struct mapping *out)
{
	const struct space *space = frame->search->space;
	*out = space->blank;
	for (int d = 0; d < frame->dimension_count; d++) {
		int64_t bounds[FACTORS_LOOPS_MOST];
		for (int r = 0; r < frame->row_count; r++)
			bounds[r] = point->bounds[r][d];
		space_set_factors(space, d, bounds, out);
	}
	space_set_orders(space, out);
	for (int j = 1; j < frame->nest.count; j++)
		memcpy(out->rows[space->levels[frame->nest.tiling[j]].row].temporal_order,
			point->order[j], (size_t)frame->dimension_count);
	for (int t = 0; t < frame->shape->space_count; t++) {
		const struct ilp_chain *chain = &frame->chains[t][point->chain[t]];
		out->residency[t] = 0;
		for (int k = 0; k < chain->count; k++) {
			int level = frame->nest.level[chain->at[k]];
			out->residency[t] |= 1u << frame->search->hierarchy->levels[level].row;
		}
	}
	for (int r = 0; r < frame->row_count; r++) {
		uint32_t busy = 0;
		for (int d = 0; d < frame->dimension_count; d++)
			busy |= (uint32_t)(point->bounds[r][d] > 1) << d;
		if (ilp_spatial(frame, r) &&
			!space_set_axes(space, &space->levels[r], busy & ~point->along_y[r], out))
			return false;
	}
	return true;
}

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
