#include "constraints/maximize_dims.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wide.h"
#include "constraints/constraints.h"
#include "constraints/kind.h"
#include "model/nest/constraint.h"

#include <string.h>

/* The capacity beside the lists; a temporal one is required. */
static bool read_capacity(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct node *capacity = node_find(context->beside, "maximize_dims_capacity");
	if (capacity)
		return node_integer(
			context->reading, capacity, "a capacity", 1, INT64_MAX, &out->number);
	if (out->part == PART_TEMPORAL)
		return reading_refuse(context->reading, value,
			"a temporal 'maximize_dims' needs 'maximize_dims_capacity' beside it");
	return true;
}

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	bool lists = value->kind == NODE_LIST && value->count && value->items[0]->kind == NODE_LIST;
	size_t groups = lists ? value->count : 1;
	uint32_t seen = 0;
	bool good = read_capacity(context, value, out);
	for (size_t i = 0; i < groups; i++) {
		struct directive_order order;
		const struct node *list = lists ? value->items[i] : value;
		if (!directive_order(context->reading, list, context->shape, &order)) {
			good = false;
			continue;
		}
		uint32_t mask = 0;
		for (int k = 0; k < order.count; k++)
			mask |= UINT32_C(1) << order.at[k];
		if (order.suffix_count || mask & seen || !mask) {
			good = reading_refuse(context->reading, list,
				order.suffix_count ? "lists of dimensions have no '_'"
				: mask             ? "a dimension is in two lists"
						   : "a list of dimensions is empty");
			continue;
		}
		seen |= mask;
		memcpy(out->order + out->order_count, order.at, (size_t)order.count);
		out->order_count += order.count;
		out->groups[out->group_count++] = mask;
	}
	return good;
}

/* Returns the extent of a dimension divided by its exact bounds. */
static int64_t left_of(const struct domain *domain, int d)
{
	int64_t left = domain->shape->dimensions[d].extent;
	for (int r = 0; r < domain->arch->level_count; r++) {
		const struct factor_domain *both[] = {
			&domain->rows[r].spatial[d], &domain->rows[r].temporal[d]};
		for (int i = 0; i < 2; i++)
			if (both[i]->least == both[i]->most)
				left = number_ceil_div(left, both[i]->least);
	}
	return left;
}

static int64_t capacity_of(const struct domain *domain, const struct constraint *constraint)
{
	return constraint->number > 0 ? constraint->number
				      : domain_fanout(domain->arch, constraint->row);
}

/* Returns the capacity divided by the least bounds of the row. */
static int64_t capacity_left(struct domain *domain, const struct constraint *constraint)
{
	int64_t capacity = capacity_of(domain, constraint);
	for (int d = 0; d < domain->shape->dimension_count; d++)
		capacity /= place_factor(domain, constraint, d)->least;
	return capacity;
}

static void domain_set(struct domain *domain, const struct constraint *constraint, int self, int d,
	int64_t bound, struct clashes *clashes)
{
	struct factor_domain *factor = place_factor(domain, constraint, d);
	if (bound > factor->most) {
		clash_add(clashes, self, -1, constraint->span,
			"'maximize_dims' comes to %s=%lld at %s, where a loop has at most %lld; a "
			"smaller 'maximize_dims_capacity' would help",
			domain->shape->dimensions[d].name, (long long)bound,
			place_text(clashes->arena, domain, constraint), (long long)factor->most);
		return;
	}
	int64_t left = left_of(domain, d);
	if (left % bound)
		domain->imperfect |= UINT32_C(1) << d;
	*factor = (struct factor_domain){bound, bound, self, self};
}

/* One list; `order` has its dimensions. */
static void narrow_group(struct domain *domain, const struct constraint *constraint, int self,
	const uint8_t *order, int count, struct clashes *clashes)
{
	struct greedy greedy = {.count = count};
	for (int k = 0; k < count; k++) {
		const struct factor_domain *factor = place_factor(domain, constraint, order[k]);
		int by = factor->least_by >= 0 ? factor->least_by : factor->most_by;
		if (by >= 0) {
			clash_add(clashes, self, by, constraint->span,
				"%s cannot maximize %s, whose bound is set there already",
				place_text(clashes->arena, domain, constraint),
				domain->shape->dimensions[order[k]].name);
			return;
		}
		greedy.sizes[k] = left_of(domain, order[k]);
	}
	if (!greedy_maximize(&greedy, capacity_left(domain, constraint))) {
		clash_add(clashes, self, -1, constraint->span,
			"there are too many ways to maximize all dimensions at %s: split the "
			"list",
			place_text(clashes->arena, domain, constraint));
		return;
	}
	for (int k = 0; k < count; k++)
		domain_set(domain, constraint, self, order[k], greedy.bounds[k], clashes);
}

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	int from = 0;
	for (int g = 0; g < constraint->group_count; g++) {
		int count = __builtin_popcount(constraint->groups[g]);
		narrow_group(domain, constraint, self, constraint->order + from, count, clashes);
		from += count;
	}
}

/* Its bounds follow from those of all other constraints, so it computes them again. */
static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	const struct constraints *all = domain->constraints;
	bool *chosen = arena_array(arena, bool, all->count);
	for (size_t i = 0; i < all->count; i++)
		chosen[i] = true;
	struct domain *anew = domain_make(arena, domain->arch, domain->shape, domain->hierarchy);
	anew->imperfect = domain->imperfect;
	anew->whole_homes = domain->whole_homes;
	constraints_agree(all, chosen, anew, arena);
	for (int k = 0; k < constraint->order_count; k++) {
		int d = constraint->order[k];
		int64_t bound = place_factor(anew, constraint, d)->most;
		if (place_bound(mapping, constraint, d) != bound)
			return arena_format(arena,
				"%s has %s=%lld; the most that its capacity %lld allows is %s=%lld",
				place_text(arena, domain, constraint),
				domain->shape->dimensions[d].name,
				(long long)place_bound(mapping, constraint, d),
				(long long)capacity_of(domain, constraint),
				domain->shape->dimensions[d].name, (long long)bound);
	}
	return NULL;
}

static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	struct text text = text_open(arena);
	for (int g = 0; g < constraint->group_count; g++)
		text_add(&text, "%s[%s]", g ? " then " : "",
			place_dimensions(arena, domain->shape, constraint->groups[g]));
	return arena_format(arena, "%s makes the most of a capacity of %lld with %s",
		place_text(arena, domain, constraint), (long long)capacity_of(domain, constraint),
		text_read(&text));
}

const struct constraint_kind constraint_maximize_dims = {
	.key = "maximize_dims",
	.summary = "lists of dimensions whose loops fill the fan-out or maximize_dims_capacity",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.round = 1,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

/* Read with the maximize_dims beside it; here it is a limit of its own. */
static bool read_limit(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!node_find(context->beside, "maximize_dims"))
		return reading_refuse(context->reading, value,
			"'maximize_dims_capacity' needs 'maximize_dims' beside it");
	return node_integer(context->reading, value, "a capacity", 1, INT64_MAX, &out->number);
}

/* The dimensions of the maximize_dims that it belongs to. */
static uint32_t domain_maximized(const struct domain *domain, const struct constraint *constraint)
{
	uint32_t mask = 0;
	const struct constraints *all = domain->constraints;
	for (size_t i = 0; all && i < all->count; i++) {
		const struct constraint *other = &all->at[i];
		for (int g = 0; other->row == constraint->row && other->part == constraint->part &&
				g < other->group_count;
			g++)
			mask |= other->groups[g];
	}
	return mask;
}

static const char *check_limit(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	uint32_t dimensions = domain_maximized(domain, constraint);
	int64_t product = 1;
	for (int d = 0; d < domain->shape->dimension_count; d++)
		if (dimensions >> d & 1 &&
			!number_mul(product, place_bound(mapping, constraint, d), &product))
			product = INT64_MAX;
	if (product <= constraint->number)
		return NULL;
	return arena_format(arena, "%s has %lld iterations over %s, more than its capacity %lld",
		place_text(arena, domain, constraint), (long long)product,
		place_dimensions(arena, domain->shape, dimensions), (long long)constraint->number);
}

static const char *explain_limit(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "%s has a capacity of %lld to maximize",
		place_text(arena, domain, constraint), (long long)constraint->number);
}

const struct constraint_kind constraint_maximize_dims_capacity = {
	.key = "maximize_dims_capacity",
	.summary = "the product of bounds that maximize_dims may reach; required for temporal ones",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_limit,
	.check = check_limit,
	.explain = explain_limit,
};

enum { STATES_MOST = 1 << 16, SLOTS_FIRST = 64 };

/* num / den iterations: at most the capacity, and den at most a size */
struct share {
	wide num;
	int64_t den;
};

/* The best from what is left of every dimension on. */
struct greedy_state {
	bool last; /* its first step ends it */
	int64_t left[SHAPE_DIMENSIONS_MOST];
	int64_t capacity;
	int which;    /* the dimension of the first step; -1: no step */
	int64_t step; /* its bound */
	struct share best;
};

struct greedy_table {
	struct arena *arena;
	int count;                      /* dimensions */
	size_t state_count, slot_count; /* at most half of the slots are used; a power of two */
	struct greedy_state **slots;
};

static bool is_more(struct share a, struct share b)
{
	return a.num * b.den > b.num * a.den;
}

static struct greedy_state **greedy_state_find(
	const struct greedy_table *table, const int64_t *left, int64_t capacity)
{
	uint64_t hash = (uint64_t)capacity;
	for (int i = 0; i < table->count; i++)
		hash = (hash ^ (uint64_t)left[i]) * UINT64_C(0x9e3779b97f4a7c15);
	size_t size = (size_t)table->count * sizeof *left;
	for (size_t at = hash >> 40;; at++) {
		struct greedy_state **slot = &table->slots[at & (table->slot_count - 1)];
		if (!*slot || ((*slot)->capacity == capacity && !memcmp((*slot)->left, left, size)))
			return slot;
	}
}

static void greedy_table_grow(struct greedy_table *table)
{
	struct greedy_table larger = *table;
	larger.slot_count *= 2;
	larger.slots = arena_array(table->arena, struct greedy_state *, larger.slot_count);
	for (size_t i = 0; i < table->slot_count; i++) {
		struct greedy_state *state = table->slots[i];
		if (state)
			*greedy_state_find(&larger, state->left, state->capacity) = state;
	}
	*table = larger;
}

static struct greedy_state *best_from(
	struct greedy_table *table, const int64_t *left, int64_t capacity);

static void try_rounds(struct greedy_state *state, int k)
{
	int64_t size = state->left[k];
	if (size <= state->capacity)
		return;
	int64_t rounds = number_ceil_div(size, state->capacity);
	int64_t step = number_ceil_div(size, rounds);
	struct share share = {size, rounds};
	if (!is_more(share, state->best))
		return;
	state->best = share;
	state->which = k;
	state->step = step;
	state->last = true;
}

/* False when there are too many states. */
static bool try_prime(struct greedy_table *table, struct greedy_state *state, int k, int64_t prime)
{
	if (prime > state->capacity)
		return true;
	int64_t left[SHAPE_DIMENSIONS_MOST];
	memcpy(left, state->left, sizeof left);
	left[k] /= prime;
	const struct greedy_state *inner = best_from(table, left, state->capacity / prime);
	if (!inner)
		return false;
	struct share share = {inner->best.num * prime, inner->best.den};
	if (!is_more(share, state->best))
		return true;
	state->best = share;
	state->which = k;
	state->step = prime;
	state->last = false;
	return true;
}

static bool try_dimension(struct greedy_table *table, struct greedy_state *state, int k)
{
	try_rounds(state, k);
	int64_t rest = state->left[k];
	for (int64_t prime = 2; prime <= rest / prime; prime++) {
		bool divides = rest % prime == 0;
		if (divides && !try_prime(table, state, k, prime))
			return false;
		while (rest % prime == 0)
			rest /= prime;
	}
	return rest == 1 || try_prime(table, state, k, rest);
}

static struct greedy_state *best_from(
	struct greedy_table *table, const int64_t *left, int64_t capacity)
{
	struct greedy_state **slot = greedy_state_find(table, left, capacity);
	if (*slot)
		return *slot;
	if (++table->state_count > STATES_MOST)
		return NULL;
	if (2 * table->state_count > table->slot_count) {
		greedy_table_grow(table);
		slot = greedy_state_find(table, left, capacity);
	}
	struct greedy_state *state = *slot = arena_new(table->arena, struct greedy_state);
	memcpy(state->left, left, sizeof state->left);
	state->capacity = capacity;
	state->which = -1;
	state->best = (struct share){1, 1};
	for (int k = 0; capacity > 1 && k < table->count; k++)
		if (!try_dimension(table, state, k))
			return NULL;
	return state;
}

bool greedy_maximize(struct greedy *greedy, int64_t capacity)
{
	struct arena *scratch = arena_open();
	struct greedy_table table = {.arena = scratch,
		.count = greedy->count,
		.slot_count = SLOTS_FIRST,
		.slots = arena_array(scratch, struct greedy_state *, SLOTS_FIRST)};
	int64_t left[SHAPE_DIMENSIONS_MOST] = {0};
	for (int k = 0; k < greedy->count; k++) {
		left[k] = greedy->sizes[k];
		greedy->bounds[k] = 1;
	}
	const struct greedy_state *state = best_from(&table, left, capacity);
	bool found = state != NULL;
	while (state && state->which >= 0) {
		greedy->bounds[state->which] *= state->step;
		left[state->which] /= state->step;
		state = state->last
				? NULL
				: *greedy_state_find(&table, left, state->capacity / state->step);
	}
	arena_close(scratch);
	return found;
}
