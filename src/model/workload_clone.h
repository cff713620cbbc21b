#ifndef MODEL_WORKLOAD_CLONE_H
#define MODEL_WORKLOAD_CLONE_H

#include "model/workload.h"

/*
 * The same graph with one op more: a clone of `tensor` in the same layout,
 * right before op `before`, which every op from there on reads instead.  The
 * clone is op number `before`, its output the last tensor; other tensors keep
 * their numbers.  Clone and output are called "clone_<tensor>", with a number
 * behind if there is one already.
 */
struct arena;
const struct workload *workload_with_clone(
	struct arena *arena, const struct workload *workload, int tensor, int before);

/* The same under a name that no tensor and no op has. */
const struct workload *workload_with_named_clone(struct arena *arena,
	const struct workload *workload, int tensor, int before, const char *name);

/* For several of them: a copy with room for so many, and one more in it. */
struct workload *workload_copy(struct arena *arena, const struct workload *workload, size_t room);
void workload_add_clone(struct arena *arena, struct workload *copy, int tensor, int before);

#endif
