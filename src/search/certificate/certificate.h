#ifndef SEARCH_CERTIFICATE_H
#define SEARCH_CERTIFICATE_H

#include "search/nest/nest_search.h"

/*
 * The result of an exploration with its proof, in a form that can be checked without trusting the solver.
 *
 * The claim: for every mapping of the space that keeps the constraints and fits, some point
 * has no objective above (1 + epsilon) times the mapping's (PROOF_OPTIMAL; without points, no
 * mapping fits); or, of one objective, no mapping's value times (1 + epsilon) is below the bound
 * (PROOF_BOUND).
 */
#define CERTIFICATE_EPSILON 1e-12 /* sums of doubles in different orders differ by less */

struct certificate_source {
	const char *path;
	uint64_t hash; /* FNV-1a, as in run.json */
	struct span span;
};

struct certificate_point {
	const char *mapping; /* a line of nest_mapping.h */
	int64_t cycles;
	double energy_pj;
	const double *values; /* by objective */
	struct span span;
};

struct certificate {
	const char *program; /* with its version, as `lxplore --version` prints it */
	const char *layer;   /* of a network; NULL: of a problem */
	size_t source_count;
	const struct certificate_source *sources;
	enum counting counting;
	struct objectives objectives;
	enum proof_status claim;
	double epsilon;
	double bound, gap; /* of PROOF_BOUND */
	size_t point_count;
	const struct certificate_point *points;
	/* where the file says so */
	struct span counting_span, claim_span, bound_span, gap_span, points_span;
};

/* True if proofs of a problem can be checked: its factors divide. */
bool certificate_covers(const struct nest_search *search);

/* NULL where nothing is proven, or factors need not divide.  Sources, program and layer are the caller's. */
struct certificate *certificate_make(
	struct arena *arena, const struct nest_search *search, const struct explored *explored);

#endif
