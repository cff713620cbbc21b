#ifndef MODEL_GRAPH_WORKLOAD_H
#define MODEL_GRAPH_WORKLOAD_H

#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "model/machine/layout.h"
#include "model/machine/primitives.h"
#include "model/nest/affine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A workload is a list of ops over tensors.  An op is a loop nest: its loops,
 * and for every operand an affine index into the operand's host array.  Loops
 * of the output come first, reduction loops last (for a matrix product K is
 * last); loops of extent 1 do not exist.  Everything is frozen after reading;
 * passes that change a graph (clones) make a new one.
 */
struct arena;
struct hierarchy;

enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_INTERMEDIATE };

struct tensor {
	const char *name;
	enum tensor_role role;
	struct layout layout;
	bool layout_given; /* by the spec, not derived */
	int producer;      /* op that writes it; -1 for graph inputs */
	int copy_of;       /* plus 1: the tensor in HBM whose very bytes it is; 0: it has its own */
	struct span span;  /* where the spec first names it */
};

struct access {
	int tensor;
	/* The index may leave the host array: there is the identity of what the op does with it.  Tiles move the
	 * part of their box that is there, at least the element nearest to it; `linear` has no offset. */
	bool pad;
	struct affine linear;                      /* into the host array, in elements */
	struct affine host[LAYOUT_HOST_RANK_MOST]; /* each host coordinate */
};

/* Copies of whole sticks that passes put in, each as an op of its own. */
enum move_kind {
	MOVE_NONE,
	MOVE_CLONE,    /* of a graph input, for LX */
	MOVE_EVICT,    /* from LX to HBM: there it goes on */
	MOVE_RELOAD,   /* from HBM to LX again */
	MOVE_RELAYOUT, /* from LX to LX under another view */
};
extern const char
	*const move_names[]; /* in the order of move_kind; NULL: of no move, and the end */

struct op {
	const char *name; /* unique; the output's name unless given */
	const char *type; /* as lists of op names call it: "exp", "mm", "amax" */
	const struct primitive *primitive;
	bool has_constant; /* a map's second operand is `constant` */
	double constant;
	enum move_kind move;      /* put in by a pass: a plan prints it as a move */
	int root;                 /* of a broadcast: the rank that has what is read */
	const char *const *roles; /* by operand: what constraints call it; NULL: as op_role says */
	/* Its nest's levels have the flags of these (model/graph/box_nest.h); NULL: none. */
	const struct hierarchy *flagged;
	int loop_count;
	struct loop loops[OP_LOOPS_MOST];
	int read_count;
	struct access reads[OP_READS_MOST]; /* in the order written */
	int write_count;                    /* 1, except opaque ops */
	struct access *writes;
	struct span span; /* its notation in the spec */
};

struct workload {
	const char *name;
	size_t tensor_count, op_count;
	const struct tensor *tensors;
	const struct op *ops;
};

/* Operand numbers: 0 .. read_count-1 are the reads, read_count is the output. */
const struct access *op_operand(const struct op *op, int operand);
int op_operands(const struct op *op);

/* The role of an operand: what the op says, or the first read is Inputs, the second Weights (of a product of matrices
 * the one that affine_weights says), the result Outputs; NULL: it has none. */
const char *op_role(const struct op *op, int operand);

/* A copy of a tensor, from one number to another: a loop for each host dimension of more than one element, in order.
 * The caller gives op and loops their names, and the op what it is. */
struct op op_copying(struct arena *arena, const struct layout *layout, int tensor, int to);

/* The same element for every iteration; of tensors with as many host dimensions. */
bool access_equal(
	const struct op *op, const struct access *a, const struct access *b, int host_rank);

/* Bit l: loop l moves the operand; it moves the device dimension right outside its sticks. */
uint32_t access_loops(
	const struct workload *workload, const struct op *op, const struct access *access);
uint32_t access_row_loops(const struct workload *workload, const struct access *access);

/* An interval of indices of a host dimension of `size`, as far as it is there. */
void access_clip(const struct access *access, int64_t size, int64_t *low, int64_t *high);

/* The tensor whose bytes in HBM a tensor has: itself, or the one that it is a copy of. */
int tensor_home(const struct workload *workload, int tensor);

/* The tensor before all evicts and reloads that lead to this one; itself without any. */
int tensor_origin(const struct workload *workload, int tensor);

/* The same of all tensors at once, by number. */
const int *tensor_origins(struct arena *arena, const struct workload *workload);

/* The index of a tensor or op by name; -1 if there is none. */
int workload_tensor(const struct workload *workload, const char *name);
int workload_op(const struct workload *workload, const char *name);

/*
 * Returns the elements of loop `l` in one indivisible unit: for a loop that
 * runs along the stick of an operand the largest elements-per-stick of such
 * operands, else 1.  A division or a tile is a whole number of units.
 */
int64_t op_grain(const struct workload *workload, const struct op *op, int l);

/* ceil(extent / grain) */
int64_t op_units(const struct workload *workload, const struct op *op, int l);

/* The loop that alone runs along an operand's stick; -1 if none does. */
int op_stick_loop(const struct workload *workload, const struct op *op, int operand);

/* True if cores share the op and tile it; opaque ops and broadcasts are never divided. */
bool op_is_tiled(const struct op *op);

bool workload_has_broadcast(const struct workload *workload);

/*
 * Moves put into a graph: copies of a tensor in the same layout, right before an op, which every
 * op from there on reads instead, or only some ops.  Move and output are called "clone_<tensor>",
 * "evict_<tensor>", "reload_<tensor>" or "relayout_<tensor>" after the tensor's origin, with a number
 * behind if there is one already.
 *
 * An evicted tensor needs no second copy if HBM has one, because a reload brought
 * it or because it is a clone of a graph input: then the output is that copy.
 */

/* The tensor in HBM that holds the same sticks without an evict; -1. */
int workload_copy_in_hbm(const struct workload *workload, int tensor);

/*
 * All moves in one pass: the graph is copied from its first op to its last; each call adds an op
 * of the graph or a move behind those that are there.  Ops of the graph read the results of the
 * moves in place of their tensors.  It is whole when growing_is_whole; until then tensors whose ops have not
 * had their turn have the producers of the graph that was given.
 */

/* A tensor that one op of the graph reads in place of another, apart from other ops. */
struct growing_exception {
	int tensor, now; /* of the graph; what it is read as */
	int next;        /* of the op, plus 1 */
};

struct growing {
	struct arena *arena;
	const struct workload *from;
	struct workload *workload; /* what there is by now */
	size_t taken;              /* ops of `from` */
	int *now;                  /* by tensor of `from`: what it is read as */
	int *exceptions;           /* by op of `from`: the first of its exceptions, plus 1 */
	struct array(struct growing_exception) excepted;
	int *first;           /* by tensor: the one of `from` that it is a move of */
	struct names tensors; /* of `from` and of moves, with their numbers */
	struct names ops;     /* of `from`, with their numbers there */
};
struct growing growing_open(struct arena *arena, const struct workload *workload, size_t room);
void growing_take(struct growing *growing);

/* A move of `tensor`, as a tensor of that number and name, which are reserved.  Ops behind it
 * read its result in place of `tensor`. */
void growing_move(
	struct growing *growing, enum move_kind kind, int tensor, int to, const char *name);

/* The same, but only these ops of `from` read it, in place of what they would. */
void growing_move_for(struct growing *growing, enum move_kind kind, int tensor, int to,
	const char *name, const int *readers, size_t count);

/* A name for a move that no tensor and no op has. */
const char *growing_name(const struct growing *growing, enum move_kind kind, int tensor);
void growing_reserve(struct growing *growing, const char *name, int tensor);
bool growing_has_name(const struct growing *growing, const char *name);
bool growing_is_whole(const struct growing *growing);

/*
 * The rules by which the sticks of an op's operands fit together, and the layout of an output
 * that does not give one.
 *
 * A compute works on sticks: lane i of the output comes from lane i of the
 * operands, from a stick whose lanes are all reduced, or from one that is the
 * same for all lanes.  An operand's stick runs along one loop (by steps of one,
 * from a multiple of the stick), or along none: sparse, or an index that stays
 * at a stick's first lane.  Let n be the output's stick loop; none if it is
 * sparse.
 *
 *	map         an operand runs along n, or it has no stick loop and n does not index it
 *	reduce      the same; without n a reduced stick fits too
 *	einsum      an operand that n indexes runs along n; the others run along a
 *	            reduced loop or none; without n all that run along a loop do so along
 *	            the same reduced one
 *	restickify  anything
 *	opaque      anything
 *
 * Derived layouts are the default of layout_make, except that an output is
 * sparse when a reduce runs along its operand's stick, and when all operands of a
 * map or reduce that have all of the output's loops are sparse: it then keeps the
 * order of the first of them.
 */
struct stick_misfit {
	int operand;
	int loop;   /* along which the operand's stick runs; -1: none, -2: several or shifted */
	int wanted; /* along which it would fit; -1: sparse would */
};

bool sticks_fit(const struct workload *workload, const struct op *op, struct stick_misfit *misfit);

/*
 * The `order` for layout_make of the op's output of that host size, up to
 * LAYOUT_HOST_RANK_MOST + 1 entries; returns how many, 0 for the default.
 */
int sticks_order(const struct workload *workload, const struct op *op, const int64_t *host_size,
	int host_rank, int *order);

#endif
