#ifndef MODEL_BROADCAST_H
#define MODEL_BROADCAST_H

#include "base/diag.h"
#include "model/copying.h"
#include "model/element.h"

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
 * wrong: model/broadcast_check.h says how.
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
	struct span all, ranks, root, caller, source, offsets, staging, valid_rows, valid_cols;
};

struct broadcast {
	const char *name;
	enum compat compat;
	int64_t ranks, root, caller;
	int64_t source_rank; /* in whose memory the source lies */
	struct rank_tensor source;
	const struct rank_tensor *destinations; /* by rank, `destination_count` of them */
	size_t destination_count;               /* ranks, or 1: all alike */
	struct staging_tile tile;
	int64_t staging;                                /* tiles: 1 single, 2 ping-pong, or more */
	size_t offset_count;                            /* of the tiles that are allocated */
	const int64_t *offsets;                         /* bytes in the scratchpad */
	int64_t scratchpad_bytes, scratchpad_alignment; /* 0: not known */
	enum chunk_order order;
	/*
	 * How the tensor reaches the ranks: NULL, as the published operation does; else a solver
	 * of the stage `broadcast`, with the tensor in so many segments that ranks send on
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

/* Elements of a shape, and rows over all outer dimensions; false when they cannot be counted. */
bool broadcast_elements(const int64_t shape[BROADCAST_RANK], int64_t *out);
bool broadcast_rows(const int64_t shape[BROADCAST_RANK], int64_t *out);

/* Strides of a tensor whose elements lie one behind the other. */
void broadcast_dense(const int64_t shape[BROADCAST_RANK], int64_t stride[BROADCAST_RANK]);

int64_t broadcast_tile_bytes(const struct broadcast *broadcast); /* storage of one */

/* "single", "ping-pong", "3 tiles" */
struct arena;
const char *broadcast_mode_name(struct arena *arena, int64_t staging);

/* NULL after complaining. */
struct arch;
struct reading;
const struct broadcast *broadcast_read(
	const struct reading *reading, const struct node *node, const struct arch *arch);

/*
 * The types of an assembly line, `tbroadcast %group, %src : (!pto.group<RANKS, D0x..xD4xTYPE>,
 * !pto.memref<D0x..xD4xTYPE>)`; shorter shapes have outer extents 1.  `...` between the angle
 * brackets leaves to other keys what the operand is.
 */
struct assembly_type {
	bool given;
	int64_t shape[BROADCAST_RANK];
	enum element element;
};
struct assembly {
	const char *group, *source; /* names of the operands */
	int64_t ranks;
	struct assembly_type destination, tensor;
};
bool broadcast_parse(const struct reading *reading, const struct node *text, struct assembly *out);

/* The same line out of a broadcast. */
const char *broadcast_line(struct arena *arena, const struct broadcast *broadcast);

/* A legal broadcast as a spec, with everything that an architecture may have said. */
const char *broadcast_write(struct arena *arena, const struct broadcast *broadcast);

#endif
