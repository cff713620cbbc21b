#include "lower/graph/lower_step.h"

static struct whole_operand place(const struct lowering *lowering, int operand)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	int tensor = op_operand(step->op, operand)->tensor;
	const struct residency *stay = plan_lx(plan, tensor, step->number);
	return (struct whole_operand){
		.tensor = tensor,
		.in_lx = stay != NULL,
		.address = stay ? stay->address : lowering->hbm[tensor],
		.bytes = plan->workload->tensors[tensor].layout.bytes,
	};
}

static const struct compute *make_compute(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	struct arena *arena = lowering->queues.arena;
	struct compute *compute = arena_new(arena, struct compute);
	struct whole_operand *whole =
		arena_array(arena, struct whole_operand, op_operands(step->op));
	for (int i = 0; i < op_operands(step->op); i++)
		whole[i] = place(lowering, i);
	int64_t *first = arena_array(arena, int64_t, step->op->loop_count),
		*count = arena_array(arena, int64_t, step->op->loop_count);
	for (int l = 0; l < step->op->loop_count; l++)
		count[l] = step->op->loops[l].extent;
	*compute = (struct compute){
		.op = (int)(step->op - lowering->plan->workload->ops),
		.finish = true,
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
