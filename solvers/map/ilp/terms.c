#include "solvers/map/ilp/terms.h"

#include "base/arena.h"

#include <math.h>

/*
 * Distinct indices of a rank that adds dimensions, in the loops of some rows: a column that is no
 * less than what any of the dimensions alone touches.  Binaries for each choice of the dimensions'
 * products would be exact; the mappings found with them were worse on three layers of five, and
 * better on two.
 */
struct ilp_window {
	int space, rank, column;
	uint64_t rows;
};

/* Repeats of tiles at a level: columns that are at least the logarithm of a bound that counts. */
struct ilp_moves {
	int loop[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST]; /* -1: none */
};

void ilp_add_bound(const struct ilp_compact *compact, struct ilp_line *line, int row, int d,
	double coefficient)
{
	for (int axis = 0; axis < ILP_AXES; axis++)
		for (int k = 0; k < compact->frame->prime_count[d]; k++) {
			int column = compact->copies[row][axis][d][k];
			if (column >= 0)
				ilp_line_add(line, column,
					coefficient * log((double)compact->frame->prime[d][k]));
		}
}

void ilp_add_rows(const struct ilp_compact *compact, struct ilp_line *line, uint64_t rows, int d,
	double coefficient)
{
	for (int r = 0; r < compact->frame->row_count; r++)
		if (rows >> r & 1)
			ilp_add_bound(compact, line, r, d, coefficient);
}

static uint64_t rows_of(const struct ilp_frame *frame, bool spatial, int from, int end)
{
	uint64_t rows = 0;
	for (int r = from; r < end; r++)
		if (!spatial || ilp_spatial(frame, r))
			rows |= UINT64_C(1) << r;
	return rows;
}

/* Rows of the blocks outside storage level j, or inside it. */
static uint64_t blocks_outside(const struct ilp_frame *frame, int j)
{
	return rows_of(frame, true, frame->nest.tiling[j], frame->row_count);
}

static uint64_t blocks_inside(const struct ilp_frame *frame, int j)
{
	return rows_of(frame, true, 0, frame->nest.tiling[j]);
}

static uint64_t inside(const struct ilp_frame *frame, int j)
{
	return rows_of(frame, false, 0, frame->nest.tiling[j] + 1);
}

/* The logarithm of 1 + c (p - 1), words that a loop of bound p touches alone, is concave in that of
 * p: it is at least this times log p, between 1 and the extent. */
static double slope_of(const struct ilp_compact *compact, int t, int r, int d)
{
	const struct shape *shape = compact->frame->shape;
	double extent = (double)shape->dimensions[d].extent;
	double coefficient = (double)shape->spaces[t].ranks[r].coefficient[d];
	return log(1 + coefficient * (extent - 1)) / log(extent);
}

static int window_column(
	struct ilp_compact *compact, int t, int r, uint64_t rows, uint32_t dimensions)
{
	for (size_t i = 0; i < compact->windows.count; i++) {
		const struct ilp_window *window = &compact->windows.at[i];
		if (window->space == t && window->rank == r && window->rows == rows)
			return window->column;
	}
	int column = milp_column(compact->milp, 0, INFINITY, false, 0);
	*array_add(compact->arena, &compact->windows) = (struct ilp_window){t, r, column, rows};
	for (; dimensions; dimensions &= dimensions - 1) {
		struct ilp_line least = {.arena = compact->arena};
		int d = __builtin_ctz(dimensions);
		ilp_line_add(&least, column, 1);
		ilp_add_rows(compact, &least, rows, d, -slope_of(compact, t, r, d));
		ilp_line_row(compact->milp, &least, 0, INFINITY);
	}
	return column;
}

void ilp_add_tile(struct ilp_compact *compact, struct ilp_line *line, int t, uint64_t rows)
{
	const struct ilp_frame *frame = compact->frame;
	const struct dataspace *space = &frame->shape->spaces[t];
	for (int r = 0; r < space->rank_count; r++) {
		uint32_t dimensions = 0;
		int last = 0;
		for (int d = 0; d < frame->dimension_count; d++)
			if (space->ranks[r].coefficient[d] && frame->prime_count[d])
				dimensions |= 1u << (last = d);
		if (dimensions & (dimensions - 1))
			ilp_line_add(line, window_column(compact, t, r, rows, dimensions), 1);
		else if (dimensions)
			ilp_add_rows(compact, line, rows, last, slope_of(compact, t, r, last));
	}
}

static const struct ilp_moves *moves_of(struct ilp_compact *compact, int t, int c)
{
	if (compact->moves[t][c])
		return compact->moves[t][c];
	const struct ilp_frame *frame = compact->frame;
	const struct ilp_counted *counted = ilp_counted(&compact->orders, compact->arena, t, c);
	struct ilp_moves *moves = compact->moves[t][c] =
		arena_new(compact->arena, struct ilp_moves);
	for (int j = 0; j < frame->nest.count; j++)
		for (int d = 0; d < frame->dimension_count; d++) {
			moves->loop[j][d] = -1;
			if (counted->loop[j][d] < 0)
				continue;
			int row = frame->nest.tiling[j];
			double most = log((double)number_min(ilp_factor(frame, row, d)->most,
				frame->shape->dimensions[d].extent));
			int column = milp_column(compact->milp, 0, most, false, 0);
			struct ilp_line line = {.arena = compact->arena};
			ilp_line_add(&line, column, 1);
			ilp_line_add(&line, counted->loop[j][d], -most);
			ilp_add_bound(compact, &line, row, d, -1);
			ilp_line_row(compact->milp, &line, -most, INFINITY);
			moves->loop[j][d] = column;
		}
	return moves;
}

struct ilp_line ilp_repeats(struct ilp_compact *compact, int t, int c)
{
	const struct ilp_frame *frame = compact->frame;
	uint32_t relevant = frame->nest.spaces[t].relevant;
	struct ilp_line line = {.arena = compact->arena};
	for (int j = 0; j < frame->nest.count; j++)
		for (int d = 0; d < frame->dimension_count; d++) {
			if (relevant >> d & 1 || j <= c)
				continue;
			if (c < 0)
				ilp_add_bound(compact, &line, frame->nest.tiling[j], d, 1);
			else if (moves_of(compact, t, c)->loop[j][d] >= 0)
				ilp_line_add(&line, moves_of(compact, t, c)->loop[j][d], 1);
		}
	return line;
}

/* Tiles that the rows span, as often as loops outside move them, and irrelevant loops of the
 * blocks (a mask) repeat them. */
static struct ilp_line crossing(
	struct ilp_compact *compact, int t, int c, uint64_t tile, uint64_t blocks)
{
	const struct ilp_frame *frame = compact->frame;
	struct ilp_line line = ilp_repeats(compact, t, c);
	ilp_add_tile(compact, &line, t, tile);
	for (int d = 0; d < frame->dimension_count; d++) {
		if (frame->nest.spaces[t].relevant >> d & 1) {
			line.constant += log((double)frame->shape->dimensions[d].extent);
			ilp_add_rows(compact, &line, tile, d, -1);
		} else {
			ilp_add_rows(compact, &line, blocks, d, 1);
		}
	}
	return line;
}

struct ilp_line ilp_filled(struct ilp_compact *compact, int t, int c)
{
	const struct ilp_frame *frame = compact->frame;
	return crossing(compact, t, c, inside(frame, c), blocks_outside(frame, c));
}

struct ilp_line ilp_served(struct ilp_compact *compact, int t, int c, int p)
{
	const struct ilp_frame *frame = compact->frame;
	uint64_t tile = blocks_inside(frame, p) | (c < 0 ? 0 : inside(frame, c));
	return crossing(compact, t, c, tile, blocks_outside(frame, p));
}

void ilp_add_instances(
	struct ilp_compact *compact, struct ilp_line *line, int level, double coefficient)
{
	const struct space *space = compact->frame->search->space;
	for (int r = 0; r < compact->frame->row_count; r++)
		for (int d = 0; d < compact->frame->dimension_count; d++)
			if (space->levels[r].spatial && space->levels[r].level > level)
				ilp_add_bound(compact, line, r, d, coefficient);
}
