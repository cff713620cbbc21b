#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "cost/graph/latency.h"
#include "search/drive/solver.h"
#include "search/graph/op_map.h"
#include "search/graph/recipe.h"
#include "sim/machine/kernel.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <math.h>

#include "tests/test.h"

/*
 * Windows that leave their tensors: padding at all edges, strides, dilations and groups drawn at random.
 * Model and simulator count the same, and every number is that of loops that ask each index whether
 * it is there.
 */
enum kind { CONVOLUTION, DEPTHWISE, GROUPED, POOL, SHIFT, KINDS };

struct draw {
	enum kind kind;
	int64_t groups, c, k, h, w, p, q, r, s, stride, dilation, low_h, low_w;
};

static int64_t between(struct random *random, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(random, (uint64_t)(most - least + 1));
}

static struct draw draw_one(struct random *random)
{
	struct draw d = {.kind = (enum kind)random_below(random, KINDS)};
	d.groups = d.kind == GROUPED ? between(random, 2, 3) : 1;
	d.c = between(random, 2, 70);
	d.k = between(random, 2, 70);
	d.h = between(random, 1, 9);
	d.w = between(random, 2, 9);
	d.r = between(random, 1, 4);
	d.s = between(random, 2, 4);
	d.p = between(random, 2, 9);
	d.q = between(random, 2, 9);
	d.stride = between(random, 1, 3);
	d.dilation = between(random, 1, 2);
	d.low_h = between(random, 0, 4);
	d.low_w = between(random, 0, 4);
	return d;
}

static const char *write_op(struct arena *arena, const struct draw *d)
{
	const char *h = arena_format(arena, "%lld*p+%lld*r-%lld", (long long)d->stride,
		(long long)d->dilation, (long long)d->low_h);
	const char *w = arena_format(arena, "%lld*q+%lld*s-%lld", (long long)d->stride,
		(long long)d->dilation, (long long)d->low_w);
	switch (d->kind) {
	case CONVOLUTION:
		return arena_format(
			arena, "y[g,p,q,k] = sum(c,r,s) pad x[g,%s,%s,c] * v[g,c,r,s,k]", h, w);
	case DEPTHWISE:
		return arena_format(
			arena, "y[g,p,q,c] = sum(r,s) pad x[g,%s,%s,c] * v[g,r,s,c]", h, w);
	case GROUPED:
		return arena_format(
			arena, "y[g,p,q,k] = sum(c,r,s) pad x[g,%s,%s,c] * v[g,c,r,s,k]", h, w);
	case POOL:
		return arena_format(arena, "y[g,p,q,c] = max(r,s) pad x[g,%s,%s,c]", h, w);
	default:
		return arena_format(arena, "y[g,p,q,c] = pad x[g,p-%lld,q-%lld,c] + pad x[g,p,q,c]",
			(long long)d->low_h, (long long)d->low_w);
	}
}

static const char *write_workload(struct arena *arena, const struct draw *d)
{
	return arena_format(arena,
		"workload:\n  layouts: auto\n  dtype: fp32\n"
		"  dimensions: {g: %lld, c: %lld, k: %lld, p: %lld, q: %lld, r: %lld, s: %lld}\n"
		"  tensors:\n    x: {shape: [g, %lld, %lld, c]}\n  ops:\n    - \"%s\"\n",
		(long long)d->groups, (long long)d->c, (long long)d->k, (long long)d->p,
		(long long)d->q, (long long)d->r, (long long)d->s, (long long)d->h, (long long)d->w,
		write_op(arena, d));
}

/* x at an index that may be outside. */
static double x_at(const struct draw *d, const float *x, int64_t g, int64_t h, int64_t w, int64_t c,
	double outside)
{
	if (h < 0 || h >= d->h || w < 0 || w >= d->w)
		return outside;
	return (double)x[((g * d->h + h) * d->w + w) * d->c + c];
}

static double sum_channels(const struct draw *d, const float *x, const float *v, int64_t g,
	int64_t h, int64_t w, int64_t r, int64_t s, int64_t lane)
{
	double sum = 0;
	if (d->kind == DEPTHWISE)
		return x_at(d, x, g, h, w, lane, 0) *
		       (double)v[((g * d->r + r) * d->s + s) * d->c + lane];
	for (int64_t c = 0; c < d->c; c++)
		sum += x_at(d, x, g, h, w, c, 0) *
		       (double)v[(((g * d->c + c) * d->r + r) * d->s + s) * d->k + lane];
	return sum;
}

static double expect(const struct draw *d, const float *x, const float *v, int64_t g, int64_t p,
	int64_t q, int64_t lane)
{
	double value = d->kind == POOL ? -INFINITY : 0;
	if (d->kind == SHIFT)
		return x_at(d, x, g, p - d->low_h, q - d->low_w, lane, 0) +
		       x_at(d, x, g, p, q, lane, 0);
	for (int64_t r = 0; r < d->r; r++)
		for (int64_t s = 0; s < d->s; s++) {
			int64_t h = d->stride * p + d->dilation * r - d->low_h;
			int64_t w = d->stride * q + d->dilation * s - d->low_w;
			if (d->kind == POOL)
				value = fmax(value, x_at(d, x, g, h, w, lane, -INFINITY));
			else
				value += sum_channels(d, x, v, g, h, w, r, s, lane);
		}
	return value;
}

static void compare(const struct draw *d, const struct executed *executed,
	const struct workload *workload, const char *where)
{
	int y = workload_tensor(workload, "y"), weights = workload_tensor(workload, "v");
	const float *x = executed->expected[workload_tensor(workload, "x")];
	const float *v = weights < 0 ? NULL : executed->expected[weights];
	const float *got = executed->result.outputs[y];
	int64_t lanes = d->kind == CONVOLUTION || d->kind == GROUPED ? d->k : d->c;
	for (int64_t g = 0; g < d->groups; g++)
		for (int64_t p = 0; p < d->p; p++)
			for (int64_t q = 0; q < d->q; q++)
				for (int64_t lane = 0; lane < lanes; lane++) {
					double wanted = expect(d, x, v, g, p, q, lane);
					double have = (double)
						got[((g * d->p + p) * d->q + q) * lanes + lane];
					if (wanted != have)
						fail_msg("%sy[%d,%d,%d,%d] is %g and not %g", where,
							(int)g, (int)p, (int)q, (int)lane, have,
							wanted);
				}
}

/* The slowest core of an op is that of all cores, looked at one by one, though equal ones are counted once. */
static void check_slowest(const struct plan *plan, int step, struct arena *arena, const char *where)
{
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open_step(traffic, plan, step, arena);
	struct op_question question = {.arch = plan->arch,
		.workload = plan->workload,
		.op = traffic->op,
		.mapping = &plan->steps[step].mapping,
		.moved.fill = INT64_C(1) << 40}; /* so that each stick that a core fills shows */
	struct op_value value, least;
	struct step_count count;
	int64_t resources[RESOURCE_COUNT] = {0}, most = 0;
	bool fits = true;
	for (int64_t core = 0; core < traffic->nest.cores; core++) {
		struct core_work work = {.fill = question.moved.fill};
		latency_add(&work, plan->arch, traffic, core, &fits);
		latency_raise(resources, plan->arch, &work, &fits);
	}
	for (int r = 0; r < RESOURCE_COUNT; r++)
		most = number_max(most, resources[r]);
	if (!fits || !op_value_least_cycles(traffic, &question, &count, &least) ||
		!op_value_find(traffic, &question, &value))
		fail_msg("%sstep %d cannot be counted", where, step);
	if (value.cycles != number_max(most, least.cycles) || value.estimate < value.cycles)
		fail_msg("%sstep %d takes %lld cycles and not %lld", where, step,
			(long long)value.cycles, (long long)number_max(most, least.cycles));
}

BARE_TEST(padded_windows_are_right)
{
	static const int core_counts[] = {1, 4, 32, 3};
	uint64_t seed = draws_seed(11);
	long count = draws(120), divided = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct draw d = draw_one(&random);
		const char *yaml = write_workload(arena, &d);
		const struct workload *workload = workload_given(arena, yaml);
		const struct arch *arch = spyre_arch(arena, core_counts[i % 4]);
		struct recipe recipe = {.arch = arch,
			.workload = workload,
			.planning = planning_default(arch),
			.place = solver_find(STAGE_PLACE, "bestfit")};
		recipe.planning.eligible.all = true;
		struct recipe_result made = recipe_plan(&recipe, arena);
		if (!made.plan)
			fail_msg("%s%s", yaml, made.why);
		struct executed executed = execute_plan(made.plan, seed, true, arena);
		if (executed.why)
			fail_msg("%s%d cores: %s", yaml, core_counts[i % 4], executed.why);
		compare(&d, &executed, workload, yaml);
		for (int step = 0; step < made.plan->step_count; step++)
			check_slowest(made.plan, step, arena, yaml);
		divided += mapping_cores(
				   arch, &made.plan->steps[made.plan->step_count - 1].mapping) > 1;
		arena_close(arena);
	}
	printf("%ld windows right, %ld on several cores\n", count, divided);
	assert_true(!draws_are_many(count) || divided > 0);
}
