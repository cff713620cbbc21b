#include "model/machine/score.h"

#include <stddef.h>

const char *const price_names[] = {"bound", "estimate", NULL};

const char *const proof_names[] = {
	[PROOF_NONE] = "none",
	[PROOF_OPTIMAL] = "optimal",
	[PROOF_BOUND] = "bound",
	[PROOF_INFEASIBLE] = "infeasible",
	[PROOF_BUDGET] = "budget",
	NULL,
};
