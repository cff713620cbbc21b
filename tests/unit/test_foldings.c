#include "base/arena.h"
#include "base/random.h"
#include "report/recurrence/projection_report.h"
#include "search/recurrence/project_search.h"
#include "tests/support/dataflows.h"
#include "tests/support/draws.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <string.h>

/*
 * Einsums on arrays that they do not fit: the classical dataflows take the published cycles (Samajdar
 * and others, SCALE-Sim, ISPASS 2020, as its code counts them), every legal folding computes the
 * einsum on its array, and what a search finds is beaten by none.
 */
static struct space_time product_spec(
	struct arena *arena, const struct product *s, const char *orders)
{
	return space_time_alone(
		arena, arena_format(arena,
			       "space_time:\n  loops: {m: %d, n: %d, k: %d}\n"
			       "  einsum: Outputs[m,n] = sum(k) Inputs[m,k] * Weights[k,n]\n"
			       "  array: [%d, %d]\n  search: {fold: %s}\n",
			       (int)s->m, (int)s->n, (int)s->k, (int)s->r, (int)s->c, orders));
}

static struct project_search open_search(const struct space_time *spec)
{
	return (struct project_search){.spec = spec,
		.wishes.objectives = {3, {OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS}},
		.solver = solver_find(STAGE_PROJECT, "folds"),
		.wishes.simulate = SIMULATE_ALL,
		.wishes.seed = 9,
		.wishes.asker = {.jobs = 1}};
}

/* Returns the value of a tensor in memory, which depends on the tensor's name alone. */
static double read_input(void *user, int stream, const int64_t *place)
{
	const struct recurrence *recurrence = user;
	struct random random = random_open(3, (uint64_t)recurrence->streams[stream].name[0]);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		random = random_open(random.state, (uint64_t)place[i]);
	return (double)random_below(&random, 9) - 4;
}

/* Returns the results of an einsum without any array. */
static struct recurrence_values run_whole(struct arena *arena, struct space_time *spec)
{
	struct recurrence_inputs inputs = {&spec->recurrence, read_input, NULL};
	return sequential_run(&spec->recurrence, &inputs, arena);
}

/* The array computes it, in the cycles that were counted. */
static void expect_same_outputs(struct arena *arena, const struct recurrence_values *whole,
	const struct project_found *found, const char *key)
{
	struct recurrence recurrence = found->spec->recurrence;
	struct recurrence_inputs inputs = {&recurrence, read_input, NULL};
	struct systolic_result run = systolic_run(&recurrence, &found->projection, &inputs, arena);
	const struct systolic_result *array = &run;
	assert_int_equal(run.fault, SYSTOLIC_FINE);
	assert_int_equal(run.cycles, found->facts.cycles);
	if (array->output_count != whole->output_count)
		fail_msg("%s: %zu outputs, not %zu", key, array->output_count, whole->output_count);
	for (size_t i = 0; i < whole->output_count; i++) {
		const struct recurrence_output *a = &whole->outputs[i], *b = &array->outputs[i];
		if (memcmp(a->place, b->place, sizeof a->place) != 0 || a->value != b->value)
			fail_msg("%s: output %zu is %g, not %g", key, i, b->value, a->value);
	}
}

BARE_TEST(classical_dataflows_take_the_published_cycles)
{
	long count = draws(20);
	uint64_t seed = draws_seed(74);
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct arena *arena = arena_open();
		struct product s = product_draw(&random);
		struct space_time spec = product_spec(arena, &s, "tiles");
		struct project_search search = open_search(&spec);
		static const enum dataflow dataflows[] = {
			INPUT_STATIONARY, WEIGHT_STATIONARY, OUTPUT_STATIONARY};
		static const char *const names[] = {
			"Inputs stationary", "Weights stationary", "Outputs stationary"};
		for (int i = 0; i < 3; i++) {
			struct folding folding;
			struct project_found found;
			struct score score;
			assert_true(folding_classical(&spec, i, &folding));
			assert_true(project_fold(&search, &folding, false, arena, &found, &score));
			assert_non_null(strstr(found.name, names[i]));
			assert_int_equal(found.folds, dataflow_folds(dataflows[i], &s));
			assert_int_equal(score.cycles, dataflow_cycles(dataflows[i], &s));
			project_execute(&search, &found, arena);
			assert_true(found.common.execution.agrees);
			struct recurrence_values whole = run_whole(arena, &spec);
			expect_same_outputs(arena, &whole, &found, names[i]);
		}
		arena_close(arena);
	}
}

/* Runs of SCALE-Sim, which prints the number of the last cycle: 38783 and 331007. */
BARE_TEST(published_runs_are_met)
{
	static const struct {
		struct product s;
		int64_t cycles;
	} rows[] = {{{512, 256, 256, 32, 32}, 38784}, {{768, 768, 512, 32, 32}, 331008}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = product_spec(arena, &rows[i].s, "tiles");
		struct project_search search = open_search(&spec);
		struct folding folding;
		struct project_found found;
		struct score score;
		assert_true(folding_classical(&spec, 1, &folding));
		assert_true(project_fold(&search, &folding, false, arena, &found, &score));
		assert_int_equal(score.cycles, rows[i].cycles);
		arena_close(arena);
	}
}

/* One command's answer: the three of them, and what is better, all executed. */
TEST(the_frontier_has_something_better)
{
	struct product s = {8, 6, 5, 4, 3};
	struct space_time spec = product_spec(arena, &s, "[tiles, blocks]");
	struct project_search search = open_search(&spec);
	struct explored explored = project_explore(&search, arena);
	assert_true(explored.complete);
	assert_int_equal(explored.effort.disagreed, 0);
	assert_int_equal(explored.beside_count, 3);
	assert_int_equal(explored.effort.simulated, explored.frontier.count + 3);
	int64_t tiles = 2 * 2;
	const struct point *best = &explored.frontier.points[0];
	assert_int_equal(best->score.cycles, tiles * s.k + s.r + s.c - 2);
	for (int i = 0; i < 3; i++)
		assert_true(best->score.cycles < explored.beside[i].score.cycles &&
			    best->score.registers <= explored.beside[i].score.registers);
	const char *table = projection_pareto_table(arena, &explored);
	assert_non_null(strstr(table, "\nWeights stationary      4      68"));
	/* A plan is read as what it is a plan of. */
	struct recurrence_values whole = run_whole(arena, &spec);
	for (size_t i = 0; i < explored.frontier.count; i++) {
		const struct point *point = &explored.frontier.points[i];
		const struct project_found *found = point->payload;
		const struct space_time_text text = {
			.spec = "space_time:\n  loops: {m: 8, n: 6, k: 5}\n"
				"  einsum: Outputs[m,n] = sum(k) Inputs[m,k] * Weights[k,n]\n"
				"  array: [4, 3]\n  search: {fold: [tiles, blocks]}\n",
			.plan = projection_plan_yaml(arena, point),
		};
		struct space_time again = space_time_given(arena, &text);
		struct projection_facts facts =
			projection_facts(&again.recurrence, &again.projection, &again);
		assert_int_equal(facts.fault, PROJECTION_FINE);
		assert_int_equal(facts.cycles, point->score.cycles);
		assert_int_equal(facts.pes, point->score.pes);
		expect_same_outputs(arena, &whole, found, point->key);
	}
}

/* Each folding that there is, executed. */
struct looks {
	struct project_search search;
	struct recurrence_values whole;
	int met, legal, blocks, wired;
	struct score least; /* in each objective */
};

static bool look(void *user, const struct folding *folding)
{
	struct looks *looks = user;
	struct arena *arena = arena_open();
	struct project_found found;
	struct score score;
	looks->met++;
	if (project_fold(&looks->search, folding, false, arena, &found, &score)) {
		const char *key = project_tiles_text(arena, found.spec, ", ");
		project_execute(&looks->search, &found, arena);
		if (!found.common.execution.agrees)
			fail_msg("%s: the array does something else", key);
		expect_same_outputs(arena, &looks->whole, &found, key);
		for (int r = 0; r < folding->rows; r++) {
			assert_true(found.facts.space[r].extent <= looks->search.spec->array[r]);
			looks->blocks += folding->orders[r] == FOLD_BLOCKS;
			looks->wired += folding->wired[r];
		}
		if (!looks->legal++ || score.cycles < looks->least.cycles)
			looks->least = score;
	}
	arena_close(arena);
	return true;
}

BARE_TEST(every_folding_computes_the_einsum)
{
	static const struct {
		const char *text;
		bool wires, lanes;
	} rows[] = {
		{"loops: {m: 5, n: 4, k: 3}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [2, 3]\n",
			true, false},
		{"loops: {m: 5, n: 4, k: 3}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [2, 3]\n  lanes: {p2: 3}\n",
			false, true},
		{"loops: {p: 5, c: 4, k: 3, r: 2}\n"
		 "  einsum: Y[k,p] = sum(r, c) W[k,c,r] * X[c, p + r]\n  array: [2, 2]\n",
			false, false},
		{"loops: {b: 2, m: [1, 6], n: 3, k: 2}\n"
		 "  einsum: Y[b, m, n] = sum(k) X[b, 2 m, k] * W[b, k, n]\n  array: [2, 4]\n",
			false, false},
		{"loops: {b: 3, i: 4, j: 5}\n  einsum: Y[b,i] = max(j) X[b,i,j]\n  array: [2, 2]\n",
			false, false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  %s  search: {fold: [tiles, blocks], wires: %d}\n",
				rows[i].text, rows[i].wires ? 1 : 0));
		struct looks looks = {.search = open_search(&spec)};
		looks.whole = run_whole(arena, &spec);
		assert_true(foldings_visit(&spec, look, &looks));
		assert_true(looks.legal > 0);
		assert_int_equal(rows[i].wires || rows[i].lanes, looks.wired > 0);
		printf("%d foldings, %d legal\n", looks.met, looks.legal);
		struct explored explored = project_explore(&looks.search, arena);
		assert_int_equal(explored.frontier.count > 0, looks.legal > 0);
		if (looks.legal) {
			assert_true(looks.blocks > 0);
			assert_int_equal(
				explored.frontier.points[0].score.cycles, looks.least.cycles);
		}
		arena_close(arena);
	}
}

/* The tensor that stays, and directions without links, are limits. */
BARE_TEST(limits_hold_for_foldings)
{
	static const struct {
		const char *limits, *name;
	} rows[] = {
		{"stays: Weights", "Weights stationary"},
		{"stays: Inputs", "Inputs stationary"},
		{"stays: Outputs", "Outputs stationary"},
		{"no_link_transfer: [Inputs, Weights]", NULL},
		{"no_link_transfer: {p2: [Inputs, Outputs, Weights]}", NULL},
		{"no_link_transfer: [Inputs, Outputs]", NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  loops: {m: 5, n: 4, k: 6}\n"
				"  einsum: Outputs[m,n] = sum(k) Inputs[m,k] * Weights[k,n]\n"
				"  array: [2, 3]\n  search: {fold: tiles}\n  %s\n",
				rows[i].limits));
		struct project_search search = open_search(&spec);
		struct explored explored = project_explore(&search, arena);
		assert_true(explored.complete);
		assert_int_equal(explored.effort.disagreed, 0);
		assert_int_equal(explored.frontier.count > 0, rows[i].name != NULL);
		for (size_t k = 0; k < explored.frontier.count; k++) {
			const struct project_found *found = explored.frontier.points[k].payload;
			assert_string_equal(found->name, rows[i].name);
		}
		arena_close(arena);
	}
}

/* As many rows of space as the array has axes, or the einsum loops: a matrix times a vector has two. */
BARE_TEST(all_axes_are_used)
{
	static const struct {
		const char *spec;
		int64_t pes;
		int stays; /* the classical dataflows there are: of an operand, in time that is not folds */
	} rows[] = {
		{"  loops: {m: 8, k: 8}\n  einsum: C[m] = sum(k) A[m,k] * B[k]\n  array: [4, 3]\n",
			12, 0},
		{"  loops: {m: 5}\n  einsum: C[m] = A[m] * B[m]\n  array: [5, 3]\n", 5, 0},
		{"  loops: {m: 5}\n  einsum: C[m] = A[m] * B[m]\n  array: [5]\n", 5, 0},
		{"  loops: {m: 4, n: 6, k: 5}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [4]\n",
			4, 0},
		{"  loops: {m: 4, n: 6, k: 5}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [2, 3, 2]\n",
			12, 0},
		{"  loops: {m: 4, n: 6, k: 5}\n  einsum: C[m,n] = sum(k) A[m,k] * B[k,n]\n"
		 "  array: [2, 3]\n",
			6, 3},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(
			arena, arena_format(arena, "space_time:\n%s  search: {fold: tiles}\n",
				       rows[i].spec));
		struct project_search search = open_search(&spec);
		struct explored explored = project_explore(&search, arena);
		int64_t most = 0;
		int stays = 0;
		assert_true(explored.complete);
		assert_int_equal(explored.effort.disagreed, 0);
		for (size_t k = 0; k < explored.frontier.count; k++) {
			const struct project_found *found = explored.frontier.points[k].payload;
			most = found->facts.pes > most ? found->facts.pes : most;
		}
		for (size_t k = 0; k < explored.beside_count; k++)
			stays += explored.beside[k].payload != NULL;
		assert_int_equal(most, rows[i].pes);
		assert_int_equal(stays, rows[i].stays);
		arena_close(arena);
	}
}

/* Says stop when it is asked for the `left`-th time. */
static bool stop_later(void *left)
{
	return --*(int *)left <= 0;
}

/* 65536 points on the array, and the walk that counts ports: both end at the third question. */
TEST(walks_over_points_end_when_they_are_stopped)
{
	const struct product product = {256, 2, 128, 256, 2};
	struct space_time spec = product_spec(arena, &product, "tiles");
	int left = 1 << 30;
	struct project_search search = open_search(&spec);
	search.wishes.asker.stopper = (struct stopper){&left, stop_later};
	struct folding folding;
	struct project_found found;
	struct score score;
	assert_true(folding_classical(&spec, 2, &folding));
	assert_true(project_fold(&search, &folding, true, arena, &found, &score));
	assert_true(score.ports > 0);
	int asked = (1 << 30) - left;
	assert_true(asked > 3);
	left = 3;
	project_count_ports(&search, &found);
	assert_int_equal(found.ports, -1);
	assert_in_range(-left, 0, 1);
	left = 1 << 30;
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.agrees);
	for (int at = 3; at < (1 << 30) - left; at += 7) {
		int rest = at;
		struct project_found again = found;
		again.common.execution = (struct execution){0};
		search.wishes.asker.stopper.listener = &rest;
		project_execute(&search, &again, arena);
		assert_false(again.common.execution.finished);
		assert_true(again.large || again.execution.fault == SYSTOLIC_STOPPED);
		assert_in_range(-rest, 0, 1);
	}
}
