#include "sim/allotment.h"

#include "base/arena.h"

#include <inttypes.h>

static int clamp_step(const struct program *program, int step)
{
	return step < 0 ? 0 : step > program->step_count ? program->step_count : step;
}

static bool is_inside(const struct program *program, const struct allotment *allotment)
{
	const struct arch *arch = program->arch;
	int64_t capacity = arch->lx < 0 ? 0 : arch->levels[arch->lx].capacity;
	return allotment->size >= 0 && allotment->address >= 0 && allotment->size <= capacity &&
	       allotment->address <= capacity - allotment->size;
}

/* Counts, or with `at` lists, the allotments of every step; first[s + 1] is step s's cursor. */
static void visit_steps(const struct program *program, size_t *first, const struct allotment **at)
{
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		int to = is_inside(program, allotment) ? clamp_step(program, allotment->to) : 0;
		for (int s = clamp_step(program, allotment->from); s < to; s++) {
			if (at)
				at[first[s + 1]++] = allotment;
			else
				first[s + 2]++;
		}
	}
}

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena)
{
	size_t steps = (size_t)program->step_count;
	struct allotment_index index = {.first = arena_array(arena, size_t, steps + 2)};
	visit_steps(program, index.first, NULL);
	for (size_t s = 0; s < steps; s++)
		index.first[s + 2] += index.first[s + 1];
	index.at = arena_array(arena, const struct allotment *, index.first[steps + 1]);
	visit_steps(program, index.first, index.at);
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

void allotment_check(const struct program *program, struct faults *faults)
{
	for (size_t i = 0; i < program->allotment_count; i++) {
		const struct allotment *allotment = &program->allotments[i];
		if (!is_inside(program, allotment)) {
			fault_add_step(faults, FAULT_BOUNDS, allotment->from,
				allotment->cores ? __builtin_ctzll(allotment->cores) : 0,
				allotment->address, "the %" PRId64 " bytes of '%s' leave LX",
				allotment->size, name_of(program, allotment));
			continue;
		}
		for (size_t j = 0; j < i; j++) {
			if (is_inside(program, &program->allotments[j]))
				check_pair(faults, &program->allotments[j], allotment);
		}
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
