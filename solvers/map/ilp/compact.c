#include "solvers/map/ilp/ilp.h"

#include "base/arena.h"

#include <math.h>

/* Logarithms of what a compact program counts, as lines. */

/* Loops of a row over a dimension: their bound; 0 times it adds nothing. */
static void ilp_add_bound(const struct ilp_compact *compact, struct ilp_line *line, int row, int d,
	double coefficient);

/* The same of several rows (a mask). */
static void ilp_add_rows(const struct ilp_compact *compact, struct ilp_line *line, uint64_t rows,
	int d, double coefficient);

/* Words of dataspace t in a tile that the loops of the rows (a mask) span. */
static void ilp_add_tile(struct ilp_compact *compact, struct ilp_line *line, int t, uint64_t rows);

/*
 * Words of dataspace t, all instances together: what enters storage level c from its parent
 * (`filled`), what its parent p reads or updates for it (`served`).  Child -1: what p serves
 * to multipliers.
 */
static struct ilp_line ilp_filled(struct ilp_compact *compact, int t, int c);
static struct ilp_line ilp_served(struct ilp_compact *compact, int t, int c, int p);

/* Loops irrelevant to t that count outside level c; all temporal ones for child -1. */
static struct ilp_line ilp_repeats(struct ilp_compact *compact, int t, int c);

/* Instances of storage level j that have work: the blocks outside. */
static void ilp_add_instances(
	struct ilp_compact *compact, struct ilp_line *line, int level, double coefficient);

void ilp_line_add(struct ilp_line *line, int column, double coefficient)
{
	*array_add(line->arena, &line->parts) = (struct ilp_part){column, coefficient};
}

void ilp_line_add_line(struct ilp_line *line, const struct ilp_line *other, double coefficient)
{
	for (size_t i = 0; i < other->parts.count; i++)
		ilp_line_add(line, other->parts.at[i].column,
			other->parts.at[i].coefficient * coefficient);
	line->constant += other->constant * coefficient;
}

double ilp_line_value(const struct ilp_line *line, const double *values)
{
	double value = line->constant;
	for (size_t i = 0; i < line->parts.count; i++)
		value += line->parts.at[i].coefficient * values[line->parts.at[i].column];
	return value;
}

void ilp_line_row(struct milp *milp, const struct ilp_line *line, double least, double most)
{
	milp_row(milp, least - line->constant, most - line->constant);
	for (size_t i = 0; i < line->parts.count; i++)
		milp_entry(milp, line->parts.at[i].column, line->parts.at[i].coefficient);
}

int ilp_line_column(struct milp *milp, const struct ilp_line *line)
{
	int column = milp_column(milp, -INFINITY, INFINITY, false, 0);
	ilp_line_row(milp, line, 0, 0);
	milp_entry(milp, column, -1);
	return column;
}

/* Divided by exp(x), so that coefficients stay near 1. */
void ilp_tangent(struct milp *milp, int column, int other, double x)
{
	milp_row(milp, 1 - x, INFINITY);
	milp_entry(milp, column, exp(-x));
	milp_entry(milp, other, -1);
}

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

static void ilp_add_bound(const struct ilp_compact *compact, struct ilp_line *line, int row, int d,
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

static void ilp_add_rows(const struct ilp_compact *compact, struct ilp_line *line, uint64_t rows,
	int d, double coefficient)
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

static uint64_t ilp_frame_inside(const struct ilp_frame *frame, int j)
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

static void ilp_add_tile(struct ilp_compact *compact, struct ilp_line *line, int t, uint64_t rows)
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

static struct ilp_line ilp_repeats(struct ilp_compact *compact, int t, int c)
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
static struct ilp_line ilp_compact_crossing(
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

static struct ilp_line ilp_filled(struct ilp_compact *compact, int t, int c)
{
	const struct ilp_frame *frame = compact->frame;
	return ilp_compact_crossing(
		compact, t, c, ilp_frame_inside(frame, c), blocks_outside(frame, c));
}

static struct ilp_line ilp_served(struct ilp_compact *compact, int t, int c, int p)
{
	const struct ilp_frame *frame = compact->frame;
	uint64_t tile = blocks_inside(frame, p) | (c < 0 ? 0 : ilp_frame_inside(frame, c));
	return ilp_compact_crossing(compact, t, c, tile, blocks_outside(frame, p));
}

static void ilp_add_instances(
	struct ilp_compact *compact, struct ilp_line *line, int level, double coefficient)
{
	const struct space *space = compact->frame->search->space;
	for (int r = 0; r < compact->frame->row_count; r++)
		for (int d = 0; d < compact->frame->dimension_count; d++)
			if (space->levels[r].spatial && space->levels[r].level > level)
				ilp_add_bound(compact, line, r, d, coefficient);
}

#define LEAST (ILP_FIRST_PERCENT / 100.0)
#define LAST (ILP_LAST_PERCENT / 100.0)
#define SHARE_FIRST (ILP_SHARE_FIRST_PERCENT / 100.0)

/* True if a chain has p, and c (-1: the multipliers) directly inside it; c = p: has p. */
static bool has_arc(const struct ilp_chain *chain, int c, int p)
{
	for (int i = 0; i < chain->count; i++)
		if (chain->at[i] == p)
			return c == p || (i ? chain->at[i - 1] : -1) == c;
	return false;
}

/* The sum of the chains that have an arc, as a line; false if none has. */
static bool arc_line(
	struct ilp_compact *compact, int t, int c, int p, struct ilp_line *line, bool *always)
{
	const struct ilp_frame *frame = compact->frame;
	int count = 0;
	for (int i = 0; i < frame->chain_count[t]; i++)
		if (has_arc(&frame->chains[t][i], c, p)) {
			count++;
			if (compact->chain[t])
				ilp_line_add(line, compact->chain[t][i], 1);
		}
	*always = count == frame->chain_count[t];
	return count > 0;
}

/* Lowers a line by so much that no tangent is above 0, unless the gate is 1. */
static void ilp_line_lower(struct ilp_line *line, const struct ilp_line *open, double depth)
{
	ilp_line_add_line(line, open, depth);
	line->constant -= depth;
}

static int add_exponential(struct ilp_compact *compact, const struct ilp_cuts *cuts,
	const struct ilp_line *line, double first, double last)
{
	size_t number = compact->exponentials.count;
	double cost = last > 0, shift = last > 0 ? log(compact->scale) : 0;
	int column = milp_column(compact->milp, 0, INFINITY, false, cost);
	int power = ilp_line_column(compact->milp, line);
	*array_add(compact->arena, &compact->exponentials) =
		(struct ilp_exponential){*line, column, shift};
	for (double x = first; x <= last; x++)
		ilp_tangent(compact->milp, column, power, x);
	for (size_t i = 0; number < cuts->touches.count && i < cuts->touches.at[number].at.count;
		i++) {
		double x = cuts->touches.at[number].at.at[i] - shift;
		if (x >= LEAST)
			ilp_tangent(compact->milp, column, power, x);
	}
	return column;
}

/* A part of the objective. */
struct objective_part {
	struct ilp_compact *compact;
	const struct ilp_cuts *cuts;
	bool product; /* times the cycles */
};

/* Adds price * exp(line), while the gate (NULL: always) is open. */
static void add_cost(const struct objective_part *part, struct ilp_line line, double price,
	const struct ilp_line *open)
{
	struct ilp_compact *compact = part->compact;
	if (price <= 0)
		return;
	line.constant += log(price) - log(compact->scale);
	if (part->product)
		ilp_line_add(&line, compact->cycles, 1);
	if (!line.parts.count && !open) {
		compact->constant += exp(line.constant);
		return;
	}
	/* No line is above this: every loop counts, one after the other. */
	double most = fmax(line.constant, 0) + 3 * log(compact->frame->nest.macs) + 1;
	if (open)
		ilp_line_lower(&line, open, most - LEAST + 1);
	add_exponential(compact, part->cuts, &line, LEAST, LAST);
}

/* A binary that is 1 where a line is above 0, and open if the gate (NULL: always) is. */
static struct ilp_line ilp_compact_repeated(
	struct ilp_compact *compact, const struct ilp_line *line, const struct ilp_line *open)
{
	int again = milp_column(compact->milp, 0, 1, true, 0);
	struct ilp_line tie = {.arena = compact->arena}, gate_line = {.arena = compact->arena};
	double most = log(compact->frame->nest.macs);
	ilp_line_add_line(&tie, line, 1);
	ilp_line_add(&tie, again, -most);
	ilp_line_row(compact->milp, &tie, -INFINITY, 0);
	ilp_line_add(&gate_line, again, 1);
	if (open) {
		ilp_line_add_line(&gate_line, open, 1);
		gate_line.constant -= 1;
	}
	return gate_line;
}

static double least_repeat(const struct ilp_frame *frame, int t)
{
	double least = INFINITY;
	for (int d = 0; d < frame->dimension_count; d++)
		for (int k = 0; k < frame->prime_count[d]; k++)
			if (!(frame->nest.spaces[t].relevant >> d & 1))
				least = fmin(least, (double)frame->prime[d][k]);
	return least;
}

/* Sums: every update but the first of a visit reads, and what is read goes to the child.  Exactly, what
 * came to the child is read there when it drains. */
static void add_sums(const struct objective_part *part, int t, int c, int p,
	const struct ilp_line *served, const struct ilp_line *open)
{
	struct ilp_compact *compact = part->compact;
	const struct ilp_frame *frame = compact->frame;
	double price = ilp_price(frame, p, NEST_READ);
	if (c >= 0)
		price += ilp_price(frame, c, NEST_FILL);
	add_cost(part, *served, ilp_price(frame, p, NEST_UPDATE), open);
	if (c >= 0 && !frame->nest.timeloop)
		add_cost(part, ilp_filled(compact, t, c), ilp_price(frame, c, NEST_READ), open);
	if (!part->product && ilp_sums_meet(frame, t, p)) {
		struct ilp_line first = {.arena = compact->arena};
		add_cost(part, *served, price, open);
		if (open)
			ilp_line_add_line(&first, open, 1);
		double each = -price * frame->words[t] / compact->scale;
		int column = milp_column(compact->milp, open ? 0 : 1, 1, false, each);
		ilp_line_add(&first, column, -1);
		if (open)
			ilp_line_row(compact->milp, &first, 0, 0);
		return;
	}
	struct ilp_line repeats = ilp_repeats(compact, t, c);
	if (!repeats.parts.count)
		return;
	struct ilp_line again = ilp_compact_repeated(compact, &repeats, open);
	add_cost(part, *served, price * (1 - 1 / least_repeat(frame, t)), &again);
}

static void add_arc(const struct objective_part *part, int t, int c, int p)
{
	struct ilp_compact *compact = part->compact;
	const struct ilp_frame *frame = compact->frame;
	struct ilp_line open = {.arena = compact->arena};
	bool always;
	if (!arc_line(compact, t, c, p, &open, &always))
		return;
	const struct ilp_line *gate_line = always ? NULL : &open;
	struct ilp_line served = ilp_served(compact, t, c, p);
	if (frame->shape->spaces[t].written) {
		add_sums(part, t, c, p, &served, gate_line);
		return;
	}
	add_cost(part, served, ilp_price(frame, p, NEST_READ), gate_line);
	if (c >= 0)
		add_cost(
			part, ilp_filled(compact, t, c), ilp_price(frame, c, NEST_FILL), gate_line);
}

static void add_objective(struct ilp_compact *compact, const struct ilp_cuts *cuts)
{
	const struct ilp_frame *frame = compact->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	enum objective objective = frame->search->wishes.objectives.at[0];
	struct objective_part part = {compact, cuts, objective == OBJECTIVE_EDP};
	if (objective == OBJECTIVE_LATENCY) {
		struct ilp_line line = {.arena = compact->arena};
		ilp_line_add(&line, compact->cycles, 1);
		int column = milp_column(compact->milp, 0, INFINITY, false, 1);
		ilp_line_add(&line, column, -1);
		ilp_line_row(compact->milp, &line, 0, 0);
		return;
	}
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int p = 0; p < frame->nest.count; p++)
			for (int c = -1; c < p; c++)
				add_arc(&part, t, c, p);
	if (objective != OBJECTIVE_ENERGY && objective != OBJECTIVE_EDP)
		return;
	struct ilp_line line = {.arena = compact->arena};
	add_cost(&part, line, frame->nest.macs * hierarchy->compute_pj, NULL);
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct ilp_line leak = {.arena = compact->arena};
		ilp_line_add(&leak, compact->cycles, 1);
		ilp_add_instances(compact, &leak, hierarchy->levels[i].gated_at, 1);
		add_cost(&part, leak, hierarchy->levels[i].energies.leak_pj, NULL);
	}
}

/* A row of exponentials that together are at most 1. */
struct shares {
	struct array(int) columns;
};

static void close_shares(struct ilp_compact *compact, const struct shares *shares)
{
	if (!shares->columns.count)
		return;
	milp_row(compact->milp, -INFINITY, 1);
	for (size_t i = 0; i < shares->columns.count; i++)
		milp_entry(compact->milp, shares->columns.at[i], 1);
}

static void add_capacity(struct ilp_compact *compact, const struct ilp_cuts *cuts, int j)
{
	const struct ilp_frame *frame = compact->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->nest.level[j]];
	struct shares shares = {0};
	if (!level->size)
		return;
	for (int t = 0; t < frame->shape->space_count; t++) {
		struct ilp_line line = {.arena = compact->arena}, open = line;
		bool always;
		if (!arc_line(compact, t, j, j, &open, &always))
			continue;
		ilp_add_tile(compact, &line, t, (UINT64_C(2) << frame->nest.tiling[j]) - 1);
		line.constant -= log((double)level->size);
		if (!always)
			ilp_line_lower(&line, &open, log(frame->words[t]) - LEAST + 1);
		*array_add(compact->arena, &shares.columns) =
			add_exponential(compact, cuts, &line, SHARE_FIRST, 0);
		/* Alone it must fit; integers, so half a word is room for rounding. */
		ilp_line_row(compact->milp, &line, -INFINITY,
			log(((double)level->size + 0.5) / (double)level->size));
	}
	close_shares(compact, &shares);
}

/* Bounds the words of a port by the cycles: the read port, the write port, or both. */
static void add_port(struct ilp_compact *compact, const struct ilp_cuts *cuts, int j, int port,
	struct ratio rate)
{
	const struct ilp_frame *frame = compact->frame;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->nest.level[j]];
	struct shares shares = {0};
	if (!rate.num)
		return;
	for (int t = 0; t < frame->shape->space_count; t++)
		for (int other = -1; other < frame->nest.count; other++) {
			struct ilp_line open = {.arena = compact->arena};
			bool always, written = frame->shape->spaces[t].written;
			bool serves = other < j;
			bool counts = port == 2 || serves == ((port == 1) == written);
			int c = serves ? other : j, p = serves ? j : other;
			if (other == j || !counts || level->rate_scale[t] <= 0 ||
				(!serves && written && frame->nest.timeloop) ||
				!arc_line(compact, t, c, p, &open, &always))
				continue;
			struct ilp_line line =
				serves ? ilp_served(compact, t, c, p) : ilp_filled(compact, t, c);
			line.constant += log(level->rate_scale[t]) - log(ratio_double(rate));
			ilp_line_add(&line, compact->cycles, -1);
			ilp_add_instances(compact, &line, frame->nest.level[j], -1);
			if (!always)
				ilp_line_lower(&line, &open,
					3 * log(frame->nest.macs) + fabs(line.constant) - LEAST +
						1);
			*array_add(compact->arena, &shares.columns) =
				add_exponential(compact, cuts, &line, SHARE_FIRST, 0);
		}
	close_shares(compact, &shares);
}

static void add_cycles(struct ilp_compact *compact, const struct ilp_cuts *cuts)
{
	const struct ilp_frame *frame = compact->frame;
	struct ilp_line line = {.arena = compact->arena};
	compact->cycles = milp_column(compact->milp, 0, INFINITY, false, 0);
	ilp_line_add(&line, compact->cycles, 1);
	ilp_add_instances(compact, &line, -1, 1);
	ilp_line_row(compact->milp, &line,
		log(frame->nest.macs / ratio_double(hierarchy_rate(frame->search->hierarchy))),
		INFINITY);
	for (int j = 0; j < frame->nest.count; j++) {
		const struct nest_level *level =
			&frame->search->hierarchy->levels[frame->nest.level[j]];
		add_port(compact, cuts, j, 0, level->store.read_rate);
		add_port(compact, cuts, j, 1, level->store.write_rate);
		add_port(compact, cuts, j, 2, level->store.shared_rate);
	}
}

void ilp_costs_add(struct ilp_compact *compact, const struct ilp_cuts *cuts)
{
	add_cycles(compact, cuts);
	add_objective(compact, cuts);
	for (int j = 0; j < compact->frame->nest.count; j++)
		add_capacity(compact, cuts, j);
}

void ilp_compact_learn(const struct ilp_compact *compact, const double *values, struct arena *arena,
	struct ilp_cuts *cuts)
{
	while (cuts->touches.count < compact->exponentials.count)
		array_add(arena, &cuts->touches);
	for (size_t i = 0; i < compact->exponentials.count; i++) {
		const struct ilp_exponential *one = &compact->exponentials.at[i];
		double x = ilp_line_value(&one->line, values);
		if (x < LEAST ||
			exp(x) - values[one->column] <= ILP_NEAR_PERMILLE / 1000.0 * exp(x))
			continue;
		*array_add(arena, &cuts->touches.at[i].at) = x + one->shift;
	}
}

static double log_prime(const struct ilp_compact *compact, int d, int k)
{
	return log((double)compact->frame->prime[d][k]);
}

static const struct nest_level *ilp_compact_block(const struct ilp_compact *compact, int row)
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
		int64_t fan = axis == ILP_X ? ilp_compact_block(compact, row)->fanout.x
					    : ilp_compact_block(compact, row)->fanout.y;
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
