#ifndef MODEL_PROOF_H
#define MODEL_PROOF_H

/* What a search established about an answer. */
enum proof_status {
	PROOF_NONE,    /* a heuristic's answer */
	PROOF_OPTIMAL, /* over the space that was searched */
	PROOF_BOUND,   /* bound known, gap left */
	PROOF_INFEASIBLE,
	PROOF_BUDGET, /* the search was cut */
};

extern const char *const proof_names[]; /* in the order of proof_status, NULL ends them */

#endif
