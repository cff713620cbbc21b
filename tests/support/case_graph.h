#ifndef SUPPORT_CASE_GRAPH_H
#define SUPPORT_CASE_GRAPH_H

#include "model/graph/workload.h"

#include <jansson.h>

/*
 * Workloads out of the JSON of the division-and-lx cases.
 *
 * `buffers`: [{name, dtype, host_size, dim_order}]; `ops`: [{op, kind, out,
 * ranges: {var: elements}, reads: [[buffer, {var: coefficient}]], write: {var:
 * coefficient}}] in execution order.  Tensors keep the order of `buffers`, ops
 * are named by their output.  `outputs` are the graph's results; NULL: what no
 * op reads.  NULL, and *why, for anything that does
 * not fit a workload.
 *
 * An access gives only its linear index; the host coordinates are recovered
 * from the host strides.  Where one loop walks several host dimensions (a
 * flattening view) they are not affine functions, and the whole loop is put on
 * the outermost of them.
 */
struct arena;
struct tally;

const struct workload *case_graph(struct arena *arena, const json_t *buffers, const json_t *ops,
	const json_t *outputs, const char **why);

/* A JSON file of the cases, parsed; NULL if it is missing, or no JSON: a failure of `tally`. */
json_t *case_file(const char *root, const char *family, const char *name, struct tally *tally);

#endif
