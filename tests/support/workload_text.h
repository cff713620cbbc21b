#ifndef SUPPORT_WORKLOAD_TEXT_H
#define SUPPORT_WORKLOAD_TEXT_H

#include "model/workload.h"

/*
 * Workloads from YAML.  `complaints` (may be NULL) gets what was printed about
 * it, "" for nothing.  NULL when the workload is refused.
 */
struct arena;

const struct workload *workload_of_text(
	struct arena *arena, const char *yaml, const char **complaints);
const struct workload *workload_of_file(
	struct arena *arena, const char *path, const char **complaints);

#endif
