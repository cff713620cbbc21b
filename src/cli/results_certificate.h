#ifndef RESULTS_CERTIFICATE_H
#define RESULTS_CERTIFICATE_H

#include "report/run/run_json.h"
#include "search/nest/nest_search.h"

/*
 * Writes the certificate of what an exploration proved; where nothing is proven that a certificate
 * covers, one that an earlier run left is removed.  `layer`: of a network; NULL: of a problem.
 * Whether there is one.
 */
bool results_certificate(struct arena *arena, const char *folder, const char *name,
	const char *layer, const struct run_record *record, const struct nest_search *search,
	const struct explored *explored);

#endif
