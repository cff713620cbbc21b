#ifndef MODEL_SCORE_H
#define MODEL_SCORE_H

#include "model/plan.h"

/*
 * What a plan costs, on one rank (point 11 of model/plan.h).  Integer counts come first, per step
 * and operand, totals over all cores, in bytes of whole sticks; cycles, time and energy follow
 * from them and the architecture's tables.  cost/ and sim/ both fill these
 * structs, by different roads; equality of all integers is `sim_agrees`.
 */
enum traffic {
	TRAFFIC_HBM_READ,  /* bytes that leave HBM */
	TRAFFIC_HBM_WRITE, /* bytes that enter HBM */
	TRAFFIC_LX_FILL,   /* transfers writing LX, each core's copy counted */
	TRAFFIC_LX_DRAIN,  /* transfers reading LX */
	TRAFFIC_LX_READ,   /* computes and rings reading LX */
	TRAFFIC_LX_WRITE,  /* computes and rings writing LX */
	TRAFFIC_RING,      /* bytes over reduce-ring links */
	TRAFFIC_LINK,      /* bytes over links between ranks, each link counted */
	TRAFFIC_COUNT,
};

extern const char *const traffic_names[]; /* in the order of the enum, NULL ends them */

struct step_count {
	int64_t bytes[OP_READS_MOST + 1][TRAFFIC_COUNT]; /* by operand number */
	int64_t computes; /* scalar operations: op_computes, all cores together */
};

/* By step.  What accumulators cost counts for the output operand. */
struct counts {
	int step_count;
	struct step_count *steps;
};

/* As many steps, and every integer the same. */
bool counts_equal(const struct counts *a, const struct counts *b);

/* Whether the totals over all steps and operands can be counted. */
bool counts_fit(const struct counts *counts);

/* Over all steps and operands, of counts that fit; else BUG. */
int64_t counts_total(const struct counts *counts, enum traffic traffic);

struct score {
	bool feasible;
	const char *rejected; /* the constraint or rule that says no; NULL when feasible */
	int64_t cycles;       /* of the reference clock, overheads included */
	double energy_pj;
	int64_t hbm_bytes;     /* read + written */
	int64_t lx_peak_bytes; /* highest resident address in use on any core */
	int64_t cores;         /* of the widest step */
	int64_t computes;
	/* Of a problem: words read, filled and updated at the levels that an objective names. */
	int64_t accesses[ARCH_LEVELS_MOST];
	/* Of a projection: PEs, registers of all of them, places where values enter or leave, and the
	 * steps that all channels of a PE take through the array.  Of a broadcast: bytes over links,
	 * of staging, and rounds.  Of a graph: bytes over links, and the most of staging in a step. */
	int64_t pes, registers, ports, wire, link_bytes, buffer_bytes, rounds;
	double utilization; /* 0 to 1: computes / (cycles * what all cores could do), each op on
			     * the unit that it runs on */
};

#endif
