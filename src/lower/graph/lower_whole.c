#include "lower/graph/lower_step.h"
#include "model/graph/run.h"

#include <string.h>

/* The box of the host array that a stay has in an iteration. */
static void set_box(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct whole_operand *out)
{
	struct layout part = plan_stay_layout(plan, stay);
	for (int d = 0; d + 1 < part.rank; d++) {
		int h = part.host_dim[d];
		if (h < 0)
			continue;
		out->first[h] = plan_stay_first(plan, stay, iteration, d);
		out->size[h] = part.size[d];
	}
	out->bytes = part.bytes;
}

static struct whole_operand place(const struct lowering *lowering, int operand)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	int tensor = op_operand(step->op, operand)->tensor;
	const struct residency *stay = plan_lx(plan, tensor, step->number);
	const struct layout *layout = &plan->workload->tensors[tensor].layout;
	struct whole_operand whole = {
		.tensor = tensor,
		.in_lx = stay != NULL,
		.address = stay ? stay->address : lowering->hbm[tensor],
		.bytes = layout->bytes,
	};
	memcpy(whole.size, layout->host_size, sizeof whole.size);
	if (stay)
		set_box(plan, stay, step->iteration, &whole);
	return whole;
}

static const struct compute *make_compute(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	struct arena *arena = lowering->queues.arena;
	struct compute *compute = arena_new(arena, struct compute);
	struct whole_operand *whole =
		arena_array(arena, struct whole_operand, op_operands(step->op));
	for (int i = 0; i < op_operands(step->op); i++)
		whole[i] = place(lowering, i);
	int64_t *first = arena_array(arena, int64_t, step->op->loop_count),
		*count = arena_array(arena, int64_t, step->op->loop_count);
	const struct tile_run *run = plan_run(plan, step->number);
	for (int l = 0; l < step->op->loop_count; l++) {
		struct run_part part = run_part(plan->workload, step->op, run, step->iteration, l);
		first[l] = part.first;
		count[l] = part.count;
	}
	*compute = (struct compute){
		.op = (int)(step->op - plan->workload->ops),
		.accumulator_read = run_resumes(step->op, run, step->iteration),
		.finish = !run_goes_on(step->op, run, step->iteration),
		.first = first,
		.count = count,
		.nest = step->nest,
		.whole = whole,
	};
	return compute;
}

bool whole_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct op *op = step->op;
	struct instruction *instruction;
	if (op->primitive->kind == OP_BROADCAST)
		return refuse(lowering,
			"op '%s' is a broadcast, and only machines whose tiles move in boxes have ranks",
			op->name);
	step->nest = NULL;
	if (op_is_tiled(op) && !nest_open(lowering))
		return false;
	queue_open(&lowering->queues, ENGINE_COMPUTE, 1);
	queue_close(&lowering->queues, step->number, 0, &instruction);
	instruction->compute = make_compute(lowering);
	return true;
}
