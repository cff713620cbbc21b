#include "lower/graph/lower.h"

#include "lower/graph/lower_step.h"
#include "model/graph/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define NUMBERS (UINT32_MAX - 1) /* of instructions that can be told apart */

bool refuse(struct lowering *lowering, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	lowering->why = arena_format_list(lowering->queues.arena, format, list);
	va_end(list);
	return false;
}

bool is_full(const struct lowering *lowering)
{
	return lowering->queues.list.count > lowering->most;
}

static void add_residents(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (stay->place != PLACE_LX)
			continue;
		*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
			.tensor = stay->tensor,
			.address = stay->address,
			.size = stay->size,
			.from = stay->from,
			.to = stay->to,
			.in_place_of = stay->in_place_of,
			.cores = holders_of(&stay->view),
		};
	}
}

/* Boxes have 32-bit coordinates. */
static bool check_coordinates(struct lowering *lowering)
{
	const struct workload *workload = lowering->plan->workload;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct layout *layout = &workload->tensors[t].layout;
		for (int d = 0; d + 1 < layout->rank; d++) {
			if (layout->size[d] > INT32_MAX)
				return refuse(lowering,
					"device dimension %d of '%s' has %" PRId64
					" coordinates; a program can name %" PRId32,
					d, workload->tensors[t].name, layout->size[d], INT32_MAX);
		}
	}
	return true;
}

static bool count_overhead(struct lowering *lowering, int64_t *overhead)
{
	return plan_overhead(lowering->plan, overhead) ||
	       refuse(lowering, "the bundles take more cycles than can be counted");
}

static bool lower_tiles(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	uint32_t moved = ~UINT32_C(0);
	if (!nest_open(lowering) || !supplies_open(lowering) || !output_open(lowering) ||
		!buffers_place(lowering))
		return false;
	for (; moved; moved = tile_next(&step->tiling, &step->tile)) {
		if (is_full(lowering))
			return false;
		for (int i = 0; i < step->op->read_count; i++) {
			struct supply *supply = &step->supplies[i];
			bool moves = !supply->held[0].box || supply->projection.loops & moved;
			if (moves && !supply_move(lowering, supply))
				return false;
		}
		if (step->tile.number % step->tiling.passes == 0 && !output_begin(lowering))
			return false;
		computes_add(lowering);
		if ((step->tile.number + 1) % step->tiling.passes == 0)
			output_end(lowering);
	}
	return true;
}

static bool lower_step(struct lowering *lowering, int s, int64_t iteration)
{
	const struct plan *plan = lowering->plan;
	struct step_state *step = &lowering->step;
	step->number = s;
	step->iteration = iteration;
	step->op = &plan->workload->ops[plan->steps[s].op];
	step->tile = (struct tile){0};
	step->computes = -1;
	step->counts = NULL;
	if (!arch_moves_boxes(plan->arch) || step->op->primitive->kind == OP_OPAQUE)
		return whole_lower(lowering);
	if (step->op->primitive->kind == OP_BROADCAST)
		return staging_lower(lowering);
	if (plan_is_relayout(plan, s))
		return relayout_lower(lowering);
	lowering->why = tiling_make(plan, s, iteration, lowering->queues.arena, &step->tiling);
	if (lowering->why)
		return false;
	if (plan_is_move(plan, s))
		return clone_lower(lowering);
	return plan_is_evict(plan, s) ? evict_lower(lowering) : lower_tiles(lowering);
}

/* A move and the op behind it are one phase; every step of a run is one in each iteration. */
static bool ends_phase(const struct plan *plan, int s)
{
	return !arch_moves_boxes(plan->arch) || !plan_joins_next(plan, s);
}

/* Nothing needs a SYNC after the last step. */
static bool lower_steps(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	for (int first = 0, end; first < plan->step_count; first = end) {
		const struct tile_run *run = plan_run(plan, first);
		int64_t iterations = run_iterations(run);
		end = run ? run->end : first + 1;
		for (int64_t i = 0; i < iterations; i++)
			for (int s = first; s < end; s++) {
				bool last = i + 1 == iterations && s + 1 == plan->step_count;
				if (!lower_step(lowering, s, i) || is_full(lowering))
					return false;
				if (last || !ends_phase(plan, s))
					continue;
				queue_sync(&lowering->queues, s);
				lowering->clones.count = 0;
			}
	}
	return !is_full(lowering);
}

static const struct program *make_program(const struct lowering *lowering, int64_t overhead)
{
	const struct plan *plan = lowering->plan;
	struct arena *arena = lowering->queues.arena;
	struct program *program = arena_new(arena, struct program);
	int *ops = arena_array(arena, int, plan->step_count);
	for (int s = 0; s < plan->step_count; s++)
		ops[s] = plan->steps[s].op;
	size_t count = lowering->queues.list.count;
	*program = (struct program){
		.arch = plan->arch,
		.workload = plan->workload,
		.step_count = plan->step_count,
		.step_ops = ops,
		.hbm = lowering->hbm,
		.hbm_bytes = lowering->hbm_bytes,
		.overhead_cycles = overhead,
		.ranks = workload_ranks(plan->workload, plan->arch),
		.instruction_count = count,
		.instructions = arena_copy(
			arena, lowering->queues.list.at, count * sizeof(struct instruction)),
		.allotment_count = lowering->allotments.count,
		.allotments = lowering->allotments.at,
	};
	return program;
}

/* Instructions that a step has in any case. */
static int64_t least_of_step(const struct plan *plan, int step)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	if (!arch_moves_boxes(plan->arch) || op->primitive->kind == OP_OPAQUE)
		return 1;
	if (plan->steps[step].staging)
		return staging_size(plan, step);
	if (plan_only_moves(plan, step))
		return 0;
	int64_t size = mapping_cores(plan->arch, mapping);
	for (int l = 0; l < op->loop_count; l++) {
		if (!number_mul(size, mapping->rows[plan->arch->lx].temporal[l], &size))
			return INT64_MAX;
	}
	return size;
}

/* Is it too large for sure? */
static bool exceeds(const struct plan *plan, uint64_t most)
{
	for (int s = 0; s < plan->step_count; s++) {
		int64_t least, iterations = run_iterations(plan_run(plan, s));
		if (!number_mul(least_of_step(plan, s), iterations, &least) ||
			(uint64_t)least > most)
			return true;
		most -= (uint64_t)least;
	}
	return false;
}

const struct program *lower_within(
	const struct plan *plan, uint64_t most, struct arena *arena, struct lower_refusal *refusal)
{
	struct arena *scratch = arena_open();
	struct lowering *lowering = arena_new(scratch, struct lowering);
	lowering->plan = plan;
	lowering->most = most < NUMBERS ? most : NUMBERS;
	lowering->queues.arena = arena;
	lowering->queues.scratch = scratch;
	lowering->queues.sync = -1;
	lowering->step.number = -1;
	const struct program *program = NULL;
	int64_t overhead;
	add_residents(lowering);
	if (!exceeds(plan, lowering->most) && check_coordinates(lowering) && hbm_place(lowering) &&
		count_overhead(lowering, &overhead) && lower_steps(lowering))
		program = make_program(lowering, overhead);
	*refusal = (struct lower_refusal){lowering->why, lowering->step.number};
	arena_close(scratch);
	return program;
}

const struct program *lower_plan(const struct plan *plan, struct arena *arena, const char **why)
{
	struct lower_refusal refusal;
	const struct program *program = lower_within(plan, NUMBERS, arena, &refusal);
	*why = refusal.why;
	if (!program && !*why)
		*why = "the program has more instructions than can be numbered";
	return program;
}
