#ifndef GRAPH_STREAM_H
#define GRAPH_STREAM_H

#include "base/stopper.h"
#include "search/graph/op_map.h"

/*
 * Chooses the streaming tiles of every step, once it is known what is resident
 * in LX.  The published rule: every loop's factor divides its units on one core, reduction loops stay
 * innermost, the tile buffers fit the reserve.  In this order:
 *
 *  1. fewest HBM bytes;
 *  2. transfers overlap: the estimate of cost/graph/latency.h, which knows what
 *     the first tile waits for and what follows the last one, stays within 9/8 of
 *     the step's slowest resource; where no tiling of 1 comes that low, within
 *     1/16 of that resource above the least that one comes to;
 *  3. fewest tiles;
 *  4. fewest passes of an output tile;
 *  5. the lexicographically least factors by loop, then order, innermost first.
 *
 * The design asks for 1, 3 and 5.  2 is ours: one giant tile would have the
 * fewest bytes and be the fewest, but nothing to overlap.  4 is ours: passes
 * cost accumulators, which are traffic in LX.
 *
 * Operands in LX need no buffer.  A clone into LX needs none either; it is
 * tiled as its reader is, so that the reader can start on the first tile (for 2
 * its bytes count as the reader's); if the reader walks it some other way, it
 * is one tile.  Loops that share a dimension of the output with others stay
 * whole: their tiles could meet in one stick.
 *
 * False, and *why, when a step has no tile that fits.  Equal questions of one
 * call are answered once.  The stopper (NULL: none) is asked for every step; after a yes
 * the other steps have no tiles.
 */
bool stream_plan(
	struct plan *plan, const struct stopper *stopper, struct arena *arena, const char **why);

/*
 * The same in two steps, for any goal of search/graph/op_map.h: what could be chosen for each step, then
 * the choice.  Answers are kept where wanted->kept says (NULL: for this call), nests of tiles found as
 * it says, the objective apart.  NULL, and *why, as above.
 */
struct stream_choices {
	const struct op_answer **at; /* by step; NULL: it has no tiles, or those of its reader */
};
const struct stream_choices *stream_ask(const struct plan *plan, bool by_rule,
	const struct nests_wanted *wanted, struct arena *arena, const char **why);
void stream_choose(struct plan *plan, const struct stream_choices *choices, enum tile_goal goal);

/* All tilings of a step, with their nests, that are worth having and keep the constraints of a problem
 * (wanted->constraints); and one of them as its choice. */
struct op_front stream_front(const struct plan *plan, int step, const struct nests_wanted *wanted,
	uint64_t evaluations_most, struct arena *arena);
void stream_take(struct plan *plan, int step, const struct op_option *option);

/* Returns the costs that all steps together add to the plan's score. */
struct op_value stream_value(
	const struct plan *plan, const struct stream_choices *choices, enum tile_goal goal);

/* The published tiles of one op, the step of no plan. */
struct stream_answer {
	bool found;
	int64_t tiles[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST]; /* innermost first */
	int64_t hbm_bytes, tile_count;
	int64_t cycles;       /* estimated, of 2 */
	int64_t least_room;   /* LX bytes of the smallest buffers; INT64_MAX: not countable */
	uint64_t evaluations; /* tilings and orders that were priced */
	bool constrained;     /* constraints have excluded some */
};

struct stream_answer stream_tiles(const struct op_question *question, struct arena *arena);

#endif
