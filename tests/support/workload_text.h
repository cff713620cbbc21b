#ifndef SUPPORT_WORKLOAD_TEXT_H
#define SUPPORT_WORKLOAD_TEXT_H

#include "model/graph/workload.h"
#include "model/machine/arch.h"

/*
 * Workloads from YAML.  `complaints` (may be NULL) gets what was printed about
 * it, "" for nothing.  NULL when the workload is refused.
 */
struct arena;

/* The published example of planning: softmax of (512, 1024) over m. */
extern const char softmax_yaml[];

const struct workload *workload_of_text(
	struct arena *arena, const char *yaml, const char **complaints);
const struct workload *workload_of_file(
	struct arena *arena, const char *path, const char **complaints);

/* The same on a machine with this home. */
const struct workload *workload_at_home(
	struct arena *arena, const char *yaml, const struct level *home, const char **complaints);

/* One that is right; BUG if it is refused. */
const struct workload *workload_given(struct arena *arena, const char *yaml);

#endif
