#ifndef SEARCH_CERTIFICATE_H
#define SEARCH_CERTIFICATE_H

#include "search/nest/cells.h"
#include "search/nest/nest_search.h"

/*
 * What an exploration proved, in a form that can be checked without trusting who proved it.
 *
 * The claim: for every mapping of the space that keeps the constraints and fits, some point
 * has no objective above (1 + epsilon) times the mapping's (PROOF_OPTIMAL; without points, no
 * mapping fits); or, of one objective, no mapping's value times (1 + epsilon) is below the bound
 * (PROOF_BOUND).
 *
 * The record of how: lines of cells (cells.h) that the proof had to look into, each with the value
 * below which it left nothing; where there are more than `lines_most`, a line stands for all cells of one
 * residency, or for all of the space.  A bound excluded the rest.
 */
#define CERTIFICATE_EPSILON 1e-12 /* sums of doubles in different orders differ by less */

enum { CERTIFICATE_LINES_MOST = 4096 }; /* what specs may hold (spec/node.h) with room to spare */

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

enum certificate_extent { LINE_CELL, LINE_RESIDENCY, LINE_SPACE };

struct certificate_line {
	enum certificate_extent extent;
	struct cell cell; /* as far as the extent says */
	uint64_t opened;  /* cells that were looked into */
	double least;     /* of one objective: nothing in them is below; 0: no claim of its own */
	struct span span;
};

struct certificate {
	const char *program; /* "lxplore 0.1.0" */
	const char *layer;   /* of a network; NULL: of a problem */
	size_t source_count;
	const struct certificate_source *sources;
	uint64_t problem; /* certificate_problem_hash */
	enum counting counting;
	struct objectives objectives;
	enum proof_status claim;
	double epsilon;
	double bound, gap; /* of PROOF_BOUND */
	size_t point_count;
	const struct certificate_point *points;
	uint64_t choices, opened, rest; /* cells of the space; choices = opened + rest */
	size_t line_count;
	const struct certificate_line *lines;
	/* where the file says so */
	struct span problem_span, claim_span, bound_span, gap_span, points_span, choices_span;
};

/* Hash of the problem that the specs compile to: shape, machine, domain, constraints, counting. */
uint64_t certificate_problem_hash(const struct nest_search *search);

/* What bit k of a residency says, where the domain leaves it free: "GLB A". */
const char *certificate_residency(struct arena *arena, const struct nest_search *search, int k);

/* Whether proofs of a problem can be checked: its factors divide. */
bool certificate_covers(const struct nest_search *search);

/* NULL where nothing is proven, factors need not divide, or nobody can count the cells.  Sources, program and layer
 * are the caller's. */
struct certificate *certificate_make(struct arena *arena, const struct nest_search *search,
	const struct explored *explored, size_t lines_most);

#endif
