#ifndef SUPPORT_NEST_REQUEST_H
#define SUPPORT_NEST_REQUEST_H

#include "base/diag.h"
#include "search/nest/nest_search.h"

/*
 * A search of mappings from spec files and one more as text (NULL: none): machine, problem, energies,
 * constraints; out->counting says how.  Objectives, solver, start, budget, seed, jobs and simulation are the
 * caller's.  False after complaints.
 */
bool nest_request_read(struct arena *arena, struct diag *diag, const char *const *paths,
	size_t count, const char *text, struct nest_search *out);

#endif
