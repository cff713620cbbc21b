#include "tests/support/mutable_program.h"

#include "base/arena.h"

#include <string.h>

static struct operand_box *copy_operand(struct arena *arena, const struct operand_box *operand)
{
	return operand ? arena_copy(arena, operand, sizeof *operand) : NULL;
}

static void copy_compute(
	struct arena *arena, const struct workload *workload, struct mutable_instruction *copy)
{
	const struct compute *original = copy->head->compute;
	struct compute *compute = arena_copy(arena, original,
		sizeof *original + (size_t)original->read_count * sizeof original->reads[0]);
	if (compute->first) {
		size_t loops = (size_t)workload->ops[compute->op].loop_count;
		copy->first = arena_array(arena, int64_t, loops);
		copy->count = arena_array(arena, int64_t, loops);
		memcpy(copy->first, compute->first, loops * sizeof *copy->first);
		memcpy(copy->count, compute->count, loops * sizeof *copy->count);
		compute->first = copy->first;
		compute->count = copy->count;
	}
	for (int i = 0; i < compute->read_count; i++)
		compute->reads[i] = copy->reads[i] = copy_operand(arena, compute->reads[i]);
	compute->write = copy->write = copy_operand(arena, compute->write);
	if (compute->accumulator)
		compute->accumulator = copy->accumulator =
			arena_copy(arena, compute->accumulator, sizeof *compute->accumulator);
	if (compute->whole)
		compute->whole = copy->whole = arena_copy(arena, compute->whole,
			(size_t)op_operands(&workload->ops[compute->op]) * sizeof *compute->whole);
	copy->head->compute = copy->compute = compute;
}

static void copy_instruction(
	struct arena *arena, const struct workload *workload, struct mutable_instruction *copy)
{
	struct instruction *head = copy->head;
	copy->dependences = arena_array(arena, uint32_t, head->dependence_count);
	if (head->dependence_count)
		memcpy(copy->dependences, head->dependences,
			head->dependence_count * sizeof *copy->dependences);
	head->dependences = copy->dependences;
	switch (head->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		copy->transfer = arena_copy(arena, head->transfer, sizeof *head->transfer);
		copy->transfer->box = copy->transfer_box = copy_operand(arena, head->transfer->box);
		head->transfer = copy->transfer;
		break;
	case ENGINE_COMPUTE:
		copy_compute(arena, workload, copy);
		break;
	case ENGINE_RING:
		copy->combine = arena_copy(arena, head->combine, sizeof *head->combine);
		head->combine = copy->combine;
		break;
	case ENGINE_UP:
	case ENGINE_DOWN:
		copy->send = arena_copy(arena, head->send, sizeof *head->send);
		if (head->send->from) {
			copy->send->from = copy->send_from = copy_operand(arena, head->send->from);
			copy->send->to = copy->send_to = copy_operand(arena, head->send->to);
		}
		head->send = copy->send;
		break;
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
}

struct mutable_program *mutable_copy(struct arena *arena, const struct program *program)
{
	struct mutable_program *copy = arena_new(arena, struct mutable_program);
	copy->program = *program;
	struct instruction *heads = arena_copy(arena, program->instructions,
		program->instruction_count * sizeof *program->instructions);
	copy->instructions =
		arena_array(arena, struct mutable_instruction, program->instruction_count);
	for (size_t i = 0; i < program->instruction_count; i++) {
		copy->instructions[i].head = &heads[i];
		copy_instruction(arena, program->workload, &copy->instructions[i]);
	}
	copy->program.instructions = heads;
	copy->allotments = arena_copy(
		arena, program->allotments, program->allotment_count * sizeof *program->allotments);
	copy->program.allotments = copy->allotments;
	return copy;
}

void mutable_swap(struct mutable_program *copy, uint32_t i, uint32_t j)
{
	struct instruction *heads = copy->instructions[0].head;
	struct instruction head = heads[i];
	heads[i] = heads[j];
	heads[j] = head;
	struct mutable_instruction other = copy->instructions[i];
	copy->instructions[i] = copy->instructions[j];
	copy->instructions[j] = other;
	copy->instructions[i].head = &heads[i];
	copy->instructions[j].head = &heads[j];
	for (size_t n = 0; n < copy->program.instruction_count; n++) {
		for (size_t k = 0; k < heads[n].dependence_count; k++) {
			uint32_t *dependence = &copy->instructions[n].dependences[k];
			if (*dependence == i || *dependence == j)
				*dependence = *dependence == i ? j : i;
		}
	}
}
