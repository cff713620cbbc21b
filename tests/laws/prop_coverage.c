#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "cost/graph/floor.h"
#include "search/drive/solver.h"
#include "search/graph/recipe.h"
#include "sim/graph/reference.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/*
 * Every kind of op and every function, followed by a pointwise op and by
 * reductions, in several dtypes and ragged shapes: divided, placed, tiled,
 * lowered, executed, and right.  What an op computes is checked on random
 * numbers to within rounding, and on small whole numbers exactly where it only
 * adds, multiplies and compares.
 */
struct head {
	const char *op;  /* writes y; %s stands for a function */
	const char *out; /* the dimensions of y */
};

static const struct head unary[] = {
	{"y[m,n] = %s(x[m,n])", "m,n"},
	{"y[m,n] = %s(x[n])", "m,n"},
};
static const struct head binary[] = {
	{"y[m,n] = %s(x[m,n], w[m,n])", "m,n"},
	{"y[m,n] = %s(x[m,n], w[n])", "m,n"},
	{"y[m,n] = %s(x[m,n], single[m])", "m,n"},
	{"y[m,n] = %s(x[m,n], 0.5)", "m,n"},
	{"y[m] = %s(single[m], other[m])", "m"},
};
static const struct head reduction[] = {
	{"y[n] = %s(m) x[m,n]", "n"},
	{"y[m] = %s(n) x[m,n]", "m"},
	{"y[] = %s(m,n) x[m,n]", ""},
	{"y[h,n] = %s(m) x[h,m,n]", "h,n"},
};
static const struct head others[] = {
	{"y[m,n] = sum(k) a[m,k] * b[k,n]", "m,n"},
	{"y[h,m,n] = sum(k) a[h,m,k] * b[h,k,n]", "h,m,n"},
	{"y[h,m,n] = sum(k) a[m,k] * b[h,k,n]", "h,m,n"},
	{"y[m,n] = sum(h,k) a[h,m,k] * b[h,k,n]", "m,n"},
	{"y[n] = sum(k) a[k] * b[k,n]", "n"},
	{"y[] = sum(k) a[k] * b[k]", ""},
	{"y[m,n] = sum(h) a[h,n] * b[m,n] * single[m]", "m,n"},
	{"y[m,n] = sum(h) a[2*m+h,n] * w[h,n]", "m,n"},
	{"y[m,n] = x[m,n] * w[n] * single[m]", "m,n"},
	{"y[n,m] = restickify x[m,n]", "n,m"},
	{"y[m,h,n] = restickify x[h,n,m]", "m,h,n"},
	{"y[m] = restickify single[m]", "m"},
	{"{opaque: sort, reads: [\"x[m,n]\"], writes: [\"y[m,n]\"]}", "m,n"},
};
static const char *const tails[] = {
	"z[%s] = neg(y[%s])",
	"z[%s] = y[%s] + 1",
	"first", /* reductions over the first and the last dimension of y */
	"last",
};
static const struct block {
	int m, n, k, h;
} shapes[] = {
	{3, 70, 33, 2},
	{64, 128, 64, 4},
	{17, 64, 200, 3},
	{1, 300, 96, 2},
	{96, 1, 130, 5},
};
static const int core_counts[] = {1, 4, 32, 3};
enum { SHAPES = sizeof shapes / sizeof *shapes, CORES = sizeof core_counts / sizeof *core_counts };

static const enum dtype dtypes[] = {
	DTYPE_FP16, DTYPE_BF16, DTYPE_FP32, DTYPE_FP8, DTYPE_INT32, DTYPE_INT8};

struct tally {
	uint64_t seed;     /* of the data */
	long turns;        /* of shapes and cores, for each head, tail and dtype */
	long combinations; /* of head, function, tail and dtype */
	long run, in_lx, divided;
};

static bool computes_exactly(const struct primitive *primitive)
{
	static const char *const exact[] = {"add", "sub", "mul", "maximum", "minimum", "clone",
		"neg", "abs", "relu", "sum", "max", "min"};
	for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
		if (text_equal(exact[i], primitive->name))
			return true;
	return false;
}

/* "z[n] = max(m) y[m,n]" for the first or the last of the dimensions `out`. */
static const char *reduce_tail(struct arena *arena, const char *out, bool last)
{
	const char *comma = last ? strrchr(out, ',') : strchr(out, ',');
	if (!comma)
		return arena_format(arena, "z[] = max(%s) y[%s]", out, out);
	int before = (int)(comma - out);
	return last ? arena_format(arena, "z[%.*s] = sum(%s) y[%s]", before, out, comma + 1, out)
		    : arena_format(arena, "z[%s] = max(%.*s) y[%s]", comma + 1, before, out, out);
}

static const char *write_tail(struct arena *arena, const char *tail, const char *out)
{
	if (text_equal(tail, "first") || text_equal(tail, "last"))
		return *out ? reduce_tail(arena, out, text_equal(tail, "last")) : NULL;
	const char *rest = strstr(tail, "%s] = ") + 2;
	const char *again = strstr(rest, "%s");
	return arena_format(arena, "z[%s%.*s%s%s", out, (int)(again - rest), rest, out, again + 2);
}

/* `single` and `other` hold one element per stick. */
static const char *write_workload(struct arena *arena, const char *head, const char *tail,
	enum dtype dtype, const struct block *shape)
{
	struct text text = text_open(arena);
	bool opaque = *head == '{';
	text_add(&text,
		"workload:\n  dtype: %s\n  dimensions: {m: %d, n: %d, k: %d, h: %d}\n  tensors:\n",
		dtype_names[dtype], shape->m, shape->n, shape->k, shape->h);
	text_add(&text, "    y: {}\n");
	if (strstr(head, "single["))
		text_add(&text, "    single: {layout: [m, sparse]}\n");
	if (strstr(head, "other["))
		text_add(&text, "    other: {layout: [m, sparse]}\n");
	text_add(&text, "  ops:\n    - %s%s%s\n    - %s\n", opaque ? "" : "\"", head,
		opaque ? "" : "\"", tail);
	return text_read(&text);
}

/* The largest element of a tensor or of what it is computed from: where values
 * cancel, what was rounded away is small beside those. */
static double largest_before(const struct workload *workload, int t, void **expected)
{
	const struct tensor *tensor = &workload->tensors[t];
	double largest = reference_compare(tensor, expected[t], expected[t]).largest;
	const struct op *op = tensor->producer < 0 ? NULL : &workload->ops[tensor->producer];
	for (int i = 0; op && i < op->read_count; i++)
		largest = fmax(largest, largest_before(workload, op->reads[i].tensor, expected));
	return largest;
}

/* Returns the allowed error of a result, in units of the last place of that element: one for each
 * rounding of a narrow type; fp32 sums round at every step. */
static double tolerance(const struct workload *workload)
{
	double most = 1;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		double reduced = 1;
		for (int l = 0; l < op->loop_count; l++)
			reduced *= op->loops[l].reduction ? (double)op->loops[l].extent : 1;
		most = fmax(most, reduced);
	}
	return workload->tensors[0].layout.dtype == DTYPE_FP32 ? 2 * most : 2;
}

static void execute(
	const struct plan *plan, uint64_t seed, bool small, const char *where, struct arena *arena)
{
	const struct workload *workload = plan->workload;
	struct executed executed = execute_plan(plan, seed, small, arena);
	if (executed.why)
		fail_msg("%s: %s", where, executed.why);
	bool exact = small;
	for (size_t o = 0; o < workload->op_count; o++)
		exact &= computes_exactly(workload->ops[o].primitive);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		if (!executed.result.outputs[t])
			continue;
		struct comparison c = reference_compare(
			&workload->tensors[t], executed.expected[t], executed.result.outputs[t]);
		double most =
			tolerance(workload) * largest_before(workload, (int)t, executed.expected);
		if (exact ? c.different > 0 : !(c.worst_of_largest * c.largest <= most))
			fail_msg("%s: tensor '%s': %" PRId64 " of %" PRId64 " differ, by up to %g",
				where, workload->tensors[t].name, c.different, c.elements,
				c.worst_of_largest);
	}
}

static void run_case(const char *head, const char *tail, enum dtype dtype,
	const struct block *shape, int cores, struct tally *tally)
{
	struct arena *arena = arena_open();
	const char *yaml = write_workload(arena, head, tail, dtype, shape);
	const struct workload *workload = workload_given(arena, yaml);
	const struct arch *arch = spyre_arch(arena, cores);
	static const char *const places[] = {"greedy", "firstfit", "bestfit"};
	struct recipe recipe = {.arch = arch,
		.workload = workload,
		.planning = planning_default(arch),
		.place = solver_find(STAGE_PLACE, places[tally->run % 3])};
	recipe.planning.eligible.all = true;
	struct recipe_result made = recipe_plan(&recipe, arena);
	const char *where = arena_format(arena, "%s%d cores, %s", yaml, cores, recipe.place->name);
	if (!made.plan)
		fail_msg("%s: %s", where, made.why);
	struct plan_cost cost;
	assert_true(cost_plan(made.plan, arena, &cost));
	if (latency_floor(arch, workload, recipe.planning.cores) > cost.score.cycles)
		fail_msg("%s: the floor is above the %" PRId64 " cycles of a plan", where,
			cost.score.cycles);
	execute(made.plan, tally->seed, false, where, arena);
	execute(made.plan, tally->seed, true, where, arena);
	tally->run++;
	for (int s = 0; s < made.plan->step_count; s++)
		tally->divided += mapping_cores(arch, &made.plan->steps[s].mapping) > 1;
	for (int r = 0; r < made.plan->residency_count; r++)
		tally->in_lx += made.plan->residencies[r].place == PLACE_LX;
	arena_close(arena);
}

/* All tails and dtypes; shapes and cores take turns. */
static void run_head(
	const struct head *head, const char *function, bool integers, struct tally *tally)
{
	struct arena *arena = arena_open();
	const char *op = head->op, *gap = strstr(op, "%s");
	if (gap)
		op = arena_format(arena, "%.*s%s%s", (int)(gap - op), op, function, gap + 2);
	for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
		const char *tail = write_tail(arena, tails[t], head->out);
		for (size_t d = 0; tail && d < sizeof dtypes / sizeof *dtypes; d++) {
			if (dtypes[d] >= DTYPE_INT8 && dtypes[d] != DTYPE_FP8 && !integers)
				continue;
			if (tally->combinations++ % draws_apart(1))
				continue;
			for (long i = 0; i < tally->turns; i++)
				run_case(op, tail, dtypes[d], &shapes[tally->run % SHAPES],
					core_counts[tally->run / SHAPES % CORES], tally);
		}
	}
	arena_close(arena);
}

static void run_heads(const struct head *heads, size_t count, enum op_kind kind, int arity)
{
	struct tally tally = {
		.seed = draws_seed(5), .turns = number_min(1 + draws(0) / 400, SHAPES * CORES)};
	for (int i = 0; primitives[i]; i++) {
		if (primitives[i]->kind != kind || primitives[i]->arity != arity)
			continue;
		for (size_t h = 0; h < count; h++)
			run_head(&heads[h], primitives[i]->name, computes_exactly(primitives[i]),
				&tally);
	}
	print_message("%ld plans right; %ld ops divided, %ld stays in LX\n", tally.run,
		tally.divided, tally.in_lx);
	assert_true(tally.divided > 0 && tally.in_lx > 0);
}

TEST(functions_of_one_tensor_are_covered)
{
	run_heads(unary, sizeof unary / sizeof *unary, OP_MAP, 1);
}

TEST(functions_of_two_tensors_are_covered)
{
	run_heads(binary, sizeof binary / sizeof *binary, OP_MAP, 2);
}

TEST(reductions_are_covered)
{
	run_heads(reduction, sizeof reduction / sizeof *reduction, OP_REDUCE, 1);
}

TEST(products_restickifies_and_opaque_ops_are_covered)
{
	run_heads(others, sizeof others / sizeof *others, OP_EINSUM, 1);
}
