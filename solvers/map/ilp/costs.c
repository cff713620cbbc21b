#include "solvers/map/ilp/compact.h"

#include "base/arena.h"
#include "solvers/map/ilp/options.h"
#include "solvers/map/ilp/terms.h"

#include <math.h>

#define LEAST (ILP_FIRST_PERCENT / 100.0)
#define LAST (ILP_LAST_PERCENT / 100.0)
#define SHARE_FIRST (ILP_SHARE_FIRST_PERCENT / 100.0)

/* Whether a chain has p, and c (-1: the multipliers) directly inside it; c = p: has p. */
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
static void gate(struct ilp_line *line, const struct ilp_line *open, double depth)
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

/* What the objective is made of. */
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
	double most = fmax(line.constant, 0) + 3 * log(compact->frame->computes) + 1;
	if (open)
		gate(&line, open, most - LEAST + 1);
	add_exponential(compact, part->cuts, &line, LEAST, LAST);
}

/* A binary that is 1 where a line is above 0, and open if the gate (NULL: always) is. */
static struct ilp_line repeated(
	struct ilp_compact *compact, const struct ilp_line *line, const struct ilp_line *open)
{
	int again = milp_column(compact->milp, 0, 1, true, 0);
	struct ilp_line tie = {.arena = compact->arena}, gate_line = {.arena = compact->arena};
	double most = log(compact->frame->computes);
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
	struct ilp_line again = repeated(compact, &repeats, open);
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
	add_cost(&part, line, frame->computes * hierarchy->compute_pj, NULL);
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct ilp_line leak = {.arena = compact->arena};
		ilp_line_add(&leak, compact->cycles, 1);
		ilp_add_instances(compact, &leak, hierarchy->levels[i].gated_at, 1);
		add_cost(&part, leak, hierarchy->levels[i].leak_pj, NULL);
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
			gate(&line, &open, log(frame->words[t]) - LEAST + 1);
		*array_add(compact->arena, &shares.columns) =
			add_exponential(compact, cuts, &line, SHARE_FIRST, 0);
		/* Alone it must fit; integers, so half a word is room for rounding. */
		ilp_line_row(compact->milp, &line, -INFINITY,
			log(((double)level->size + 0.5) / (double)level->size));
	}
	close_shares(compact, &shares);
}

/* What a port carries in the cycles there are: the read one, the write one, or both. */
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
				gate(&line, &open,
					3 * log(frame->computes) + fabs(line.constant) - LEAST + 1);
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
		log(frame->computes / ratio_double(hierarchy_rate(frame->search->hierarchy))),
		INFINITY);
	for (int j = 0; j < frame->nest.count; j++) {
		const struct nest_level *level =
			&frame->search->hierarchy->levels[frame->nest.level[j]];
		add_port(compact, cuts, j, 0, level->read_rate);
		add_port(compact, cuts, j, 1, level->write_rate);
		add_port(compact, cuts, j, 2, level->shared_rate);
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
