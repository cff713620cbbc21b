#ifndef SEARCH_DRIVE_EFFORT_H
#define SEARCH_DRIVE_EFFORT_H

#include <stdint.h>

/* How much work an exploration was: the counters of run.json. */
struct effort {
	uint64_t evaluated; /* candidates priced, solvers' inner steps included */
	uint64_t ticks;     /* of solvers: evaluations and bounds */
	/* Counters of proofs: choices opened, bounds made, labels kept to go on from. */
	uint64_t states, edges, labels;
	uint64_t offered;      /* candidates */
	uint64_t refused;      /* offers that cannot be carried out */
	uint64_t pruned;       /* beaten when they were made */
	uint64_t simulated;    /* candidates that were executed, at least once */
	uint64_t unsimulated;  /* over the simulation budget, or nothing to compare with */
	uint64_t events;       /* of these executions */
	uint64_t disagreed;    /* executions that are not as the model says */
	uint64_t bytes;        /* of scratch memory, over all candidates */
	uint64_t bytes_most;   /* of one */
	uint64_t asked, known; /* questions about single ops; those that were answered before */
	uint64_t bytes_kept;   /* by what the frontier holds, and by proofs */
};

void effort_add(struct effort *sum, const struct effort *effort);

#endif
