#ifndef GRAPH_OP_MAP_H
#define GRAPH_OP_MAP_H

#include "cost/graph/latency.h"
#include "cost/graph/traffic.h"
#include "model/graph/plan.h"
#include "model/nest/nest_score.h"
#include "search/graph/nests.h"

/*
 * The stage `map` for one op of a graph: given its share of the cores and the homes of its operands, which
 * streaming tiles?  The space are all tilings and orders of search/graph/tile_walk.h whose buffers fit the
 * reserve.  Their prices are what the op adds to a plan's score, which is a sum over ops, so that the best
 * choice of every op is the best of the plan.
 *
 * An answer holds the best tilings for each goal:
 *
 *	published  those of search/graph/stream.h
 *	all        of those that are no worse than the published ones in latency, energy and HBM bytes,
 *	           as fast as any
 *	latency    of those whose latency is no worse than that of the published ones, as fast as any
 *	energy, hbm_bytes
 *	           the least of it
 *	edp        the least energy times estimate, of those whose energy times latency is no worse
 *
 * If the array is described, the tiles that an ideal one would get are the candidates, each with the
 * nest of a tile that is best in the goal's objective (search/graph/nests.h), and the price is that of
 * both.
 *
 * Latency is what the price says: the bound or the estimate.  As fast as any is one whose estimate is near the
 * least (OP_MAP_AS_FAST in options.h).  Of equals those that are as fast as any stay, of them the published ones,
 * then those of fewest tiles.  The published tiles are among the candidates of each goal, so no choice is worse
 * than they are in what it is for.
 */
enum tile_goal {
	TILES_ALL,
	TILES_PUBLISHED,
	TILES_LATENCY,
	TILES_ENERGY,
	TILES_HBM_BYTES,
	TILES_EDP,
	TILE_GOALS
};

/* Returns the objective of nests for a goal; a nest inside a tile moves nothing at HBM. */
enum objective op_map_objective(const struct arch *arch, enum tile_goal goal);

struct op_question {
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
	const struct mapping *mapping;         /* its division over cores */
	uint32_t in_lx;                        /* bit i: operand i is resident */
	struct arrivals arriving;              /* of those */
	bool by_rule;                          /* only the published tiles are wanted */
	enum price price;                      /* what latency and edp mean */
	const struct constraints *constraints; /* of a problem that the op is; NULL: none */
	struct moved moved;                    /* by all moves of the phase */
};

/* The costs that a tiling adds to a plan; op_value_latency is its latency by a price. */
struct op_value {
	int64_t cycles;   /* of the slowest resource: what is in latency_cycles */
	int64_t estimate; /* of cost/graph/latency.h, which tracks execution; no less than that */
	int64_t hbm_bytes;
	double energy_pj;
};

int64_t op_value_latency(const struct op_value *value, enum price price);

struct op_option {
	uint32_t tiles[OP_LOOPS_MOST];
	uint8_t order[OP_LOOPS_MOST]; /* innermost first */
	const struct mapping *nest;   /* of a tile; NULL: the array is ideal */
	struct op_value value;
};

struct op_answer {
	bool found;         /* else nothing fits, or: */
	const char *why;    /* no tile has a nest; NULL */
	bool proven;        /* every tiling was looked at or excluded */
	bool cut;           /* a limit ended the list of tilings, or heuristics chose nests */
	int64_t least_room; /* LX bytes of the smallest buffers; INT64_MAX: not countable */
	uint64_t evaluations;
	uint8_t choice[TILE_GOALS]; /* in `at` */
	size_t count;
	struct op_option at[TILE_GOALS];
};

/* The answer, kept with what it depends on: shapes, layouts and homes, not names.  wanted->kept must be
 * there; nests of tiles are found as `wanted` says, for each goal in what it is for. */
const struct op_answer *op_map(
	const struct nests_wanted *wanted, const struct op_question *question, struct arena *arena);

/* The mapping of an op with these tiles; NULL: and no nest. */
struct mapping op_map_mapping(const struct op_question *question, const uint32_t *tiles,
	const uint8_t *order, const struct mapping *nest);

/* Gives a mapping the rows of a tile's nest. */
void op_map_nest(const struct arch *arch, const struct mapping *nest, struct mapping *mapping);

/*
 * All tilings that are better in some value than any with no more tiles, by number of tiles.  `wanted`
 * (NULL: tiles alone) asks for the nests of each tile that are best in cycles and energy.  A nest that is
 * worse in both may move less in the scratchpad: nothing that is left out is better than an option or
 * one of `least` in all values.
 */
struct op_front {
	bool proven;
	uint64_t evaluations;
	int64_t least_room;
	size_t count;
	const struct op_option *at;
	size_t least_count;
	const struct op_value *least;
};
struct op_front op_map_front(const struct op_question *question, const struct nests_wanted *wanted,
	uint64_t evaluations_most, struct arena *arena);

/* The same within OP_MAP_EVALUATIONS, behind the published tiles, where tiles are not by rule; kept, too. */
struct op_choices {
	const char *why; /* as of op_answer */
	bool proven, cut;
	size_t count; /* 0: nothing fits */
	struct op_option at[];
};
const struct op_choices *op_map_all(
	const struct nests_wanted *wanted, const struct op_question *question, struct arena *arena);

/* Finds the costs that an op adds to a plan with the tiles and the order that are set; false if they cannot be
 * counted. */
bool op_value_find(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out);

/* The same in three parts: the counts and what they take at HBM; then the estimate; then cycles and estimate raised to
 * those of the slowest core, which takes longest to count where slices differ from core to core.  Cycles and estimate
 * are lower bounds before the last part. */
bool op_value_least_cycles(const struct traffic_op *traffic, const struct op_question *question,
	struct step_count *count, struct op_value *out);
bool op_value_estimate(const struct traffic_op *traffic, const struct op_question *question,
	const struct step_count *count, struct op_value *value);
bool op_value_raise(const struct traffic_op *traffic, const struct op_question *question,
	struct op_value *value);

/*
 * For tiles whose computes are nests, with what `value` is worth: what no nest of a tile is below that is
 * no faster and needs no less energy by itself (search/nest/nest_search.h), whatever it moves in the
 * scratchpad.  There a plan counts bytes and accumulators, a nest words.  False if that is not known.
 */
bool op_value_least(struct traffic_op *traffic, const struct op_question *question,
	const struct op_value *value, struct op_value *out);

/*
 * One einsum of a plan as a nest on the same machine, counted exactly: the loops
 * over tiles run at HBM, the core split is spatial, the loops inside a tile run at
 * LX; what lies in LX for good has its home there.  Where whole sticks are used,
 * and no index adds two loops, its words at HBM times the bytes of an element are the
 * bytes of the plan's score.  Its time and energy are not the plan's, which moves boxes of
 * sticks and has ports and accumulators.  An op whose computes are nests has none of this.
 */
struct arena;

struct op_nest {
	const struct shape
		*shape; /* of the whole op; NULL: it is not a nest, or cannot be counted */
	const struct hierarchy *hierarchy;
	struct mapping mapping;
	struct nest_counts counts;
	struct nest_score score;
};

void op_nest_make(const struct plan *plan, int step, struct arena *arena, struct op_nest *out);

/*
 * The nests inside a step that has some (model/graph/box_nest.h), all tiles and cores together, of
 * counts of the model or the simulator: mapping and `capacity` are those of one tile, instances
 * those of all cores, cycles those of a core.  Where tiles move in boxes the energy of the scratchpad is
 * that of its bytes.
 */
struct step_count;
void op_nest_inside(const struct plan *plan, int step, const struct step_count *count,
	struct arena *arena, struct op_nest *out);

#endif
