#ifndef INPUTS_BROADCAST_H
#define INPUTS_BROADCAST_H

#include "base/option.h"
#include "model/transfer/broadcast.h"
#include "search/graph/explore.h"
#include "spec/sheet.h"

/*
 * A `broadcast:`, and what may come with it: `architecture`, `search`.
 */
struct broadcast_inputs {
	const struct broadcast *broadcast;
	struct ratio clock_hz;       /* of the architecture; 1 GHz without */
	const struct solver *solver; /* of --solver broadcast=NAME; NULL: all */
};

/* Objectives, budgets, seed and so on go to `exploration`.  NULL after complaining. */
const struct broadcast_inputs *broadcast_inputs_read(struct sheet *sheet,
	const struct reading *reading, const struct arguments *arguments,
	struct exploration *exploration);

#endif
