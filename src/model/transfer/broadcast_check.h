#ifndef MODEL_BROADCAST_CHECK_H
#define MODEL_BROADCAST_CHECK_H

#include "model/transfer/broadcast.h"

/*
 * What a broadcast may not be, in the order in which it is found: types, tiles and their places
 * when it is compiled, then what the call itself asks, then what the path asks.  Messages are
 * those of the published code where it has one.  (pto-isa: include/pto/comm, a2a3 TBroadCast.hpp;
 * the rules without a message there are of the operation's page.)
 *
 * The first is the one that the operation stops with; the others are found as far as they can
 * be looked at without it.  E_TLOAD_ROW and E_TLOAD_COL are rules of the code of a broadcast alone,
 * E_PEER is one of put and get, E_ROWS one of gather and scatter.
 */
#define BROADCAST_RULES(RULE)                                                                      \
	RULE(E_DTYPE_TILE, "TBROADCAST: TileData element type must match source element type")     \
	RULE(E_DTYPE_GROUP,                                                                        \
		"TBROADCAST: ParallelGroup element type must match source element type")           \
	RULE(E_LAYOUT, "TBROADCAST: src/dst layout mismatch")                                      \
	RULE(E_TILE_VALID, "Tile valid extents must not exceed its storage extents")               \
	RULE(E_TILE_ALIGN, "Tile row bytes must be a multiple of the unified buffer's alignment")  \
	RULE(E_UB_SIZE, "[SA-0352] TASSIGN: Tile storage size exceeds memory space capacity")      \
	RULE(E_UB_RANGE, "[SA-0353] TASSIGN: addr + tile_size exceeds memory space capacity")      \
	RULE(E_UB_ALIGN, "[SA-0354] TASSIGN: addr is not aligned")                                 \
	RULE(E_UB_OVERLAP,                                                                         \
		"ping/pong tiles must reside at non-overlapping UB offsets (doc only, not "        \
		"checked by the code)")                                                            \
	RULE(E_STAGING, "staging tile is not allocated in the unified buffer")                     \
	RULE(E_SRC_REMOTE, "source is not in the local memory of the calling rank")                \
	RULE(E_NRANKS, "ParallelGroup size must be greater than 0!")                               \
	RULE(E_ROOT, "rootIdx must be in range [0, nranks)!")                                      \
	RULE(E_CALLER, "only the root calls TBROADCAST; a call on another rank is undefined")      \
	RULE(E_DST_COUNT, "the group does not have one destination for each rank")                 \
	RULE(E_DST_SHAPE, "destinations are of unlike shape")                                      \
	RULE(E_DST_STRIDE, "destinations are of unlike strides")                                   \
	RULE(E_DST_LIVE, "destination is not allocated and writable throughout the operation")     \
	RULE(E_DST_SHARED, "strides give two elements of a destination one place")                 \
	RULE(E_VROW, "TBROADCAST: tileValidRow must be greater than 0")                            \
	RULE(E_VCOL, "TBROADCAST: tileValidCol must be greater than 0")                            \
	RULE(E_DIV_ROW,                                                                            \
		"TBROADCAST chunked: shape3 must be divisible by tile ValidRow when ValidRow is"   \
		" static. Use a Tile with DYNAMIC ValidRow for partial row chunk support.")        \
	RULE(E_DIV_COL,                                                                            \
		"TBROADCAST chunked: shape4 must be divisible by tile ValidCol when ValidCol is"   \
		" static. Use a Tile with DYNAMIC ValidCol for partial column chunk support.")     \
	RULE(E_TLOAD_ROW,                                                                          \
		"The validRow of TileData must be equal to (Shape0 * Shape1 * Shape2 * Shape3) "   \
		"of ND shape!")                                                                    \
	RULE(E_TLOAD_COL,                                                                          \
		"The validCol of TileData must be equal to the 5th dim(Shape4) of ND shape!")      \
	RULE(E_PEER, "the other rank must be in range [0, nranks)")                                \
	RULE(E_ROWS,                                                                               \
		"the root's tensor must have the rows of all ranks, and their other dimensions")   \
	RULE(E_WAIT_EARLY,                                                                         \
		"a rank reads what another wrote before it knows that all of it is there")         \
	RULE(E_WAIT_NEVER,                                                                         \
		"the condition of a wait is not met, or not for good, once all have notified")

#define BROADCAST_RULE_NAME(name, message) name,
enum broadcast_error { BROADCAST_RULES(BROADCAST_RULE_NAME) BROADCAST_ERRORS };
extern const char *const broadcast_error_names[]; /* "E_DTYPE_TILE", .. */
/* In the order of the enum; a sibling has its own name in place of TBROADCAST, and tensors in place
 * of destinations. */
extern const char *const broadcast_error_messages[];

struct broadcast_fault {
	enum broadcast_error error;
	struct span span;
	const char *detail; /* what was found; NULL */
};

/* All of them; none: NULL.  Under COMPAT_CODE also what the code trips over. */
const struct broadcast_fault *broadcast_check(
	const struct broadcast *broadcast, struct arena *arena, size_t *count);

/* Complains about all; false if there are any. */
bool broadcast_legal(const struct broadcast *broadcast, struct arena *arena, struct diag *diag);

#endif
