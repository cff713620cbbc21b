#include "constraints/bound.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/place.h"
#include "model/machine/mapping_notation.h"
#include "model/nest/constraint.h"

struct range {
	int64_t least, most;
};

static struct range range_of(const struct constraint_factor *factor)
{
	int64_t bound = factor->bound;
	switch (factor->relation) {
	case RELATION_EQUAL:
		return (struct range){bound, bound};
	case RELATION_LESS:
		return (struct range){1, bound - 1};
	case RELATION_AT_MOST:
		return (struct range){1, bound};
	case RELATION_GREATER:
		return (struct range){bound < INT64_MAX ? bound + 1 : bound, INT64_MAX};
	case RELATION_AT_LEAST:
		break;
	}
	return (struct range){bound, INT64_MAX};
}

static const char *factor_text(
	struct arena *arena, const struct shape *shape, const struct constraint_factor *factor)
{
	const char *name = shape->dimensions[factor->dimension].name;
	const char *relation = relation_text(factor->relation);
	if (factor->tail)
		return arena_format(arena, "%s%s%lld,%lld", name, relation,
			(long long)factor->bound, (long long)factor->tail);
	return arena_format(arena, "%s%s%lld", name, relation, (long long)factor->bound);
}

/* What the machine has against a bound. */
static void clash_with_machine(const struct domain *domain, const struct constraint *constraint,
	int self, const struct constraint_factor *factor, struct clashes *clashes)
{
	struct arena *arena = clashes->arena;
	const struct level *level = &domain->arch->levels[constraint->row];
	const char *text = factor_text(arena, domain->shape, factor);
	if (constraint->part == PART_TEMPORAL)
		clash_add(clashes, self, -1, factor->span,
			"'%s' only %s: it has no temporal loops, so %s cannot be", level->name,
			place_use(level), text);
	else
		clash_add(clashes, self, -1, factor->span,
			"%s is more than the fan-out %lld x %lld of '%s'", text,
			(long long)level->fanout_x, (long long)level->fanout_y, level->name);
}

static void narrow_one(struct domain *domain, const struct constraint *constraint, int self,
	const struct constraint_factor *factor, struct clashes *clashes)
{
	struct arena *arena = clashes->arena;
	int d = factor->dimension;
	const struct dimension *dimension = &domain->shape->dimensions[d];
	struct factor_domain *now = place_factor(domain, constraint, d);
	struct range wish = range_of(factor);
	const char *text = factor_text(arena, domain->shape, factor);
	if (wish.least > dimension->extent) {
		clash_add(clashes, self, -1, factor->span,
			"%s at %s is more than dimension %s has: %lld", text,
			place_text(arena, domain, constraint), dimension->name,
			(long long)dimension->extent);
		return;
	}
	bool over = wish.least > now->most;
	int by = over ? now->most_by : now->least_by;
	if (over && by < 0) {
		clash_with_machine(domain, constraint, self, factor, clashes);
		return;
	}
	if (over || wish.most < now->least) {
		const char *relation = now->least == now->most ? "=" : over ? "<=" : ">=";
		clash_add(clashes, self, by, factor->span, "%s cannot have both %s and %s%s%lld",
			place_text(arena, domain, constraint), text, dimension->name, relation,
			(long long)(over ? now->most : now->least));
		return;
	}
	if (wish.least > now->least) {
		now->least = wish.least;
		now->least_by = self;
	}
	if (wish.most < now->most) {
		now->most = wish.most;
		now->most_by = self;
	}
	if (factor->tail && factor->tail != factor->bound)
		domain->imperfect |= UINT32_C(1) << d;
}

void bound_narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	for (int i = 0; i < constraint->factor_count; i++)
		narrow_one(domain, constraint, self, &constraint->factors[i], clashes);
}

/* What the last round of a loop has. */
static int64_t last_round(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, int d)
{
	return mapping_last_round(mapping, constraint->row, constraint->part == PART_SPATIAL, d,
		domain->shape->dimensions[d].extent);
}

const char *bound_check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	for (int i = 0; i < constraint->factor_count; i++) {
		const struct constraint_factor *factor = &constraint->factors[i];
		int d = factor->dimension;
		struct range wish = range_of(factor);
		int64_t bound = place_bound(mapping, constraint, d);
		const char *name = domain->shape->dimensions[d].name;
		if (bound < wish.least || bound > wish.most)
			return arena_format(arena, "%s has %s=%lld, not %s",
				place_text(arena, domain, constraint), name, (long long)bound,
				factor_text(arena, domain->shape, factor));
		int64_t last = factor->tail ? last_round(domain, constraint, mapping, d) : 0;
		if (last != factor->tail)
			return arena_format(arena, "the last round of %s at %s has %lld, not %lld",
				name, place_text(arena, domain, constraint), (long long)last,
				(long long)factor->tail);
	}
	return NULL;
}

const char *bound_text(
	struct arena *arena, const struct shape *shape, const struct constraint *constraint)
{
	struct text text = text_open(arena);
	for (int i = 0; i < constraint->factor_count; i++)
		text_add(&text, "%s%s", i ? ", " : "",
			factor_text(arena, shape, &constraint->factors[i]));
	return text.length ? text_read(&text) : "any";
}

const char *bound_explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "loop bounds at %s: %s", place_text(arena, domain, constraint),
		bound_text(arena, domain->shape, constraint));
}

void bound_fill(const struct constraint_context *context, uint32_t dimensions,
	enum relation relation, int64_t bound, struct span span, struct constraint *out)
{
	struct array(struct constraint_factor) list = {0};
	for (int i = 0; i < out->factor_count; i++)
		*array_add(context->reading->arena, &list) = out->factors[i];
	for (int d = 0; d < context->shape->dimension_count; d++)
		if (dimensions >> d & 1)
			*array_add(context->reading->arena, &list) = (struct constraint_factor){
				.dimension = d, .relation = relation, .bound = bound, .span = span};
	out->factors = list.at;
	out->factor_count = (int)list.count;
}

/* The factors with those above their extents cut. */
static void cut_to_extents(const struct constraint_context *context, struct constraint *out)
{
	const struct reading *reading = context->reading;
	struct constraint_factor *cut =
		arena_copy(reading->arena, out->factors, (size_t)out->factor_count * sizeof *cut);
	for (int i = 0; i < out->factor_count; i++) {
		const struct dimension *dimension = &context->shape->dimensions[cut[i].dimension];
		if (cut[i].relation != RELATION_EQUAL || cut[i].bound <= dimension->extent)
			continue;
		diag_warning(reading->diag, cut[i].span,
			"factor %s=%lld is above the extent %lld; as in Timeloop, %s=%lld is taken",
			dimension->name, (long long)cut[i].bound, (long long)dimension->extent,
			dimension->name, (long long)dimension->extent);
		cut[i].bound = dimension->extent;
		cut[i].tail = 0;
	}
	out->factors = cut;
}

bool bound_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!directive_factors(
		    context->reading, value, context->shape, &out->factors, &out->factor_count))
		return false;
	if (out->factor_count)
		cut_to_extents(context, out);
	return true;
}
