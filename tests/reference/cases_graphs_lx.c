#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "cost/graph/cost.h"
#include "lower/graph/lower.h"
#include "search/graph/lx.h"
#include "search/graph/stream.h"
#include "sim/graph/sim.h"
#include "solvers/divide/two_pass.h"
#include "solvers/joint/dimflip.h"
#include "tests/support/case_graph.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"
#include "tests/support/published.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Family division-and-lx: graphs.json, whole graphs from division to HBM bytes.
 * A case that the published code ends with an assertion is held to its twin,
 * the same case with the corrected co-optimizer, if there is one; else to its
 * recorded division and a legal plan, executed.
 */
struct graph {
	const json_t *test;
	struct arena *arena;
	const struct arch *arch;
	struct planning planning;
	const struct workload *workload;
	const struct solver *place;
	const struct mapping *seed, *division;
	struct lx_layout layout;
	struct lx_plan_result result;
};

/* A list of op types, or "ALL". */
static struct name_list read_names(struct arena *arena, const json_t *names)
{
	struct name_list list = {.all = json_is_string(names)};
	const char **at = arena_array(arena, const char *, json_array_size(names) + 1);
	const json_t *name;
	json_array_foreach(names, list.count, name)
		at[list.count] = json_is_string(name) ? json_string_value(name) : "";
	list.names = at;
	return list;
}

static const struct mapping *ask(struct graph *graph, enum stage stage, const char *name)
{
	struct problem problem = {.stage = stage,
		.arch = graph->arch,
		.workload = graph->workload,
		.planning = &graph->planning,
		.op = -1,
		.division = graph->seed,
		.place = graph->place};
	struct answer answer = solve(solver_find(stage, name), &problem, 0, 1, graph->arena);
	if (!answer.candidate_count)
		BUG("%s offers nothing", name);
	return answer.candidates[answer.candidate_count - 1].mappings;
}

/* With room for the capacity of the case beside the reserve. */
static const struct arch *make_arch(struct arena *arena, const json_t *test)
{
	struct arch *arch = arena_new(arena, struct arch);
	int64_t cores = number_max(case_integer_or(test, "cores", PLANNING_CORES_MOST), 1);
	*arch = *spyre_arch(arena, (int)number_min(cores, PLANNING_CORES_MOST));
	struct level *lx = &arch->levels[arch->lx];
	lx->storage.capacity = number_max(
		lx->storage.capacity, case_integer(test, "lx_capacity") + lx->storage.reserve);
	return arch;
}

static void set_planning(struct graph *graph, const json_t *test)
{
	graph->planning = planning_default(graph->arch);
	graph->planning.k_fast = json_is_true(json_object_get(test, "k_fast_enabled"));
	graph->planning.strict = false;
	graph->planning.lx_planning = true;
	graph->planning.clones =
		json_is_true(json_object_get(test, "clone_enabled")) ? CLONE_NONE : CLONE_OFF;
	graph->planning.eligible = read_names(graph->arena, json_object_get(test, "eligible_ops"));
	graph->planning.in_place = read_names(graph->arena, json_object_get(test, "inplace_ops"));
	graph->planning.lx_capacity =
		case_integer_or(test, "lx_capacity", graph->planning.lx_capacity);
	graph->planning.span_limit = INT64_C(256) << 20;
}

/* NULL, or what keeps the case from being run. */
static const char *run_case(struct graph *graph, const json_t *test, struct arena *arena)
{
	const char *why, *solver = json_string_value(json_object_get(test, "solver"));
	*graph = (struct graph){.test = test, .arena = arena};
	graph->workload = case_graph(arena, json_object_get(test, "buffers"),
		json_object_get(test, "ops"), json_object_get(test, "graph_outputs"), &why);
	graph->place = solver ? solver_find(STAGE_PLACE, solver) : NULL;
	if (!graph->workload || !graph->place)
		return graph->workload ? "no such solver" : why;
	graph->arch = make_arch(arena, test);
	set_planning(graph, test);
	graph->seed = graph->division = ask(graph, STAGE_DIVIDE, "spyre");
	if (json_is_true(json_object_get(test, "co_optimize")))
		graph->division = ask(graph, STAGE_JOINT, "dimflip");
	graph->layout = lx_layout(graph->arch, graph->workload, graph->division, &graph->planning,
		graph->place, arena);
	graph->result = lx_plan(graph->arch, graph->workload, graph->division, &graph->planning,
		graph->place, arena);
	return graph->result.why;
}

/* {op: {loop: split}}, null for an op on one core. */
static json_t *splits_json(
	const struct graph *graph, const struct workload *workload, const struct mapping *mappings)
{
	json_t *object = json_object();
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		json_t *splits = json_null();
		if (mapping_cores(graph->arch, &mappings[o]) > 1) {
			splits = json_object();
			for (int l = 0; l < op->loop_count; l++)
				json_object_set_new(splits, op->loops[l].name,
					json_integer(mapping_split(graph->arch, &mappings[o], l)));
		}
		json_object_set_new(object, op->name, splits);
	}
	return object;
}

/* The published pipeline writes null or all ones for an op on one core; here null. */
static json_t *without_ones(const json_t *splits)
{
	json_t *copy = json_deep_copy(splits);
	const char *name;
	json_t *value;
	void *next;
	json_object_foreach_safe(copy, next, name, value) {
		int64_t cores = 1;
		const char *loop;
		const json_t *split;
		json_object_foreach(value, loop, split)
			cores *= json_integer_value(split);
		if (cores == 1)
			json_object_set_new(copy, name, json_null());
	}
	return copy;
}

static json_t *k_fast_json(const struct graph *graph)
{
	json_t *list = json_array();
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct op *op = &graph->workload->ops[o];
		const char *why;
		const struct iteration *iteration =
			iteration_make(graph->arena, graph->workload, op, &why);
		if (iteration &&
			two_pass_divide(graph->arena, iteration, graph->planning.span_limit,
				graph->planning.cores, graph->planning.k_fast)
				.k_fast)
			json_array_append_new(list, json_string(op->name));
	}
	return list;
}

static json_t *keyed_json(const struct keyed_split *list, int count)
{
	json_t *object = json_object();
	for (int i = 0; i < count; i++) {
		char key[32];
		snprintf(key, sizeof key, "%" PRId64, list[i].coefficient);
		json_object_set_new(object, key, json_integer(list[i].split));
	}
	return object;
}

static json_t *keyed_pair(const struct graph *graph, const struct op *op, const struct mapping *m)
{
	int64_t splits[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++)
		splits[l] = mapping_split(graph->arch, m, l);
	struct keyed_splits keyed = keyed_encode(op->loop_count, op->writes[0].linear.coefficient,
		op->reads[0].linear.coefficient, splits);
	return json_pack("[o, o]", keyed_json(keyed.output, keyed.output_count),
		keyed_json(keyed.reduction, keyed.reduction_count));
}

/* {op: [output, reduction]}, by coefficients; null for an op on one core. */
static json_t *seed_json(const struct graph *graph)
{
	json_t *object = json_object();
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct op *op = &graph->workload->ops[o];
		bool divided = mapping_cores(graph->arch, &graph->seed[o]) > 1;
		json_object_set_new(object, op->name,
			divided ? keyed_pair(graph, op, &graph->seed[o]) : json_null());
	}
	return object;
}

/* {op: [variants, by coefficients]} */
static json_t *options_json(const struct graph *graph)
{
	json_t *object = json_object();
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct op *op = &graph->workload->ops[o];
		struct flips flips = flips_find(graph->arch, graph->workload, op, &graph->seed[o]);
		json_t *list = json_array();
		for (int f = 0; f < flips.count; f++)
			json_array_append_new(list, keyed_pair(graph, op, &flips.at[f]));
		json_object_set_new(object, op->name, list);
	}
	return object;
}

/* Does every split by a coefficient of the output divide its loop's units? */
static bool fits_units(const struct graph *graph, const struct op *op, const json_t *variant)
{
	for (int l = 0; l < op->loop_count; l++) {
		char key[32];
		snprintf(key, sizeof key, "%" PRId64, op->writes[0].linear.coefficient[l]);
		int64_t split = case_integer_or(json_array_get(variant, 0), key, 1);
		if (split < 1 || op_units(graph->workload, op, l) % split)
			return false;
	}
	return true;
}

/* Without the variants that cut sticks, on which the published code may stop or not. */
static json_t *without_cut_sticks(const struct graph *graph, const json_t *options)
{
	json_t *copy = json_deep_copy(options);
	for (size_t o = 0; o < graph->workload->op_count; o++) {
		const struct op *op = &graph->workload->ops[o];
		json_t *list = json_object_get(copy, op->name);
		for (size_t i = json_array_size(list); i-- > 0;)
			if (!fits_units(graph, op, json_array_get(list, i)))
				json_array_remove(list, i);
	}
	return copy;
}

/* Core counts, views and lifetimes of all tensors that are used. */
static void check_tensors(struct family *family, const struct graph *graph, const json_t *expect)
{
	const struct workload *workload = graph->layout.graph.workload;
	const struct users *users = &graph->layout.graph.users;
	const json_t *published = json_object_get(expect, "per_core_views");
	json_t *cores = json_object(), *views = json_object(), *lives = json_object();
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		const char *name = workload->tensors[t].name;
		struct lx_uses uses = lx_uses(graph->arch, workload, users,
			graph->layout.graph.mappings, t, graph->arena);
		json_object_set_new(
			cores, name, json_integer(lx_core_count(&uses, graph->planning.cores)));
		json_object_set_new(views, name,
			views_json(&graph->layout, &uses, json_object_get(published, name)));
		int from, to;
		users_life(users, t, &from, &to);
		json_object_set_new(lives, name, json_pack("[i, i]", from, to));
	}
	family_expect(family, "cores", json_object_get(expect, "ncores_or_minus1_mismatch"), cores);
	family_expect(family, "views", published, views);
	family_expect(family, "liveness", json_object_get(expect, "liveness"), lives);
}

static void check_ops(struct family *family, const struct graph *graph, const json_t *expect)
{
	const struct workload *workload = graph->layout.graph.workload;
	json_t *order = json_array(), *clones = json_array();
	for (size_t o = 0; o < workload->op_count; o++)
		json_array_append_new(order, json_string(workload->ops[o].name));
	/* in the order of their inputs, which is that of the tensors they write */
	for (size_t t = 0; t < workload->tensor_count; t++) {
		int producer = workload->tensors[t].producer;
		if (producer >= 0 && workload->ops[producer].move)
			json_array_append_new(clones, json_string(workload->tensors[t].name));
	}
	family_expect(family, "clones", json_object_get(expect, "inserted_clones"), clones);
	family_expect(family, "order", json_object_get(expect, "final_op_order"), order);
	json_t *published = without_ones(json_object_get(expect, "final_splits"));
	family_expect(family, "splits", published,
		splits_json(graph, workload, graph->layout.graph.mappings));
	json_decref(published);
}

static void check_placement(struct family *family, const struct graph *graph, const json_t *expect)
{
	const struct packing *packing = &graph->layout.buffers.packing;
	json_t *input = json_array(), *pinned = json_object();
	for (size_t b = 0; b < packing->count; b++) {
		const struct buffer *buffer = &packing->buffers[b];
		json_t *parents = json_array();
		for (size_t k = 0; k < buffer->parent_count; k++)
			json_array_append_new(
				parents, json_string(packing->buffers[buffer->parents[k]].name));
		json_array_append_new(input,
			json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", buffer->name, "size",
				(json_int_t)buffer->size, "start", (json_int_t)buffer->start, "end",
				(json_int_t)buffer->end, "in_place_parents", parents));
		if (graph->layout.placement->addresses[b] != UNPLACED)
			json_object_set_new(pinned, buffer->name,
				json_integer(graph->layout.placement->addresses[b]));
	}
	family_expect(family, "solver input", json_object_get(expect, "solver_input"), input);
	if (published_overlaps(&graph->layout, json_object_get(expect, "pinned")))
		json_decref(pinned);
	else
		family_expect(family, "pinned", json_object_get(expect, "pinned"), pinned);
}

/* Bytes that a step moves between HBM and LX, by the analytical model. */
static int64_t step_bytes(
	const struct counts *counts, const struct plan *plan, int step, enum traffic traffic)
{
	int64_t bytes = 0;
	for (int i = 0; i < op_operands(&plan->workload->ops[plan->steps[step].op]); i++)
		bytes += counts->steps[step].bytes[i][traffic];
	return bytes;
}

static struct counts count(const struct graph *graph, const struct plan *plan)
{
	struct counts counts;
	if (!cost_counts(plan, graph->arena, &counts))
		BUG("a count too large");
	return counts;
}

static int64_t hbm_bytes(const struct counts *counts)
{
	return counts_total(counts, TRAFFIC_HBM_READ) + counts_total(counts, TRAFFIC_HBM_WRITE);
}

static void check_bytes(struct family *family, struct graph *graph, const json_t *expect)
{
	const struct plan *plan = graph->result.plan;
	struct counts counts = count(graph, plan);
	json_t *traffic = json_array();
	int64_t unpinned = 0;
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		json_array_append_new(traffic,
			json_pack("{s:s, s:s, s:I, s:I}", "op", op->type, "out", op->name, "read",
				(json_int_t)step_bytes(&counts, plan, step, TRAFFIC_HBM_READ),
				"write",
				(json_int_t)step_bytes(&counts, plan, step, TRAFFIC_HBM_WRITE)));
		int output = op->writes[0].tensor;
		if (!plan_lx(plan, output, step))
			unpinned += plan->workload->tensors[output].layout.bytes;
	}
	family_expect(family, "traffic", json_object_get(expect, "traffic"), traffic);
	family_expect(family, "HBM bytes", json_object_get(expect, "hbm_bytes"),
		json_integer(hbm_bytes(&counts)));
	family_expect(family, "unpinned", json_object_get(expect, "unpinned_score"),
		json_integer(unpinned));
}

static void check_baseline(struct family *family, const struct graph *graph, const json_t *expect)
{
	struct planning planning = graph->planning;
	planning.lx_planning = false;
	const struct plan *plan = lx_plan(graph->arch, graph->workload, graph->division, &planning,
		graph->place, graph->arena)
					  .plan;
	struct counts counts = count(graph, plan);
	family_expect(family, "baseline", json_object_get(expect, "hbm_bytes_baseline"),
		json_integer(hbm_bytes(&counts)));
}

static bool is_twin(const json_t *a, const json_t *b)
{
	static const char *const aside[] = {
		"name", "note", "expect", "error", "coopt_stick_fit_filter", 0};
	json_t *left = json_copy((json_t *)a), *right = json_copy((json_t *)b);
	for (const char *const *key = aside; *key; key++) {
		json_object_del(left, *key);
		json_object_del(right, *key);
	}
	bool twin = a != b && json_equal(left, right);
	json_decref(left);
	json_decref(right);
	return twin;
}

/* Returns the expectations of a case beside its division; NULL if nothing was recorded. */
static const json_t *find_expected(const json_t *cases, const json_t *test)
{
	if (!json_is_string(json_object_get(test, "error")))
		return json_object_get(test, "expect");
	size_t i;
	const json_t *other;
	json_array_foreach(cases, i, other)
		if (is_twin(test, other) && !json_is_string(json_object_get(other, "error")))
			return json_object_get(other, "expect");
	return NULL;
}

/* Carried out by the simulator without a fault, with the bytes of the model; else why not. */
static const char *execute(const struct graph *graph)
{
	const char *why;
	if (!stream_plan(graph->result.plan, NULL, graph->arena, &why))
		return why;
	const struct program *program = lower_plan(graph->result.plan, graph->arena, &why);
	if (!program)
		return why;
	struct sim_options options = {.mode = SIM_IDENTITY, .seed = 1};
	struct sim_result result = sim_run(program, &options, graph->arena);
	struct counts counts = count(graph, graph->result.plan);
	if (result.fault_count)
		return result.faults[0].text;
	return counts_equal(&counts, &result.counts) ? NULL
						     : "simulator and model count differently";
}

static void check_expected(struct family *family, struct graph *graph, const json_t *expect)
{
	if (json_is_true(json_object_get(graph->test, "co_optimize"))) {
		json_t *options =
			without_cut_sticks(graph, json_object_get(expect, "split_options"));
		family_expect(family, "options", options, options_json(graph));
		json_decref(options);
	}
	check_ops(family, graph, expect);
	check_tensors(family, graph, expect);
	check_baseline(family, graph, expect);
	if (published_overshares(&graph->layout, json_object_get(expect, "solver_input")))
		return; /* no machine can run that: ours is executed */
	check_placement(family, graph, expect);
	if (!published_overlaps(&graph->layout, json_object_get(expect, "pinned")))
		check_bytes(family, graph, expect);
}

static void check_case(struct family *family, const json_t *cases, const json_t *test)
{
	struct graph graph;
	family_case(family, "%s", json_string_value(json_object_get(test, "name")));
	const char *why = run_case(&graph, test, family->arena);
	if (why) {
		family_note(family, "reading", why);
		return;
	}
	const json_t *recorded = json_object_get(test, "expect");
	json_t *seed = without_ones(json_object_get(recorded, "seed_splits"));
	family_expect(family, "seed", seed, splits_json(&graph, graph.workload, graph.seed));
	json_decref(seed);
	family_expect(family, "keyed seed", json_object_get(recorded, "seed_splits_coeff_keyed"),
		seed_json(&graph));
	family_expect(
		family, "K-fast", json_object_get(recorded, "k_fast_ops"), k_fast_json(&graph));
	const json_t *expect = find_expected(cases, test);
	if (expect)
		check_expected(family, &graph, expect);
	family_note(family, "execution", execute(&graph));
}

int main(int argc, char **argv)
{
	struct family family;
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	if (!family_open(&family, "division-and-lx/graphs", root, "division-and-lx"))
		return 0;
	json_t *file = case_file(root, "division-and-lx", "graphs.json", &family.tally);
	const json_t *cases = json_object_get(file, "cases"), *test;
	size_t i;
	json_array_foreach(cases, i, test)
		check_case(&family, cases, test);
	json_decref(file);
	return family_close(&family);
}
