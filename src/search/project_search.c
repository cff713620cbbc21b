#include "search/project_search.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "model/recurrence_einsum.h"

#include <stdlib.h>
#include <string.h>

/* Sums of products that fit, or the most that does. */
static void add_capped(int64_t *sum, int64_t a, int64_t b)
{
	int64_t product;
	if (!number_mul(a, b, &product) || !number_add(*sum, product, sum))
		*sum = INT64_MAX;
}

struct score project_score(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, bool ports)
{
	struct score score = {.feasible = true,
		.cycles = facts->cycles,
		.computes = facts->points,
		.pes = facts->pes,
		.ports = ports ? projection_ports(recurrence, projection, facts) : 0};
	for (int s = 0; s < recurrence->stream_count; s++)
		add_capped(&score.registers, facts->registers[s], facts->pes);
	for (int d = 0; d < recurrence->dependence_count; d++)
		for (int r = 0; r < projection->space_count; r++)
			if (!projection->lanes[r])
				add_capped(&score.wire, llabs(facts->channels[d].move[r]), 1);
	if (facts->pes && facts->cycles)
		score.utilization =
			(double)facts->points / ((double)facts->pes * (double)facts->cycles);
	return score;
}

struct score project_found_score(const struct project_found *found, bool ports)
{
	struct score score =
		project_score(&found->spec->recurrence, &found->projection, &found->facts, ports);
	if (!found->spec->einsum)
		return score;
	score.computes = recurrence_box(found->spec->loops);
	if (score.pes && score.cycles)
		score.utilization =
			(double)score.computes / ((double)score.pes * (double)score.cycles);
	return score;
}

static double draw_input(void *user, int stream, const int64_t *place)
{
	struct random random = random_open(*(const uint64_t *)user, (uint64_t)stream);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		random = random_open(random.state, (uint64_t)place[i]);
	return (double)random_below(&random, 9) - 4;
}

struct recurrence_inputs project_inputs(const uint64_t *seed)
{
	union {
		const uint64_t *kept;
		void *given;
	} user = {seed};
	return (struct recurrence_inputs){user.given, draw_input};
}

static void add_row(struct text *text, const int64_t *row, int count)
{
	text_add(text, "[");
	for (int i = 0; i < count; i++)
		text_add(text, "%s%lld", i ? ", " : "", (long long)row[i]);
	text_add(text, "]");
}

const char *project_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection)
{
	struct text text = text_open(arena);
	text_add(&text, "allocation: [");
	for (int r = 0; r < projection->space_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->space[r], recurrence->loop_count);
	}
	text_add(&text, "], schedule: [");
	for (int r = 0; r < projection->time_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->time[r], recurrence->loop_count);
	}
	text_add(&text, "]");
	return text_read(&text);
}

/* A value that is no number is its own. */
static bool value_equal(double a, double b)
{
	return a == b || (a != a && b != b);
}

static bool outputs_equal(const struct recurrence_values *a, const struct systolic_result *b)
{
	if (a->output_count != b->output_count)
		return false;
	for (size_t i = 0; i < a->output_count; i++) {
		const struct recurrence_output *x = &a->outputs[i], *y = &b->outputs[i];
		if (x->stream != y->stream || memcmp(x->place, y->place, sizeof x->place) != 0 ||
			!value_equal(x->value, y->value))
			return false;
	}
	return true;
}

/* Every value at every point of the domain. */
static bool values_equal(const struct recurrence *recurrence, const double *a, const double *b)
{
	int64_t point[RECURRENCE_LOOPS_MOST], box = recurrence_box(recurrence);
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count; s++) {
			int64_t at = s * box + recurrence_index(recurrence, point);
			if (recurrence->streams[s].kind == STREAM_RECURRENT &&
				!value_equal(a[at], b[at]))
				return false;
		}
	return true;
}

void project_execute(
	const struct project_search *search, struct project_found *found, struct arena *arena)
{
	const struct recurrence *recurrence = &found->spec->recurrence;
	struct recurrence_inputs inputs = project_inputs(&search->seed);
	struct recurrence_values expected = sequential_run(recurrence, &inputs, arena);
	found->obstacle = expected.fault;
	found->large = expected.fault && !expected.values;
	if (expected.fault)
		return;
	found->execution = systolic_run(recurrence, &found->projection, &inputs, arena);
	const struct systolic_result *got = &found->execution;
	if (got->fault == SYSTOLIC_LARGE)
		return;
	found->executed = true;
	found->agrees =
		got->fault == SYSTOLIC_FINE && got->pes == found->facts.pes &&
		got->cycles == found->facts.cycles && got->points == found->facts.points &&
		(found->facts.units < 0 || got->units == found->facts.units) &&
		(found->facts.issues < 0 || got->issues == found->facts.issues) &&
		memcmp(got->registers, found->facts.registers, sizeof got->registers) == 0 &&
		values_equal(recurrence, expected.values, got->values) &&
		outputs_equal(&expected, got);
}

static const char *loop_list(
	struct arena *arena, const struct recurrence *recurrence, const int *loops, int count)
{
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%s", i ? ", " : "", recurrence->loops[loops[i]].name);
	return text_read(&text);
}

const char *project_tiles_text(
	struct arena *arena, const struct space_time *spec, const char *between)
{
	const struct recurrence_einsum *einsum = spec->einsum;
	const struct recurrence *recurrence = &spec->recurrence;
	struct text text = text_open(arena);
	int reread[RECURRENCE_LOOPS_MOST], count = 0;
	if (!einsum)
		return "";
	for (int i = 0; i < einsum->split_count; i++)
		text_add(&text, "%s%s: %lld", i ? ", " : "split: {",
			recurrence->loops[einsum->splits[i].loop].name,
			(long long)einsum->splits[i].size);
	if (einsum->split_count)
		text_add(&text, "}%s", between);
	if (einsum->order_count)
		text_add(&text, "sum: [%s]%s",
			loop_list(arena, recurrence, einsum->order, einsum->order_count), between);
	for (int i = 0; i < recurrence->loop_count; i++)
		if (einsum->reread >> i & 1)
			reread[count++] = i;
	if (count)
		text_add(&text, "reread: [%s]%s", loop_list(arena, recurrence, reread, count),
			between);
	for (int i = 0; i < einsum->load_count; i++) {
		const struct recurrence_load *load = &einsum->loads[i];
		text_add(&text, "%s%s: [%s, %s]", i ? ", " : "load: {",
			einsum->operands[load->operand].name, recurrence->loops[load->along].name,
			recurrence->loops[load->before].name);
	}
	if (einsum->load_count)
		text_add(&text, "}%s", between);
	return text_read(&text);
}

bool project_fold(const struct project_search *search, const struct folding *folding, bool ports,
	struct arena *arena, struct project_found *found, struct score *score)
{
	struct folded *folded = arena_new(arena, struct folded);
	if (!folding_make(search->spec, folding, arena, folded))
		return false;
	const struct space_time *spec = &folded->spec;
	*found = (struct project_found){.spec = spec,
		.name = folded->name,
		.folds = folded->folds,
		.projection = spec->projection,
		.facts = projection_facts(&spec->recurrence, &spec->projection, spec),
		.solver = arena_format(arena, "project/%s", search->solver)};
	if (found->facts.fault != PROJECTION_FINE)
		return false;
	*score = project_found_score(found, ports);
	return true;
}

/* As a point: its key says all that a plan does. */
static struct point point_of(struct project_found *found, struct score score, struct arena *arena)
{
	const struct space_time *spec = found->spec;
	const char *key = project_text(arena, &spec->recurrence, &found->projection);
	const char *tiles = found->name ? project_tiles_text(arena, spec, ", ") : "";
	return (struct point){score, arena_format(arena, "%s%s", tiles, key), found};
}

static void take_offer(const struct project_search *search, const struct candidate *candidate,
	struct project_explored *out, struct arena *arena)
{
	struct project_found *found = arena_new(arena, struct project_found);
	struct score score;
	bool legal;
	out->offered++;
	if (candidate->folding) {
		legal = project_fold(search, candidate->folding, true, arena, found, &score);
	} else {
		const struct space_time *spec = search->spec;
		*found = (struct project_found){.spec = spec,
			.projection = *candidate->projection,
			.facts = projection_facts(&spec->recurrence, candidate->projection, spec),
			.solver = arena_format(arena, "project/%s", search->solver)};
		legal = found->facts.fault == PROJECTION_FINE;
		score = project_found_score(found, legal);
	}
	out->refused += !legal;
	if (legal)
		frontier_add(&out->frontier, arena, point_of(found, score, arena));
}

/* What everybody compares with, whether the frontier has it or not. */
static void add_classical(
	const struct project_search *search, struct project_explored *out, struct arena *arena)
{
	const struct recurrence_einsum *einsum = search->spec->einsum;
	if (!search->spec->folds)
		return;
	out->classical_count = einsum->operand_count;
	for (int i = 0; i < einsum->operand_count; i++) {
		struct folding folding;
		struct score score;
		struct project_found *found = arena_new(arena, struct project_found);
		if (folding_classical(search->spec, i, &folding) &&
			project_fold(search, &folding, true, arena, found, &score))
			out->classical[i] = point_of(found, score, arena);
	}
}

static void execute(const struct project_search *search, struct point *point,
	struct project_explored *out, struct arena *arena)
{
	struct project_found *found = point->payload;
	if (!found || search->simulate == SIMULATE_NONE)
		return;
	project_execute(search, found, arena);
	out->simulated += found->executed;
	if (found->executed && !found->agrees) {
		out->disagreed++;
		if (!out->fault)
			out->fault = point->key;
	}
}

struct project_explored project_explore(const struct project_search *search, struct arena *arena)
{
	struct project_explored out = {.frontier = frontier_open(search->objectives)};
	struct problem problem = {.stage = STAGE_PROJECT, .projections = search};
	struct answer answer = solve_for(&search->asker, solver_find(STAGE_PROJECT, search->solver),
		&problem, search->budget, search->seed, arena);
	out.evaluated = answer.evaluated;
	out.stopped = answer.stopped;
	out.complete = answer.status == PROOF_OPTIMAL || answer.status == PROOF_INFEASIBLE;
	if (answer.complaint_count)
		out.complaint = answer.complaints[0].text;
	for (size_t i = 0; i < answer.candidate_count; i++)
		take_offer(search, &answer.candidates[i], &out, arena);
	add_classical(search, &out, arena);
	for (size_t i = 0; i < out.frontier.count; i++)
		execute(search, &out.frontier.points[i], &out, arena);
	for (int i = 0; i < out.classical_count; i++)
		execute(search, &out.classical[i], &out, arena);
	return out;
}
