#include "constraints/busy.h"

const struct constraint_kind constraint_parallelism = {
	.key = "parallelism",
	.summary = "{min: 0.5}: the least part of all multipliers that is busy",
	.parts = 1u << PART_MACHINE,
	.read = busy_read,
	.narrow = busy_narrow,
	.flag = busy_flag,
	.check = busy_check,
	.explain = busy_explain,
};
