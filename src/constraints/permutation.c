#include "base/arena.h"
#include "base/text.h"
#include "constraints/order.h"
#include "constraints/place.h"
#include "model/nest/constraint.h"

#include <string.h>

static bool read(
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
static void enter(struct row_domain *row, enum constraint_part part,
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
static int opponent(
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

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	struct order_slots slots = slots_now(domain, row, constraint->part);
	int last =
		constraint->part == PART_SPATIAL ? row->spatial_order_by : row->temporal_order_by;
	if (order_merge(&slots, constraint)) {
		enter(row, constraint->part, &slots, self);
		return;
	}
	int by = opponent(domain, constraint, self, last);
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

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
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

static const char *explain(
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
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};
