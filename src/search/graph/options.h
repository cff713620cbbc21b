#ifndef SEARCH_GRAPH_OPTIONS_H
#define SEARCH_GRAPH_OPTIONS_H

#include "base/tuning.h"

/* Effort for a single op of a graph. A tick of a nest is a mapping evaluated. */
#define GRAPH_OPTIONS(OPTION)                                                                       \
	OPTION(OP_MAP_EVALUATIONS, 20000, 1, 1 << 30,                                               \
		"tilings and orders priced for one answer, the published tiles on top")             \
	OPTION(OP_BRIEF_EVALUATIONS, 200, 1, 1 << 30,                                               \
		"the same for a first plan of a large graph, where they take most of the time")     \
	OPTION(OP_ALL_EVALUATIONS, 10000000, 1, 1 << 30,                                            \
		"the same where an op stands alone: enough to prove what is best")                  \
	OPTION(OP_MAP_AS_FAST, 64, 1, 1 << 20,                                                      \
		"a tiling whose estimate is no more than this part above the least is as fast: "    \
		"the estimate is not nearer to the execution")                                      \
	OPTION(PLANS_CUT_MOST, 8, 1, 1 << 10,                                                       \
		"searches for whole plans that hit their limit, before no further sum is asked "    \
		"about: they are dear, and leave wide gaps")                                        \
	OPTION(PLANS_BRIEF_OPS, 48, 0, 1 << 20,                                                     \
		"ops of a graph that is planned in brief spaces first: smaller ones, such as a "    \
		"block of a transformer, are proven within seconds")                                \
	OPTION(PLANS_BRIEF_TILINGS, 10000, 0, 1 << 30,                                              \
		"tilings of all ops of a smaller graph that is planned so, too")                    \
	OPTION(PLANS_FEWER_PARTS, 4, 1, 1 << 10,                                                    \
		"within fewer cores that number and the limit are a part: spaces are smaller, and " \
		"five limits cost about as much as all cores")                                      \
	OPTION(NEST_STEP_TICKS, 50000, 1, 1 << 30,                                                  \
		"the nest of an op: with 20,000 GPT-3's prefill on a TPU v4i takes 20 % more "      \
		"energy, with 100,000 all takes twice as long for less than 1 %")                   \
	OPTION(NEST_BRIEF_TICKS, 200, 1, 1 << 20,                                                   \
		"the nest of an op of a first plan, which hundreds of ops get within a second")     \
	OPTION(NEST_EXECUTION_TIMES, 10, 1, 1 << 10,                                                \
		"budgets of an execution that each op of a graph may take: a nest on 65,536 "       \
		"multipliers takes more than one, and a second is enough for fifty")                \
	OPTION(NEST_FEW_TICKS, 5000, 0, 1 << 30,                                                    \
		"ticks of a nest that are few for a proof in a large mapspace")                     \
	OPTION(NEST_LARGE_FACTORS, 10000000, 1, 1 << 30,                                            \
		"choices of bounds of a mapspace that is searched without a proof where ticks are " \
		"few: a proof only lists its branches within them")                                 \
	OPTION(NEST_TILE_TICKS, 5000, 1, 1 << 30, "the nest of a streaming tile: there are many")

OPTIONS(GRAPH_OPTIONS)

#endif
