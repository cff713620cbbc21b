#include "model/buffer.h"

/* Child c may lie on parent p: declared, the same address, handed over in c's first step. */
static bool is_lawful(
	const struct packing *packing, const struct placement *placement, size_t c, size_t p)
{
	const struct buffer *child = &packing->buffers[c], *parent = &packing->buffers[p];
	bool declared = false;
	for (size_t k = 0; k < child->parent_count; k++)
		declared |= (size_t)child->parents[k] == p;
	return declared && placement->addresses[p] != UNPLACED &&
	       placement->addresses[p] == placement->addresses[c] &&
	       parent->end == child->start + 1 && child->size <= parent->size;
}

static const char *check_alone(
	const struct packing *packing, const struct placement *placement, size_t i)
{
	int64_t address = placement->addresses[i];
	int parent = placement->in_place_of[i];
	if (address < 0 || address % packing->alignment)
		return "its address is not aligned";
	if (packing->buffers[i].size > packing->capacity ||
		address > packing->capacity - packing->buffers[i].size)
		return "it ends beyond the capacity";
	if (parent >= 0 && ((size_t)parent >= packing->count ||
				   !is_lawful(packing, placement, i, (size_t)parent)))
		return "it cannot take the place it claims";
	return NULL;
}

static bool share_bytes(
	const struct packing *packing, const struct placement *placement, size_t i, size_t j)
{
	const struct buffer *a = &packing->buffers[i], *b = &packing->buffers[j];
	int64_t at = placement->addresses[i], bt = placement->addresses[j];
	bool in_time =
		a->start < b->end && b->start < a->end && a->start < a->end && b->start < b->end;
	return in_time && at < bt + b->size && bt < at + a->size && a->size && b->size;
}

static const char *check_pair(
	const struct packing *packing, const struct placement *placement, size_t i, size_t j)
{
	if (!share_bytes(packing, placement, i, j))
		return NULL;
	bool i_takes = is_lawful(packing, placement, i, j);
	bool j_takes = is_lawful(packing, placement, j, i);
	if (!i_takes && !j_takes)
		return "they share bytes while both live";
	if (placement->in_place_of[i_takes ? i : j] < 0)
		return "the one takes the other's place and does not say so";
	return NULL;
}

struct packing_fault packing_check(const struct packing *packing, const struct placement *placement)
{
	if (placement->count != packing->count)
		return (struct packing_fault){0, -1, "the placement is of another packing"};
	for (size_t i = 0; i < packing->count; i++) {
		if (placement->addresses[i] == UNPLACED)
			continue;
		const char *why = check_alone(packing, placement, i);
		if (why)
			return (struct packing_fault){(int)i, -1, why};
		for (size_t j = 0; j < i; j++) {
			why = placement->addresses[j] == UNPLACED
				      ? NULL
				      : check_pair(packing, placement, i, j);
			if (why)
				return (struct packing_fault){(int)j, (int)i, why};
		}
	}
	return (struct packing_fault){-1, -1, NULL};
}
