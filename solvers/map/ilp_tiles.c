#include "solvers/map/ilp_path.h"

#include "base/array.h"

#include <math.h>

int ilp_tiles_column(struct ilp_tiles *tiles, bool integer)
{
	tiles->columns++;
	return milp_column(tiles->milp, 0, 1, integer, 0);
}

int ilp_path_find(const struct ilp_path *path, int64_t value)
{
	int at = 0;
	while (path->divisors[at] != value)
		at++;
	return at;
}

static bool may_step(const struct ilp_tiles *tiles, int row, int d, int64_t tile, int64_t bound)
{
	const struct factor_domain *factor = ilp_factor(tiles->frame, row, d);
	int64_t extent = tiles->frame->shape->dimensions[d].extent;
	return bound >= factor->least && bound <= factor->most && extent / tile % bound == 0;
}

/* Whether the rows from `row` on can make the rest of an extent of a tile, by row and tile. */
static bool *find_ends(struct ilp_tiles *tiles, const struct ilp_path *path, int d)
{
	int rows = tiles->frame->row_count, count = path->count;
	bool *ends = arena_array(tiles->arena, bool, (rows + 1) * count);
	ends[rows * count + count - 1] = true;
	for (int r = rows - 1; r >= 0; r--)
		for (int t = 0; t < count; t++)
			for (int b = 0; b < count; b++)
				if (may_step(tiles, r, d, path->divisors[t], path->divisors[b]))
					ends[r * count + t] |=
						ends[(r + 1) * count +
							ilp_path_find(
								path, path->divisors[t] *
									      path->divisors[b])];
	return ends;
}

static void add_path(struct ilp_tiles *tiles, int d)
{
	int64_t extent = tiles->frame->shape->dimensions[d].extent;
	struct ilp_path *path = tiles->paths[d] = arena_new(tiles->arena, struct ilp_path);
	struct divisors divisors = number_divisors(tiles->arena, extent);
	path->count = (int)divisors.count;
	path->divisors =
		arena_copy(tiles->arena, divisors.at, sizeof *divisors.at * (size_t)path->count);
	int count = path->count;
	const bool *ends = find_ends(tiles, path, d);
	bool *begun = arena_array(tiles->arena, bool, (tiles->frame->row_count + 1) * count);
	begun[0] = true;
	for (int r = 0; r < tiles->frame->row_count; r++) {
		int *steps = path->steps[r] = arena_array(tiles->arena, int, count *count);
		for (int i = 0; i < count * count; i++) {
			int64_t tile = path->divisors[i / count], bound = path->divisors[i % count];
			steps[i] = -1;
			if (!begun[r * count + i / count] || !may_step(tiles, r, d, tile, bound))
				continue;
			int next = (r + 1) * count + ilp_path_find(path, tile * bound);
			if (!ends[next])
				continue;
			begun[next] = true;
			steps[i] = ilp_tiles_column(tiles, true);
		}
	}
	tiles->mass += tiles->frame->row_count;
	for (int r = 0; r <= tiles->frame->row_count; r++) /* what enters a tile leaves it */
		for (int t = 0; t < count; t++) {
			double end = (r == 0 && t == 0) -
				     (r == tiles->frame->row_count && t == count - 1);
			milp_row(tiles->milp, end, end);
			for (int i = 0; r < tiles->frame->row_count && i < count; i++)
				if (path->steps[r][t * count + i] >= 0)
					milp_entry(tiles->milp, path->steps[r][t * count + i], 1);
			for (int i = 0; r > 0 && i < count * count; i++)
				if (path->steps[r - 1][i] >= 0 &&
					path->divisors[i / count] * path->divisors[i % count] ==
						path->divisors[t])
					milp_entry(tiles->milp, path->steps[r - 1][i], -1);
		}
}

bool ilp_enter_bound(struct ilp_tiles *tiles, int row, int d, int bound, double coefficient)
{
	const struct ilp_path *path = tiles->paths[d];
	bool any = false;
	for (int t = 0; t < path->count; t++) {
		int column = path->steps[row][t * path->count + bound];
		if (column < 0)
			continue;
		if (coefficient != 0)
			milp_entry(tiles->milp, column, coefficient);
		any = true;
	}
	return any;
}

/* The logarithm of a loop's bound. */
static void enter_logarithm(struct ilp_tiles *tiles, int row, int d, double coefficient)
{
	for (int b = 1; tiles->paths[d] && b < tiles->paths[d]->count; b++)
		ilp_enter_bound(
			tiles, row, d, b, coefficient * log((double)tiles->paths[d]->divisors[b]));
}

static void enter_busy(struct ilp_tiles *tiles, int row, int d, double coefficient)
{
	for (int b = 1; tiles->paths[d] && b < tiles->paths[d]->count; b++)
		ilp_enter_bound(tiles, row, d, b, coefficient);
}

/* The part of a loop along Y is its bound, or 1, as a binary says. */
static void fit_block(struct ilp_tiles *tiles, int row)
{
	const struct ilp_frame *frame = tiles->frame;
	const struct nest_search *search = frame->search;
	const struct nest_level *block =
		&search->hierarchy->levels[search->space->levels[row].level];
	const double room[] = {
		log((double)block->fanout_x + 0.5), log((double)block->fanout_y + 0.5)};
	int part[2][SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < frame->dimension_count; d++) {
		if (!tiles->paths[d])
			continue;
		bool x = ilp_may_run_along(frame, row, d, ILP_X);
		bool y = ilp_may_run_along(frame, row, d, ILP_Y);
		int along_y = tiles->along_y[row][d] = ilp_tiles_column(tiles, true);
		if (!x || !y)
			milp_fix(tiles->milp, along_y, y);
		double most = log((double)frame->shape->dimensions[d].extent);
		for (int axis = 0; axis < 2; axis++) {
			part[axis][d] = milp_column(tiles->milp, 0, INFINITY, false, 0);
			tiles->columns++;
			milp_row(tiles->milp, axis ? -most : 0, INFINITY);
			milp_entry(tiles->milp, part[axis][d], 1);
			milp_entry(tiles->milp, along_y, axis ? -most : most);
			enter_logarithm(tiles, row, d, -1);
		}
	}
	for (int axis = 0; axis < 2; axis++) {
		milp_row(tiles->milp, -INFINITY, room[axis]);
		for (int d = 0; d < frame->dimension_count; d++)
			if (tiles->paths[d])
				milp_entry(tiles->milp, part[axis][d], 1);
	}
}

static void fit_rows(struct ilp_tiles *tiles)
{
	const struct ilp_frame *frame = tiles->frame;
	const struct nest_search *search = frame->search;
	for (int r = 0; r < frame->row_count; r++) {
		const struct row_domain *row = &search->domain->rows[search->space->levels[r].row];
		uint32_t over = ilp_spatial(frame, r) ? row->spatial_over : row->temporal_over;
		if (ilp_spatial(frame, r))
			fit_block(tiles, r);
		for (int t = 0; t < frame->shape->space_count; t++) {
			if (!(over >> t & 1))
				continue;
			milp_row(tiles->milp, 1, INFINITY);
			for (int d = 0; d < frame->dimension_count; d++)
				if (frame->nest.spaces[t].relevant >> d & 1)
					enter_busy(tiles, r, d, 1);
		}
	}
	double busy = search->domain->least_parallelism *
		      (double)search->hierarchy->compute_mesh_x *
		      (double)search->hierarchy->compute_mesh_y;
	if (busy > 1) {
		milp_row(tiles->milp, log(busy - 1e-3), INFINITY);
		for (int r = 0; r < frame->row_count; r++)
			for (int d = 0; d < frame->dimension_count && ilp_spatial(frame, r); d++)
				enter_logarithm(tiles, r, d, 1);
	}
}

static void tie_busy(struct ilp_tiles *tiles)
{
	for (int j = 0; j < tiles->frame->nest.count; j++)
		for (int d = 0; d < tiles->frame->dimension_count; d++) {
			if (tiles->orders.busy[j][d] < 0)
				continue;
			milp_row(tiles->milp, 0, 0);
			milp_entry(tiles->milp, tiles->orders.busy[j][d], -1);
			enter_busy(tiles, tiles->frame->nest.tiling[j], d, 1);
			tiles->mass += 2 + tiles->frame->dimension_count;
		}
}

static void add_chains(struct ilp_tiles *tiles)
{
	const struct ilp_frame *frame = tiles->frame;
	for (int t = 0; t < frame->shape->space_count; t++) {
		if (frame->chain_count[t] == 1)
			continue;
		tiles->chain[t] = arena_array(tiles->arena, int, frame->chain_count[t]);
		for (int i = 0; i < frame->chain_count[t]; i++)
			tiles->chain[t][i] = ilp_tiles_column(tiles, true);
		milp_row(tiles->milp, 1, 1);
		for (int i = 0; i < frame->chain_count[t]; i++)
			milp_entry(tiles->milp, tiles->chain[t][i], 1);
		tiles->mass++;
	}
}

bool ilp_combination_next(struct ilp_combination *combination)
{
	for (int i = 0; i < combination->count; i++) {
		if (++combination->at[i] < combination->of[i])
			return true;
		combination->at[i] = 0;
	}
	return false;
}

bool ilp_combination_too_many(struct ilp_tiles *tiles, const struct ilp_combination *combination)
{
	double count = 1;
	for (int i = 0; i < combination->count; i++)
		count *= (double)combination->of[i];
	if (tiles->columns + count <= tiles->most)
		return false;
	tiles->columns += count;
	return true;
}

/* The tiles of a dataspace at a level that keeps it, as combinations; those that do not fit
 * are not made. */
struct fitting {
	struct array(struct fit {
		int column;
		double words;
	}) list;
};

static double words_of(const struct ilp_tiles *tiles, int t, const int64_t *extents)
{
	const struct dataspace *space = &tiles->frame->shape->spaces[t];
	double words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		double reach = 1;
		for (int d = 0; d < tiles->frame->dimension_count; d++)
			reach += (double)space->ranks[r].coefficient[d] * (double)(extents[d] - 1);
		words *= reach;
	}
	return words;
}

static bool keeps(const struct ilp_frame *frame, int t, int chain, int j)
{
	for (int i = 0; i < frame->chains[t][chain].count; i++)
		if (frame->chains[t][chain].at[i] == j)
			return true;
	return false;
}

static void add_tiles(struct ilp_tiles *tiles, int t, int j, double size, struct fitting *fitting)
{
	const struct ilp_frame *frame = tiles->frame;
	struct ilp_combination combination = {0};
	int dimensions[SHAPE_DIMENSIONS_MOST], row = frame->nest.tiling[j];
	int64_t extents[SHAPE_DIMENSIONS_MOST];
	struct milp *milp = tiles->milp;
	for (int d = 0; d < frame->dimension_count; d++) {
		extents[d] = 1;
		if (!(frame->nest.spaces[t].relevant >> d & 1) || !tiles->paths[d])
			continue;
		combination.of[combination.count] = (size_t)tiles->paths[d]->count;
		dimensions[combination.count++] = d;
	}
	if (ilp_combination_too_many(tiles, &combination))
		return;
	size_t first = fitting->list.count;
	struct array(struct ilp_combination) made = {0};
	do {
		for (int i = 0; i < combination.count; i++)
			extents[dimensions[i]] =
				tiles->paths[dimensions[i]]->divisors[combination.at[i]];
		double words = words_of(tiles, t, extents);
		if (words > size)
			continue;
		*array_add(tiles->arena, &made) = combination;
		*array_add(tiles->arena, &fitting->list) =
			(struct fit){ilp_tiles_column(tiles, false), words};
	} while (ilp_combination_next(&combination));
	tiles->mass++;
	double always = frame->chain_count[t] == 1 && keeps(frame, t, 0, j);
	milp_row(milp, always, always); /* one of them, where it is kept */
	for (size_t k = 0; k < made.count; k++)
		milp_entry(milp, fitting->list.at[first + k].column, 1);
	for (int k = 0; tiles->chain[t] && k < frame->chain_count[t]; k++)
		if (keeps(frame, t, k, j))
			milp_entry(milp, tiles->chain[t][k], -1);
	for (int i = 0; i < combination.count; i++) {
		const struct ilp_path *path = tiles->paths[dimensions[i]];
		for (int n = 0; n < path->count; n++) {
			milp_row(milp, -INFINITY, 0);
			for (size_t k = 0; k < made.count; k++)
				if (made.at[k].at[i] == (size_t)n)
					milp_entry(milp, fitting->list.at[first + k].column, 1);
			for (int s = 0; s < path->count * path->count; s++)
				if (path->steps[row][s] >= 0 &&
					path->divisors[s / path->count] *
							path->divisors[s % path->count] ==
						path->divisors[n])
					milp_entry(milp, path->steps[row][s], -1);
		}
	}
}

static void fit_level(struct ilp_tiles *tiles, int j)
{
	const struct ilp_frame *frame = tiles->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->nest.level[j]];
	struct fitting fitting = {0};
	double size = (double)level->size;
	if (!level->size)
		return;
	for (int t = 0; t < frame->shape->space_count; t++) {
		bool may = false;
		for (int k = 0; k < frame->chain_count[t]; k++)
			may |= keeps(frame, t, k, j);
		if (may)
			add_tiles(tiles, t, j, size, &fitting);
	}
	/* Whole words: half of one is room for rounding. */
	milp_row(tiles->milp, level->least_utilization - 0.25 / size, 1 + 0.5 / size);
	for (size_t k = 0; k < fitting.list.count; k++)
		milp_entry(tiles->milp, fitting.list.at[k].column, fitting.list.at[k].words / size);
}

struct ilp_tiles *ilp_tiles_make(
	struct arena *arena, const struct ilp_frame *frame, double columns_most)
{
	struct ilp_tiles *tiles = arena_new(arena, struct ilp_tiles);
	tiles->arena = arena;
	tiles->milp = milp_make(arena);
	tiles->frame = frame;
	tiles->most = columns_most;
	for (int d = 0; d < frame->dimension_count; d++)
		if (frame->prime_count[d])
			add_path(tiles, d);
	for (int r = 0; r < frame->row_count; r++)
		for (int d = 0; d < frame->dimension_count; d++)
			tiles->along_y[r][d] = -1;
	fit_rows(tiles);
	uint32_t written = 0; /* of their counts some are taken off */
	for (int t = 0; t < frame->shape->space_count; t++)
		written |= (uint32_t)frame->shape->spaces[t].written << t;
	ilp_orders_open(&tiles->orders, tiles->milp, frame, written);
	tie_busy(tiles);
	add_chains(tiles);
	for (int j = 0; j < frame->nest.count; j++)
		fit_level(tiles, j);
	return tiles;
}

void ilp_tiles_read(const struct ilp_tiles *tiles, const double *values, struct ilp_point *point)
{
	const struct ilp_frame *frame = tiles->frame;
	*point = (struct ilp_point){.chain = {0}};
	for (int r = 0; r < frame->row_count; r++)
		for (int d = 0; d < frame->dimension_count; d++) {
			const struct ilp_path *path = tiles->paths[d];
			point->bounds[r][d] = 1;
			for (int i = 0; path && i < path->count * path->count; i++)
				if (path->steps[r][i] >= 0 && values[path->steps[r][i]] > 0.5)
					point->bounds[r][d] = path->divisors[i % path->count];
			int along_y = tiles->along_y[r][d];
			if (along_y >= 0 && values[along_y] > 0.5 && point->bounds[r][d] > 1)
				point->along_y[r] |= 1u << d;
		}
	for (int j = 1; j < frame->nest.count; j++)
		ilp_order_read(&tiles->orders, values, j, point->order[j]);
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int i = 0; tiles->chain[t] && i < frame->chain_count[t]; i++)
			if (values[tiles->chain[t][i]] > 0.5)
				point->chain[t] = i;
}
