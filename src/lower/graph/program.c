#include "lower/graph/program.h"

const char *const engine_names[] = {
	[ENGINE_DMA_IN] = "in",
	[ENGINE_DMA_OUT] = "out",
	[ENGINE_COMPUTE] = "compute",
	[ENGINE_RING] = "ring",
	[ENGINE_UP] = "up",
	[ENGINE_DOWN] = "down",
	[ENGINE_SYNC] = "sync",
	[ENGINE_COUNT] = NULL,
};

bool region_equal(const struct region *a, const struct region *b)
{
	if (a->rank != b->rank)
		return false;
	for (int d = 0; d < a->rank; d++)
		if (a->first[d] != b->first[d] || a->count[d] != b->count[d])
			return false;
	return true;
}

const struct op *program_broadcast(
	const struct program *program, const struct instruction *instruction)
{
	if (instruction->engine == ENGINE_SYNC)
		return NULL;
	const struct op *op = &program->workload->ops[program->step_ops[instruction->step]];
	return op->primitive->kind == OP_BROADCAST ? op : NULL;
}

int program_queue(const struct program *program, const struct instruction *instruction)
{
	if (program->ranks < 2 || !program_broadcast(program, instruction))
		return (int)instruction->engine;
	return ENGINE_COUNT + (instruction->engine == ENGINE_DMA_OUT);
}

bool program_has_relayouts(const struct program *program)
{
	for (int s = 0; s < program->step_count; s++)
		if (program->workload->ops[program->step_ops[s]].move == MOVE_RELAYOUT)
			return true;
	return false;
}
