#include "constraints/order.h"

#include "constraints/constraints.h"

extern const struct constraint_kind constraint_permutation;

struct order_slots order_open(const struct shape *shape)
{
	struct order_slots slots = {.count = shape->dimension_count};
	for (int i = 0; i < SHAPE_DIMENSIONS_MOST; i++)
		slots.at[i] = ORDER_FREE;
	return slots;
}

int order_find(const struct order_slots *slots, int d)
{
	for (int i = 0; i < slots->count; i++)
		if (slots->at[i] == d)
			return i;
	return -1;
}

static bool put(struct order_slots *slots, int slot, int d)
{
	int now = order_find(slots, d);
	if (now == slot)
		return true;
	if (now >= 0 || slots->at[slot] != ORDER_FREE)
		return false;
	slots->at[slot] = (uint8_t)d;
	return true;
}

bool order_merge(struct order_slots *out, const struct constraint *permutation)
{
	struct order_slots slots = *out;
	bool good = true;
	for (int i = 0; i < permutation->order_count; i++)
		good &= put(&slots, i, permutation->order[i]);
	int first = slots.count - permutation->suffix_count;
	for (int i = 0; i < permutation->suffix_count; i++)
		good &= put(&slots, first + i, permutation->suffix[i]);
	if (good)
		*out = slots;
	return good;
}

struct order_slots order_of_row(const struct domain *domain, int row, enum constraint_part part)
{
	struct order_slots slots = order_open(domain->shape);
	const struct constraints *all = domain->constraints;
	for (size_t i = 0; all && i < all->count; i++) {
		const struct constraint *constraint = &all->at[i];
		if (constraint->kind == &constraint_permutation && constraint->row == row &&
			constraint->part == part)
			order_merge(&slots, constraint);
	}
	return slots;
}

int order_of_mapping(const struct domain *domain, const struct mapping *mapping, int row,
	enum constraint_part part, uint8_t *loops)
{
	const struct mapping_row *from = &mapping->rows[row];
	int count = 0;
	if (part == PART_TEMPORAL) {
		for (int i = 0; i < domain->shape->dimension_count; i++)
			if (from->temporal[from->temporal_order[i]] > 1)
				loops[count++] = from->temporal_order[i];
		return count;
	}
	for (int y = 0; y < 2; y++)
		for (int i = 0; i < domain->shape->dimension_count; i++) {
			uint8_t d = from->spatial_order[i];
			if (from->spatial[d] > 1 && (from->spatial_y >> d & 1) == y)
				loops[count++] = d;
		}
	return count;
}
