#include "base/arena.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "model/graph/workload.h"
#include "search/graph/lx.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

struct bench {
	struct arena *arena;
	const struct arch *arch;
	struct planning planning;
	const struct workload *workload;
	const struct mapping *mappings;
	struct lx_plan_result result;
};

/* A graph, divided as published, everything may go to LX. */
static struct bench set_up(const char *yaml, int cores)
{
	struct arena *arena = arena_open();
	struct bench bench = {.arena = arena, .arch = spyre_arch(arena, cores)};
	bench.workload = workload_given(arena, yaml);
	bench.planning = planning_default(bench.arch);
	planning_lists("all", &bench.planning.eligible, &bench.planning.in_place);
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = bench.arch,
		.workload = bench.workload,
		.planning = &bench.planning,
		.op = -1};
	struct answer answer = solve(solver_find(STAGE_DIVIDE, "spyre"), &problem, 0, 1, arena);
	assert_int_equal(answer.candidate_count, 1);
	bench.mappings = answer.candidates[0].mappings;
	return bench;
}

static const struct plan *plan(struct bench *bench, const char *solver)
{
	bench->result = lx_plan(bench->arch, bench->workload, bench->mappings, &bench->planning,
		solver_find(STAGE_PLACE, solver), bench->arena);
	if (!bench->result.plan)
		fail_msg("%s", bench->result.why);
	return bench->result.plan;
}

static int64_t hbm_bytes(struct bench *bench, const char *solver)
{
	struct counts counts;
	assert_true(cost_counts(plan(bench, solver), bench->arena, &counts));
	return counts_total(&counts, TRAFFIC_HBM_READ) + counts_total(&counts, TRAFFIC_HBM_WRITE);
}

static void check_move(struct bench *bench, int64_t hbm, int64_t fills)
{
	struct counts counts;
	assert_true(plan_is_move(bench->result.plan, 0));
	assert_true(cost_counts(bench->result.plan, bench->arena, &counts));
	assert_int_equal(counts.steps[0].bytes[0][TRAFFIC_HBM_READ], hbm);
	assert_int_equal(counts.steps[0].bytes[0][TRAFFIC_LX_FILL], fills);
}

static const struct residency *find_stay(const struct plan *plan, const char *name)
{
	int tensor = workload_tensor(plan->workload, name);
	assert_true(tensor >= 0);
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor)
			return &plan->residencies[i];
	fail_msg("'%s' is nowhere", name);
	return NULL;
}

static void check_reason(const struct bench *bench, const char *name, const char *expected)
{
	int tensor = workload_tensor(bench->result.plan->workload, name);
	for (size_t i = 0; i < bench->result.reason_count; i++)
		if (bench->result.reasons[i].tensor == tensor) {
			assert_string_equal(bench->result.reasons[i].text, expected);
			return;
		}
	fail_msg("no reason for '%s'", name);
}

/* The published table; the stages differ in what the settings allow. */
TEST(softmax_goes_through_its_four_stages)
{
	static const char *const reductions[] = {"amax", "sum"};
	static const char *const solvers_of[] = {"greedy", "firstfit", "bestfit"};
	struct bench bench = set_up(softmax_yaml, 1);
	for (int s = 0; s < 3; s++) {
		const char *solver = solvers_of[s];
		planning_lists("published", &bench.planning.eligible, &bench.planning.in_place);
		struct name_list in_place = bench.planning.in_place;
		bench.planning.lx_planning = false;
		assert_int_equal(hbm_bytes(&bench, solver), 8396800);
		bench.planning.lx_planning = true;
		bench.planning.clones = CLONE_OFF;
		struct name_list eligible = bench.planning.eligible;
		bench.planning.eligible = (struct name_list){2, reductions, false};
		assert_int_equal(hbm_bytes(&bench, solver), 8388608);
		bench.planning.eligible = eligible;
		assert_int_equal(hbm_bytes(&bench, solver), 3145728);
		bench.planning.in_place = (struct name_list){0};
		assert_int_equal(hbm_bytes(&bench, solver), 6291456);
		bench.planning.in_place = in_place;
		bench.planning.clones = CLONE_READERS;
		assert_int_equal(hbm_bytes(&bench, solver), 2097152);
		bench.planning.clones = CLONE_NONE;
		assert_int_equal(hbm_bytes(&bench, solver), 2097152);
	}
	arena_close(bench.arena);
}

TEST(exp_lies_on_what_it_reads)
{
	struct bench bench = set_up(softmax_yaml, 1);
	const struct plan *made = plan(&bench, "greedy");
	const struct residency *s = find_stay(made, "s"), *e = find_stay(made, "e");
	assert_int_equal(s->place, PLACE_LX);
	assert_int_equal(s->address, e->address);
	assert_int_equal(e->in_place_of, s->tensor);
	assert_int_equal(s->to, e->from + 1);
	assert_int_equal(find_stay(made, "y")->place, PLACE_HBM);
	check_reason(&bench, "y", "it is a graph output");
	check_reason(&bench, "x", "it is a graph input; its clone takes its place");
	assert_string_equal(made->proof.method, "place/greedy");
	arena_close(bench.arena);
}

TEST(four_megabytes_fit_on_four_cores_and_not_on_one)
{
	static const char big[] = "workload:\n"
				  " dimensions: {m: 1024, n: 2048}\n"
				  " ops:\n"
				  " - mx[m] = max(n) x[m,n]\n"
				  " - s[m,n] = x[m,n] - mx[m]\n"
				  " - e[m,n] = exp(s[m,n])\n"
				  " - d[m] = sum(n) e[m,n]\n"
				  " - y[m,n] = e[m,n] / d[m]\n";
	struct bench four = set_up(big, 4), one = set_up(big, 1);
	const struct plan *made = plan(&four, "greedy");
	assert_int_equal(find_stay(made, "s")->place, PLACE_LX);
	assert_int_equal(find_stay(made, "s")->size, 1048576);
	assert_int_equal(find_stay(made, "s")->view.cores, 4);
	made = plan(&one, "greedy");
	assert_int_equal(find_stay(made, "s")->place, PLACE_HBM);
	check_reason(
		&one, "s", "its 4194304 bytes per core (32768 sticks) exceed the 1677721 of LX");
	check_reason(&one, "x",
		"it is a graph input, not cloned: 4194304 bytes per core exceed the 1677721 left "
		"for clones");
	arena_close(four.arena);
	arena_close(one.arena);
}

TEST(unlike_divisions_keep_a_tensor_out_and_are_named)
{
	struct bench bench = set_up(softmax_yaml, 4);
	plan(&bench, "greedy");
	check_reason(
		&bench, "e", "mismatch: 'e' writes it m/4 on 4 cores, 'd' reads it n/4 on 4 cores");
	check_reason(&bench, "mx",
		"mismatch: 'mx' writes it n/4 on 4 cores, 's' reads it m/4 on 4 cores");
	check_reason(&bench, "x",
		"it is a graph input, not cloned: mismatch: 'mx' reads it n/4 on 4 cores, 's' "
		"reads it m/4 on 4 cores");
	arena_close(bench.arena);
}

/* No other core can read a tensor that one core has written; the published count takes it for
 * shared. */
TEST(a_single_owner_is_no_broadcast)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 512, n: 64}\n"
				    " ops:\n"
				    " - b[n] = exp(a[n])\n"
				    " - c[m,n] = relu(x[m,n])\n"
				    " - y[m,n] = c[m,n] + b[n]\n";
	struct bench bench = set_up(graph, 32);
	const struct plan *made = plan(&bench, "greedy");
	struct users users = users_make(bench.arena, made->workload);
	struct lx_uses uses = lx_uses(bench.arch, made->workload, &users, bench.mappings,
		workload_tensor(made->workload, "b"), bench.arena);
	assert_int_equal(lx_core_count(&uses, 32), 32);
	assert_int_equal(find_stay(made, "c")->place, PLACE_LX);
	assert_int_equal(find_stay(made, "b")->place, PLACE_HBM);
	check_reason(&bench, "b",
		"mismatch: 'b' writes it whole on 1 core, 'y' reads it m/32 on 32 cores");
	arena_close(bench.arena);
}

TEST(a_clone_reaches_every_reader_of_a_broadcast)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 512, n: 64}\n"
				    " ops:\n"
				    " - c[m,n] = x[m,n] + b[n]\n"
				    " - y[m,n] = c[m,n] * b[n]\n";
	struct bench bench = set_up(graph, 32);
	const struct plan *made = plan(&bench, "bestfit");
	const struct residency *clone = find_stay(made, "clone_b");
	assert_int_equal(clone->place, PLACE_LX);
	assert_int_equal(clone->view.cores, 32);
	assert_int_equal(clone->view.part_count, 0);
	assert_int_equal(clone->size, 128);
	check_move(&bench, 128, 32 * 128);
	bench.planning.clones = CLONE_NONE;
	made = plan(&bench, "bestfit");
	assert_int_equal(find_stay(made, "clone_b")->place, PLACE_HBM);
	arena_close(bench.arena);
}

/* Readers of a product divide rows and columns: the slices of a weight lie on cores far apart. */
TEST(a_clone_is_laid_out_as_its_readers_are_divided)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 64, k: 64, n: 256}\n"
				    " ops:\n"
				    " - c[m,n] = sum(k) x[m,k] * w[k,n]\n"
				    " - y[m,n] = sum(k) z[m,k] * w[k,n]\n";
	struct bench bench = set_up(graph, 32);
	struct mapping *mappings = arena_array(bench.arena, struct mapping, 2);
	for (int o = 0; o < 2; o++)
		assert_null(mapping_parse(bench.arena, bench.arch, &bench.workload->ops[o],
			"core: m8 n4", &mappings[o]));
	bench.mappings = mappings;
	const struct plan *made = plan(&bench, "greedy");
	const struct residency *clone = find_stay(made, "clone_w");
	assert_int_equal(clone->place, PLACE_LX);
	assert_string_equal(view_print(bench.arena, &clone->view), "cores 32: dim 0 / 4 by 8");
	assert_int_equal(clone->size, 64 * 128);
	assert_int_equal(mapping_cores(bench.arch, &made->steps[0].mapping), 4);
	check_move(&bench, 4 * 64 * 128, 32 * 64 * 128);
	arena_close(bench.arena);
}

TEST(clones_share_one_budget_first_come_first_served)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 512, n: 1024}\n"
				    " ops:\n"
				    " - a[m,n] = v[m,n] + u[m,n]\n"
				    " - y[m,n] = a[m,n] * u[m,n]\n"
				    " - z[m,n] = y[m,n] - v[m,n]\n";
	struct bench bench = set_up(graph, 1);
	const struct plan *made = plan(&bench, "greedy");
	assert_int_equal(made->step_count, 4);
	assert_int_equal(find_stay(made, "clone_v")->size, 1048576);
	check_reason(&bench, "u",
		"it is a graph input, not cloned: 1048576 bytes per core exceed the 629145 left "
		"for clones");
	arena_close(bench.arena);
}

TEST(nothing_stays_in_lx_across_an_opaque_op)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 64, n: 64}\n"
				    " ops:\n"
				    " - a[m,n] = exp(x[m,n])\n"
				    " - b[m,n] = exp(a[m,n])\n"
				    " - c[m,n] = relu(b[m,n])\n"
				    " - {opaque: sort, reads: [c], writes: [\"z[m,n]\"]}\n"
				    " - d[m,n] = z[m,n] + b[m,n]\n"
				    " - y[m,n] = exp(d[m,n])\n";
	struct bench bench = set_up(graph, 4);
	const struct plan *made = plan(&bench, "greedy");
	assert_int_equal(find_stay(made, "a")->place, PLACE_LX);
	assert_int_equal(find_stay(made, "d")->place, PLACE_LX);
	check_reason(&bench, "b", "it lives across the opaque op 'z'");
	check_reason(&bench, "c", "the opaque op 'z' uses it");
	check_reason(&bench, "z", "the opaque op 'z' writes it");
	assert_int_equal(made->steps[3].bundle, made->steps[0].bundle);
	assert_int_equal(made->steps[4].bundle, made->steps[0].bundle + 1);
	arena_close(bench.arena);
}

/* x^T is read at [n,m] where y is written at [m,n]: taking over its bytes would lose some. */
TEST(in_place_only_where_reads_and_writes_meet)
{
	static const char graph[] = "workload:\n"
				    " dimensions: {m: 128, n: 128}\n"
				    " ops:\n"
				    " - a[m,n] = exp(x[m,n])\n"
				    " - b[m,n] = relu(a[m,n])\n"
				    " - {op: \"t[n,m] = restickify b[m,n]\", name: turn}\n"
				    " - y[m,n] = exp(t[m,n])\n";
	struct bench bench = set_up(graph, 1);
	const struct plan *made = plan(&bench, "greedy");
	assert_int_equal(find_stay(made, "b")->in_place_of, find_stay(made, "a")->tensor);
	const struct residency *t = find_stay(made, "t");
	assert_int_equal(t->place, PLACE_LX);
	assert_int_equal(t->in_place_of, -1);
	assert_true(t->address != find_stay(made, "b")->address);
	arena_close(bench.arena);
}

TEST(a_bundle_has_six_tensors_in_hbm_at_most)
{
	struct bench bench = set_up(softmax_yaml, 1);
	bench.planning.lx_planning = false;
	const struct plan *made = plan(&bench, "greedy");
	const int all_in_hbm[] = {0, 0, 0, 0, 0}; /* x mx s e d y are six */
	for (int i = 0; i < made->step_count; i++)
		assert_int_equal(made->steps[i].bundle, all_in_hbm[i]);
	struct arch narrow = *bench.arch;
	narrow.bundle_tensors = 3;
	bench.arch = &narrow;
	made = plan(&bench, "greedy");
	const int three_each[] = {0, 0, 1, 1, 2}; /* x mx s | s e d | e d y */
	for (int i = 0; i < made->step_count; i++)
		assert_int_equal(made->steps[i].bundle, three_each[i]);
	bench.planning.lx_planning = true;
	made = plan(&bench, "greedy");
	assert_int_equal(made->step_count, 6);
	for (int i = 0; i < made->step_count; i++)
		assert_int_equal(made->steps[i].bundle, 0);
	arena_close(bench.arena);
}

TEST(a_mapping_that_cannot_be_carried_out_is_refused)
{
	struct bench bench = set_up(softmax_yaml, 4);
	struct mapping *mappings = arena_copy(
		bench.arena, bench.mappings, bench.workload->op_count * sizeof *mappings);
	mappings[1].rows[bench.arch->core].spatial[0] = 3;
	bench.result = lx_plan(bench.arch, bench.workload, mappings, &bench.planning,
		solver_find(STAGE_PLACE, "greedy"), bench.arena);
	assert_null(bench.result.plan);
	assert_memory_equal(bench.result.why, "'s': ", 5);
	arena_close(bench.arena);
}

TEST(a_clone_takes_over_the_readers_behind_it)
{
	struct bench bench = set_up(softmax_yaml, 1);
	int x = workload_tensor(bench.workload, "x");
	const struct workload *with = workload_with_clone(bench.arena, bench.workload, x, 1);
	const struct workload *twice = workload_with_clone(bench.arena, with, x, 0);
	assert_int_equal(with->op_count, 6);
	int clone = (int)with->tensor_count - 1;
	assert_string_equal(with->tensors[clone].name, "clone_x");
	assert_int_equal(with->tensors[clone].producer, 1);
	assert_int_equal(with->ops[0].reads[0].tensor, x);
	assert_int_equal(with->ops[1].reads[0].tensor, x);
	assert_int_equal(with->ops[2].reads[0].tensor, clone);
	assert_int_equal(with->tensors[workload_tensor(with, "y")].producer, 5);
	assert_int_equal(bench.workload->ops[1].reads[0].tensor, x);
	assert_string_equal(twice->ops[0].name, "clone_x_2");
	assert_int_equal(twice->tensors[clone].producer, 2);
	arena_close(bench.arena);
}

static void stay_silent(struct run *run, const struct problem *problem)
{
	run_complain(run, true, -1, "too many buffers for me: %zu", problem->packing->count);
}

TEST(without_an_answer_everything_stays_in_hbm)
{
	static const struct solver silent = {
		.stage = STAGE_PLACE, .name = "silent", .run = stay_silent};
	struct bench bench = set_up(softmax_yaml, 1);
	bench.result = lx_plan(
		bench.arch, bench.workload, bench.mappings, &bench.planning, &silent, bench.arena);
	assert_non_null(bench.result.plan);
	for (int i = 0; i < bench.result.plan->residency_count; i++)
		assert_int_equal(bench.result.plan->residencies[i].place, PLACE_HBM);
	check_reason(&bench, "mx", "too many buffers for me: 5");
	arena_close(bench.arena);
}
