#ifndef MODEL_TRANSFER_BROADCAST_H
#define MODEL_TRANSFER_BROADCAST_H

#include "base/array.h"
#include "base/diag.h"
#include "model/machine/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A collective of ranks through staging tiles, and its rules.  One rank, the root, carries all of it out; each
 * of N ranks has a block of H rows.
 *
 *	broadcast   the root's tensor into the buffer of every rank       tbroadcast %group, %src
 *	gather      rows r H .. of the root's are rank r's block          tgather %group, %dst
 *	scatter     the other way: rank r gets rows r H ..                tscatter %group, %src
 *	reduce      the root's are those of all ranks, combined           treduce %group, %dst
 *	put         the root's tensor into the buffer of one rank         tput %dst, %src
 *	get         one rank's tensor into the root's buffer              tget %dst, %src
 *
 * A rank that pushes (broadcast, scatter, put) loads from its own memory and stores into that of others;
 * one that pulls (gather, reduce, get) loads from that of others and stores into its own.
 */
enum operation {
	OPERATION_BROADCAST,
	OPERATION_GATHER,
	OPERATION_SCATTER,
	OPERATION_REDUCE,
	OPERATION_PUT,
	OPERATION_GET,
	OPERATION_COUNT,
};
extern const char *const operation_names[]; /* "broadcast", ..; NULL ends them */

bool operation_pulls(enum operation operation);
bool operation_splits(
	enum operation operation); /* each rank has a block of its own: gather, scatter */
bool operation_is_pair(enum operation operation); /* between two ranks: put, get */

/* One result out of two elements; in integers it wraps around. */
enum reduction { REDUCTION_SUM, REDUCTION_MAX, REDUCTION_MIN };
extern const char *const reduction_names[]; /* "sum", ..; NULL ends them */

/*
 * A signal is an int32 in the memory of a rank, 0 at first.  `tnotify` of another rank sets it, or
 * adds to it; `twait` of its own rank goes on once it compares so with a value.
 */
enum notify_op { NOTIFY_SET, NOTIFY_ADD };
enum wait_cmp { WAIT_EQ, WAIT_NE, WAIT_GT, WAIT_GE, WAIT_LT, WAIT_LE };
extern const char *const notify_op_names[], *const wait_cmp_names[]; /* "set", .. "eq", .. */

/*
 * A rank that writes for another notifies it, and the reader waits: after a push the root notifies each
 * rank that it wrote to, and they read the data; before a pull each rank writes its block and
 * notifies the root.  A rank that waits has one signal.
 */
struct handshake {
	bool notifies, waits;
	enum notify_op op;
	int64_t value; /* set, or added */
	enum wait_cmp cmp;
	int64_t wanted;
	struct span notify_span, wait_span;
};

/* True if a wait goes on once a signal was notified that many times. */
bool handshake_passes(const struct handshake *handshake, int64_t notified);

/* Notices that a wait needs; -1: none are enough, or more would be too many. */
int64_t handshake_least(const struct handshake *handshake, int64_t most);

/*
 * The way of chunks from rank to rank over links, in rounds: a rank sends chunks that it had before the
 * round, and a round ends when its last message is through.  A channel of a link takes one message a
 * round, and so do the two ports of a rank where it has one of each.
 *
 *	broadcast  the root has all chunks; each comes to each other rank exactly once
 *	scatter    the root has a chunk for each rank, that of the rank k after it is chunk k; a
 *	           chunk may pass other ranks on its way
 *	gather     the other way
 *	reduce     each rank has its own of all chunks; it adds what comes to it and sends the sum on,
 *	           once, and the root sends nothing
 *
 * Turned around in time and over links turned around, a broadcast is a reduction and a scatter a
 * gather, in as many rounds; none can have fewer, or the turned one would, too.
 */
struct message {
	int round, from, to;  /* rounds from 0 */
	int64_t first, count; /* chunks first .. first + count - 1 */
};

struct send_schedule {
	enum operation operation;
	int ranks, root;
	int64_t chunks;
	int rounds;
	size_t message_count;
	const struct message *messages; /* by round */
};

/* The problem of a solver of the stage `broadcast` or `scatter`: chunks over this topology, from its root;
 * of a scatter as many as ranks. */
struct synthesis {
	const struct topology *topology;
	int64_t chunks;
};

/* Messages in any order; the schedule has them by round, then as given. */
struct messages array(struct message);
const struct send_schedule *schedule_make(
	struct arena *arena, const struct synthesis *synthesis, const struct messages *messages);

/* The reduction that a broadcast is, turned around, or the gather of a scatter. */
const struct send_schedule *schedule_reverse(
	struct arena *arena, const struct send_schedule *schedule);

/* Bytes of the first chunks of `bytes` bytes in `chunks` parts of whole elements, as alike as
 * can be, the longer ones first. */
int64_t schedule_bytes(int64_t bytes, int element, int64_t chunks, int64_t first);

/*
 * Element types of tensors that are only copied between ranks.  Two types of one width are
 * different types.  In specs they have the names of the C++ types (`fp32`), in assembly those of
 * MLIR (`f32`); both are read everywhere.
 */
enum element {
	ELEMENT_FP32,
	ELEMENT_INT32,
	ELEMENT_UINT32,
	ELEMENT_FP16,
	ELEMENT_BF16,
	ELEMENT_INT16,
	ELEMENT_UINT16,
	ELEMENT_INT8,
	ELEMENT_UINT8,
	ELEMENT_COUNT,
};

extern const char *const element_names[]; /* in the order of the enum, NULL ends them */

/* The type that the first `length` bytes of a word name; false if they name none. */
bool element_parse(const char *word, size_t length, enum element *out);
const char *element_short_name(enum element element); /* "f32" */
int element_bytes(enum element element);

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
 * wrong: struct broadcast_fault says how.
 *
 * With another `operation` it is a sibling that goes through the same tiles.
 * A reduction has one tile more, the first, where it adds up.
 */
enum { BROADCAST_RANK = 5, STAGING_MOST = 64 };

enum tensor_layout { LAYOUT_ND, LAYOUT_DN, LAYOUT_NZ }; /* rows or columns first, or fractals */
extern const char *const tensor_layout_names[];

/* The one to follow if the published code differs from its document. */
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

/* Places of keys in the file; of a key that is not given, the broadcast's. */
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
	 * Algorithm by which the tensor reaches the ranks: NULL, the published one; else a solver of the
	 * stage `broadcast`, with the tensor in this many segments that ranks send on
	 */
	const char *algorithm;
	int64_t segments;
	struct copying copying;
	int columns; /* of a mesh of ranks; else 0 */
	struct broadcast_spans spans;
};

/* Ways of the tensor through the tiles. */
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

/* Notices of the signal of a rank that waits: one of each rank that it reads from. */
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
extern const struct noun broadcast_noun;
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

/* The same line out of a broadcast. */
const char *broadcast_line(struct arena *arena, const struct broadcast *broadcast);

/* A legal broadcast as a spec, with everything that an architecture may have said. */
const char *broadcast_write(struct arena *arena, const struct broadcast *broadcast);

/*
 * Rules of a broadcast, in the order in which they are checked: types, tiles and their places
 * when it is compiled, then rules of the call itself, then rules of the path.  Messages are
 * those of the published code if it has one.  (pto-isa: include/pto/comm, a2a3 TBroadCast.hpp;
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
