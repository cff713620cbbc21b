#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/ilp_order.h"
#include "solvers/place/packing.h"

#include <stdlib.h>

/* Buffers at one address, by the child's claim; the point's address of the first of them. */
struct shared {
	double address;
	size_t root;
};

static int compare_shared(const void *left, const void *right)
{
	const struct shared *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->root > b->root) - (a->root < b->root);
}

static bool is_kept(const struct order_program *program, const double *values, size_t i)
{
	return program->keeps[i] < 0 || values[program->keeps[i]] > 0.5;
}

/* Whose place i takes, and so on; i if it takes none. */
static size_t root_of(const struct order_program *program, const double *values, size_t i)
{
	const struct buffer *buffer = &program->packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if (values[program->takes[i][k]] > 0.5)
			return root_of(program, values, (size_t)buffer->parents[k]);
	return i;
}

/* The first address from `address` on that is good for buffer i beside what is placed. */
static int64_t lift(const struct packing *packing, const struct placement *placement,
	const size_t *roots, size_t i, int64_t address)
{
	const struct buffer *buffer = &packing->buffers[i];
	for (size_t j = 0; j < packing->count; j++) {
		int64_t other = placement->addresses[j], size = packing->buffers[j].size;
		if (roots[j] != roots[i] && other != UNPLACED && size && buffer->size &&
			packing_meet(packing, i, j) && address < other + size &&
			other < address + buffer->size)
			address = other + size;
	}
	for (size_t k = 0; k < packing->reserved_count && buffer->size; k++)
		if (address < packing->reserved[k].to &&
			packing->reserved[k].from < address + buffer->size)
			address = packing->reserved[k].to;
	return packing_up(packing, i, address);
}

/* As low as all that share it allow; past the capacity there is no need to look on. */
static int64_t find_address(const struct packing *packing, const struct placement *placement,
	const size_t *roots, size_t root)
{
	int64_t address = 0, before = -1;
	for (size_t i = 0; i < packing->count; i++)
		if (roots[i] == root && packing->buffers[i].is_fixed)
			return packing->buffers[i].address;
	while (address != before && address <= packing->capacity) {
		before = address;
		for (size_t i = 0; i < packing->count; i++)
			if (roots[i] == root)
				address = lift(packing, placement, roots, i, address);
	}
	return address;
}

void order_program_read(
	const struct order_program *program, const double *values, struct placement *placement)
{
	const struct packing *packing = program->packing;
	struct arena *arena = arena_open();
	struct shared *order = arena_array(arena, struct shared, packing->count);
	size_t *roots = arena_array(arena, size_t, packing->count), count = 0;
	for (size_t i = 0; i < packing->count; i++) {
		placement->addresses[i] = UNPLACED;
		roots[i] =
			is_kept(program, values, i) ? root_of(program, values, i) : packing->count;
		if (roots[i] == i)
			order[count++] = (struct shared){
				values[program->addresses[i]] * (double)program->steps[i], i};
	}
	if (count)
		qsort(order, count, sizeof *order, compare_shared);
	for (size_t k = 0; k < count; k++) {
		int64_t address = find_address(packing, placement, roots, order[k].root);
		for (size_t i = 0; i < packing->count; i++)
			if (roots[i] == order[k].root)
				placement->addresses[i] = address;
	}
	arena_close(arena);
}
