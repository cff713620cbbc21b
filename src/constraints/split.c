#include "base/arena.h"
#include "constraints/order.h"
#include "constraints/place.h"
#include "model/nest/constraint.h"

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return directive_split(context->reading, value, context->shape, &out->number);
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	if (row->split >= 0 && row->split != constraint->number) {
		clash_add(clashes, self, row->split_by, constraint->span,
			"%s cannot be split both after %lld and after %d loops",
			place_text(clashes->arena, domain, constraint),
			(long long)constraint->number, row->split);
		return;
	}
	row->split = (int)constraint->number;
	row->split_by = self;
}

/* Loops of bound 1 stand wherever they are needed to make the split come out. */
static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	struct order_slots slots = order_of_row(domain, constraint->row, PART_SPATIAL);
	uint8_t loops[SHAPE_DIMENSIONS_MOST];
	int count = order_of_mapping(domain, mapping, constraint->row, PART_SPATIAL, loops);
	int room[2] = {(int)constraint->number, slots.count - (int)constraint->number};
	for (int i = 0; i < slots.count; i++)
		room[i >= constraint->number] -= slots.at[i] != ORDER_FREE;
	for (int i = 0; i < count; i++) {
		int y = mapping->rows[constraint->row].spatial_y >> loops[i] & 1;
		int slot = order_find(&slots, loops[i]);
		bool fits = slot < 0 ? room[y]-- > 0 : (slot >= constraint->number) == y;
		if (!fits)
			return arena_format(arena,
				"%s runs %s along %c; with split %lld it is along %c",
				place_text(arena, domain, constraint),
				domain->shape->dimensions[loops[i]].name, "XY"[y],
				(long long)constraint -> number, "YX"[y]);
	}
	return NULL;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena,
		"the %lld innermost loops at %s run along X, the other %lld along Y",
		(long long)constraint->number, place_text(arena, domain, constraint),
		(long long)(domain->shape->dimension_count - constraint->number));
}

const struct constraint_kind constraint_split = {
	.key = "split",
	.summary = "how many loops of the permutation run along X; the rest along Y",
	.parts = 1u << PART_SPATIAL,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
