#include "base/arena.h"
#include "base/text.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_file.h"
#include "tests/support/adversary_case.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * The estimate tracks execution.  A search by the estimate chooses a plan for a random graph on a random machine; it
 * executes in at most 1.25 times its estimate, and in at most 1.10 times for 95 % of the graphs.  No plan executes faster than its bound.  SHOW=G runs graph G alone and prints it with its plan and phases.
 */
enum {
	GRAPHS = 5,
	LABELS = 20000,
};

static const double OFTEN = 1.10, ALWAYS = 1.25, SHARE = 0.95;

struct ratios {
	long graphs, above_often, above_always, below_bound;
	double sum, most, least;
};

/* Prints a graph with its plan and, by phase, the two prices and the cycle at which it ends. */
static void show(const struct adversary_case *of, const struct plan *plan,
	const struct plan_cost *cost, const struct sim_result *result, struct arena *arena)
{
	struct text text = text_open(arena);
	plan_write(plan, &text);
	printf("%s%s%s", of->arch_yaml, of->workload_yaml, text_read(&text));
	for (int i = 0; i < cost->phase_count; i++)
		printf("steps %d to %d: bound %" PRId64 ", estimate %" PRId64 ", end at %" PRId64
		       "\n",
			cost->phases[i].first_step, cost->phases[i].end_step - 1,
			cost->phases[i].cycles, cost->phases[i].estimate,
			result->step_ends[cost->phases[i].end_step - 1]);
}

/* False if the draw has no plan. */
static bool compare(struct random *random, uint64_t seed, long graph, struct ratios *ratios)
{
	struct arena *arena = arena_open();
	struct adversary_case of;
	struct plan_cost cost;
	const char *why = NULL;
	while (!adversary_draw(random, &of, arena))
		;
	of.planning.price = PRICE_ESTIMATE;
	of.aim = (struct joint_aim){.cycles = 1, .fixed = KIND_RELAY};
	struct adversary_claim claim = adversary_ask(&of, LABELS, arena);
	const struct program *program = claim.plan ? lower_plan(claim.plan, arena, &why) : NULL;
	if (!program || !cost_plan(claim.plan, arena, &cost)) {
		arena_close(arena);
		return false;
	}
	struct sim_options options = {.mode = SIM_COUNT};
	struct sim_result result = sim_run(program, &options, arena);
	assert_true(result.finished);
	double ratio = (double)result.cycles / (double)cost.score.estimate_cycles;
	ratios->graphs++;
	ratios->sum += ratio;
	ratios->most = ratio > ratios->most ? ratio : ratios->most;
	ratios->least = ratio < ratios->least ? ratio : ratios->least;
	ratios->above_often += ratio > OFTEN;
	ratios->above_always += ratio > ALWAYS;
	ratios->below_bound += result.cycles < cost.score.cycles;
	if (ratio > OFTEN || result.cycles < cost.score.cycles) {
		print_message("SEED=%" PRIu64 ", graph %ld: executed %.3f times the estimate\n",
			seed, graph, ratio);
	}
	if (getenv("SHOW")) {
		show(&of, claim.plan, &cost, &result, arena);
	}
	arena_close(arena);
	return true;
}

TEST(test_estimates_track_execution)
{
	uint64_t seed = draws_seed(2601);
	long graphs = draws(GRAPHS), none = 0;
	struct ratios ratios = {.least = 1};
	const char *one = getenv("SHOW");
	for (long g = one ? atol(one) : 0; g < (one ? atol(one) + 1 : graphs); g++) {
		struct random random = random_open(seed, (uint64_t)g);
		none += !compare(&random, seed, g, &ratios);
	}
	print_message(
		"%ld graphs, %ld without a plan; executed over estimate: mean %.3f, %.3f to %.3f, %ld above %.2f, %ld "
		"above %.2f; %ld below the bound\n",
		ratios.graphs, none, ratios.sum / (double)ratios.graphs, ratios.least, ratios.most,
		ratios.above_often, OFTEN, ratios.above_always, ALWAYS, ratios.below_bound);
	assert_int_equal(ratios.below_bound, 0);
	assert_int_equal(ratios.above_always, 0);
	assert_true((double)ratios.above_often <= (1 - SHARE) * (double)ratios.graphs);
}

/* The number behind a key of JSON that a command printed. */
static double printed(const struct ended *ended, const char *key)
{
	const char *at = strstr(ended->out, key);
	if (ended->status || !at)
		fail_msg("no %s in '%s%s'", key, ended->out, ended->err);
	return atof(at + strlen(key));
}

/* Finds the cycles of the plan p.yaml for r.yaml on spyre32, both in the folder. */
static void find_cycles(struct arena *arena, const char *folder, double *estimate, double *executed)
{
	const char *files = arena_format(
		arena, "specs/arch/spyre32.yaml '%s/r.yaml' '%s/p.yaml'", folder, folder);
	struct ended ended = shell(arena, "\"$LXPLORE\" score %s --format json", files);
	*estimate = printed(&ended, "\"estimate_cycles\":");
	ended = shell(arena, "\"$LXPLORE\" simulate %s --format json", files);
	*executed = printed(&ended, "\"cycles\":");
}

/*
 * Maxima over so many cores, with an output tile of one row: each tile goes once round the reduce ring, one tile behind the
 * other, and the latency of its links is most of the time.
 */
static void compare_ring(struct arena *arena, const char *folder, int cores, int rows)
{
	struct ended ended = shell(arena,
		"cd '%s' && printf 'workload:\n  name: r\n  dimensions: {m: 640, n: %d}\n  ops:\n"
		"    - a[n] = max(m) x[n,m]\n' >r.yaml && printf 'plan:\n  version: 1\n  workload: r\n"
		"  architecture: spyre32\n  cores: 32\n  steps:\n"
		"  - {op: a, bundle: 0, mapping: \"core: m%d | LX: n%d\"}\n"
		"  bundles:\n  - {bundle: 0, arguments: [x, a]}\n  tensors:\n"
		"    x:\n    - {where: HBM, from: 0, to: 1}\n"
		"    a:\n    - {where: HBM, from: 0, to: 1}\n' >p.yaml",
		folder, rows, cores, rows);
	assert_int_equal(ended.status, 0);
	double estimate, executed;
	find_cycles(arena, folder, &estimate, &executed);
	if (executed > OFTEN * estimate || estimate > OFTEN * executed)
		fail_msg("%d cores, %d rows: estimate %.0f, executed %.0f", cores, rows, estimate,
			executed);
}

TEST(test_sums_of_small_tiles_wait_for_the_ring)
{
	const char *folder = shell_folder(arena);
	for (int rows = 64; rows <= 256; rows *= 2) {
		compare_ring(arena, folder, 5, rows);
		compare_ring(arena, folder, 10, rows);
	}
	shell_remove(folder);
}

/* Returns the executed cycles of exp(x) and tanh(y): two moves bring x and y for them, the moves of the first at step x_step
 * and of the second at step y_step. */
static double execute_moves(struct arena *arena, const char *folder, int x_step, int y_step)
{
	const char *first = x_step ? "y" : "x", *second = x_step ? "x" : "y";
	struct ended ended = shell(arena,
		"cd '%s' && printf 'workload:\n  name: r\n  dimensions: {m: 64, n: 1024}\n  ops:\n"
		"    - a[m,n] = exp(x[m,n])\n    - b[m,n] = tanh(y[m,n])\n' >r.yaml && printf 'plan:\n"
		"  version: 1\n  workload: r\n  architecture: spyre32\n  cores: 32\n  steps:\n"
		"  - {move: clone, tensor: %s, as: clone_%s, bundle: 0, mapping: undivided}\n"
		"  - {move: clone, tensor: %s, as: clone_%s, bundle: 0, mapping: undivided}\n"
		"  - {op: a, bundle: 0, mapping: undivided}\n  - {op: b, bundle: 0, mapping: undivided}\n"
		"  bundles:\n  - {bundle: 0, arguments: [%s, %s, a, b]}\n  tensors:\n"
		"    x:\n    - {where: HBM, from: %d, to: %d}\n"
		"    y:\n    - {where: HBM, from: %d, to: %d}\n"
		"    a:\n    - {where: HBM, from: 2, to: 3}\n    b:\n    - {where: HBM, from: 3, to: 4}\n"
		"    clone_x:\n    - {where: LX, view: \"cores 1\", address: 0, size: 131072, from: %d, to: 3}\n"
		"    clone_y:\n    - {where: LX, view: \"cores 1\", address: 131072, size: 131072, from: %d, to: 4}\n"
		"' >p.yaml",
		folder, first, first, second, second, first, second, x_step, x_step + 1, y_step,
		y_step + 1, x_step, y_step);
	assert_int_equal(ended.status, 0);
	ended = shell(arena,
		"\"$LXPLORE\" simulate specs/arch/spyre32.yaml '%s/r.yaml' '%s/p.yaml' --format json",
		folder, folder);
	return printed(&ended, "\"cycles\":");
}

TEST(test_ops_wait_only_for_moves_that_they_read)
{
	const char *folder = shell_folder(arena);
	double later = execute_moves(arena, folder, 0, 1);
	double earlier = execute_moves(arena, folder, 1, 0);
	shell_remove(folder);
	if (earlier != later)
		fail_msg("executed %.0f cycles if a move for a later op stands first, %.0f behind",
			earlier, later);
}

/* Finds the cycles of max(x), which streams x, behind a move of y to so many cores, and of exp(y): estimated and executed. */
static void price_copies(
	struct arena *arena, const char *folder, int cores, double *estimate, double *executed)
{
	struct ended ended = shell(arena,
		"cd '%s' && printf 'workload:\n  name: r\n  dimensions: {m: 64, n: 1024}\n  ops:\n"
		"    - a[m] = max(n) x[m,n]\n    - b[m,n] = exp(y[m,n])\n' >r.yaml && printf 'plan:\n"
		"  version: 1\n  workload: r\n  architecture: spyre32\n  cores: 32\n  steps:\n"
		"  - {move: clone, tensor: y, as: clone_y, bundle: 0, mapping: undivided}\n"
		"  - {op: a, bundle: 0, mapping: \"LX: m64\"}\n  - {op: b, bundle: 0, mapping: undivided}\n"
		"  bundles:\n  - {bundle: 0, arguments: [y, x, a, b]}\n  tensors:\n"
		"    x:\n    - {where: HBM, from: 1, to: 2}\n    y:\n    - {where: HBM, from: 0, to: 1}\n"
		"    a:\n    - {where: HBM, from: 1, to: 2}\n    b:\n    - {where: HBM, from: 2, to: 3}\n"
		"    clone_y:\n    - {where: LX, view: \"cores %d\", address: 0, size: 131072, "
		"from: 0, to: 3}\n' >p.yaml",
		folder, cores);
	assert_int_equal(ended.status, 0);
	find_cycles(arena, folder, estimate, executed);
}

/* A slice that cores of two lanes need comes over both. */
TEST(test_copies_come_over_the_lanes_of_all_their_cores)
{
	const char *folder = shell_folder(arena);
	double one[2], all[2];
	price_copies(arena, folder, 1, &one[0], &one[1]);
	price_copies(arena, folder, 32, &all[0], &all[1]);
	shell_remove(folder);
	if (all[0] >= one[0] || all[1] >= one[1])
		fail_msg("one core: estimate %.0f, executed %.0f; 32 cores: %.0f, %.0f", one[0],
			one[1], all[0], all[1]);
}
