#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/graph/floor.h"
#include "model/graph/planning.h"
#include "search/claim/plan_claim.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"
#include "tests/support/draws.h"
#include "tests/support/joint_all.h"
#include "tests/support/joint_draw.h"
#include "tests/support/joint_judged.h"
#include "tests/support/lp_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The solvers of joint spaces against all states, one by one, on random spaces: the best value, or that there
 * is not an answer.  joint_value agrees with what the states say, and finds no random answer below the best.  All
 * kinds of decisions must occur in best answers.
 */
enum {
	DRAWS = 100,
	PROGRAM_DRAWS = 100,
	GRAPH_DRAWS = 100,
	PROGRAM_OPTIONS = 100,
	GRAPH_STATES_MOST = 20000,
	STATES_MOST = 400000,
	RANDOM_ANSWERS = 150,
	STEPS_MOST = 64
};

enum kind {
	STREAMED,
	RESIDENT,
	SERVED, /* by another view */
	MOVED,
	RELOADED,
	RELAYED,
	EVICTED,
	FUSED,
	IN_PLACE,
	IN_BOTH,
	OPAQUE,
	ALONE,
	CLOSED,
	FURTHER,
	BUNDLED,
	SPLIT,
	KIND_COUNT
};

static const char *const kind_names[] = {"read from HBM", "read in LX", "read under another view",
	"moved", "reloaded", "relayed", "evicted", "fused", "in place", "in HBM and LX", "opaque",
	"alone", "last of its bundle", "further arguments", "bundled", "bundles split"};

struct tally {
	long found, none, unknown;
	long bounds, bounds_alone; /* of stopped searches; those without a plan */
	long kinds[KIND_COUNT];    /* best answers with it */
	long kept, broken;         /* random answers that keep the rules, and others */
};

static void note_option(const struct joint_space *space, const struct joint_option *option,
	const int *held, bool *seen)
{
	seen[FUSED] |= option->end > option->first + 1;
	seen[OPAQUE] |= option->empties;
	seen[ALONE] |= option->alone;
	seen[CLOSED] |= option->ends_bundle && !option->alone && !option->empties;
	seen[FURTHER] |= option->argument_count > 0;
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		seen[STREAMED] |= use->mode == JOINT_HBM;
		seen[RESIDENT] |= use->mode == JOINT_RESIDENT;
		seen[SERVED] |= use->mode == JOINT_RESIDENT && held[use->tensor] != use->view;
		seen[MOVED] |= use->mode == JOINT_MOVED;
		seen[RELOADED] |=
			use->mode == JOINT_MOVED && space->tensors[use->tensor].producer >= 0;
	}
	for (int o = 0; o < option->out_count; o++) {
		seen[IN_PLACE] |= option->outs[o].in_place >= 0;
		seen[IN_BOTH] |= o && option->outs[o].tensor == option->outs[o - 1].tensor;
	}
}

static void follow_views(const struct joint_option *option, int *held)
{
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode == JOINT_MOVED)
			held[option->uses[u].tensor] = option->uses[u].view;
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].view >= 0)
			held[option->outs[o].tensor] = option->outs[o].view;
}

static void note_kinds(
	const struct joint_space *space, const struct joint_answer *answer, struct tally *tally)
{
	bool seen[KIND_COUNT] = {false};
	int held[JOINT_ALL_TENSORS] = {0};
	for (size_t i = 0; i < answer->count; i++) {
		const struct joint_step *step = &answer->steps[i];
		seen[step->begins_bundle ? SPLIT : BUNDLED] |= i > 0;
		seen[RELAYED] |= step->kind == JOINT_RELAY;
		seen[EVICTED] |= step->kind == JOINT_EVICT;
		if (step->kind == JOINT_RELAY)
			held[step->tensor] = step->view;
		if (step->kind != JOINT_OPTION)
			continue;
		note_option(space, &space->options[step->option], held, seen);
		follow_views(&space->options[step->option], held);
	}
	for (int k = 0; k < KIND_COUNT; k++)
		tally->kinds[k] += seen[k];
}

static void draw_move(
	struct random *random, const struct joint_space *space, struct joint_step *step)
{
	*step = (struct joint_step){.kind = draw_chance(random, 2) ? JOINT_RELAY : JOINT_EVICT,
		.begins_bundle = draw_chance(random, 2),
		.tensor = (int)draw_below(random, space->tensor_count),
		.view = (int)draw_below(random, 3)};
}

/* Steps that may or may not keep the rules. */
static struct joint_answer draw_answer(
	struct random *random, const struct joint_space *space, struct joint_step *steps)
{
	struct joint_answer answer = {.steps = steps};
	for (int at = 0; at < space->op_count && answer.count < STEPS_MOST;) {
		struct joint_step *step = &steps[answer.count++];
		size_t first = space->first_option[at], count = space->first_option[at + 1] - first;
		*step = (struct joint_step){
			.begins_bundle = answer.count == 1 || draw_chance(random, 2)};
		if (at && draw_chance(random, 8)) {
			draw_move(random, space, step);
			continue;
		}
		if (!count)
			break;
		step->option = first + (size_t)draw_below(random, (int64_t)count);
		at = space->options[step->option].end;
	}
	return answer;
}

/* The best steps with a few changes. */
static struct joint_answer change_answer(struct random *random, const struct joint_space *space,
	const struct joint_answer *best, struct joint_step *steps)
{
	struct joint_answer answer = {.steps = steps};
	for (size_t i = 0; i < best->count && answer.count + 2 < STEPS_MOST; i++) {
		const struct joint_step *step = &best->steps[i];
		if (step->kind != JOINT_OPTION && draw_chance(random, 6))
			continue;
		steps[answer.count] = *step;
		steps[answer.count].begins_bundle ^= i > 0 && draw_chance(random, 8);
		if (step->kind == JOINT_RELAY && draw_chance(random, 4))
			steps[answer.count].view = (int)draw_below(random, 3);
		if (step->kind == JOINT_OPTION && draw_chance(random, 8)) {
			int at = space->options[step->option].first;
			size_t first = space->first_option[at];
			steps[answer.count].option =
				first + (size_t)draw_below(random,
						(int64_t)(space->first_option[at + 1] - first));
		}
		answer.count++;
		if (draw_chance(random, 5))
			draw_move(random, space, &steps[answer.count++]);
	}
	return answer;
}

static void try_answers(struct random *random, const struct joint_space *space,
	const struct joint_all *all, struct arena *arena, struct tally *tally)
{
	struct joint_step steps[STEPS_MOST];
	for (int i = 0; i < RANDOM_ANSWERS; i++) {
		struct joint_answer answer =
			all->found && i % 3 ? change_answer(random, space, &all->answer, steps)
					    : draw_answer(random, space, steps);
		const char *why = NULL;
		int64_t value = joint_value(space, &answer, arena, &why);
		int64_t expected = joint_all_value(space, &answer);
		if (value != expected)
			fail_msg("joint_value says %" PRId64 " (%s), the states %" PRId64, value,
				why ? why : "no fault", expected);
		tally->broken += value == JOINT_NEVER;
		tally->kept += value != JOINT_NEVER;
		assert_true(value == JOINT_NEVER || (all->found && value >= all->answer.value));
	}
}

static void check_answer(const struct joint_space *space, const struct joint_all *all,
	const struct solver *solver, const struct answer *answer, struct arena *arena)
{
	const char *why = NULL;
	bool bound = answer->status == PROOF_OPTIMAL || answer->status == PROOF_BOUND;
	if (bound && (!all->found || answer->bound > (double)all->answer.value))
		fail_msg("%s: bound %.17g; the best is %" PRId64, solver->name, answer->bound,
			all->found ? all->answer.value : -1);
	if (answer->status == PROOF_INFEASIBLE && all->found)
		fail_msg("%s: no answer; the best is %" PRId64, solver->name, all->answer.value);
	for (size_t i = 0; i < answer->candidate_count; i++) {
		const struct joint_answer *found = answer->candidates[i].joint;
		int64_t value = joint_value(space, found, arena, &why);
		if (why)
			fail_msg("%s: %s", solver->name, why);
		if (value != found->value || !all->found || value < all->answer.value)
			fail_msg("%s: says %" PRId64 ", it costs %" PRId64, solver->name,
				found->value, value);
	}
}

/* An integer program's proof is in doubles: no better than to a millionth. */
static bool is_proven(const struct solver *solver, const struct answer *answer, double best)
{
	size_t count = answer->candidate_count;
	bool in_doubles = solver->program && best > 1e6;
	return count && answer->values[count - 1] == best &&
	       (in_doubles ? answer->bound >= best * (1 - 1e-6)
			   : answer->status == PROOF_OPTIMAL && answer->bound == best);
}

/* Some rows of clones that a graph has of its own are not all in the space (search/joint/joint_options.c). */
static bool may_be_proven(const struct joint_space *space)
{
	const struct joint_graph *graph = space->graph;
	return !graph || !graph->unproven;
}

static bool stop_after(void *asks)
{
	return (*(int64_t *)asks)-- <= 0;
}

/* Stopped by a person at any time: the bound that is left holds, with a plan and without. */
static void check_stopped(struct random *random, const struct joint_space *space,
	const struct joint_all *all, const struct solver *solver, struct arena *arena,
	struct tally *tally)
{
	int64_t asks = (int64_t)random_below(random, 4);
	struct asker asker = {.jobs = 1, .stopper = {&asks, stop_after}};
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve_for(&asker, solver, &problem, 0, 1, arena);
	check_answer(space, all, solver, &answer, arena);
	tally->bounds_alone += answer.status == PROOF_BOUND && !answer.candidate_count;
	tally->bounds += answer.status == PROOF_BOUND;
}

/* To the end, and with a budget that may end it before. */
static void check_solver(struct random *random, const struct joint_space *space,
	const struct joint_all *all, const struct solver *solver, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	struct answer answer = solve(solver, &problem, 0, 1, arena);
	check_answer(space, all, solver, &answer, arena);
	if (!all->found && answer.status != PROOF_INFEASIBLE)
		fail_msg("%s: does not see that no answer exists", solver->name);
	if (all->found && !may_be_proven(space))
		assert_true(answer.status == PROOF_NONE && answer.bound <= 0);
	else if (all->found && !is_proven(solver, &answer, (double)all->answer.value))
		fail_msg("%s: the best is %" PRId64 "; it offers %.17g with bound %.17g%s%s",
			solver->name, all->answer.value,
			answer.candidate_count ? answer.values[answer.candidate_count - 1] : -1,
			answer.bound, answer.complaint_count ? ": " : "",
			answer.complaint_count ? answer.complaints[0].text : "");
	uint64_t ticks = 1 + random_below(random, answer.ticks + 1);
	answer = solve(solver, &problem, ticks, 1, arena);
	check_answer(space, all, solver, &answer, arena);
	if (all->found && !solver->program && !answer.candidate_count)
		fail_msg("%s: no answer within %" PRIu64 " ticks", solver->name, ticks);
}

/* The second program agrees: nothing is below the best, and something is below more than that.  Nor does it
 * claim more within a budget. */
static void check_bound(struct random *random, const struct joint_space *space,
	const struct joint_all *all, struct arena *arena)
{
	int64_t best = all->found ? all->answer.value : 1000;
	static const size_t entries[] = {0, 1, 10, 100};
	struct plan_bound_question question = {.space = space,
		.claim = best,
		.entries = entries[random_below(random, sizeof entries / sizeof *entries)]};
	struct plan_bound bound = plan_bound_find(&question, arena);
	if (bound.answer != VERDICT_YES || bound.bound != best)
		fail_msg("the best is %" PRId64 "; below it: %s, bound %" PRId64, best,
			bound.why ? bound.why : "something", bound.bound);
	question.budget = 1 + random_below(random, bound.states + 1);
	question.claim = best + 1 + draw_below(random, 10);
	bound = plan_bound_find(&question, arena);
	if (all->found && bound.answer == VERDICT_YES)
		fail_msg("the best is %" PRId64 "; %" PRId64 " is believed", best, question.claim);
	assert_true(!all->found || bound.bound <= best);
	question.budget = 0;
	bound = plan_bound_find(&question, arena);
	if (all->found && !space->graph &&
		(bound.answer != VERDICT_NO || bound.witness.value != best))
		fail_msg("the best is %" PRId64 "; %" PRId64 " is not refuted: %s", best,
			question.claim, bound.why ? bound.why : "another value");
}

static struct joint_all check_space(struct random *random, const struct joint_space *space,
	size_t states_most, struct arena *arena, struct tally *tally)
{
	const char *why = NULL;
	struct joint_all all = joint_all(space, states_most, arena);
	if (!all.known) {
		tally->unknown++;
		return all;
	}
	tally->found += all.found;
	tally->none += !all.found;
	if (all.found && joint_value(space, &all.answer, arena, &why) != all.answer.value)
		fail_msg("joint_value: %s; the states say %" PRId64, why ? why : "another value",
			all.answer.value);
	if (all.found)
		note_kinds(space, &all.answer, tally);
	try_answers(random, space, &all, arena, tally);
	check_bound(random, space, &all, arena);
	struct portfolio asked = portfolio_for(STAGE_JOINT, FOR_PLANS);
	for (size_t s = 0; s < asked.count; s++) {
		check_solver(random, space, &all, asked.at[s], arena);
		check_stopped(random, space, &all, asked.at[s], arena, tally);
	}
	return all;
}

static void print_tally(const struct tally *tally)
{
	print_message("%ld with an answer, %ld without, %ld too large\n", tally->found, tally->none,
		tally->unknown);
	print_message(
		"random answers: %ld keep the rules, %ld do not\n", tally->kept, tally->broken);
	assert_true(!draws_are_many(tally->found) || tally->bounds_alone);
	print_message("stopped: %ld with a bound, %ld of them without a plan\n", tally->bounds,
		tally->bounds_alone);
	for (int k = 0; k < KIND_COUNT; k++)
		print_message("%s: %ld\n", kind_names[k], tally->kinds[k]);
}

static long draws_up_to(long by_default, long most)
{
	long count = draws(by_default);
	return count < most ? count : most;
}

/* The same space, where no view can be relayed. */
static const struct joint_space *without_relays(
	const struct joint_space *space, struct arena *arena)
{
	struct joint_space *other = arena_copy(arena, space, sizeof *space);
	struct joint_tensor *tensors =
		arena_copy(arena, space->tensors, sizeof *tensors * (size_t)space->tensor_count);
	for (int t = 0; t < space->tensor_count; t++) {
		int count = tensors[t].view_count * tensors[t].view_count;
		int64_t *relay = arena_array(arena, int64_t, count);
		for (int k = 0; k < count; k++)
			relay[k] = JOINT_NEVER;
		tensors[t].relay = relay;
	}
	other->tensors = tensors;
	return other;
}

static struct joint_draw draw_size(struct random *random, int ops_most)
{
	return (struct joint_draw){.ops = 2 + (int)draw_below(random, ops_most - 1),
		.blocks = 1,
		.views = 1 + (int)draw_below(random, 3),
		.options = 2 + (int)draw_below(random, 7)};
}

/* The written program, solved by others. */
static void check_text(const struct joint_space *space, const struct joint_all *all,
	struct arena *arena, long *by_cbc)
{
	const struct solver *ilp = solver_find(STAGE_JOINT, "ilp");
	struct problem problem = {.stage = STAGE_JOINT, .joint = space};
	const char *why = NULL, *text = ilp->program(&problem, arena, &why);
	assert_non_null(text);
	struct lp_answer glpk = lp_solve(text, LP_GLPK), cbc = lp_solve(text, LP_CBC);
	double best = all->found ? (double)all->answer.value : 0;
	assert_true(glpk.known && glpk.found == all->found);
	assert_true(!all->found || fabs(glpk.value - best) < 1e-4);
	assert_true(!cbc.known || cbc.found == all->found);
	assert_true(!cbc.known || !all->found || fabs(cbc.value - best) < 1e-4);
	*by_cbc += cbc.known;
}

BARE_TEST(test_program)
{
	uint64_t seed = draws_seed(17);
	long count = draws_up_to(PROGRAM_DRAWS, 1000), found = 0, bundles = 0, by_cbc = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct joint_draw draw = draw_size(&random, 5);
		const struct joint_space *space =
			without_relays(joint_draw(&random, &draw, arena), arena);
		struct joint_all all = joint_all(space, STATES_MOST, arena);
		assert_true(all.known);
		check_solver(&random, space, &all, solver_find(STAGE_JOINT, "ilp"), arena);
		if (i % 10 == 0)
			check_text(space, &all, arena, &by_cbc);
		found += all.found;
		bundles += all.found && space->bundle_most;
		arena_close(arena);
	}
	print_message(
		"%ld with an answer, %ld of them with a limit for bundles; %ld solved by cbc\n",
		found, bundles, by_cbc);
	assert_true(!draws_are_many(count) || (bundles && found < count));
}

/* The plan of a best answer, where it can be packed. */
static bool check_plan(const struct joint_question *question, const struct joint_space *space,
	const struct joint_answer *answer, uint64_t seed, struct arena *arena)
{
	struct joint_packing packing = joint_pack(space, answer, NULL, 100000, arena);
	assert_null(packing.why);
	if (packing.status != VERDICT_YES)
		return false;
	const struct plan *plan = joint_build(space, answer, &packing, arena);
	const char *why = joint_judge(question, plan, answer->value, seed, arena);
	if (why)
		fail_msg("%s", why);
	/* The best plan of all: the floor of the workload without moves is below it, too. */
	struct plan_cost cost;
	int64_t floor =
		latency_floor(question->arch, question->workload, question->planning->cores);
	assert_true(cost_plan(plan, arena, &cost) && floor <= cost.score.cycles && floor > 0);
	return true;
}

BARE_TEST(test_graphs)
{
	static const int cores[] = {1, 2, 4};
	uint64_t seed = draws_seed(8);
	long count = draws_up_to(GRAPH_DRAWS, 2000), built = 0, unproven = 0;
	struct tally tally = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct joint_question question = joint_question_draw(&random, cores, 3, arena);
		const char *why = NULL;
		const struct joint_space *space = joint_graph_make(&question, arena, &why);
		if (!space)
			fail_msg("%s", why);
		unproven += !may_be_proven(space);
		struct joint_all all =
			check_space(&random, space, GRAPH_STATES_MOST, arena, &tally);
		if (all.found && i % 8 == 0 && space->option_count <= PROGRAM_OPTIONS) {
			const struct joint_space *other = without_relays(space, arena);
			struct joint_all best = joint_all(other, GRAPH_STATES_MOST, arena);
			check_solver(&random, other, &best, solver_find(STAGE_JOINT, "ilp"), arena);
		}
		built += all.found && check_plan(&question, space, &all.answer, seed, arena);
		arena_close(arena);
	}
	print_tally(&tally);
	print_message(
		"%ld plans executed, %ld graphs that nothing is proven of\n", built, unproven);
	assert_true(unproven <= count / 20);
	assert_true(built > count / 3 && tally.unknown <= count / 2);
	assert_true(
		!draws_are_many(count) || (built > count / 2 && tally.unknown <= 2 * count / 5));
}

BARE_TEST(test_best)
{
	uint64_t seed = draws_seed(24);
	long count = draws_up_to(DRAWS, 4000);
	struct tally tally = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct joint_draw draw = draw_size(&random, 6);
		const struct joint_space *space = joint_draw(&random, &draw, arena);
		check_space(&random, space, STATES_MOST, arena, &tally);
		check_space(&random, without_relays(space, arena), STATES_MOST, arena, &tally);
		arena_close(arena);
	}
	print_tally(&tally);
	for (int k = 0; draws_are_many(count) && k < KIND_COUNT; k++)
		assert_true(tally.kinds[k] > 0);
	assert_true(tally.unknown <= count / 20);
}
