#ifndef SEARCH_JOINT_OPTIONS_H
#define SEARCH_JOINT_OPTIONS_H

#include "base/tuning.h"

/* Sizes of joint spaces: runs and room if tiles do not move in
 * boxes, relayouts if they do; and the effort of explanations. */
#define JOINT_OPTIONS(OPTION)                                                                       \
	OPTION(NEST_RUN_OPS, 8, 2, 1 << 10, "ops that share loops: longer runs cut more tensors")   \
	OPTION(NEST_RUN_TILES, 4, 1, 1 << 10,                                                       \
		"numbers of tiles: the fewest for which the parts fit, since more fetch more, and " \
		"the most, which leaves the most room")                                             \
	OPTION(NEST_BRIEF_TILES, 2, 1, 1 << 10, "the same by default")                              \
	OPTION(NEST_ROOMY_TILES, 2, 0, 1 << 10,                                                     \
		"besides them: the fewest with room for all that a run uses from outside, and the " \
		"next, which may divide better")                                                    \
	OPTION(NEST_JOINT_TICKS, 2000, 1, 1 << 30,                                                  \
		"a nest, by default: there are hundreds in a space")                                \
	OPTION(RUN_BRIEF_OPS, 8, 2, 1 << 10,                                                        \
		"ops of a run in a brief space: with 24 the beam over 89 ops of a BERT encoder "    \
		"layer ends 20 % higher")                                                           \
	OPTION(RELAYED_VIEWS_MOST, 400, 1, 1 << 15,                                                 \
		"views of a tensor that is relayed: each pair of them has a price")                 \
	OPTION(EARLY_TRIES_MOST, 300000, 0, 1 << 30,                                                \
		"divisions of ops with moves before them that they do not read: with more of "      \
		"them a space has none, and its proofs say so")                                     \
	OPTION(SHARED_TRIES_MOST, 1000000, 0, 1 << 30,                                              \
		"pairs of views that are joined to one that serves both: with more of them a "      \
		"space has none, and its proofs say so")                                            \
	OPTION(SMALL_RUNS_OPS_MOST, 3, 0, 1 << 10,                                                  \
		"ops of a graph with all runs: in larger ones they are where LX is short")          \
	OPTION(LATE_EVICTS_OPS_MOST, 20, 0, 1 << 10,                                                \
		"ops of a graph in which tensors wait for evicts of a later bundle: in larger "     \
		"ones they make twice as many states")                                              \
	OPTION(WORTH_LABELS, 2000000, 1, 1 << 30,                                                   \
		"each search for the worth of a kind: there are ten, and a person waits")           \
	OPTION(NARROW_RUNS_OPS_MOST, 12, 0, 1 << 10,                                                \
		"ops of a graph with runs over fewer cores than their loops allow: in four blocks " \
		"of GPT-2 their tiles alone make 1.6 times as many labels")                         \
	OPTION(NEST_CROSSING_MOST, 10, 0, 16,                                                       \
		"tensors that may lie in the scratchpad meanwhile: 2^10 sets of them leave "        \
		"different room")

OPTIONS(JOINT_OPTIONS)

#endif
