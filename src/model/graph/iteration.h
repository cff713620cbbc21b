#ifndef MODEL_ITERATION_H
#define MODEL_ITERATION_H

#include "model/graph/coordinates.h"

/*
 * What division looks at of one op: its loops, in elements and in what is
 * divided, and the device coordinates of its operands.
 *
 * A loop that alone makes up the stick coordinate of an operand is a stick
 * loop: it is divided in sticks, of the largest elements-per-stick among those
 * operands, so that every core gets whole sticks.
 */
struct arena;

enum { ITERATION_OPERANDS_MOST = OP_READS_MOST + 1 };

struct iteration {
	const struct workload *workload;
	const struct op *op;
	int loop_count;
	int64_t range[OP_LOOPS_MOST]; /* elements */
	int64_t stick[OP_LOOPS_MOST]; /* elements per stick of a stick loop, else 0 */
	int64_t size[OP_LOOPS_MOST];  /* sticks of a stick loop, else elements */
	int operand_count;            /* reads in order, then the output */
	const struct layout *layouts[ITERATION_OPERANDS_MOST];
	struct coordinates coordinates[ITERATION_OPERANDS_MOST];
	uint32_t output_loops; /* in the output's coordinates, the stick left out */
	uint32_t all_output_loops;
};

/* NULL, and *why, when a stick coordinate is none that the device can walk. */
const struct iteration *iteration_make(struct arena *arena, const struct workload *workload,
	const struct op *op, const char **why);

const struct tensor *iteration_tensor(const struct iteration *iteration, int operand);

/*
 * The span: bytes of one operand's device memory between the first and the
 * last that one core touches, by the outermost device dimension of which it
 * touches more than one element.  splits[l] cores share loop l.  An element
 * counts as many bytes as on the host.
 */
int64_t iteration_span(const struct iteration *iteration, int operand, const int64_t *splits);

/* That outermost dimension; -1 when a core touches a single stick. */
int iteration_span_dim(const struct iteration *iteration, int operand, const int64_t *splits);

#endif
