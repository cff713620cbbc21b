#ifndef SUPPORT_GEMM_REQUEST_H
#define SUPPORT_GEMM_REQUEST_H

#include "tests/support/nest_request.h"

/*
 * A matrix product M x K x N to be searched for energy x latency, on the machine of spec files or
 * of a text (NULL: none); `imperfect`: its factors need not divide.  Ends the test if the machine
 * does not read.
 */
struct nest_search gemm_request(struct arena *arena, const char *const *paths, size_t count,
	const char *machine, const int64_t *extents, bool imperfect);

/* Energy x latency of the best point; INFINITY if there is none. */
double gemm_value(const struct explored *explored);

#endif
