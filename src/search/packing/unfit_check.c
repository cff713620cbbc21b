#include "base/arena.h"
#include "search/packing/unfit.h"
#include "search/packing/unfit_state.h"

/* Follows the tree of a proof; knows the rules and nothing of how it was found. */
struct reading_proof {
	const struct unfit_proof *proof;
	const struct unfit_limits *limits;
	size_t at, forks;
	bool cut;
};

static const char *check_node(
	struct reading_proof *reading, struct unfit_state *state, struct arena *arena)
{
	if (reading->at == reading->proof->count)
		return "the proof ends too early";
	reading->cut = stopper_stops(&reading->limits->stopper);
	if (reading->cut)
		return NULL;
	struct unfit_node node = reading->proof->nodes[reading->at];
	bool open = unfit_settle(state, arena);
	if (node.a < 0) {
		reading->at++;
		return open ? "no contradiction follows at this leaf" : NULL;
	}
	if (!open)
		return "a fork where nothing is left open";
	if (node.a >= node.b || node.b >= state->count)
		return "a fork between buffers that are none";
	if (state->relation[node.a * state->count + node.b] != PAIR_OPEN)
		return "a fork between two that are decided";
	reading->cut = reading->forks++ == reading->limits->forks;
	reading->at++;
	int options = unfit_options(state, node.a, node.b);
	const char *why = NULL;
	for (int r = PAIR_BELOW; r <= PAIR_SAME && !why && !reading->cut; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, node.a, node.b, (enum unfit_relation)r);
		why = check_node(reading, &next, arena);
		arena_release(arena, mark);
	}
	return why;
}

struct unfit_checked unfit_check(const struct packing *packing, const struct unfit_proof *proof,
	const struct unfit_limits *limits)
{
	struct reading_proof reading = {.proof = proof, .limits = limits};
	struct arena *arena = arena_open();
	const char *why = "more buffers than a proof can be about";
	if (packing->count + packing->reserved_count <= UNFIT_BUFFERS_MOST) {
		struct unfit_state state = unfit_open(arena, packing);
		why = check_node(&reading, &state, arena);
	}
	if (!why && !reading.cut && reading.at < proof->count)
		why = "the proof goes on after its end";
	arena_close(arena);
	return (struct unfit_checked){!reading.cut, why, reading.at};
}
