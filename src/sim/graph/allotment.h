#ifndef SIM_ALLOTMENT_H
#define SIM_ALLOTMENT_H

#include "sim/graph/fault.h"

/*
 * Who may use which bytes of LX when, as the program says.  Two allotments that
 * live in one step on one core share no bytes; but a tensor may take over the
 * very place of a dying one, in the step in which the one is born and the other
 * is last read.
 */
struct arena;

/*
 * Those inside of LX, in the order of the program: of tensor t they are at[first[t]] ..
 * at[first[t + 1] - 1], tile buffers of step s the same with t = tensor_count + s.
 */
struct allotment_index {
	size_t tensor_count, step_count;
	size_t *first;
	const struct allotment **at;
};

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena);

/* Complains about allotments that share bytes or leave LX. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena);

/* Whose bytes [low, high) are in a step on a core, if the tensor's or tile buffers'; NULL. */
const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high);

#endif
