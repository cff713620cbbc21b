#ifndef MODEL_WORKLOAD_MOVE_H
#define MODEL_WORKLOAD_MOVE_H

#include "base/array.h"
#include "base/names.h"
#include "model/graph/workload.h"

/*
 * Moves put into a graph: copies of a tensor in the same layout, right before an op, which every
 * op from there on reads instead, or only some ops.  Move and output are called "clone_<tensor>",
 * "evict_<tensor>", "reload_<tensor>" or "relayout_<tensor>" after the tensor's origin, with a number
 * behind if there is one already.
 *
 * What is evicted needs no second copy if HBM has one, because a reload brought
 * it or because it is a clone of a graph input: then the output is that copy.
 */
struct arena;

/* The tensor in HBM that holds the same sticks, though nobody evicted it; -1. */
int workload_copy_in_hbm(const struct workload *workload, int tensor);

/*
 * All moves in one pass: the graph is written anew from its first op to its last, by turns an op
 * of the graph and a move behind those that are there.  Ops of the graph read what the moves
 * made of their tensors.  It is whole when growing_is_whole; until then tensors whose ops have not
 * had their turn have the producers of the graph that was given.
 */
/* What one op of the graph reads in place of a tensor, apart from the others. */
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

/* A move of `tensor`, as a tensor of that number and name, which are reserved.  Whoever would read `tensor`
 * reads it from there on. */
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

#endif
