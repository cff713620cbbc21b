#ifndef CERTIFICATE_CERTIFICATE_CHECK_H
#define CERTIFICATE_CERTIFICATE_CHECK_H

#include "base/stopper.h"
#include "search/certificate/certificate.h"
#include "search/certificate/certificate_floor.h"
#include "search/nest/feasible.h"

#include <stddef.h>

/*
 * Checks a certificate from the specs alone:
 *
 *  1. every point is a mapping of the space, keeps the constraints, fits, and has the
 * stated values; no point is beaten by another, and their order is the frontier's;
 *  2. of every cell of the space no mapping is better than claimed.
 *
 * Nothing of a solver is used, and nothing of how it came to its claim.
 */
struct certificate_checking {
	const struct certificate *certificate;
	const struct nest_search
		*search; /* space of the narrowed domain, model, constraints; of the
					     certificate's counting and objectives */
	uint64_t budget; /* steps: floors and evaluations; 0: any number */
	struct stopper stopper;
	void (*progress)(void *listener, uint64_t done, uint64_t choices); /* NULL: none */
};

struct certificate_result {
	enum verdict answer;
	const char *why; /* of what does not hold; NULL */
	struct span span;
	uint64_t choices, done; /* cells of the space, and how many of them were decided */
	uint64_t excluded;      /* by the floor of the whole cell */
	uint64_t steps, evaluated;
};

struct certificate_result certificate_check(
	const struct certificate_checking *checking, struct arena *arena);

#endif
