#ifndef SIM_NEST_H
#define SIM_NEST_H

#include "base/stopper.h"
#include "model/machine/score.h"
#include "model/nest/nest_score.h"
#include "sim/machine/kernel.h"

/*
 * Executes a nest as specs/counting.md says: tiles move between real buffers,
 * level by level, with fills, drains, partial sums, multicast and link
 * transfers; multipliers compute real numbers; counts come from the moves.
 * Nothing comes from cost/.
 *
 * Work: steps x multipliers, and for each move step a comparison per instance; what is written,
 * and everything with `data`, moves word by word.  Some 10^7 steps x multipliers take seconds.
 * If it only counts, iterations that are proven alike are executed once (sim/nest/nest_moves.c): two of each
 * loop, as a rule.
 *
 * Memory: per word of every written tile in every instance 1 byte, with `data` 8 more, and 8 per
 * word of what is only read; twice that below the home, where a tile is built beside the old one.
 * 8 bytes per word of a dataspace whose home is written in several instances.
 * With `data` 8 bytes per word of the dataspaces; some 512 per multiplier and dataspace.  More
 * than EXECUTION_BYTES_MOST is refused before anything is taken.
 */
struct nest_values;

/* Faults that a test plants, once, to see that they are found. */
enum nest_sim_fault {
	NEST_SIM_SOUND,
	NEST_SIM_FILL_LOST,    /* an instance gets nothing of what enters */
	NEST_SIM_DRAIN_LOST,   /* a group's sums vanish */
	NEST_SIM_DRAIN_UNREAD, /* a group's sums leave without being read: as zeros */
	NEST_SIM_GROUP_WRONG,  /* an instance gets what the group before it gets */
	NEST_SIM_SUM_COPIED,   /* a returning sum stays at the parent as well */
	NEST_SIM_SUM_UNREAD,   /* an update forgets the sum that is there */
	NEST_SIM_HOP_LATE,     /* a PE of an array works with what its neighbour had before */
	NEST_SIM_FAULTS,
};

struct nest_sim_options {
	bool data; /* move and compute numbers and compare with the einsum; else count only */
	const struct nest_values
		*values;     /* with `data`: compute these, and compare nothing; or NULL */
	bool timing;         /* add bandwidths, fill, drain, double buffering */
	uint64_t seed;       /* of the inputs, drawn from {-2 .. 2} */
	bool every_step;     /* without: equal periods are executed once, where it only counts */
	uint64_t steps_most; /* steps x multipliers that are executed; 0: no limit */
	enum nest_sim_fault fault; /* at its occasion number fault_at, from 0 */
	uint64_t fault_at;
	struct stopper stopper;   /* called every few steps */
	struct nest_trace *trace; /* timing: filled; NULL: not kept */
};

struct nest_sim {
	/* False: too many steps or bytes, or it was to stop; `wrong` says which, nothing else holds. */
	bool finished;
	enum nest_verdict verdict; /* counts hold as nest_verdict_counts says */
	struct nest_counts counts;
	bool right;           /* every move could be done; data: and the results are the einsum's */
	const char *wrong;    /* the first move that could not, or the first element that is not */
	int64_t cycles;       /* timing: of the whole run */
	int64_t fill_cycles;  /* timing: before the first multiply-add */
	int64_t drain_cycles; /* timing: after the last */
	int64_t stall_cycles; /* timing: multipliers waiting in between */
	int64_t stall_by_level[ARCH_LEVELS_MOST]; /* whom they waited for */
	bool faulty;                              /* options.fault came to its occasion */
	uint64_t events;                          /* counted moves, and steps of multipliers */
	uint64_t work;                            /* steps x multipliers that were executed */
};

/*
 * An array over the ranks of a dataspace, index 0 first.  What lies beyond its size is padding: it
 * reads as 0 and is dropped when it is written.
 */
struct nest_array_view {
	float *at;
	int64_t size[SHAPE_RANKS_MOST], stride[SHAPE_RANKS_MOST];
};

/*
 * Given values of a nest: the arrays that it reads, and those for its results.  Numbers are those of the
 * machine (sim/machine/kernel.h), fp32; the home of the written dataspace has one instance.
 */
struct nest_values {
	const struct primitive *primitive; /* einsum, map or reduction */
	float constant;                    /* a map's second operand, where only one is read */
	kernel_function kernel;            /* kernel_apply, or a test's */
	/* By dimension: points beyond are padding, and add the neutral element. */
	int64_t extents[SHAPE_DIMENSIONS_MOST];
	struct nest_array_view views[SHAPE_SPACES_MOST]; /* by dataspace */
	bool resumes; /* what is written holds sums that others are added to */
};

struct nest_sim nest_simulate(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct nest_sim_options *options, struct arena *arena);

/*
 * Checks a mapping before anything moves: the bounds make up the extents, the machine has the
 * instances, and the tiles fit.  Fills capacities and utilized instances; these are valid if the
 * verdict is FITS, CAPACITY or UTILIZATION.  Sums that end apart are found after the run
 * (sim/nest/nest_lay.c).
 */
enum nest_verdict nest_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts);

/* Steps at which anything works x multipliers; INT64_MAX if that does not fit. */
int64_t nest_check_work(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping);

#endif
