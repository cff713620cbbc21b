#include "search/packing/unfit.h"

#include "base/array.h"
#include "base/number.h"
#include "search/packing/unfit_state.h"

#include <string.h>

enum { PROBED = 16 };

struct proving {
	const struct unfit_limits *limits;
	struct arena *arena; /* for the nodes */
	size_t forks;
	bool stopped;
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

struct pair {
	int i, j;
	int64_t slack;
};

/* The open pairs of least slack; answers how many. */
static int find_tight(const struct unfit_state *state, struct pair *pairs)
{
	int count = 0;
	for (int i = 0; i < state->count; i++)
		for (int j = i + 1; j < state->count; j++) {
			if (state->relation[i * state->count + j] != PAIR_OPEN)
				continue;
			struct pair pair = {i, j, slack_of(state, i, j)};
			int at = count;
			for (; at > 0 && pairs[at - 1].slack > pair.slack; at--)
				if (at < PROBED)
					pairs[at] = pairs[at - 1];
			if (at < PROBED)
				pairs[at] = pair;
			count += count < PROBED;
		}
	return count;
}

/* Ways of the pair that the rules do not exclude at once, and what is left open in them. */
static int count_ways(
	const struct unfit_state *state, const struct pair *pair, size_t *open, struct arena *arena)
{
	int options = unfit_options(state, pair->i, pair->j), ways = 0;
	size_t count = (size_t)state->count;
	*open = 0;
	for (int r = PAIR_BELOW; r <= PAIR_SAME; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, pair->i, pair->j, (enum unfit_relation)r);
		if (unfit_settle(&next, arena)) {
			ways++;
			for (size_t k = 0; k < count * count; k++)
				*open += next.relation[k] == PAIR_OPEN;
		}
		arena_release(arena, mark);
	}
	return ways;
}

static bool stops(struct proving *proving)
{
	proving->stopped = proving->stopped || stopper_stops(&proving->limits->stopper);
	return proving->stopped;
}

/* The pair to fork at: fewest ways, then fewest pairs left open.  False: none is open, or it was
 * asked to stop. */
static bool choose_pair(struct proving *proving, const struct unfit_state *state,
	struct arena *arena, struct pair *out)
{
	struct pair pairs[PROBED + 1];
	int count = find_tight(state, pairs), fewest = 4;
	size_t least = SIZE_MAX;
	for (int k = 0; k < count && fewest > 0; k++) {
		if (stops(proving))
			return false;
		size_t open;
		int ways = count_ways(state, &pairs[k], &open, arena);
		if (ways > fewest || (ways == fewest && open >= least))
			continue;
		fewest = ways;
		least = open;
		*out = pairs[k];
	}
	return count > 0;
}

static bool may_fork(struct proving *proving)
{
	return proving->forks++ < proving->limits->forks;
}

/* Proves that a state, which is at its end, is none.  False: it was not. */
static bool prove(struct proving *proving, struct unfit_state *state, struct arena *arena)
{
	struct pair pair = {0};
	if (stops(proving))
		return false;
	if (!unfit_settle(state, arena)) {
		*array_add(proving->arena, &proving->nodes) = (struct unfit_node){-1, -1};
		return true;
	}
	if (!choose_pair(proving, state, arena, &pair) || !may_fork(proving))
		return false;
	int options = unfit_options(state, pair.i, pair.j);
	*array_add(proving->arena, &proving->nodes) = (struct unfit_node){pair.i, pair.j};
	bool good = true;
	for (int r = PAIR_BELOW; r <= PAIR_SAME && good; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, pair.i, pair.j, (enum unfit_relation)r);
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
