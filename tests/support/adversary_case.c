#include "tests/support/adversary_case.h"

#include "base/arena.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"
#include "spec/sheet.h"
#include "tests/support/arch_text.h"
#include "tests/support/draft_kinds.h"
#include "tests/support/draws.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- machines */

/* KiB of LX; now and then so many that a tensor of all cores fits into it, but not two. */
static int64_t draw_size(struct random *random, int64_t tensor_bytes, bool is_tight, int cores)
{
	static const int64_t sizes[] = {64, 128, 256, 512, 2048};
	int64_t one = tensor_bytes / cores / 1024;
	if (one < 8 || !(is_tight || draw_chance(random, 3)))
		return sizes[draw_below(random, 5)];
	return one * (14 + draw_below(random, 10)) / 10;
}

/* Lines of attributes, each in one draw of two. */
static void add_some(
	struct random *random, struct text *text, const char *const *attributes, int count)
{
	for (int i = 0; i < count; i++)
		if (draw_chance(random, 2))
			text_add(text, "      %s\n", attributes[i]);
}

/* Mechanisms of measured machines (specs/README.md), of all levels; "" in one machine of two. */
struct measured_texts {
	const char *system, *hbm, *array;
};

static struct measured_texts draw_measured(struct random *random, struct arena *arena)
{
	static const char *const system[] = {"lane_cores: 4\n      lane_bandwidth: 40GB/s"};
	static const char *const hbm[] = {"turn_time: 0.6ns", "turn_time_repeated: 0.3ns",
		"turn_time_restickify: 0.5ns", "write_span: 64KiB\n      write_span_time: 0.1ns",
		"run_time: 20ns\n      run_bytes: 1KiB",
		"page_time: 30ns\n      page_bytes: 4KiB\n      open_planes: 8",
		"plane_span: 4KiB\n      plane_time: 0.2ns"};
	static const char *const array[] = {"strided_mac_rate: 401", "operand_rate: 40",
		"reduction_rate: 12", "tile_cycles: 20"};
	struct text texts[3] = {text_open(arena), text_open(arena), text_open(arena)};
	if (draw_chance(random, 2)) {
		add_some(random, &texts[0], system, sizeof system / sizeof *system);
		add_some(random, &texts[1], hbm, sizeof hbm / sizeof *hbm);
		add_some(random, &texts[2], array, sizeof array / sizeof *array);
	}
	return (struct measured_texts){
		text_read(&texts[0]), text_read(&texts[1]), text_read(&texts[2])};
}

static const char *draw_arch(
	struct random *random, int64_t tensor_bytes, bool is_tight, struct arena *arena)
{
	static const int bundles[] = {2, 3, 6, 6}, counts[] = {4, 8, 12, 32};
	/* By numbers of their own: the graphs of a seed do not depend on them. */
	struct random again = *random, apart = random_open(random_next(&again), 1);
	struct measured_texts measured = draw_measured(&apart, arena);
	int cores = counts[draw_below(random, 4)];
	struct text text = text_open(arena);
	text_add(&text, "architecture:\n  version: 0.4\n  name: drawn\n  nodes:\n"
			"  - !Container\n    name: system\n    attributes:\n      clock: 1.5GHz\n");
	if (!draw_chance(random, 6))
		text_add(&text, "      bundle_tensors: %d\n", bundles[draw_below(random, 4)]);
	if (draw_chance(random, 2))
		text_add(&text, "      bundle_overhead: 82.94ns\n      core_overhead: 331.76ns\n");
	text_add(&text,
		"%s  - !Component\n    name: HBM\n    class: DRAM\n    attributes:\n"
		"      shared_bandwidth: 204.8GB/s\n      alignment: 128\n      stick: 128B\n"
		"      read_energy_per_byte: 162.5pJ\n      write_energy_per_byte: 162.5pJ\n%s",
		measured.system, measured.hbm);
	text_add(&text,
		"  - !Container\n    name: core\n    spatial: {meshX: %d}\n    attributes:\n"
		"      span_limit: 256MiB\n",
		cores);
	if (draw_chance(random, 2))
		text_add(&text, "      data_ring: {bandwidth: 136.75GB/s, energy_per_byte: 1.5pJ, "
				"run_overhead: [2.78ns, 5.07ns]}\n");
	if (draw_chance(random, 2))
		text_add(&text, "      reduce_ring: {bandwidth: 32, energy_per_byte: 1.5pJ, "
				"reductions: [sum, max, min]}\n");
	text_add(&text,
		"  - !Component\n    name: LX\n    class: SRAM\n    attributes:\n"
		"      size: %" PRId64
		"KiB\n      reserve: 0.2\n      transfer: box\n      alignment: 128\n"
		"      read_bandwidth: 64\n      write_bandwidth: 64\n      fill_bandwidth: 64\n"
		"      read_energy_per_byte: 12.5pJ\n      write_energy_per_byte: 12.5pJ\n",
		draw_size(random, tensor_bytes, is_tight, cores));
	text_add(&text,
		"  - !Component\n    name: array\n    class: fp16_array\n    attributes:\n"
		"      mac_rate: 1024\n      vector_rate: 64\n      mac_energy: 1.5pJ\n"
		"      vector_energy: 1.1pJ\n%s",
		measured.array);
	return text_read(&text);
}

/* --- graphs */

/* Tensors by shape: over m and n, over m, over n, over n and k. */
enum form { SHAPE_MN, SHAPE_M, SHAPE_N, SHAPE_MK, SHAPES };
static const char *const indices[] = {"[m,n]", "[m]", "[n]", "[m,k]"};

struct graph_draw {
	struct random *random;
	struct text ops;
	struct arena *arena;
	int count[SHAPES];
	const char *names[SHAPES][16];
	int inputs, made;
	bool is_tight; /* LX holds one of its tensors, and not two */
};

static const char *add_name(struct graph_draw *draw, enum form shape, const char *name)
{
	if (draw->count[shape] < 16)
		draw->names[shape][draw->count[shape]++] = name;
	return name;
}

/* The last one, one that there is, or a new input. */
static const char *draw_tensor(struct graph_draw *draw, enum form shape)
{
	if (draw->count[shape] && draw_chance(draw->random, 3))
		return draw->names[shape][draw->count[shape] - 1];
	if (draw->count[shape] && !draw_chance(draw->random, 4))
		return draw->names[shape][draw_below(draw->random, draw->count[shape])];
	return add_name(draw, shape, arena_format(draw->arena, "x%d", draw->inputs++));
}

static const char *draw_fold(struct random *random)
{
	static const char *const folds[] = {"sum", "max", "mean"};
	return folds[draw_below(random, 3)];
}

/* Of one input: both folds, which divide differently; a clone; or a chain of maps whose tensors are live together. */
static void add_start(struct graph_draw *draw)
{
	struct random *random = draw->random;
	const char *a = arena_format(draw->arena, "t%d", draw->made++);
	switch (draw_below(random, 4)) {
	case 0:
		add_name(draw, SHAPE_MN, a);
		text_add(&draw->ops, "    - %s[m,n] = clone(x[m,n])\n", a);
		return;
	case 1: {
		const char *b = arena_format(draw->arena, "t%d", draw->made++);
		const char *over_m = draw_fold(random), *over_n = draw_fold(random);
		add_name(draw, SHAPE_M, a);
		add_name(draw, SHAPE_N, b);
		text_add(&draw->ops, "    - %s[m] = %s(n) x[m,n]\n    - %s[n] = %s(m) x[m,n]\n", a,
			over_n, b, over_m);
		return;
	}
	default: {
		const char *b = arena_format(draw->arena, "t%d", draw->made++);
		const char *c = arena_format(draw->arena, "t%d", draw->made++);
		add_name(draw, SHAPE_MN, a);
		add_name(draw, SHAPE_MN, b);
		add_name(draw, SHAPE_MN, c);
		text_add(&draw->ops,
			"    - %s[m,n] = exp(x[m,n])\n    - %s[m,n] = tanh(%s[m,n])\n"
			"    - %s[m,n] = %s[m,n] * %s[m,n]\n",
			a, b, a, c, a, b);
		draw->is_tight = true;
	}
	}
}

static void add_op(struct graph_draw *draw)
{
	static const char *const maps[] = {
		"exp", "neg", "relu", "tanh", "sigmoid", "clone", "clone", "sqrt"};
	static const char *const pairs[] = {"+", "-", "*", "/"};
	struct random *random = draw->random;
	const char *name = arena_format(draw->arena, "t%d", draw->made++);
	const char *fold = draw_fold(random), *pair = pairs[draw_below(random, 4)];
	enum form shape =
		(enum form)draw_below(random, draw->count[SHAPE_MK] ? SHAPES : SHAPES - 1);
	switch (draw_below(random, 7)) {
	case 0:
	case 1:
		text_add(&draw->ops, "    - %s%s = %s(%s%s)\n", name, indices[shape],
			maps[draw_below(random, 8)], draw_tensor(draw, shape), indices[shape]);
		break;
	case 2: {
		const char *a = draw_tensor(draw, shape), *b = draw_tensor(draw, shape);
		text_add(&draw->ops, "    - %s%s = %s%s %s %s%s\n", name, indices[shape], a,
			indices[shape], pair, b, indices[shape]);
		break;
	}
	case 3:
		shape = draw_chance(random, 2) ? SHAPE_M : SHAPE_N;
		text_add(&draw->ops, "    - %s%s = %s(%s) %s[m,n]\n", name, indices[shape], fold,
			shape == SHAPE_M ? "n" : "m",
			draw_chance(random, 2) ? "x" : draw_tensor(draw, SHAPE_MN));
		break;
	case 4: {
		enum form by = draw_chance(random, 2) ? SHAPE_M : SHAPE_N;
		const char *a = draw_tensor(draw, SHAPE_MN), *b = draw_tensor(draw, by);
		shape = SHAPE_MN;
		text_add(&draw->ops, "    - %s[m,n] = %s[m,n] %s %s%s\n", name, a, pair, b,
			indices[by]);
		break;
	}
	case 5: {
		const char *a = draw_tensor(draw, SHAPE_MN);
		shape = SHAPE_MK;
		text_add(&draw->ops, "    - %s[m,k] = sum(n) %s[m,n] * w%d[n,k]\n", name, a,
			draw->inputs++);
		break;
	}
	default:
		shape = SHAPE_MN;
		text_add(&draw->ops, "    - %s[m,n] = %s(%s[m,n])\n", name,
			maps[draw_below(random, 8)], draw_tensor(draw, SHAPE_MN));
	}
	add_name(draw, shape, name);
}

/* *tensor_bytes: of one over m and n; *is_tight: such that LX should hold one of them, and not two. */
static const char *draw_workload(
	struct random *random, int64_t *tensor_bytes, bool *is_tight, struct arena *arena)
{
	static const char *const dtypes[] = {"fp16", "bf16", "fp32", "int8", "fp8", "int32"};
	static const int bytes[] = {2, 2, 4, 1, 1, 4};
	static const int m[] = {5, 12, 32, 64, 96, 160, 256, 640, 2048};
	static const int n[] = {64, 128, 384, 640, 1024};
	struct graph_draw draw = {.random = random, .ops = text_open(arena), .arena = arena};
	struct text text = text_open(arena);
	int ops = 1 + (int)draw_below(random, 6);
	add_name(&draw, SHAPE_MN, "x");
	if (ops > 2 && draw_chance(random, 2))
		add_start(&draw);
	while (draw.made < ops)
		add_op(&draw);
	int rows = m[draw.is_tight ? 6 + draw_below(random, 3) : draw_below(random, 9)],
	    columns = n[draw_below(random, 5)];
	int type = (int)draw_below(random, 6);
	text_add(&text, "workload:\n  name: w\n  dimensions: {m: %d, n: %d, k: %d}\n", rows,
		columns, n[draw_below(random, 3)]);
	const char *dtype = dtypes[type];
	*is_tight = draw.is_tight;
	*tensor_bytes = (int64_t)rows * columns * bytes[type];
	text_add(&text, "  tensors:\n");
	for (int s = 0; s < SHAPES; s++)
		for (int i = 0; i < draw.count[s]; i++)
			if (strstr(text_read(&draw.ops),
				    arena_format(arena, "%s[", draw.names[s][i])))
				text_add(&text, "    %s: {dtype: %s}\n", draw.names[s][i], dtype);
	for (int i = 0; i < draw.inputs; i++)
		if (strstr(text_read(&draw.ops), arena_format(arena, "w%d[", i)))
			text_add(&text, "    w%d: {dtype: %s}\n", i, dtype);
	if (!draw.is_tight && draw_chance(random, 3)) {
		text_add(&text, "  outputs: [t0");
		for (int i = 1; i < ops; i++)
			if (!draw_chance(random, 4)) /* else it may not be used */
				text_add(&text, ", t%d", i);
		text_add(&text, "]\n");
	}
	text_add(&text, "  ops:\n%s", text_read(&draw.ops));
	return text_read(&text);
}

bool adversary_draw(struct random *random, struct adversary_case *out, struct arena *arena)
{
	static const struct joint_aim aims[] = {{.cycles = 1}, {.cycles = 1}, {.energy = 1},
		{.hbm_bytes = 1}, {.cycles = 100000, .energy = 1}};
	const char *complaints;
	struct diag *diag = diag_open(arena);
	int64_t tensor_bytes;
	bool is_tight;
	const char *workload = draw_workload(random, &tensor_bytes, &is_tight, arena);
	*out = (struct adversary_case){
		.arch_yaml = draw_arch(random, tensor_bytes, is_tight, arena),
		.workload_yaml = workload};
	const struct arch *arch = arch_of_text(arena, out->arch_yaml, diag);
	out->workload = workload_of_text(arena, out->workload_yaml, &complaints);
	if (!arch || !out->workload || out->workload->op_count > DRAFT_OPS_MOST)
		return false;
	out->planning = planning_default(arch);
	out->planning.price = draw_chance(random, 4) ? PRICE_BOUND : PRICE_ESTIMATE;
	out->arch = planning_arch(arena, arch, &out->planning);
	out->aim = aims[draw_below(random, 5)];
	if (draw_chance(random, 2))
		out->aim.fixed = KIND_RELAY;
	return true;
}

/* --- claims and plans */

struct adversary_claim adversary_ask(
	const struct adversary_case *of, uint64_t labels, struct arena *arena)
{
	struct problem problem = {.stage = STAGE_JOINT,
		.arch = of->arch,
		.workload = of->workload,
		.planning = &of->planning,
		.op = -1,
		.aim = &of->aim};
	struct answer answer =
		solve(solver_for(STAGE_JOINT, FOR_PLANS), &problem, labels, 1, arena);
	struct adversary_claim claim = {
		.proven = answer.status == PROOF_OPTIMAL || answer.status == PROOF_BOUND,
		.infeasible = answer.status == PROOF_INFEASIBLE,
		.bound = answer.bound};
	if (answer.candidate_count)
		claim.plan = answer.candidates[answer.candidate_count - 1].plan;
	return claim;
}

double adversary_worth(const struct adversary_case *of, const struct plan *plan, const char **why,
	struct arena *arena)
{
	struct plan_cost cost;
	struct plan_faults faults = plan_check(plan, arena);
	*why = faults.count ? faults.at[0].why : NULL;
	if (*why)
		return 0;
	if (!cost_plan(plan, arena, &cost)) {
		*why = "it cannot be counted";
		return 0;
	}
	*why = cost.score.rejected;
	const struct score *score = &cost.score;
	int64_t cycles = of->planning.price == PRICE_BOUND ? score->cycles : score->estimate_cycles;
	return (double)of->aim.cycles * (double)cycles +
	       (double)of->aim.energy * score->energy_pj * 1024 +
	       (double)of->aim.hbm_bytes * (double)score->hbm_bytes;
}

unsigned adversary_left_out(const struct plan *plan, const struct workload *given,
	const char *space, struct arena *arena)
{
	struct plan_draft draft;
	struct joint_aim aim;
	struct planning planning;
	const char *why;
	if (!space || !joint_claim_read(arena, space, &aim, &planning, &why) ||
		!draft_take(plan, given, &draft, arena))
		return 0;
	return draft_kinds(&draft) & aim.fixed;
}

/* --- files */

const struct plan *adversary_read(
	const char *folder, const char *name, const struct workload **given, struct arena *arena)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root =
		node_read_file(arena, arena_format(arena, "%s/%s", folder, name), diag);
	const struct arch *arch =
		arch_of_file(arena, arena_format(arena, "%s/arch.yaml", folder), diag);
	*given = workload_of_file(arena, arena_format(arena, "%s/workload.yaml", folder), NULL);
	if (!root || !arch || !*given)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	return plan_read(&reading, sheet_find(sheet, "plan"), arch, *given);
}

static void write_file(const char *folder, const char *name, const char *content)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *out = fopen(path, "w");
	if (!out)
		return;
	fputs(content, out);
	fclose(out);
}

static void write_plan(
	const char *folder, const char *name, const struct plan *plan, struct arena *arena)
{
	struct text text = text_open(arena);
	if (!plan)
		return;
	plan_write(plan, &text);
	write_file(folder, name, text_read(&text));
}

void adversary_write(const struct adversary_case *of, const struct adversary_claim *claim,
	const struct plan *counter, const char *folder, const char *note)
{
	struct arena *arena = arena_open();
	mkdir(folder, 0777);
	write_file(folder, "arch.yaml", of->arch_yaml);
	write_file(folder, "workload.yaml", of->workload_yaml);
	write_file(folder, "note", note);
	write_plan(folder, "proven.yaml", claim->plan, arena);
	write_plan(folder, "counter.yaml", counter, arena);
	arena_close(arena);
}
