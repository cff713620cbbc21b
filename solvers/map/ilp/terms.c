#include "solvers/map/ilp/terms.h"

#include "base/arena.h"
#include "solvers/map/ilp/options.h"

#include <math.h>

/*
 * Distinct indices of a rank in the loops of some rows: one column for each choice of its
 * dimensions' products, which add up to 1 and have the primes that the rows have.
 *
 * While all dimensions but one are in these rows in full or not at all, the logarithm of
 * a + product is convex in the logarithm of the product: no mixture of choices is below it.
 * So columns need to be binaries only where two dimensions have parts.
 */
struct ilp_window {
	int space, rank;
	uint64_t rows;
	struct ilp_line line;
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

struct divisor_choice {
	int count, dimensions[SHAPE_DIMENSIONS_MOST];
	int64_t divisors[SHAPE_DIMENSIONS_MOST];
	double words;
};

/* The next choice of divisors of the extents; false after the last. */
static bool next_choice(const struct ilp_frame *frame, struct divisor_choice *choices)
{
	for (int i = 0; i < choices->count; i++) {
		int64_t extent = frame->shape->dimensions[choices->dimensions[i]].extent;
		int64_t *divisor = &choices->divisors[i];
		if (*divisor == extent) {
			*divisor = 1;
			continue;
		}
		do
			++*divisor;
		while (extent % *divisor);
		return true;
	}
	return false;
}

static double words_of(const struct shape_rank *rank, const struct divisor_choice *choices)
{
	double words = 1;
	for (int i = 0; i < choices->count; i++)
		words += (double)rank->coefficient[choices->dimensions[i]] *
			 (double)(choices->divisors[i] - 1);
	return words;
}

static void fill_window(struct ilp_compact *compact, struct ilp_window *window,
	const struct shape_rank *rank, struct divisor_choice *choices)
{
	const struct ilp_frame *frame = compact->frame;
	struct milp *milp = compact->milp;
	struct array(struct choice {
		int column;
		struct divisor_choice of;
	}) list = {0};
	int parted = 0;
	for (int n = 0; n < choices->count; n++) {
		int d = choices->dimensions[n];
		parted += frame->prime_count[d] > 1 || frame->power[d][0] > 1;
	}
	do {
		int column = milp_column(milp, 0, 1, parted > 1, 0);
		*array_add(compact->arena, &list) = (struct choice){column, *choices};
		ilp_line_add(&window->line, column, log(words_of(rank, choices)));
	} while (next_choice(frame, choices));
	milp_row(milp, 1, 1);
	for (size_t i = 0; i < list.count; i++)
		milp_entry(milp, list.at[i].column, 1);
	for (int n = 0; n < choices->count; n++) {
		int d = choices->dimensions[n];
		for (int k = 0; k < frame->prime_count[d]; k++) {
			int64_t prime = frame->prime[d][k];
			milp_row(milp, 0, 0);
			for (size_t i = 0; i < list.count; i++)
				milp_entry(milp, list.at[i].column,
					ilp_power(list.at[i].of.divisors[n], prime));
			for (int r = 0; r < frame->row_count; r++)
				for (int axis = 0; axis < ILP_AXES; axis++)
					if (window->rows >> r & 1 &&
						compact->copies[r][axis][d][k] >= 0)
						milp_entry(
							milp, compact->copies[r][axis][d][k], -1);
		}
	}
}

/* Too many choices: a column that is no less than any of the dimensions' products alone. */
static void estimate_window(struct ilp_compact *compact, struct ilp_window *window,
	const struct shape_rank *rank, const struct divisor_choice *choices)
{
	int column = milp_column(compact->milp, 0, INFINITY, false, 0);
	ilp_line_add(&window->line, column, 1);
	for (int i = 0; i < choices->count; i++) {
		struct ilp_line least = {.arena = compact->arena};
		ilp_line_add(&least, column, 1);
		ilp_add_rows(compact, &least, window->rows, choices->dimensions[i], -1);
		ilp_line_row(compact->milp, &least, 0, INFINITY);
	}
}

static const struct ilp_line *window_line(
	struct ilp_compact *compact, int t, int r, uint64_t rows, struct divisor_choice *choices)
{
	for (size_t i = 0; i < compact->windows.count; i++) {
		const struct ilp_window *window = compact->windows.at[i];
		if (window->space == t && window->rank == r && window->rows == rows)
			return &window->line;
	}
	const struct shape_rank *rank = &compact->frame->shape->spaces[t].ranks[r];
	struct ilp_window *window = arena_new(compact->arena, struct ilp_window);
	*window = (struct ilp_window){
		.space = t, .rank = r, .rows = rows, .line = {.arena = compact->arena}};
	*array_add(compact->arena, &compact->windows) = window;
	struct divisor_choice counted = *choices;
	int count = 1;
	while (count <= ILP_WINDOW_CHOICES_MOST && next_choice(compact->frame, &counted))
		count++;
	if (count <= ILP_WINDOW_CHOICES_MOST)
		fill_window(compact, window, rank, choices);
	else
		estimate_window(compact, window, rank, choices);
	return &window->line;
}

void ilp_add_tile(struct ilp_compact *compact, struct ilp_line *line, int t, uint64_t rows)
{
	const struct ilp_frame *frame = compact->frame;
	const struct dataspace *space = &frame->shape->spaces[t];
	for (int r = 0; r < space->rank_count; r++) {
		struct divisor_choice choices = {0};
		bool scaled = false;
		for (int d = 0; d < frame->dimension_count; d++) {
			if (!space->ranks[r].coefficient[d] || !frame->prime_count[d])
				continue;
			scaled |= space->ranks[r].coefficient[d] > 1;
			choices.divisors[choices.count] = 1;
			choices.dimensions[choices.count++] = d;
		}
		if (choices.count == 1 && !scaled)
			ilp_add_rows(compact, line, rows, choices.dimensions[0], 1);
		else if (choices.count)
			ilp_line_add_line(line, window_line(compact, t, r, rows, &choices), 1);
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
