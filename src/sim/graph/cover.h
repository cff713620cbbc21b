#ifndef SIM_COVER_H
#define SIM_COVER_H

#include "lower/graph/program.h"

/*
 * Fingerprints of parts of a reduction: every point of an op's reduction loops
 * has a random 64-bit number, the product of one for each loop's index, and a
 * part has the sum over its points.  Sums of disjoint parts are the sum of all
 * exactly when every point is in them once (but for one chance in some 2^60).
 */
struct arena;
struct cover;

struct cover *cover_open(const struct workload *workload, struct arena *arena);
uint64_t cover_part(struct cover *cover, const struct compute *compute); /* its loops are right */
uint64_t cover_whole(struct cover *cover, int op);

#endif
