#ifndef RESULTS_CERTIFICATE_H
#define RESULTS_CERTIFICATE_H

#include "report/run/folder.h"
#include "report/run/run_json.h"
#include "search/nest/nest_search.h"

/*
 * Adds the certificate of what an exploration proved to the results.  `layer`: of a network; NULL:
 * of a problem.  False where nothing is proven that a certificate covers.
 */
bool results_certificate(struct arena *arena, struct folder *folder, const char *name,
	const char *layer, const struct run_record *record, const struct nest_search *search,
	const struct explored *explored);

#endif
