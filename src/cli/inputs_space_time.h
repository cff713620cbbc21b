#ifndef INPUTS_SPACE_TIME_H
#define INPUTS_SPACE_TIME_H

#include "base/option.h"
#include "model/recurrence/recurrence.h"
#include "search/graph/explore.h"
#include "spec/sheet.h"

/* A recurrence and what is known of its projection: `space_time`, `projection`, `search`. */
struct space_time_inputs {
	struct space_time spec;
	const struct solver *solver; /* of the stage `project` */
};

/* Objectives, budget, seed and so on go to `exploration`.  NULL after complaining. */
const struct space_time_inputs *space_time_inputs_read(struct sheet *sheet,
	const struct reading *reading, const struct arguments *arguments,
	struct exploration *exploration);

#endif
