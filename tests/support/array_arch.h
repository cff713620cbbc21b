#ifndef SUPPORT_ARRAY_ARCH_H
#define SUPPORT_ARRAY_ARCH_H

#include "base/random.h"
#include "model/graph/box_nest.h"

/*
 * A small chip whose arrays are described: cores with a scratchpad, columns with a buffer each, lanes
 * with registers, one multiplier each; tensors move in boxes of sticks.
 */
struct arena;
const struct arch *array_arch(struct arena *arena, int cores);

/* The same array and one scratchpad, where arrays lie row by row and tiles do not move in boxes. */
const struct arch *whole_arch(struct arena *arena);

/* The same tensors, row by row. */
const struct workload *workload_in_rows(const struct workload *workload, struct arena *arena);

/* A random workload of linear layouts for it, planned: some of what ops hand on lies in the scratchpad. */
struct plan *whole_plan(struct random *random, const struct arch *arch, struct arena *arena);

/* Gives the rows inside the scratchpad of every step random factors, orders and residencies that
 * make up the tiles; some factors do not divide. */
void array_draw_nests(struct random *random, struct plan *plan, struct arena *arena);

#endif
