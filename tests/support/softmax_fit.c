#include "tests/support/softmax_fit.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "cost/graph/cost.h"
#include "search/graph/lx.h"
#include "search/graph/stream.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>

static const char *const vectors_only[] = {"max", "amax", "sum"};
static const char *const with_maps[] = {"max", "amax", "sum", "exp", "sub"};
static const char *const with_clones[] = {"max", "amax", "sum", "exp", "sub", "clone"};
static const char *const maps[] = {"exp", "sub"};

/* The table's rows: medians in microseconds. */
static const struct {
	const char *name;
	int cores;
	double measured_us;
	bool lx;
	struct name_list eligible, in_place;
	enum clone_split clones;
} published[SOFTMAX_ROWS] = {
	{"stage 1: all in HBM", 1, 32.51, false, {0}, {0}, CLONE_OFF},
	{"stage 2: vectors in LX", 1, 27.66, true, {3, vectors_only, false}, {0}, CLONE_OFF},
	{"stage 3: in place", 1, 23.93, true, {5, with_maps, false}, {2, maps, false}, CLONE_OFF},
	{"stage 4: input cloned", 1, 23.67, true, {6, with_clones, false}, {2, maps, false},
		CLONE_READERS},
	{"stage 4 on four cores", 4, 32.17, true, {6, with_clones, false}, {2, maps, false},
		CLONE_READERS},
};

static const struct plan *make_plan(
	struct arena *arena, const struct arch *arch, const struct workload *workload, int row)
{
	struct planning planning = planning_default(arch);
	planning.cores = published[row].cores;
	planning.lx_planning = published[row].lx;
	planning.eligible = published[row].eligible;
	planning.in_place = published[row].in_place;
	planning.clones = published[row].clones;
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = arch,
		.workload = workload,
		.planning = &planning,
		.op = -1,
	};
	struct answer answer = solve(solver_find(STAGE_DIVIDE, "spyre"), &problem, 0, 1, arena);
	if (!answer.candidate_count)
		BUG("no division for '%s'", published[row].name);
	struct lx_plan_result result = lx_plan(arch, workload, answer.candidates[0].mappings,
		&planning, solver_find(STAGE_PLACE, "greedy"), arena);
	const char *why = result.why;
	if (!result.plan || !stream_plan(result.plan, NULL, arena, &why))
		BUG("no plan for '%s': %s", published[row].name, why);
	return result.plan;
}

static void count_bundles(const struct plan *plan, struct softmax_row *row)
{
	for (int step = 0; step < plan->step_count; row->bundles++) {
		int64_t widest = 0;
		int bundle = plan->steps[step].bundle;
		for (; step < plan->step_count && plan->steps[step].bundle == bundle; step++) {
			int64_t cores = mapping_cores(plan->arch, &plan->steps[step].mapping);
			widest = cores > widest ? cores : widest;
		}
		row->cores_used += widest;
	}
}

static struct softmax_row make_row(
	struct arena *arena, const struct arch *arch, const struct workload *workload, int number)
{
	struct softmax_row row = {
		.name = published[number].name,
		.cores = published[number].cores,
		.measured_us = published[number].measured_us,
	};
	struct plan_cost cost;
	const struct plan *plan = make_plan(arena, arch, workload, number);
	if (!cost_plan(plan, arena, &cost))
		BUG("the cost of '%s' does not fit", row.name);
	count_bundles(plan, &row);
	row.hbm_bytes = cost.score.hbm_bytes;
	for (int i = 0; i < cost.phase_count; i++)
		row.bytes_cycles += number_max(cost.phases[i].resource[RESOURCE_HBM],
			cost.phases[i].resource[RESOURCE_LX_READ]);
	row.model_cycles = cost.score.cycles - cost.overhead_cycles;
	row.predicted_us = arch_nanoseconds(arch, cost.score.cycles) / 1e3;
	row.contradicts = arch_nanoseconds(arch, row.bytes_cycles) / 1e3 > row.measured_us;
	return row;
}

static double positive(double value)
{
	return value > 0 ? value : 0;
}

/*
 * Least squares of a*x + b*y = r over x, y >= 0.  Where the normal equations are
 * singular, all (a, b) are multiples of one vector: the least-norm answer lies
 * along it, and is not negative when the sums are not.
 */
static void solve_least(struct softmax_fit *fit, const double *rest)
{
	double aa = 0, ab = 0, bb = 0, ar = 0, br = 0;
	for (int i = 0; i < SOFTMAX_ROWS; i++) {
		const struct softmax_row *row = &fit->rows[i];
		if (row->contradicts)
			continue;
		double a = (double)row->bundles, b = (double)row->cores_used;
		aa += a * a;
		ab += a * b;
		bb += b * b;
		ar += a * rest[i];
		br += b * rest[i];
	}
	double determinant = aa * bb - ab * ab;
	if (aa == 0)
		return;
	if (determinant > 1e-9 * aa * bb) {
		fit->bundle_cycles = (ar * bb - br * ab) / determinant;
		fit->core_cycles = (br * aa - ar * ab) / determinant;
		if (fit->bundle_cycles < 0) {
			fit->bundle_cycles = 0;
			fit->core_cycles = positive(br / bb);
		} else if (fit->core_cycles < 0) {
			fit->core_cycles = 0;
			fit->bundle_cycles = positive(ar / aa);
		}
	} else {
		fit->bundle_cycles = positive(ar / (aa + bb));
		fit->core_cycles = positive(br / (aa + bb));
	}
}

struct softmax_fit softmax_fit(
	struct arena *arena, const struct arch *arch, const char *workload_path)
{
	struct softmax_fit fit = {0};
	const char *complaints;
	const struct workload *workload = workload_of_file(arena, workload_path, &complaints);
	if (!workload)
		BUG("%s", complaints);
	double rest[SOFTMAX_ROWS], cycle_ns = arch_nanoseconds(arch, 1);
	for (int i = 0; i < SOFTMAX_ROWS; i++) {
		fit.rows[i] = make_row(arena, arch, workload, i);
		rest[i] =
			fit.rows[i].measured_us * 1e3 / cycle_ns - (double)fit.rows[i].model_cycles;
	}
	solve_least(&fit, rest);
	fit.bundle_ns = fit.bundle_cycles * cycle_ns;
	fit.core_ns = fit.core_cycles * cycle_ns;
	return fit;
}

void softmax_fit_print(const struct softmax_fit *fit, FILE *stream)
{
	fprintf(stream, "softmax (512, 1024) fp16, dim 0; us for the bytes alone, with everything\n"
			"but overheads, with overheads, measured\n");
	fprintf(stream, "%-24s %5s %9s %8s %8s %9s %8s %8s\n", "", "cores", "HBM bytes", "bytes",
		"model", "predicted", "measured", "residual");
	for (int i = 0; i < SOFTMAX_ROWS; i++) {
		const struct softmax_row *row = &fit->rows[i];
		double us = fit->bundle_cycles > 0 ? fit->bundle_ns / fit->bundle_cycles / 1e3 : 0;
		fprintf(stream, "%-24s %5d %9" PRId64 " %8.2f %8.2f %9.2f %8.2f %+8.2f  %s\n",
			row->name, row->cores, row->hbm_bytes, us * (double)row->bytes_cycles,
			us * (double)row->model_cycles, row->predicted_us, row->measured_us,
			row->predicted_us - row->measured_us,
			row->contradicts ? "bytes contradict the time" : "fitted");
	}
	fprintf(stream, "fit: %.2f ns for a bundle, %.2f ns for each core that it uses\n",
		fit->bundle_ns, fit->core_ns);
}
