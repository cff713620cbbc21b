#ifndef SEARCH_PROJECT_SEARCH_H
#define SEARCH_PROJECT_SEARCH_H

#include "cost/recurrence/projection.h"
#include "cost/recurrence/projection_reverse.h"
#include "model/nest/shape.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"
#include "search/recurrence/foldings.h"
#include "sim/recurrence/systolic.h"

/*
 * Explores the projections of one recurrence: a solver of the stage `project` offers, every offer
 * is judged anew, those that nothing beats are the frontier, and each of its points is executed and
 * compared with the sequential order, value by value.
 */
struct project_search {
	/* budget: pairs of an allocation and a schedule that are looked at; seed: of the values of
	 * inputs */
	struct wishes wishes;
	const struct space_time *spec;
	const struct solver *solver; /* of the stage */
};

/* The payload of a frontier point; common.execution agrees if every value is the sequential one, and
 * every count the model's. */
struct project_found {
	struct found common;
	const struct space_time *spec; /* what it is a projection of; of a folding its own */
	const char *name;              /* of a folding: what stays; NULL */
	int64_t folds;
	struct projection projection;
	struct projection_facts facts;
	int64_t ports;        /* project_count_ports; 0 until then, -1: unknown */
	const char *obstacle; /* why the sequential order has no values to compare with; NULL */
	bool large;           /* because there are too many, or a stop came first */
	struct systolic_result execution;
};

/* Beside the frontier, where an einsum is folded: the dataflows in which one operand each stays, by
 * operand, the written one last.  Not complete: some projection of the ranges may be better. */
struct explored project_explore(const struct project_search *search, struct arena *arena);

/* Cycles, PEs, registers of all PEs, wire, and the ports that were counted. */
struct score project_score(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, int64_t ports);

/* Counts the ports by a walk over all points, which the stopper of the search may end. */
void project_count_ports(const struct project_search *search, struct project_found *found);

/* The same of what was found.  The work of an einsum is its products: steps of padding, and those in
 * which operands are shifted in, are none. */
struct score project_found_score(const struct project_found *found);

/* One projection on the array, beside the sequential order: into found->execution and common.execution. */
void project_execute(
	const struct project_search *search, struct project_found *found, struct arena *arena);

/* A folding with its facts and its score; false if it is not legal. */
bool project_fold(const struct project_search *search, const struct folding *folding, bool ports,
	struct arena *arena, struct project_found *found, struct score *score);

/* How an einsum is tiled and carried, as it can be written in a spec, `between` after each key. */
const char *project_tiles_text(
	struct arena *arena, const struct space_time *spec, const char *between);

/* The allocation and the schedule in a line, as they can be written in a spec. */
const char *project_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection);

/* Values for input streams: whole numbers from -4 to 4 that depend on seed, stream and place. */
struct recurrence_inputs project_inputs(const uint64_t *seed);

#endif
