#include "search/packing/unfit.h"

#include "base/array.h"
#include "base/number.h"
#include "search/packing/unfit_state.h"

#include <string.h>

struct proving {
	const struct unfit_limits *limits;
	struct arena *arena; /* for the nodes */
	size_t forks;
	struct array(struct unfit_node) nodes;
};

struct packing packing_of_some(
	struct arena *arena, const struct packing *packing, size_t count, const int *buffers)
{
	struct packing some = *packing;
	int *place = arena_array(arena, int, packing->count);
	struct buffer *copies = arena_array(arena, struct buffer, count);
	for (size_t i = 0; i < packing->count; i++)
		place[i] = -1;
	for (size_t i = 0; i < count; i++)
		place[buffers[i]] = (int)i;
	for (size_t i = 0; i < count; i++) {
		copies[i] = packing->buffers[buffers[i]];
		int *parents = arena_array(arena, int, copies[i].parent_count);
		size_t kept = 0;
		for (size_t k = 0; k < copies[i].parent_count; k++)
			if (place[copies[i].parents[k]] >= 0)
				parents[kept++] = place[copies[i].parents[k]];
		copies[i].must_take_over &= kept == copies[i].parent_count;
		copies[i].parents = parents;
		copies[i].parent_count = kept;
	}
	some.buffers = copies;
	some.count = count;
	return some;
}

/* How much room the two ways of a pair leave together; little is soon decided. */
static int64_t slack_of(const struct unfit_state *state, int i, int j)
{
	int64_t below = state->high[j] - state->low[i] - state->items[i].size;
	int64_t above = state->high[i] - state->low[j] - state->items[j].size;
	return number_max(below, 0) + number_max(above, 0);
}

/* The open pair of least slack; false: none is open. */
static bool find_tight(const struct unfit_state *state, struct unfit_node *out)
{
	int64_t least = INT64_MAX;
	for (int i = 0; i < state->count; i++)
		for (int j = i + 1; j < state->count; j++) {
			if (state->relation[i * state->count + j] != PAIR_OPEN)
				continue;
			int64_t slack = slack_of(state, i, j);
			if (slack >= least)
				continue;
			least = slack;
			*out = (struct unfit_node){i, j};
		}
	return least < INT64_MAX;
}

/* Proves that a state, which is at its end, is none.  False: it was not. */
static bool prove(struct proving *proving, struct unfit_state *state, struct arena *arena)
{
	struct unfit_node pair;
	if (stopper_stops(&proving->limits->stopper))
		return false;
	if (!unfit_settle(state, arena)) {
		*array_add(proving->arena, &proving->nodes) = (struct unfit_node){-1, -1};
		return true;
	}
	if (!find_tight(state, &pair) || proving->forks++ == proving->limits->forks)
		return false;
	int options = unfit_options(state, pair.a, pair.b);
	*array_add(proving->arena, &proving->nodes) = pair;
	bool good = true;
	for (int r = PAIR_BELOW; r <= PAIR_SAME && good; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, pair.a, pair.b, (enum unfit_relation)r);
		good = prove(proving, &next, arena);
		arena_release(arena, mark);
	}
	return good;
}

bool unfit_prove(const struct packing *packing, const struct unfit_limits *limits,
	struct arena *arena, struct unfit_proof *out)
{
	if (packing->count + packing->reserved_count > UNFIT_BUFFERS_MOST)
		return false;
	struct proving proving = {.limits = limits, .arena = arena};
	struct arena *scratch = arena_open();
	struct unfit_state state = unfit_open(scratch, packing);
	bool good = prove(&proving, &state, scratch);
	arena_close(scratch);
	*out = (struct unfit_proof){proving.nodes.count, proving.nodes.at};
	return good;
}

size_t unfit_shrink(const struct packing *packing, size_t count, int *buffers,
	const struct unfit_limits *limits)
{
	struct arena *scratch = arena_open();
	int *fewer = arena_array(scratch, int, count);
	for (size_t i = count; i-- > 0;) {
		struct arena_mark mark = arena_mark(scratch);
		struct unfit_proof proof;
		memcpy(fewer, buffers, i * sizeof *fewer);
		memcpy(fewer + i, buffers + i + 1, (count - i - 1) * sizeof *fewer);
		struct packing some = packing_of_some(scratch, packing, count - 1, fewer);
		if (count > 1 && unfit_prove(&some, limits, scratch, &proof))
			memcpy(buffers, fewer, --count * sizeof *fewer);
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return count;
}
