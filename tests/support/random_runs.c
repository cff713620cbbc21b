#include "tests/support/random_runs.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "model/graph/run.h"
#include "tests/support/draws.h"
#include "tests/support/workload_text.h"

#include <string.h>

enum { OPS_MOST = 5 };

/* X1 = f(X0), X2 = f(X1), ..: all have loops h and m, and products reduce over the last dimension.  Sometimes
 * the last one or the one before reduces over m, which those behind it lack. */
const struct workload *random_chain(
	struct random *random, const struct arch *arch, struct arena *arena)
{
	int ops = 2 + (int)draw_below(random, OPS_MOST - 1);
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  dimensions: {h: %d, m: %d",
		(int)(2 + 2 * draw_below(random, 2)), (int)(4 + 2 * draw_below(random, 3)));
	for (int i = 0; i <= ops; i++)
		text_add(&text, ", n%d: %d", i, (int)(2 + draw_below(random, 3)));
	text_add(&text, "}\n  ops:\n");
	bool reduced = false;
	for (int i = 0, n = 0; i < ops; i++) {
		int kind = (int)draw_below(random, 4);
		if (reduced) {
			text_add(&text, "  - X%d[h,n%d] = X%d[h,n%d] + Y%d[h,n%d]\n", i + 1, n, i,
				n, i, n);
		} else if (i > 0 && i + 2 >= ops && draw_chance(random, 2)) {
			reduced = true;
			text_add(&text, "  - X%d[h,n%d] = sum(m) X%d[h,m,n%d] * W%d[h,m]\n", i + 1,
				n, i, n, i);
		} else if (kind < 2) {
			text_add(&text,
				"  - X%d[h,m,n%d] = sum(n%d) X%d[h,m,n%d] * W%d[%sn%d,n%d]\n",
				i + 1, i + 1, n, i, n, i, kind ? "" : "h,", n, i + 1);
			n = i + 1;
		} else {
			text_add(&text, "  - X%d[h,m,n%d] = X%d[h,m,n%d] + Y%d[%sm,n%d]\n", i + 1,
				n, i, n, i, kind == 2 ? "h," : "", n);
		}
	}
	const char *complaints;
	const struct workload *workload =
		workload_at_home(arena, text_read(&text), arch_home(arch), &complaints);
	if (!workload)
		BUG("%s%s", text_read(&text), complaints);
	return workload;
}

static int64_t draw_tiles(struct random *random, int64_t extent)
{
	int64_t tiles = 1 + draw_below(random, extent);
	while (extent % tiles)
		tiles--;
	return tiles;
}

static bool try_run(struct random *random, struct plan *plan, struct arena *arena)
{
	static const char *const names[] = {"h", "m"};
	struct tile_run *run = arena_new(arena, struct tile_run);
	int first = (int)draw_below(random, 2), loops = 1 + (int)draw_below(random, 2), step;
	run->first = (int)draw_below(random, plan->step_count - 1);
	run->end = run->first + 2 + (int)draw_below(random, plan->step_count - run->first - 1);
	for (int k = 0; k < loops; k++) {
		struct run_loop *loop = &run->loops[run->loop_count++];
		loop->name = names[(first + k) % 2];
		const struct op *op = &plan->workload->ops[run->first];
		int l = run_loop(op, run, k);
		loop->tiles = l < 0 ? 1 : draw_tiles(random, op->loops[l].extent);
	}
	plan->runs = run;
	plan->run_count = 1;
	return !plan_run_misfit(arena, plan, 0, &step);
}

static void keep_some(struct random *random, struct plan *plan, struct arena *arena)
{
	struct users users = users_make(arena, plan->workload);
	int64_t address = 0, alignment = arch_lx(plan->arch)->alignment;
	for (int t = 0; t < (int)plan->workload->tensor_count; t++) {
		if (plan->workload->tensors[t].role != TENSOR_INTERMEDIATE ||
			draw_chance(random, 4))
			continue;
		struct residency *stay = &plan->residencies[plan->residency_count++];
		*stay = (struct residency){.tensor = t,
			.place = PLACE_LX,
			.view = {.cores = 1},
			.address = address,
			.in_place_of = -1};
		plan_life(plan, &users, t, &stay->from, &stay->to);
		struct layout layout = plan_stay_layout(plan, stay);
		stay->size = view_bytes(&layout, &stay->view);
		address += stay->size + number_max(1, alignment) - 1;
		address -= address % number_max(1, alignment);
	}
}

struct plan *random_runs(struct random *random, const struct arch *arch, struct arena *arena)
{
	const struct workload *workload = random_chain(random, arch, arena);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = 1,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
		.residencies = arena_array(arena, struct residency, workload->tensor_count)};
	for (int s = 0; s < plan->step_count; s++)
		plan->steps[s] =
			(struct step){.op = s, .mapping = mapping_make(arch, &workload->ops[s])};
	while (!try_run(random, plan, arena))
		;
	keep_some(random, plan, arena);
	return plan;
}
