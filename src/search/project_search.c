#include "search/project_search.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"

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

static bool outputs_equal(const struct recurrence_values *a, const struct systolic_result *b)
{
	if (a->output_count != b->output_count)
		return false;
	for (size_t i = 0; i < a->output_count; i++) {
		const struct recurrence_output *x = &a->outputs[i], *y = &b->outputs[i];
		if (x->stream != y->stream || memcmp(x->place, y->place, sizeof x->place) != 0 ||
			x->value != y->value)
			return false;
	}
	return true;
}

/* Every value at every point of the domain; a value that is no number is its own. */
static bool values_equal(const struct recurrence *recurrence, const double *a, const double *b)
{
	int64_t point[RECURRENCE_LOOPS_MOST], box = recurrence_box(recurrence);
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count; s++) {
			int64_t at = s * box + recurrence_index(recurrence, point);
			if (recurrence->streams[s].kind == STREAM_RECURRENT && a[at] != b[at] &&
				!(a[at] != a[at] && b[at] != b[at]))
				return false;
		}
	return true;
}

void project_execute(
	const struct project_search *search, struct project_found *found, struct arena *arena)
{
	const struct recurrence *recurrence = &search->spec->recurrence;
	struct recurrence_inputs inputs = project_inputs(&search->seed);
	struct recurrence_values expected = sequential_run(recurrence, &inputs, arena);
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

static void take_offer(const struct project_search *search, const struct candidate *candidate,
	struct project_explored *out, struct arena *arena)
{
	const struct recurrence *recurrence = &search->spec->recurrence;
	struct projection_facts facts =
		projection_facts(recurrence, candidate->projection, search->spec);
	out->offered++;
	if (facts.fault != PROJECTION_FINE) {
		out->refused++;
		return;
	}
	struct project_found *found = arena_new(arena, struct project_found);
	*found = (struct project_found){.projection = *candidate->projection,
		.facts = facts,
		.solver = arena_format(arena, "project/%s", search->solver)};
	struct point point = {project_score(recurrence, candidate->projection, &facts, true),
		project_text(arena, recurrence, candidate->projection), found};
	frontier_add(&out->frontier, arena, point);
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
	for (size_t i = 0; i < out.frontier.count && search->simulate != SIMULATE_NONE; i++) {
		struct project_found *found = out.frontier.points[i].payload;
		project_execute(search, found, arena);
		out.simulated += found->executed;
		if (found->executed && !found->agrees) {
			out.disagreed++;
			if (!out.fault)
				out.fault = out.frontier.points[i].key;
		}
	}
	return out;
}
