#ifndef SIM_NEST_TENSORS_H
#define SIM_NEST_TENSORS_H

#include "sim/nest/nest_run.h"

/*
 * The numbers: those of the options (struct nest_values), or whole dataspaces as doubles that hold
 * small integers, so that sums are exact in any order, and the einsum by plain loops over the
 * dimensions.
 */
struct nest_tensors;

/* Bytes of all dataspaces, gaps included. */
double nest_tensors_bytes(const struct shape *shape);

/* Sizes only; nest_tensors_draw gets the memory and draws what is read from {-2 .. 2}.  `values`
 * (NULL: drawn) are in place of that. */
struct nest_tensors *nest_tensors_name(
	const struct shape *shape, const struct nest_values *values, struct arena *arena);
void nest_tensors_draw(struct nest_tensors *tensors, uint64_t seed);

/* Fills the buffer of a home's instance with the words that it holds. */
void nest_tensors_read(
	const struct nest_tensors *tensors, const struct nest_store *store, int64_t instance);

/* What is drawn: computes the einsum, adds up what the homes' instances have, and complains about the
 * first element that differs.  Somebody's values: gives the results back. */
void nest_tensors_end(struct nest_run *run);

#endif
