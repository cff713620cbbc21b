#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "model/workload.h"

#include <stdbool.h>

/*
 * What a workload means: every op as the plain loop nest over host arrays, in
 * workload order, no machine.  Arrays are row-major over the host size, each
 * element in its stored type.  `arrays[t]` is input for graph inputs; the others are
 * allotted and filled.  Accumulation is in fp64 here, so that it is not the
 * machine's own order; compare with reference_compare.
 */
struct arena;

void reference_inputs(const struct workload *workload, uint64_t seed, bool small_integers,
	struct arena *arena, void **arrays);
void reference_run(const struct workload *workload, struct arena *arena, void **arrays);

/* Opaque ops have no meaning; their outputs are drawn from the seed in both worlds. */
void reference_opaque(
	const struct workload *workload, const struct op *op, uint64_t seed, void **arrays);

struct comparison {
	int64_t elements, different;
	double worst_ulps; /* in units of the last place of the tensor's dtype */
	int64_t worst_at;  /* linear host index */
};
struct comparison reference_compare(const struct tensor *tensor, const void *expected, const void *got);

#endif
