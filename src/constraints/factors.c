#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/kind.h"
#include "model/machine/mapping.h"
#include "model/nest/constraint.h"

#include <string.h>

/*
 * Bounds of loops: `factors` and the kinds that stand for factors.  The payload of all of them is a list of
 * constraint_factor, one for each bounded dimension; narrowing intersects it with the range that the domain still
 * allows.  The last part, product_check, compares the bounds of all rows with the extents and fan-outs.
 */

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

/* Adds a clash between a bound and the machine. */
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
			(long long)level->fanout.x, (long long)level->fanout.y, level->name);
}

static void narrow_one(struct domain *domain, const struct constraint *constraint, int self,
	const struct constraint_factor *factor, struct clashes *clashes)
{
	struct arena *arena = clashes->arena;
	int d = factor->dimension;
	const struct loop *dimension = &domain->shape->dimensions[d];
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

static void bound_narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	for (int i = 0; i < constraint->factor_count; i++)
		narrow_one(domain, constraint, self, &constraint->factors[i], clashes);
}

/* Returns the number of iterations in the last round of a loop. */
static int64_t last_round(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, int d)
{
	return mapping_last_round(mapping, constraint->row, constraint->part == PART_SPATIAL, d,
		domain->shape->dimensions[d].extent);
}

static const char *bound_check(const struct domain *domain, const struct constraint *constraint,
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

/* "M=4, N<=8" */
static const char *bound_text(
	struct arena *arena, const struct shape *shape, const struct constraint *constraint)
{
	struct text text = text_open(arena);
	for (int i = 0; i < constraint->factor_count; i++)
		text_add(&text, "%s%s", i ? ", " : "",
			factor_text(arena, shape, &constraint->factors[i]));
	return text.length ? text_read(&text) : "any";
}

/* "'GLB' (temporal) has the bounds M=4, N<=8" */
static const char *bound_explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "loop bounds at %s: %s", place_text(arena, domain, constraint),
		bound_text(arena, domain->shape, constraint));
}

/* The same bound for every dimension of a mask, as the payload of a constraint. */
static void bound_fill(const struct constraint_context *context, uint32_t dimensions,
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
		const struct loop *dimension = &context->shape->dimensions[cut[i].dimension];
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

/* Reads the text of factors; false after complaining.  A factor above the extent becomes the extent, as in Timeloop,
 * with a warning. */
static bool bound_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!directive_factors(
		    context->reading, value, context->shape, &out->factors, &out->factor_count))
		return false;
	if (out->factor_count)
		cut_to_extents(context, out);
	return true;
}

/* Returns the dimensions without a factor in the list. */
static uint32_t constraint_context_unlisted(
	const struct constraint_context *context, const struct constraint_factor *listed, int count)
{
	uint32_t rest = (UINT32_C(1) << context->shape->dimension_count) - 1;
	for (int i = 0; i < count; i++)
		rest &= ~(UINT32_C(1) << listed[i].dimension);
	return rest;
}

static bool read_only(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!bound_read(context, value, out))
		return false;
	bound_fill(context, constraint_context_unlisted(context, out->factors, out->factor_count),
		RELATION_EQUAL, 1, value->span, out);
	return true;
}

/* Bounds all dimensions that `factors` and `factors_only` beside the key do not list. */
static bool read_default(const struct constraint_context *context, const struct node *value,
	enum relation relation, struct constraint *out)
{
	static const char *const keys[] = {"factors", "factors_only"};
	int64_t bound;
	if (!node_integer(context->reading, value, "a factor", 1, INT64_MAX, &bound))
		return false;
	uint32_t rest = constraint_context_unlisted(context, NULL, 0);
	for (int k = 0; k < 2; k++) {
		const struct node *list = node_find(context->beside, keys[k]);
		const struct constraint_factor *factors = NULL;
		int count = 0;
		/* Errors of the list are reported when the list itself is read. */
		struct reading silent = *context->reading;
		silent.diag = diag_open(silent.arena);
		if (list)
			directive_factors(&silent, list, context->shape, &factors, &count);
		rest &= constraint_context_unlisted(context, factors, count);
	}
	bound_fill(context, rest, relation, bound, value->span, out);
	return true;
}

static bool read_most(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return read_default(context, value, RELATION_AT_MOST, out);
}

static bool read_least(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return read_default(context, value, RELATION_AT_LEAST, out);
}

const struct constraint_kind constraint_factors = {
	.key = "factors",
	.summary = "bounds of loops: [K=4, C<=16, P>=2]; =0 is the full size",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = bound_read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_factors_only = {
	.key = "factors_only",
	.summary = "bounds of loops; all others are 1",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_only,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_default_max_factor = {
	.key = "default_max_factor",
	.summary = "the most that a loop may have that 'factors' beside it does not list",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_most,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

const struct constraint_kind constraint_default_min_factor = {
	.key = "default_min_factor",
	.summary = "the least that a loop may have that 'factors' beside it does not list",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_least,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};

/* The dimensions of dataspaces. */
static uint32_t relevant_to(const struct shape *shape, uint32_t spaces)
{
	uint32_t dimensions = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (spaces >> t & 1)
			dimensions |= shape->spaces[t].relevant;
	return dimensions;
}

static bool read_none(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!directive_spaces(context->reading, value, context->shape, &out->spaces))
		return false;
	bound_fill(context, relevant_to(context->shape, out->spaces), RELATION_EQUAL, 1,
		value->span, out);
	return true;
}

/*
 * Every listed dataspace has a loop with a bound above 1.  Timeloop reads it the
 * other way around: no dimension that is in none of them may have one; that is
 * a list of factors here.
 */
static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	if (!directive_spaces(context->reading, value, shape, &out->spaces))
		return false;
	if (!context->timeloop)
		return true;
	uint32_t rest = (UINT32_C(1) << shape->dimension_count) - 1;
	rest &= ~relevant_to(shape, out->spaces);
	out->spaces = 0;
	bound_fill(context, rest, RELATION_EQUAL, 1, value->span, out);
	return true;
}

static void narrow_space(struct domain *domain, const struct constraint *constraint, int self,
	int t, struct clashes *clashes)
{
	uint32_t relevant = domain->shape->spaces[t].relevant;
	struct factor_domain *only = NULL;
	int able = 0, by = -1;
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		struct factor_domain *factor = place_factor(domain, constraint, d);
		if (!(relevant >> d & 1))
			continue;
		if (factor->most > 1) {
			able++;
			only = factor;
		} else if (by < 0) {
			by = factor->most_by;
		}
	}
	if (!able)
		clash_add(clashes, self, by, constraint->span,
			"%s must iterate over %s, but the bounds of %s are all 1 there",
			place_text(clashes->arena, domain, constraint),
			domain->shape->spaces[t].name,
			place_dimensions(clashes->arena, domain->shape, relevant));
	if (able == 1 && only->least < 2) {
		only->least = 2;
		only->least_by = self;
	}
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	bound_narrow(domain, constraint, self, clashes);
	struct row_domain *row = &domain->rows[constraint->row];
	*(constraint->part == PART_SPATIAL ? &row->spatial_over : &row->temporal_over) |=
		constraint->spaces;
	for (int t = 0; t < domain->shape->space_count; t++)
		if (constraint->spaces >> t & 1)
			narrow_space(domain, constraint, self, t, clashes);
}

static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	for (int t = 0; t < domain->shape->space_count; t++) {
		bool loops = false;
		for (int d = 0; d < domain->shape->dimension_count; d++)
			loops |= domain->shape->spaces[t].relevant >> d & 1 &&
				 place_bound(mapping, constraint, d) > 1;
		if (constraint->spaces >> t & 1 && !loops)
			return arena_format(arena, "%s has no loop over %s",
				place_text(arena, domain, constraint),
				domain->shape->spaces[t].name);
	}
	return bound_check(domain, constraint, mapping, arena);
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	if (!constraint->spaces)
		return bound_explain(domain, constraint, arena);
	struct text text = text_open(arena);
	for (int t = 0; t < domain->shape->space_count; t++)
		if (constraint->spaces >> t & 1)
			text_add(&text, "%s %s (%s)", text.length ? "," : "",
				domain->shape->spaces[t].name,
				place_dimensions(
					arena, domain->shape, domain->shape->spaces[t].relevant));
	return arena_format(arena, "%s iterates over each of%s",
		place_text(arena, domain, constraint), text_read(&text));
}

const struct constraint_kind constraint_must_iterate_over_dataspaces = {
	.key = "must_iterate_over_dataspaces",
	.summary = "dataspaces each of which has a loop above 1 there",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.round = 2,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

static const char *explain_none(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "no iteration over %s at %s: %s",
		place_spaces(arena, domain->shape, constraint->spaces),
		place_text(arena, domain, constraint),
		bound_text(arena, domain->shape, constraint));
}

const struct constraint_kind constraint_no_iteration_over_dataspaces = {
	.key = "no_iteration_over_dataspaces",
	.summary = "dataspaces none of whose dimensions has a loop there",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_none,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = explain_none,
};

/* One dimension's loops, innermost first. */
struct factor_chain {
	const struct domain *domain;
	int d;
	int64_t extent;
	int count;
	struct chain_link {
		struct factor_domain bounds;
		int row;
		bool spatial;
	} links[2 * ARCH_LEVELS_MOST];
};

static struct factor_chain chain_of(const struct domain *domain, int d)
{
	struct factor_chain chain = {
		.domain = domain, .d = d, .extent = domain->shape->dimensions[d].extent};
	for (int r = domain->arch->level_count - 1; r >= 0; r--) {
		chain.links[chain.count++] =
			(struct chain_link){domain->rows[r].temporal[d], r, false};
		chain.links[chain.count++] =
			(struct chain_link){domain->rows[r].spatial[d], r, true};
	}
	return chain;
}

static struct span factor_span(const struct domain *domain, int by)
{
	return domain->constraints && by >= 0 ? domain->constraints->at[by].span : (struct span){0};
}

/* Constraints that clash, each once, ascending. */
struct party {
	int count;
	int at[2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];
};

static void party_join(struct party *party, int who)
{
	int i = party->count;
	while (i > 0 && party->at[i - 1] > who)
		i--;
	if (who < 0 || (i > 0 && party->at[i - 1] == who))
		return;
	memmove(party->at + i + 1, party->at + i, (size_t)(party->count - i) * sizeof *party->at);
	party->at[i] = who;
	party->count++;
}

/* The last of them complains; the others are shown. */
static void factors_complain(const struct domain *domain, const struct party *party,
	struct clashes *clashes, const char *text)
{
	int others = party->count - 1;
	int self = others >= 0 ? party->at[others] : -1;
	struct clash *clash = clash_add(clashes, self, others == 1 ? party->at[0] : -1,
		factor_span(domain, self), "%s", text);
	if (others < 2)
		return;
	clash->more = arena_copy(clashes->arena, party->at, (size_t)others * sizeof *party->at);
	clash->more_count = others;
}

/* "M=4 at 'GLB' (temporal) x M>=2 at 'PE' (spatial)": the bounds that constraints set. */
static const char *chain_text(
	const struct factor_chain *chain, struct arena *arena, bool least, struct party *party)
{
	struct text text = text_open(arena);
	const char *name = chain->domain->shape->dimensions[chain->d].name;
	for (int i = chain->count - 1; i >= 0; i--) {
		const struct chain_link *link = &chain->links[i];
		const struct factor_domain *bounds = &link->bounds;
		int who = least ? bounds->least_by : bounds->most_by;
		party_join(party, who);
		if (who >= 0)
			text_add(&text, "%s%s%s%lld at '%s' (%s)", text.length ? " x " : "", name,
				bounds->least == bounds->most ? "="
				: least                       ? ">="
							      : "<=",
				(long long)(least ? bounds->least : bounds->most),
				chain->domain->arch->levels[link->row].name,
				link->spatial ? "spatial" : "temporal");
	}
	return text_read(&text);
}

static void clash_with_chain(
	const struct factor_chain *chain, struct clashes *clashes, bool least, const char *why)
{
	struct party party = {0};
	const char *bounds = chain_text(chain, clashes->arena, least, &party);
	factors_complain(chain->domain, &party, clashes,
		arena_format(clashes->arena, "dimension %s has %lld, %s: %s",
			chain->domain->shape->dimensions[chain->d].name, (long long)chain->extent,
			why, bounds));
}

/* The product of all lower (upper) bounds, or more than any extent. */
static int64_t product_of(const struct factor_chain *chain, bool least)
{
	int64_t product = 1;
	for (int i = 0; i < chain->count; i++) {
		const struct factor_domain *bounds = &chain->links[i].bounds;
		if (!number_mul(product, least ? bounds->least : bounds->most, &product))
			return INT64_MAX;
	}
	return product;
}

/* Adds a clash if a bound allows no divisor, with the nearest divisors; true if it does. */
static bool refuse_divisor(const struct factor_chain *chain, const struct chain_link *link,
	const struct divisors *divisors, struct clashes *clashes)
{
	const struct factor_domain *bounds = &link->bounds;
	int64_t below = 0, above = 0;
	for (size_t i = 0; i < divisors->count; i++) {
		int64_t divisor = divisors->at[i];
		if (divisor >= bounds->least && divisor <= bounds->most)
			return false;
		if (divisor < bounds->least)
			below = divisor;
		if (divisor > bounds->most && !above)
			above = divisor;
	}
	const char *name = chain->domain->shape->dimensions[chain->d].name;
	struct text range = text_open(clashes->arena), near = text_open(clashes->arena);
	text_add(&range, bounds->least == bounds->most ? "%s=%lld" : "%s=%lld..%lld", name,
		(long long)bounds->least, (long long)bounds->most);
	if (below)
		text_add(&near, "%lld", (long long)below);
	if (above)
		text_add(&near, "%s%lld", below ? " and " : "", (long long)above);
	struct party party = {0};
	party_join(&party, bounds->least_by);
	party_join(&party, bounds->most_by);
	factors_complain(chain->domain, &party, clashes,
		arena_format(clashes->arena,
			"%s at '%s' (%s) does not divide dimension %s, which has %lld; %s would",
			text_read(&range), chain->domain->arch->levels[link->row].name,
			link->spatial ? "spatial" : "temporal", name, (long long)chain->extent,
			text_read(&near)));
	return true;
}

/* The products that one loop more can make; divisors are known by their place. */
static void add_link(const struct divisors *divisors, const struct factor_domain *bounds,
	const bool *now, bool *next)
{
	memset(next, 0, divisors->count * sizeof *next);
	for (size_t a = 0; a < divisors->count; a++)
		for (size_t b = a; now[a] && b < divisors->count; b++) {
			int64_t factor = divisors->at[b] / divisors->at[a];
			next[b] |= divisors->at[b] % divisors->at[a] == 0 &&
				   factor >= bounds->least && factor <= bounds->most;
		}
}

/* True if the loops can make up the extent.  One that may have any bound makes up what the
 * others leave. */
static bool some_product(
	const struct factor_chain *chain, const struct divisors *divisors, struct arena *arena)
{
	bool *now = arena_array(arena, bool, divisors->count);
	bool *next = arena_array(arena, bool, divisors->count);
	bool any = false;
	now[0] = true;
	for (int i = 0; i < chain->count; i++) {
		const struct factor_domain *bounds = &chain->links[i].bounds;
		bool free = bounds->least == 1 && bounds->most >= chain->extent;
		any |= free;
		if (free || bounds->most == 1)
			continue;
		add_link(divisors, bounds, now, next);
		bool *old = now;
		now = next;
		next = old;
	}
	bool some = false;
	for (size_t i = 0; i < divisors->count; i++)
		some |= now[i] && (any || i == divisors->count - 1);
	return some;
}

static void check_perfect(const struct factor_chain *chain, struct clashes *clashes)
{
	struct divisors divisors = number_divisors(clashes->arena, chain->extent);
	bool told = false;
	for (int i = 0; i < chain->count; i++)
		told |= refuse_divisor(chain, &chain->links[i], &divisors, clashes);
	if (told)
		return;
	if (product_of(chain, true) > chain->extent)
		clash_with_chain(chain, clashes, true, "less than the product of its bounds");
	else if (product_of(chain, false) < chain->extent)
		clash_with_chain(chain, clashes, false, "more than the product of its bounds");
	else if (!some_product(chain, &divisors, clashes->arena))
		clash_with_chain(
			chain, clashes, true, "which no factors within its bounds make up");
}

/* From the inside outwards, a bound is at most what is left, rounded up. */
static void check_imperfect(const struct factor_chain *chain, struct clashes *clashes)
{
	int64_t inside = 1;
	bool fits = true;
	for (int i = 0; i < chain->count && fits; i++) {
		int64_t least = chain->links[i].bounds.least;
		fits = least <= number_ceil_div(chain->extent, inside) &&
		       number_mul(inside, least, &inside);
	}
	if (!fits)
		clash_with_chain(chain, clashes, true, "less than the product of its bounds");
	else if (product_of(chain, false) < chain->extent)
		clash_with_chain(chain, clashes, false, "more than the product of its bounds");
}

/* Returns the axes that a split leaves to a dimension: X only (1), Y only (2), either (3). */
static int axes_of(const struct domain *domain, int r, int d)
{
	const struct row_domain *row = &domain->rows[r];
	int count = domain->shape->dimension_count;
	if (row->split < 0)
		return 3;
	if (row->split == 0 || row->split == count)
		return row->split ? 1 : 2;
	for (int i = 0; i < row->spatial_inner; i++)
		if (row->spatial_order[i] == d)
			return i < row->split ? 1 : 2;
	for (int i = 0; i < row->spatial_outer; i++)
		if (row->spatial_last[i] == d)
			return count - row->spatial_outer + i < row->split ? 1 : 2;
	return 3;
}

/* True if the least bounds of dimensions d and up fit what is left of a fan-out. */
static bool fits_fanout(const struct domain *domain, int r, int d, int64_t x, int64_t y)
{
	while (d < domain->shape->dimension_count && domain->rows[r].spatial[d].least == 1)
		d++;
	if (d == domain->shape->dimension_count)
		return true;
	int64_t least = domain->rows[r].spatial[d].least;
	int axes = axes_of(domain, r, d);
	return (axes & 1 && least <= x && fits_fanout(domain, r, d + 1, x / least, y)) ||
	       (axes & 2 && least <= y && fits_fanout(domain, r, d + 1, x, y / least));
}

static void check_fanout(const struct domain *domain, int r, struct clashes *clashes)
{
	const struct level *level = &domain->arch->levels[r];
	const struct row_domain *row = &domain->rows[r];
	if (fits_fanout(domain, r, 0, level->fanout.x, level->fanout.y))
		return;
	struct text text = text_open(clashes->arena);
	struct party party = {0};
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		const struct factor_domain *bounds = &row->spatial[d];
		if (bounds->least == 1)
			continue;
		text_add(&text, "%s%s%s%lld", text.length ? " x " : "",
			domain->shape->dimensions[d].name,
			bounds->least == bounds->most ? "=" : ">=", (long long)bounds->least);
		party_join(&party, bounds->least_by);
	}
	if (row->split >= 0) {
		text_add(&text, " with split %d", row->split);
		party_join(&party, row->split_by);
		party_join(&party, row->spatial_order_by);
	}
	factors_complain(domain, &party, clashes,
		arena_format(clashes->arena, "the fan-out %lld x %lld of '%s' has no room for %s",
			(long long)level->fanout.x, (long long)level->fanout.y, level->name,
			text_read(&text)));
}

void product_check(const struct domain *domain, struct clashes *clashes)
{
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		struct factor_chain chain = chain_of(domain, d);
		if (domain->imperfect >> d & 1)
			check_imperfect(&chain, clashes);
		else
			check_perfect(&chain, clashes);
	}
	for (int r = 0; r < domain->arch->level_count; r++)
		check_fanout(domain, r, clashes);
}
