#ifndef JOINT_CUT_DP_BEAM_H
#define JOINT_CUT_DP_BEAM_H

#include "search/drive/solver.h"
#include "solvers/joint/cut_dp/ladder.h"

/* A search, and the beam that it is at: labels from cut to cut, of which those with the least bounds are gone on from. */
struct search {
	struct run *run;
	const struct frame *frame;
	struct steps *steps;
	struct ladder ladder;
	struct joint_answer *best; /* NULL: none yet */
	int64_t bound;             /* proven */
	int64_t unpacked;          /* the least value of an answer without addresses */
	bool found;                /* an answer, with addresses or without, in this room */
	struct effort effort;      /* of the proof */

	/* one beam */
	struct arena *arena;
	struct cut_layer **layers; /* by cut */
	struct relaxation *relaxation;
	bool lazy;             /* step.h */
	bool is_free, goes_on; /* until an answer is found the budget counts, but does not end it */
	size_t width;          /* labels of a cut that are gone on from */
	int64_t limit;         /* bounds above it are not looked at */
	int64_t dropped;       /* the least bound of those that were not */

	/* what is being expanded */
	int cut;
	uint32_t state;
	bool changes; /* evictions and relays: of labels that are chosen */
};

/* All cuts, with at most `width` labels at each; false: the budget is spent. */
bool beam_run(struct search *search);

/* What is above it is not looked for. */
int64_t beam_limit(const struct search *search);

#endif
