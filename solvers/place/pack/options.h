#ifndef PLACE_PACK_OPTIONS_H
#define PLACE_PACK_OPTIONS_H

#include "base/tuning.h"

/* The packer of `exact`. */
#define PACK_OPTIONS(OPTION)                                                                       \
	OPTION(PACK_FIRST_FAILURES, 200, 1, 1 << 20, "failures until the first restart")           \
	OPTION(PACK_ROUND_STARTS, 6, 1, 1000,                                                      \
		"starts in a round; a round begins without weights, as those of a bad start lead " \
		"astray for long")                                                                 \
	OPTION(PACK_ROUND_PERCENT, 150, 100, 1000,                                                 \
		"failures in the first start of a round, of those in the round before")            \
	OPTION(PACK_PATIENT_STARTS, 4, 1, 1000, "starts until one gets more failures")             \
	OPTION(PACK_PATIENT_PERCENT, 130, 100, 1000, "how many, of those before")                  \
	OPTION(PACK_RETURN_STARTS, 4, 1, 1000,                                                     \
		"starts until one is guided by the last solution; where all are, starts with the " \
		"same order of items, since what one learned is good for the next")                \
	OPTION(PACK_RETURN_ROUND_STARTS, 12, 1, 1000, "starts in a round where all are guided")    \
	OPTION(PACK_RETURN_ROUND_PERCENT, 120, 100, 1000,                                          \
		"the growth of failures there: starts stay short")                                 \
	OPTION(PACK_JOIN_NODES, 25000, 1, 1 << 30,                                                 \
		"nodes until a second search joins one without a limit, guided and drawn")         \
	OPTION(PACK_JOINED_FAILURES_MOST, 1500, 1, 1 << 30,                                        \
		"its failures until a restart, at most")                                           \
	OPTION(PACK_NOISE_PERCENT, 20, 0, 100,                                                     \
		"by how much the rank of an item is drawn to differ")                              \
	OPTION(PACK_DEPTH_MOST, 10000, 100, 100000,                                                \
		"open choices at a time; the stack holds more")                                    \
	OPTION(PACK_PAIRS_MOST, 20000000, 1000, 1 << 30,                                           \
		"pairs of items that live at once, four bytes each")                               \
	OPTION(PACK_SIDE_MOST, 24, 1, 32, "items on one side of a boundary: the bits of a set")    \
	OPTION(PACK_SUMS_MOST, 64, 2, 1 << 16, "different sums of their heights that are kept")    \
	OPTION(PACK_CONFLICT_WORDS_MOST, 1 << 22, 1, 1 << 28,                                      \
		"words of the tables of conflicts; larger rooms have none")                        \
	OPTION(PACK_MEMO_BYTES_MOST, 1 << 25, 1 << 16, 1 << 30, "bytes of the table of failures")  \
	OPTION(PACK_MEMO_ROWS_FIRST, 1 << 9, 1, 1 << 20, "its rows at first, a power of two")      \
	OPTION(PACK_CORE_NODES_LEAST, 2000, 1, 1 << 20,                                            \
		"nodes for the proof of a smaller set, besides twice those of the first proof")    \
	OPTION(PACK_CORE_PROOFS_MOST, 40, 1, 1000, "times that for all such proofs together")

OPTIONS(PACK_OPTIONS)

#endif
