#include "sim/allotment.h"

#include "base/arena.h"

#include <inttypes.h>

static int clamp_step(const struct program *program, int step)
{
	return step < 0 ? 0 : step > program->step_count ? program->step_count : step;
}

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena)
{
	struct allotment_index index = {.program = program};
	size_t steps = (size_t)program->step_count;
	index.first = arena_array(arena, size_t, steps + 2);
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		int to = clamp_step(program, allotment->to);
		for (int s = clamp_step(program, allotment->from); s < to; s++)
			index.first[s + 2]++;
	}
	for (size_t s = 0; s < steps; s++)
		index.first[s + 2] += index.first[s + 1];
	index.at = arena_array(arena, const struct allotment *, index.first[steps + 1]);
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		int to = clamp_step(program, allotment->to);
		for (int s = clamp_step(program, allotment->from); s < to; s++)
			index.at[index.first[s + 1]++] = allotment;
	}
	return index;
}

static const char *name_of(const struct program *program, const struct allotment *allotment)
{
	if (allotment->tensor < 0)
		return "tile buffers";
	return program->workload->tensors[allotment->tensor].name;
}

static bool takes_over(const struct allotment *child, const struct allotment *parent)
{
	return parent->tensor >= 0 && child->in_place_of == parent->tensor &&
	       child->address == parent->address && child->size <= parent->size &&
	       parent->to == child->from + 1;
}

static void check_pair(struct faults *faults, const struct allotment *a, const struct allotment *b)
{
	uint64_t cores = a->cores & b->cores;
	int64_t address = number_max(a->address, b->address);
	bool in_time = a->from < b->to && b->from < a->to;
	bool in_space = a->address - b->address < b->size && b->address - a->address < a->size;
	if (!cores || !in_time || !in_space || takes_over(a, b) || takes_over(b, a))
		return;
	fault_add_step(faults, FAULT_OVERLAP, a->from > b->from ? a->from : b->from,
		__builtin_ctzll(cores), address, "'%s' and '%s' share bytes and live together",
		name_of(faults->program, a), name_of(faults->program, b));
}

static void check_alone(struct faults *faults, const struct allotment *allotment)
{
	const struct arch *arch = faults->program->arch;
	int64_t capacity = arch->lx < 0 ? 0 : arch->levels[arch->lx].capacity;
	if (allotment->size >= 0 && allotment->address >= 0 && allotment->size <= capacity &&
		allotment->address <= capacity - allotment->size)
		return;
	fault_add_step(faults, FAULT_BOUNDS, allotment->from,
		allotment->cores ? __builtin_ctzll(allotment->cores) : 0, allotment->address,
		"'%s' leaves LX, which has %" PRId64 " bytes", name_of(faults->program, allotment),
		capacity);
}

void allotment_check(const struct program *program, struct faults *faults)
{
	for (size_t i = 0; i < program->allotment_count; i++) {
		int before = faults->count;
		check_alone(faults, &program->allotments[i]);
		for (size_t j = 0; j < i && faults->count == before; j++)
			check_pair(faults, &program->allotments[j], &program->allotments[i]);
	}
}

const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high)
{
	for (size_t k = index->first[step]; k < index->first[step + 1]; k++) {
		const struct allotment *allotment = index->at[k];
		if ((allotment->tensor == tensor || allotment->tensor < 0) &&
			allotment->cores >> core & 1 && low >= allotment->address &&
			high - allotment->address <= allotment->size)
			return allotment;
	}
	return NULL;
}
