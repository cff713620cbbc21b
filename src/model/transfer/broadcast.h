#ifndef MODEL_BROADCAST_H
#define MODEL_BROADCAST_H

#include "base/diag.h"
#include "model/machine/copying.h"
#include "model/transfer/collective.h"
#include "model/transfer/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A `broadcast:` as it is written: the tensor of one rank, the root, goes into the buffers of all
 * ranks of a group, the root's own among them, through staging tiles in the scratchpad of the
 * root.
 *
 *	broadcast:
 *	  op: "tbroadcast %group, %src : (!pto.group<4, 1x1x1x128x32xf32>,
 *	       !pto.memref<1x1x1x128x32xf32>)"
 *	  tile: {rows: 16, cols: 32}
 *	  mode: ping-pong
 *
 * or with `dtype`, `shape` and `ranks` in place of the operands' types.  Tensors have five
 * dimensions D0, D1, D2, rows and columns; strides count elements.  What is written may be
 * wrong: model/transfer/broadcast_check.h says how.
 *
 * With another `operation` it is a sibling that goes through the same tiles (model/transfer/collective.h).
 * A reduction has one tile more, the first, where it adds up.
 */
enum { BROADCAST_RANK = 5, STAGING_MOST = 64 };

enum tensor_layout { LAYOUT_ND, LAYOUT_DN, LAYOUT_NZ }; /* rows or columns first, or fractals */
extern const char *const tensor_layout_names[];

/* Where the published code does not do what its document says, whom to follow. */
enum compat { COMPAT_DOC, COMPAT_CODE };
extern const char *const compat_names[];

/* In which order chunks go through the tiles. */
enum chunk_order { ORDER_SLIDING, ORDER_JOHNSON, ORDER_GILMORE_GOMORY };
extern const char *const chunk_order_names[];

struct rank_tensor {
	enum element element;
	enum tensor_layout layout;
	int64_t shape[BROADCAST_RANK], stride[BROADCAST_RANK];
	bool live; /* of a destination: allocated and writable all the time */
	struct span span;
};

struct staging_tile {
	enum element element;
	int64_t rows, cols;             /* of the storage */
	int64_t valid_rows, valid_cols; /* what a copy takes at most */
	bool static_rows, static_cols;  /* valid extents fixed when it was compiled */
	struct span span;
};

/* Where in the file it is said; the broadcast itself if it is not. */
struct broadcast_spans {
	struct span all, ranks, root, caller, peer, source, offsets, staging, valid_rows,
		valid_cols;
};

struct broadcast {
	const char *name;
	enum operation operation;
	enum reduction reduction; /* of a reduce */
	enum compat compat;
	int64_t ranks, root, caller;
	int64_t peer;        /* of a put or get: the other rank */
	bool adds;           /* of a put: to what is there (AtomicAdd) */
	int64_t source_rank; /* in whose memory the source of a push lies */
	struct rank_tensor source;
	const struct rank_tensor *sources;      /* of a pull, by rank, the first is `source` */
	size_t source_count;                    /* ranks, or 1: all alike */
	const struct rank_tensor *destinations; /* of a push, by rank */
	size_t destination_count;               /* likewise */
	struct handshake handshake;
	struct staging_tile tile;
	int64_t staging;                                /* tiles: 1 single, 2 ping-pong, or more */
	size_t offset_count;                            /* of the tiles that are allocated */
	const int64_t *offsets;                         /* bytes in the scratchpad */
	int64_t scratchpad_bytes, scratchpad_alignment; /* 0: not known */
	enum chunk_order order;
	/*
	 * How the tensor reaches the ranks: NULL, as the published operation does; else a solver
	 * of the stage `broadcast`, with the tensor in this many segments that ranks send on
	 */
	const char *algorithm;
	int64_t segments;
	struct copying copying;
	int columns; /* of a mesh of ranks; else 0 */
	struct broadcast_spans spans;
};

/* How the tensor goes through the tiles. */
enum broadcast_path {
	PATH_EMPTY,       /* an extent is 0: nothing moves */
	PATH_SINGLE_RANK, /* one load, one store */
	PATH_SINGLE_TILE, /* one load, a store for each rank */
	PATH_CHUNKED,     /* tile by tile; rows of different D0, D1, D2 never share one */
};
extern const char *const broadcast_path_names[]; /* "empty", "single_rank", .. */

enum broadcast_path broadcast_path(const struct broadcast *broadcast);

/* The shape of what one rank has, and moves in chunks. */
const int64_t *broadcast_block(const struct broadcast *broadcast);

/* The tensors of the ranks: sources of a pull, destinations of a push; one for all, or by rank. */
const struct rank_tensor *broadcast_group(const struct broadcast *broadcast, size_t *count);

/* The tensor of the root alone: the source of a push, the destination of a pull. */
const struct rank_tensor *broadcast_own(const struct broadcast *broadcast);

/* Staging tiles, with the one where a reduction adds up. */
int64_t broadcast_tiles(const struct broadcast *broadcast);

/* How often the signal of a rank that waits is notified: by all that it reads from. */
int64_t broadcast_notifiers(const struct broadcast *broadcast);

/* Elements of a shape, and rows over all outer dimensions; false when they cannot be counted. */
bool broadcast_elements(const int64_t shape[BROADCAST_RANK], int64_t *out);
bool broadcast_rows(const int64_t shape[BROADCAST_RANK], int64_t *out);

/* Strides of a tensor whose elements lie one behind the other. */
void broadcast_dense(const int64_t shape[BROADCAST_RANK], int64_t stride[BROADCAST_RANK]);

int64_t broadcast_tile_bytes(const struct broadcast *broadcast); /* storage of one */

/* NULL after complaining. */
struct arch;
struct arena;
struct reading;
const struct broadcast *broadcast_read(
	const struct reading *reading, const struct node *node, const struct arch *arch);

/*
 * An assembly line, and the types of its two operands:
 *
 *	tbroadcast %group, %src : (!pto.group<RANKS, D0x..xD4xTYPE>, !pto.memref<D0x..xD4xTYPE>)
 *	treduce %group, %dst {op = #pto.reduce_op<Sum>} : (!pto.group<..>, !pto.memref<..>)
 *	tput %dst, %src : (!pto.memref<..>, !pto.memref<..>)
 *
 * Shorter shapes have outer extents 1.  `...` between the angle brackets leaves to other keys what
 * the operand is.
 */
struct assembly_type {
	bool given;
	int64_t shape[BROADCAST_RANK];
	enum element element;
};
struct assembly {
	enum operation operation;
	enum reduction reduction;
	int64_t ranks; /* of the group, if its type is given */
	struct assembly_type types[2];
};
bool broadcast_parse(const struct reading *reading, const struct node *text, struct assembly *out);

/*
 *	tnotify %signal, %value {op = #pto.notify_op<Set>} : (!pto.memref<i32>, i32)
 *	twait %signal, %value {cmp = #pto.cmp<EQ>} : (!pto.memref<i32>, i32)
 *
 * A number in place of %value is the value; else that of `out` stays.
 */
bool broadcast_parse_signal(
	const struct reading *reading, const struct node *text, bool waits, struct handshake *out);

/* The same line out of a broadcast. */
const char *broadcast_line(struct arena *arena, const struct broadcast *broadcast);

/* A legal broadcast as a spec, with everything that an architecture may have said. */
const char *broadcast_write(struct arena *arena, const struct broadcast *broadcast);

#endif
