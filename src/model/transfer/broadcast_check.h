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
 * be looked at without it.
 */
enum broadcast_error {
	E_DTYPE_TILE,
	E_DTYPE_GROUP,
	E_LAYOUT,
	E_TILE_VALID,
	E_TILE_ALIGN,
	E_UB_SIZE,
	E_UB_RANGE,
	E_UB_ALIGN,
	E_UB_OVERLAP,
	E_STAGING,    /* a staging tile is not allocated */
	E_SRC_REMOTE, /* the source is not local to the root */
	E_NRANKS,
	E_ROOT,
	E_CALLER,     /* called on a rank that is not the root */
	E_DST_COUNT,  /* not one destination for each rank */
	E_DST_SHAPE,  /* destinations of unlike shape */
	E_DST_STRIDE, /* destinations of unlike strides */
	E_DST_LIVE,   /* a destination that is not allocated all the time */
	E_DST_SHARED, /* strides that give two elements one place */
	E_VROW,
	E_VCOL,
	E_DIV_ROW,
	E_DIV_COL,
	E_TLOAD_ROW, /* these two: of the code of a broadcast alone */
	E_TLOAD_COL,
	E_PEER,       /* put, get: not a rank of the group */
	E_ROWS,       /* gather, scatter: the root's tensor has no room for all blocks */
	E_WAIT_EARLY, /* a read that waits for nothing, or not for all that it reads */
	E_WAIT_NEVER, /* a wait that may never go on */
	BROADCAST_ERRORS,
};
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
