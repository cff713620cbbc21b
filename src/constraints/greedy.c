#include "constraints/greedy.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"

#include <string.h>

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

static struct greedy_state **find(
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

static void grow(struct greedy_table *table)
{
	struct greedy_table larger = *table;
	larger.slot_count *= 2;
	larger.slots = arena_array(table->arena, struct greedy_state *, larger.slot_count);
	for (size_t i = 0; i < table->slot_count; i++) {
		struct greedy_state *state = table->slots[i];
		if (state)
			*find(&larger, state->left, state->capacity) = state;
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
	struct greedy_state **slot = find(table, left, capacity);
	if (*slot)
		return *slot;
	if (++table->state_count > STATES_MOST)
		return NULL;
	if (2 * table->state_count > table->slot_count) {
		grow(table);
		slot = find(table, left, capacity);
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
		state = state->last ? NULL : *find(&table, left, state->capacity / state->step);
	}
	arena_close(scratch);
	return found;
}
