#ifndef CLI_GRAPH_VALUES_H
#define CLI_GRAPH_VALUES_H

#include "base/diag.h"
#include "model/graph/workload.h"

/*
 * Numbers of tensors in a file, a line each, in row-major order:
 *
 *	x: 1 2.5 -3e-2
 */
struct arena;

/* Reads host arrays by tensor, NULL for tensors that the file does not name.  NULL after complaining. */
void **graph_values_read(
	struct arena *arena, const struct workload *workload, const char *path, struct diag *diag);

/* Writes the outputs of the workload; `arrays` are host arrays by tensor. */
const char *graph_values_text(
	struct arena *arena, const struct workload *workload, void *const *arrays);

#endif
