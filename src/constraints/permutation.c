#include "base/arena.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "constraints/kind.h"
#include "model/nest/constraint.h"

#include <string.h>

/*
 * Loop orders as slots: slot 0 is the innermost loop, slot n - 1 the outermost of a shape's n
 * dimensions.  A permutation fills slots from both ends.
 */
enum { ORDER_FREE = 255 };

struct order_slots {
	int count;
	uint8_t at[SHAPE_DIMENSIONS_MOST]; /* a dimension, or ORDER_FREE */
};

extern const struct constraint_kind constraint_permutation;

static struct order_slots order_open(const struct shape *shape)
{
	struct order_slots slots = {.count = shape->dimension_count};
	for (int i = 0; i < SHAPE_DIMENSIONS_MOST; i++)
		slots.at[i] = ORDER_FREE;
	return slots;
}

/* The slot of a dimension; -1 if it is free. */
static int order_find(const struct order_slots *slots, int d)
{
	for (int i = 0; i < slots->count; i++)
		if (slots->at[i] == d)
			return i;
	return -1;
}

static bool order_slot_put(struct order_slots *slots, int slot, int d)
{
	int now = order_find(slots, d);
	if (now == slot)
		return true;
	if (now >= 0 || slots->at[slot] != ORDER_FREE)
		return false;
	slots->at[slot] = (uint8_t)d;
	return true;
}

/* False, and *out as it was, if the two do not go together. */
static bool order_merge(struct order_slots *out, const struct constraint *permutation)
{
	struct order_slots slots = *out;
	bool good = true;
	for (int i = 0; i < permutation->order_count; i++)
		good &= order_slot_put(&slots, i, permutation->order[i]);
	int first = slots.count - permutation->suffix_count;
	for (int i = 0; i < permutation->suffix_count; i++)
		good &= order_slot_put(&slots, first + i, permutation->suffix[i]);
	if (good)
		*out = slots;
	return good;
}

/* The permutations of one row in a domain's list of constraints. */
static struct order_slots order_of_row(
	const struct domain *domain, int row, enum constraint_part part)
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

/* Loops of a row that have a bound above 1, innermost first, spatial ones along X before those
 * along Y; how many. */
static int order_of_mapping(const struct domain *domain, const struct mapping *mapping, int row,
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

static bool read_permutation(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	struct directive_order order;
	if (!directive_order(context->reading, value, context->shape, &order))
		return false;
	out->order_count = order.count;
	out->suffix_count = order.suffix_count;
	memcpy(out->order, order.at, sizeof out->order);
	memcpy(out->suffix, order.suffix, sizeof out->suffix);
	return true;
}

static const char *order_text(
	struct arena *arena, const struct shape *shape, const struct constraint *constraint)
{
	struct text text = text_open(arena);
	for (int i = 0; i < constraint->order_count; i++)
		text_add(&text, "%s%s", i ? " " : "", shape->dimensions[constraint->order[i]].name);
	if (constraint->order_count + constraint->suffix_count < shape->dimension_count)
		text_add(&text, "%s_", text.length ? " " : "");
	for (int i = 0; i < constraint->suffix_count; i++)
		text_add(&text, "%s%s", text.length ? " " : "",
			shape->dimensions[constraint->suffix[i]].name);
	return text_read(&text);
}

/* The slots into the form of a row's domain: what is filled from either end. */
static void row_domain_enter(struct row_domain *row, enum constraint_part part,
	const struct order_slots *slots, int self)
{
	bool spatial = part == PART_SPATIAL;
	uint8_t *inner = spatial ? row->spatial_order : row->temporal_order;
	uint8_t *outer = spatial ? row->spatial_last : row->temporal_last;
	int inner_count = 0, outer_count = 0;
	while (inner_count < slots->count && slots->at[inner_count] != ORDER_FREE)
		inner_count++;
	while (inner_count + outer_count < slots->count &&
		slots->at[slots->count - 1 - outer_count] != ORDER_FREE)
		outer_count++;
	memcpy(inner, slots->at, (size_t)inner_count);
	memcpy(outer, slots->at + slots->count - outer_count, (size_t)outer_count);
	*(spatial ? &row->spatial_inner : &row->temporal_inner) = inner_count;
	*(spatial ? &row->spatial_outer : &row->temporal_outer) = outer_count;
	*(spatial ? &row->spatial_order_by : &row->temporal_order_by) = self;
}

static struct order_slots slots_now(
	const struct domain *domain, const struct row_domain *row, enum constraint_part part)
{
	bool spatial = part == PART_SPATIAL;
	struct order_slots slots = order_open(domain->shape);
	int outer = spatial ? row->spatial_outer : row->temporal_outer;
	memcpy(slots.at, spatial ? row->spatial_order : row->temporal_order,
		(size_t)(spatial ? row->spatial_inner : row->temporal_inner));
	memcpy(slots.at + slots.count - outer, spatial ? row->spatial_last : row->temporal_last,
		(size_t)outer);
	return slots;
}

/* The earlier permutation that speaks against this one. */
static int domain_opponent(
	const struct domain *domain, const struct constraint *constraint, int self, int last)
{
	const struct constraints *all = domain->constraints;
	for (int i = 0; all && i < self; i++) {
		const struct constraint *other = &all->at[i];
		if (other->kind != constraint->kind || other->row != constraint->row ||
			other->part != constraint->part)
			continue;
		struct order_slots slots = order_open(domain->shape);
		if (order_merge(&slots, other) && !order_merge(&slots, constraint))
			return i;
	}
	return last;
}

static void narrow_permutation(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	struct order_slots slots = slots_now(domain, row, constraint->part);
	int last =
		constraint->part == PART_SPATIAL ? row->spatial_order_by : row->temporal_order_by;
	if (order_merge(&slots, constraint)) {
		row_domain_enter(row, constraint->part, &slots, self);
		return;
	}
	int by = domain_opponent(domain, constraint, self, last);
	const char *other = "the order there is";
	if (domain->constraints && by >= 0)
		other = order_text(clashes->arena, domain->shape, &domain->constraints->at[by]);
	clash_add(clashes, self, by, constraint->span,
		"%s cannot have both the permutation %s and %s (innermost first)",
		place_text(clashes->arena, domain, constraint),
		order_text(clashes->arena, domain->shape, constraint), other);
}

/* Inside the innermost words nothing is reused, so that the order of loops there changes no
 * count; mappings that Timeloop found have any. */
static bool is_without_effect(const struct domain *domain, const struct constraint *constraint)
{
	if (constraint->part != PART_TEMPORAL)
		return false;
	for (int r = constraint->row + 1; r < domain->arch->level_count; r++)
		if (domain_stores(domain->arch, r))
			return false;
	return true;
}

static const char *check_permutation(const struct domain *domain,
	const struct constraint *constraint, const struct mapping *mapping, struct arena *arena)
{
	uint8_t loops[SHAPE_DIMENSIONS_MOST];
	int count = order_of_mapping(domain, mapping, constraint->row, constraint->part, loops);
	uint32_t present = 0;
	for (int i = 0; i < count; i++)
		present |= UINT32_C(1) << loops[i];
	int at = 0;
	bool good = true;
	for (int i = 0; i < constraint->order_count; i++)
		if (present >> constraint->order[i] & 1)
			good &= loops[at++] == constraint->order[i];
	at = count;
	for (int i = constraint->suffix_count - 1; i >= 0; i--)
		if (present >> constraint->suffix[i] & 1)
			good &= loops[--at] == constraint->suffix[i];
	if (good || is_without_effect(domain, constraint))
		return NULL;
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, " %s", domain->shape->dimensions[loops[i]].name);
	return arena_format(arena, "%s has the loops%s, innermost first, not in the order %s",
		place_text(arena, domain, constraint), text_read(&text),
		order_text(arena, domain->shape, constraint));
}

static const char *explain_permutation(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "loop order at %s, innermost first: %s",
		place_text(arena, domain, constraint),
		order_text(arena, domain->shape, constraint));
}

const struct constraint_kind constraint_permutation = {
	.key = "permutation",
	.summary = "loop order, innermost first: [P, Q], PQ, or PQ_RS with the free loops at _",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_permutation,
	.narrow = narrow_permutation,
	.check = check_permutation,
	.explain = explain_permutation,
};

static bool read_split(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return directive_split(context->reading, value, context->shape, &out->number);
}

static void narrow_split(struct domain *domain, const struct constraint *constraint, int self,
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
static const char *check_split(const struct domain *domain, const struct constraint *constraint,
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

static const char *explain_split(
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
	.read = read_split,
	.narrow = narrow_split,
	.check = check_split,
	.explain = explain_split,
};
