#ifndef MODEL_COUNTS_H
#define MODEL_COUNTS_H

#include "model/graph/plan.h"
#include "model/nest/nest_score.h"

/*
 * What a plan does, on one rank (point 11 of model/graph/plan.h): integers per step and operand, totals
 * over all cores, in bytes of whole sticks.  cost/ and sim/ both fill these structs, by different
 * roads; equality of all integers is `sim_agrees`.
 */
enum traffic {
	TRAFFIC_HBM_READ,  /* bytes that leave HBM */
	TRAFFIC_HBM_WRITE, /* bytes that enter HBM */
	TRAFFIC_LX_FILL,   /* transfers writing LX, each core's copy counted */
	TRAFFIC_LX_DRAIN,  /* transfers reading LX */
	TRAFFIC_LX_READ,   /* computes and rings reading LX */
	TRAFFIC_LX_WRITE,  /* computes and rings writing LX */
	TRAFFIC_RING,      /* bytes over reduce-ring links */
	TRAFFIC_DATA_RING, /* bytes over links of the data ring, each link counted */
	TRAFFIC_LINK,      /* bytes over links between ranks, each link counted */
	TRAFFIC_COUNT,
};

extern const char *const traffic_names[]; /* in the order of the enum, NULL ends them */

struct step_count {
	int64_t bytes[OP_READS_MOST + 1][TRAFFIC_COUNT]; /* by operand number */
	int64_t computes; /* scalar operations of all cores together */
	/* What the inner nests (model/graph/box_nest.h) do, in words at the levels of their hierarchy:
	 * every integer added up over all tiles and cores (nest_counts_add); NULL: the step has none. */
	const struct nest_counts *nests;
};

/* By step.  What accumulators cost counts for the output operand. */
struct counts {
	int step_count;
	struct step_count *steps;
};

/* As many steps, and every integer the same. */
bool counts_equal(const struct counts *a, const struct counts *b);

/* True if the totals over all steps and operands can be counted. */
bool counts_fit(const struct counts *counts);

/* Over all steps and operands, of counts that fit; else BUG. */
int64_t counts_total(const struct counts *counts, enum traffic traffic);

#endif
