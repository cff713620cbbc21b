#include "sim/graph/allotment.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* Counts, or with `at` lists, the allotments of every tensor and step; first[i + 1] is list i's
 * cursor. */
static void visit(struct allotment_index *index, const struct program *program)
{
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		size_t list = (size_t)allotment->tensor, end = list + 1;
		if (!is_inside(program, allotment) || allotment->tensor >= (int)index->tensor_count)
			continue;
		if (allotment->tensor < 0) {
			list = index->tensor_count + (size_t)clamp_step(program, allotment->from);
			end = index->tensor_count + (size_t)clamp_step(program, allotment->to);
		}
		for (; list < end; list++) {
			if (index->at)
				index->at[index->first[list + 1]++] = allotment;
			else
				index->first[list + 2]++;
		}
	}
}

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena)
{
	struct allotment_index index = {
		program->workload->tensor_count, (size_t)program->step_count, NULL, NULL};
	size_t lists = index.tensor_count + index.step_count;
	index.first = arena_array(arena, size_t, lists + 2);
	visit(&index, program);
	for (size_t i = 0; i < lists; i++)
		index.first[i + 2] += index.first[i + 1];
	index.at = arena_array(arena, const struct allotment *, index.first[lists + 1]);
	visit(&index, program);
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

static bool share(const struct allotment *a, const struct allotment *b)
{
	bool in_time = a->from < b->to && b->from < a->to;
	bool in_space = a->address - b->address < b->size && b->address - a->address < a->size;
	return (a->cores & b->cores) && in_time && in_space && !takes_over(a, b) &&
	       !takes_over(b, a);
}

static int by_start(const void *left, const void *right)
{
	const struct allotment *a = *(const struct allotment *const *)left;
	const struct allotment *b = *(const struct allotment *const *)right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a > b) - (a < b);
}

static void complain_share(
	struct faults *faults, const struct allotment *before, const struct allotment *after)
{
	bool in_order = before < after; /* as the program lists them */
	fault_add_step(faults, FAULT_OVERLAP, after->from,
		__builtin_ctzll(before->cores & after->cores),
		number_max(before->address, after->address),
		"'%s' and '%s' share bytes and live together",
		name_of(faults->program, in_order ? before : after),
		name_of(faults->program, in_order ? after : before));
}

/* By their starts: whoever begins while another lives is compared with that. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena)
{
	size_t count = 0;
	const struct allotment **order =
		arena_array(arena, const struct allotment *, program->allotment_count);
	for (size_t i = 0; i < program->allotment_count; i++) {
		const struct allotment *allotment = &program->allotments[i];
		if (is_inside(program, allotment))
			order[count++] = allotment;
		else
			fault_add_step(faults, FAULT_BOUNDS, allotment->from,
				allotment->cores ? __builtin_ctzll(allotment->cores) : 0,
				allotment->address, "the %" PRId64 " bytes of '%s' leave LX",
				allotment->size, name_of(program, allotment));
	}
	qsort(order, count, sizeof *order, by_start);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count && order[j]->from < order[i]->to; j++)
			if (share(order[i], order[j]))
				complain_share(faults, order[i], order[j]);
}

/* The first of a list that has the bytes then and there. */
static const struct allotment *find_in(const struct allotment_index *index, size_t list, int step,
	int core, int64_t low, int64_t high)
{
	for (size_t k = index->first[list]; k < index->first[list + 1]; k++) {
		const struct allotment *allotment = index->at[k];
		if (allotment->from <= step && step < allotment->to &&
			allotment->cores >> core & 1 && low >= allotment->address &&
			high - allotment->address <= allotment->size)
			return allotment;
	}
	return NULL;
}

const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high)
{
	bool known = tensor >= 0 && (size_t)tensor < index->tensor_count;
	const struct allotment *own =
		known ? find_in(index, (size_t)tensor, step, core, low, high) : NULL;
	const struct allotment *tiles =
		find_in(index, index->tensor_count + (size_t)step, step, core, low, high);
	return !own || (tiles && tiles < own) ? tiles : own;
}
