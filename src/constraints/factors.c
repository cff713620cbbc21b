#include "constraints/bound.h"

const struct constraint_kind constraint_factors = {
	.key = "factors",
	.summary = "bounds of loops: [K=4, C<=16, P>=2]; =0 is the full size",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = bound_read,
	.narrow = bound_narrow,
	.check = bound_check,
	.explain = bound_explain,
};
