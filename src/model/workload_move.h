#ifndef MODEL_WORKLOAD_MOVE_H
#define MODEL_WORKLOAD_MOVE_H

#include "model/workload.h"

/*
 * The same graph with one op more: a copy of `tensor` in the same layout,
 * right before op `before`, which every op from there on reads instead.  The
 * move is op number `before`, its output the last tensor; other tensors keep
 * their numbers.  Move and output are called "clone_<tensor>", "evict_<tensor>"
 * or "reload_<tensor>" after the tensor's origin, with a number behind if there
 * is one already.
 *
 * What is evicted needs no second copy if HBM has one, because a reload brought
 * it or because it is a clone of a graph input: then the output is that copy.
 */
struct arena;
const struct workload *workload_with_move(struct arena *arena, const struct workload *workload,
	enum move_kind kind, int tensor, int before);

/* A clone under a name that no tensor and no op has. */
const struct workload *workload_with_named_clone(struct arena *arena,
	const struct workload *workload, int tensor, int before, const char *name);

/* The tensor in HBM that holds the same sticks, though nobody evicted it; -1. */
int workload_copy_in_hbm(const struct workload *workload, int tensor);

/* For several of them: a copy with room for so many, and one more in it. */
struct workload *workload_copy(struct arena *arena, const struct workload *workload, size_t room);
void workload_add_move(
	struct arena *arena, struct workload *copy, enum move_kind kind, int tensor, int before);

#endif
