#include "base/arena.h"
#include "base/diag.h"
#include "search/claim/plan_claim.h"
#include "tests/support/adversary_case.h"
#include "tests/support/arch_text.h"
#include "tests/support/draws.h"
#include "tests/support/joint_judged.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * Joint spaces of random graphs lack no step of the language of plans, which is enumerated by itself
 * (search/language/language.h); spaces that lack an option, have it dearer, or lose a view's evict do.
 * STEPS= the steps of each op that are looked at.
 */
enum { GRAPHS = 14, STEPS = 400, HARMS = 2 };

static const int cores[] = {1, 2, 4, 8};

struct tally {
	long graphs, all, harmed, caught;
	uint64_t steps, runs, prices;
};

static struct joint_question draw_question(
	struct random *random, long number, struct adversary_case *of, struct arena *arena)
{
	if (number % 2)
		return joint_question_draw(random, cores, 4, arena);
	while (!adversary_draw(random, of, arena))
		;
	return (struct joint_question){.arch = of->arch,
		.workload = of->workload,
		.planning = &of->planning,
		.aim = of->aim};
}

static struct plan_complete complete(const struct joint_space *space, struct arena *arena)
{
	const char *given = getenv("STEPS");
	struct plan_complete_question asked = {
		.space = space, .steps = given ? (uint64_t)atoll(given) : STEPS};
	return plan_complete_check(&asked, arena);
}

/* The space with one option less, or with a dearer one. */
static const struct joint_space *harm(
	struct random *random, const struct joint_space *space, struct arena *arena)
{
	struct joint_space *other = arena_copy(arena, space, sizeof *space);
	struct joint_option *options =
		arena_copy(arena, space->options, space->option_count * sizeof *options);
	size_t *first = arena_copy(
		arena, space->first_option, ((size_t)space->op_count + 1) * sizeof *first);
	size_t harmed = (size_t)draw_below(random, (int64_t)space->option_count);
	other->options = options;
	other->first_option = first;
	if (draw_chance(random, 2)) {
		options[harmed].value += 1 + options[harmed].value / 2;
		return other;
	}
	other->option_count--;
	for (size_t o = harmed; o < other->option_count; o++)
		options[o] = options[o + 1];
	for (int op = 0; op <= space->op_count; op++)
		first[op] -= first[op] > harmed;
	return other;
}

static void compare(uint64_t seed, long number, struct tally *tally)
{
	struct arena *arena = arena_open();
	struct random random = random_open(seed, (uint64_t)number);
	struct adversary_case of = {0};
	struct joint_question question = draw_question(&random, number, &of, arena);
	const char *why = NULL;
	const struct joint_space *space = joint_graph_make(&question, arena, &why);
	if (space) {
		struct plan_complete found = complete(space, arena);
		if (found.why)
			fail_msg("SEED=%" PRIu64 ", graph %ld: %s\n%s%s", seed, number, found.why,
				of.arch_yaml ? of.arch_yaml : "",
				of.workload_yaml ? of.workload_yaml : "");
		tally->graphs++;
		tally->all += found.all;
		tally->steps += found.steps;
		tally->runs += found.runs;
		tally->prices += found.prices;
		for (int i = 0; i < HARMS; i++, tally->harmed++)
			tally->caught += complete(harm(&random, space, arena), arena).why != NULL;
	}
	arena_close(arena);
}

TEST(spaces_are_complete)
{
	uint64_t seed = draws_seed(35);
	long count = draws(GRAPHS);
	struct tally tally = {0};
	for (long i = 0; i < count; i++)
		compare(seed, i, &tally);
	print_message("%ld graphs, all steps of %ld; %" PRIu64 " steps, %" PRIu64 " runs, %" PRIu64
		      " prices; %ld of %ld harmed spaces are caught\n",
		tally.graphs, tally.all, tally.steps, tally.runs, tally.prices, tally.caught,
		tally.harmed);
	assert_true(!draws_are_many(count) || tally.caught > tally.harmed / 3);
}

/* --- kinds of options that a space was without once, its proofs not naming them */

typedef bool is_kept(const struct joint_graph *graph, const struct joint_option *option);

static bool without_runs(const struct joint_graph *graph, const struct joint_option *option)
{
	return !((const struct joint_choice *)option->choice)->run;
}

static bool without_narrow_runs(const struct joint_graph *graph, const struct joint_option *option)
{
	return without_runs(graph, option) || option->cores == graph->question.planning->cores;
}

static bool without_moves(const struct joint_graph *graph, const struct joint_option *option)
{
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode == JOINT_MOVED)
			return false;
	return true;
}

/* True if the op reads all that the option uses. */
static bool without_early_moves(const struct joint_graph *graph, const struct joint_option *option)
{
	return option->use_count <= graph->question.workload->ops[option->first].read_count;
}

/* True if nothing is moved such that several cores have the same of it. */
static bool without_shared_views(const struct joint_graph *graph, const struct joint_option *option)
{
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		int64_t slices = 1;
		if (use->mode != JOINT_MOVED)
			continue;
		const struct view *view = &graph->views[use->tensor][use->view];
		for (int i = 0; i < view->part_count; i++)
			slices *= view->parts[i].split;
		if (slices < view->cores)
			return false;
	}
	return true;
}

static bool without_stays(const struct joint_graph *graph, const struct joint_option *option)
{
	const struct tensor *tensors = graph->question.workload->tensors;
	for (int k = 0; k < option->out_count; k++)
		if (option->outs[k].view >= 0 &&
			tensors[option->outs[k].tensor].role == TENSOR_OUTPUT)
			return false;
	return true;
}

static const struct {
	const char *arch, *workload, *lacks;
	is_kept *
		is_kept; /* NULL: all options are dearer by a 64th, as of tiles that are not the best */
} narrow[] = {
	{"spyre32",
		"dimensions: {m: 20480, n: 1024}, ops: [\"a[m,n] = exp(x[m,n])\", \"b[m,n] = tanh(a[m,n])\", "
		"\"y[m,n] = a[m,n] * b[m,n]\"]",
		"lacks a run", without_runs},
	{"spyre32_published",
		"dimensions: {m: 20480, n: 128}, ops: [\"a[m,n] = exp(x[m,n])\", \"b[m,n] = tanh(a[m,n])\", "
		"\"y[m,n] = a[m,n] * b[m,n]\"]",
		"lacks a run", without_narrow_runs},
	{"spyre32",
		"dimensions: {m: 1024, n: 1024, k: 1024}, ops: [\"t[m,n] = sum(k) x[m,k] * w[k,n]\"]",
		"moved into LX under", without_moves},
	{"spyre32",
		"dimensions: {m: 512, n: 1024}, ops: [\"y[m,n] = relu(a[m,n])\", "
		"\"z[m,n] = y[m,n] * b[m,n]\"]",
		"moved into LX for later ops", without_early_moves},
	{"spyre32",
		"dimensions: {m: 512, n: 1024}, ops: [\"a[n] = sum(m) x[m,n]\", \"b[m] = sum(n) x[m,n]\"]",
		"'x' moved into LX under", without_shared_views},
	{"spyre32",
		"dimensions: {m: 1024, n: 512}, outputs: [y, z], ops: [\"y[m,n] = relu(x[m,n])\", "
		"\"z[m,n] = exp(y[m,n])\"]",
		"its output in LX", without_stays},
	{"spyre32",
		"dimensions: {m: 1024, n: 1024, k: 1024}, ops: [\"t[m,n] = sum(k) x[m,k] * w[k,n]\"]",
		"has a step for no less than", NULL},
};

static const struct joint_space *narrowed(
	const struct joint_space *space, is_kept *keeps, struct arena *arena)
{
	struct joint_space *other = arena_copy(arena, space, sizeof *space);
	struct joint_option *options = arena_array(arena, struct joint_option, space->option_count);
	size_t *first = arena_array(arena, size_t, space->op_count + 1);
	other->option_count = 0;
	for (int op = 0; op < space->op_count; op++) {
		for (size_t o = space->first_option[op]; o < space->first_option[op + 1]; o++) {
			if (keeps && !keeps(space->graph, &space->options[o]))
				continue;
			options[other->option_count] = space->options[o];
			if (!keeps)
				options[other->option_count].value += space->options[o].value / 64;
			other->option_count++;
		}
		first[op + 1] = other->option_count;
	}
	other->options = options;
	other->first_option = first;
	return other;
}

TEST(narrow_spaces_are_found)
{
	for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
		const struct arch *arch = arch_of_file(arena,
			arena_format(arena, "specs/arch/%s.yaml", narrow[i].arch),
			diag_open(arena));
		struct planning planning = planning_default(arch);
		const char *why = NULL, *yaml = arena_format(arena, "workload: {name: w, %s}\n",
						narrow[i].workload);
		struct joint_question question = {.arch = planning_arch(arena, arch, &planning),
			.workload = workload_of_text(arena, yaml, NULL),
			.planning = &planning,
			.aim = {.cycles = 1, .fixed = KIND_RELAY}};
		const struct joint_space *space = joint_graph_make(&question, arena, &why);
		assert_non_null(space);
		const char *found = complete(space, arena).why;
		if (found)
			fail_msg("%s: %s", yaml, found);
		found = complete(narrowed(space, narrow[i].is_kept, arena), arena).why;
		if (!found || !strstr(found, narrow[i].lacks))
			fail_msg("%s: not '%s', but: %s", yaml, narrow[i].lacks,
				found ? found : "nothing");
	}
}
