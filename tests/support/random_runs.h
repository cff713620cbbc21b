#ifndef SUPPORT_RANDOM_RUNS_H
#define SUPPORT_RANDOM_RUNS_H

#include "base/random.h"
#include "model/graph/plan.h"

/*
 * Plans of small chains of products and maps on machines whose tiles do not move in boxes, with a run of
 * steps that share one tile loop or two.  Some of what ops hand on lies in the scratchpad, part by part
 * inside the run.  The steps have blank mappings.
 */
struct arena;
/* Their workload. */
const struct workload *random_chain(
	struct random *random, const struct arch *arch, struct arena *arena);

struct plan *random_runs(struct random *random, const struct arch *arch, struct arena *arena);

#endif
