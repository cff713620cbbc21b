#ifndef SEARCH_GOALS_H
#define SEARCH_GOALS_H

#include "search/drive/frontier.h"
#include "search/graph/recipe.h"

/*
 * For what the tiles of one recipe are chosen: the first goal always gets a plan, and so that plan is no
 * worse than the one with the published tiles in any objective that is asked for; each other goal is an
 * objective, and gets one where that says that it gains.
 */
struct goals {
	size_t count;
	enum tile_goal at[TILE_GOALS];
	enum price price;
};

struct goals goals_of(const struct objectives *objectives, const struct planning *planning);

/* True if the tiles of goal g are better in its objective than those of the first. */
bool goals_gain(const struct goals *goals, size_t g, const struct recipe_result *laid_out);

/*
 * Whether a graph is one op whose plans can all be looked at: then the frontier is proven.  Where tiles move
 * in boxes these are its divisions over the cores, tiles, their nests and orders, elsewhere its nests.
 */
struct exploration;
bool goals_are_all(const struct exploration *exploration);

/* True if plans of the only op may bring what it reads into LX first: then these are not all its plans, and whole
 * plans are asked for as of any graph. */
bool goals_may_clone(const struct exploration *exploration);

/* The options of which none is beaten by another in latency, energy and HBM bytes; of those alike the one of
 * the least estimate.  Sorts `at` of the front anew. */
size_t goals_sift(struct op_option *options, size_t count, enum price price);

/* Recipes of the points of two frontiers, each once, but for whole plans; the points of the first come first. */
struct recipes {
	size_t count;
	const struct recipe **at;
};
struct recipes recipes_of(
	const struct frontier *first, const struct frontier *second, struct arena *arena);

#endif
