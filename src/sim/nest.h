#ifndef SIM_NEST_H
#define SIM_NEST_H

#include "model/nest_score.h"

/*
 * Executes a nest as specs/counting.md says: tiles move between real buffers,
 * level by level, with fills, drains, partial sums, multicast and link
 * transfers; multipliers compute real numbers; counts come from the moves.
 * Nothing comes from cost/.
 */
struct nest_sim_options {
	bool data;     /* move and compute numbers and compare with the einsum; else count only */
	bool timing;   /* add bandwidths, fill, drain, double buffering */
	uint64_t seed; /* of the inputs, drawn from {-2 .. 2} */
	uint64_t steps_most; /* steps x instances; 0: no limit */
};

struct nest_sim {
	bool finished; /* false: the limit was reached; nothing else holds then */
	enum nest_verdict verdict;
	struct nest_counts counts;
	bool right;           /* data: the written dataspace is the einsum's, element by element */
	const char *wrong;    /* where it is not, in a sentence; or a move that could not be done */
	int64_t cycles;       /* timing: of the whole run */
	int64_t fill_cycles;  /* timing: before the first multiply-add */
	int64_t drain_cycles; /* timing: after the last */
	int64_t stall_cycles; /* timing: multipliers waiting in between */
	int64_t stall_by_level[ARCH_LEVELS_MOST]; /* whom they waited for */
	uint64_t events;
};

struct nest_sim nest_simulate(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct nest_sim_options *options, struct arena *arena);

#endif
