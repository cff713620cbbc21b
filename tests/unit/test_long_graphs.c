#include "base/arena.h"
#include "base/text.h"
#include "model/graph/plan_file.h"
#include "search/graph/evaluate.h"
#include "search/graph/explore.h"
#include "search/graph/recipe.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Graphs of thousands of ops.  What passes do to them is counted in calls of small functions that
 * every look at an op, a tensor or a name takes; the linker leads them through here.  Twice the
 * graph may take twice the calls, and a little more.  Nothing is timed.
 */
enum { SMALL = 150, FACTOR_PERCENT = 240, LOOKS = 40 };

static _Atomic uint64_t calls; /* from any thread: all unit tests are linked with these */

const struct access *__real_op_operand(const struct op *op, int operand);
const struct access *__wrap_op_operand(const struct op *op, int operand);
const struct access *__wrap_op_operand(const struct op *op, int operand)
{
	calls++;
	return __real_op_operand(op, operand);
}

int __real_op_operands(const struct op *op);
int __wrap_op_operands(const struct op *op);
int __wrap_op_operands(const struct op *op)
{
	calls++;
	return __real_op_operands(op);
}

int __real_tensor_home(const struct workload *workload, int tensor);
int __wrap_tensor_home(const struct workload *workload, int tensor);
int __wrap_tensor_home(const struct workload *workload, int tensor)
{
	calls++;
	return __real_tensor_home(workload, tensor);
}

bool __real_text_equal(const char *a, const char *b);
bool __wrap_text_equal(const char *a, const char *b);
bool __wrap_text_equal(const char *a, const char *b)
{
	calls++;
	return __real_text_equal(a, b);
}

const struct residency *__real_plan_lx(const struct plan *plan, int tensor, int step);
const struct residency *__wrap_plan_lx(const struct plan *plan, int tensor, int step);
const struct residency *__wrap_plan_lx(const struct plan *plan, int tensor, int step)
{
	calls++;
	return __real_plan_lx(plan, tensor, step);
}

/* --- graphs */

static void add_chain(struct text *text, int ops)
{
	text_add(text, "  - t0[a,b] = relu(x[a,b])\n");
	for (int i = 1; i < ops; i++)
		text_add(text, "  - t%d[a,b] = relu(t%d[a,b])\n", i, i - 1);
}

/* One tensor that all read. */
static void add_fan(struct text *text, int ops)
{
	text_add(text, "  - t0[a,b] = relu(x[a,b])\n");
	for (int i = 1; i < ops; i++)
		text_add(text, "  - t%d[a,b] = exp(t0[a,b])\n", i);
}

/* Inputs of their own, each read twice: all may have clones. */
static void add_inputs(struct text *text, int ops)
{
	for (int i = 0; i < ops / 2; i++)
		text_add(text,
			"  - t%d[a,b] = x%d[a,b] + y%d[b]\n  - u%d[a,b] = x%d[a,b] * y%d[b]\n", i,
			i, i, i, i, i);
}

/* The first half is read again in the second, the last first. */
static void add_skips(struct text *text, int ops)
{
	add_chain(text, ops / 2);
	text_add(text, "  - u0[a,b] = t%d[a,b] + t%d[a,b]\n", ops / 2 - 1, ops / 2 - 2);
	for (int i = 1; i < ops / 2; i++)
		text_add(text, "  - u%d[a,b] = u%d[a,b] + t%d[a,b]\n", i, i - 1, ops / 2 - 1 - i);
}

/* Opaque ops among others. */
static void add_opaque(struct text *text, int ops)
{
	add_chain(text, ops / 2);
	for (int i = 0; i < ops / 2; i++)
		text_add(
			text, "  - {opaque: o%d, reads: [t%d], writes: [\"w%d[a,b]\"]}\n", i, i, i);
}

static const struct graph {
	const char *name;
	void (*add)(struct text *text, int ops);
} graphs[] = {
	{"chain", add_chain},
	{"fan", add_fan},
	{"inputs", add_inputs},
	{"skips", add_skips},
	{"opaque", add_opaque},
};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

static const char *graph_text(struct arena *arena, const struct graph *graph, int ops)
{
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  name: long\n  dimensions: {a: 64, b: 64}\n  ops:\n");
	graph->add(&text, ops);
	return text_read(&text);
}

/* --- passes */

enum pass { PASS_READ, PASS_PLAN, PASS_EXECUTE, PASS_WRITE, PASS_READ_PLAN, PASSES };
static const char *const pass_names[] = {
	"reading", "planning", "pricing and execution", "writing a plan", "reading a plan"};

static struct recipe recipe_of(struct arena *arena, const struct workload *workload)
{
	const struct arch *arch = spyre_arch(arena, 32);
	struct recipe recipe = {.workload = workload, .place = solver_find(STAGE_PLACE, "greedy")};
	recipe.planning = planning_default(arch);
	recipe.arch = planning_arch(arena, arch, &recipe.planning);
	return recipe;
}

static const struct plan *read_plan(struct arena *arena, const struct plan *plan,
	const struct workload *workload, const char *text)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add(sheet, node_read_text(arena, "plan.yaml", text, strlen(text), diag));
	struct reading reading = sheet_reading(sheet);
	const struct plan *again =
		plan_read(&reading, sheet_find(sheet, "plan"), plan->arch, workload);
	sheet_done(sheet);
	if (!again)
		fail_msg("%s", complaints_text(arena, diag));
	return again;
}

static uint64_t take_calls(void)
{
	uint64_t taken = calls;
	calls = 0;
	return taken;
}

/* The calls of each pass. */
static void walk(const struct graph *graph, int ops, uint64_t *out)
{
	struct arena *arena = arena_open();
	const char *text = graph_text(arena, graph, ops);
	take_calls();
	const struct workload *workload = workload_given(arena, text);
	out[PASS_READ] = take_calls();
	struct recipe recipe = recipe_of(arena, workload);
	struct recipe_result made = recipe_plan(&recipe, arena);
	if (!made.plan)
		fail_msg("%s: %s", graph->name, made.why);
	out[PASS_PLAN] = take_calls();
	struct outcome outcome = evaluate_cost(made.plan, arena);
	struct simulation how = {.mode = SIM_IDENTITY};
	evaluate_simulate(&outcome, &how, arena);
	assert_true(outcome.agrees);
	out[PASS_EXECUTE] = take_calls();
	struct text plan = text_open(arena);
	plan_write(made.plan, &plan);
	out[PASS_WRITE] = take_calls();
	const struct plan *again = read_plan(arena, made.plan, workload, text_read(&plan));
	out[PASS_READ_PLAN] = take_calls();
	struct text same = text_open(arena);
	plan_write(again, &same);
	assert_string_equal(text_read(&same), text_read(&plan));
	arena_close(arena);
}

TEST(twice_the_ops_take_twice_the_work)
{
	for (int g = 0; g < GRAPHS; g++) {
		uint64_t small[PASSES], large[PASSES];
		walk(&graphs[g], SMALL, small);
		walk(&graphs[g], 2 * SMALL, large);
		for (int p = 0; p < PASSES; p++)
			if (large[p] * 100 > small[p] * FACTOR_PERCENT)
				fail_msg("%s, %s: %" PRIu64 " calls for %d ops, %" PRIu64 " for %d",
					graphs[g].name, pass_names[p], small[p], SMALL, large[p],
					2 * SMALL);
	}
}

/* --- stops */

/* Says yes from the ask after `patience` on, and knows how many calls there had been by then. */
struct person {
	uint64_t patience, asked, calls;
	uint64_t last, silence; /* calls at the last ask; most between two */
};

static bool stop(void *at)
{
	struct person *person = at;
	if (person->asked && calls - person->last > person->silence)
		person->silence = calls - person->last;
	person->last = calls;
	if (person->asked++ == person->patience)
		person->calls = calls;
	return person->asked > person->patience;
}

/* Returns the number of polls of a graph's planner: for each op, before it looks for a place for
 * its output and before it tiles it. Between two polls a pass only looks at each op a few times. */
static uint64_t count_asks(const struct graph *graph, int ops)
{
	struct arena *arena = arena_open();
	struct person person = {.patience = UINT64_MAX};
	struct recipe recipe =
		recipe_of(arena, workload_given(arena, graph_text(arena, graph, ops)));
	recipe.planning.stopper = (struct stopper){&person, stop};
	assert_non_null(recipe_plan(&recipe, arena).plan);
	arena_close(arena);
	assert_true(person.asked >= 2 * (uint64_t)ops);
	if (person.silence > (uint64_t)ops * LOOKS)
		fail_msg("%s: %" PRIu64 " calls without an ask", graph->name, person.silence);
	return person.asked;
}

/* The calls after the yes. */
static uint64_t stop_after(const struct graph *graph, int ops, uint64_t patience)
{
	struct arena *arena = arena_open();
	struct person person = {.patience = patience};
	struct recipe recipe =
		recipe_of(arena, workload_given(arena, graph_text(arena, graph, ops)));
	recipe.planning.stopper = (struct stopper){&person, stop};
	struct recipe_result made = recipe_plan(&recipe, arena);
	assert_true(made.stopped);
	assert_null(made.plan);
	arena_close(arena);
	return calls - person.calls;
}

/* After a stop no pass goes on to the end of the graph: what is done then has a bound. */
TEST(a_stop_is_heard_amid_a_plan)
{
	enum { OPS = 600, CALLS = 100, PLACES = 40 };
	for (int g = 0; g < GRAPHS; g++) {
		uint64_t asks = count_asks(&graphs[g], OPS);
		for (uint64_t i = 0; i < PLACES; i += (uint64_t)draws_apart(1)) {
			uint64_t left = stop_after(&graphs[g], OPS, asks * i / PLACES);
			if (left > CALLS)
				fail_msg("%s: %" PRIu64 " calls after %" PRIu64 " of %" PRIu64
					 " asks",
					graphs[g].name, left, asks * i / PLACES, asks);
		}
	}
}

TEST(an_execution_hears_it_too)
{
	struct recipe recipe =
		recipe_of(arena, workload_given(arena, graph_text(arena, &graphs[0], SMALL)));
	struct outcome outcome = evaluate_cost(recipe_plan(&recipe, arena).plan, arena);
	struct person person = {.patience = 1};
	struct stopper stopper = {&person, stop};
	struct simulation how = {.mode = SIM_COUNT, .stopper = &stopper};
	evaluate_simulate(&outcome, &how, arena);
	assert_false(outcome.simulated);
	assert_int_equal(outcome.sim.fault_count, 0);
	assert_in_range(outcome.sim.events, 1, 1000);
}

/* Not one candidate is begun again, and what was found by then is kept. */
TEST(an_exploration_ends_amid_its_candidates)
{
	struct recipe recipe =
		recipe_of(arena, workload_given(arena, graph_text(arena, &graphs[0], 2 * SMALL)));
	struct exploration exploration = {.arch = recipe.arch,
		.workload = recipe.workload,
		.planning = recipe.planning,
		.wishes.objectives = {1, {OBJECTIVE_EDP}},
		.core_count = 2,
		.cores = {1, 32},
		.place = {1, {solver_find(STAGE_PLACE, "greedy")}},
		.divide = portfolio_for(STAGE_DIVIDE, FOR_GRAPHS | FOR_OPS),
		.wishes.simulate = SIMULATE_ALL,
		.wishes.asker.jobs = 1,
		.wishes.asker.stopper.stop = stop};
	for (uint64_t patience = 0; patience < 20000; patience = 2 * patience + 100) {
		struct person person = {.patience = patience};
		exploration.wishes.asker.stopper.listener = &person;
		struct explored explored = explore(&exploration, arena);
		assert_true(explored.stopped);
		assert_in_range(person.asked, patience + 1, patience + 3);
		assert_int_equal(explored.effort.disagreed, 0);
		assert_int_equal(explored.frontier.count > 0, explored.effort.offered > 0);
	}
}
