#ifndef SEARCH_CERTIFICATE_CHECK_H
#define SEARCH_CERTIFICATE_CHECK_H

#include "base/stopper.h"
#include "search/certificate/certificate.h"

/*
 * Whether a certificate holds, found out anew:
 *
 *  1. every point is a mapping of the space, keeps the constraints, fits, and has the values that
 *     are said; no point is beaten by another, and their order is the frontier's;
 *  2. of every cell of the space (cells.h) no mapping is better than claimed (certificate_cell.h).
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
