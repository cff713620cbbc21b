#ifndef RECURRENCE_PROJECT_SEARCH_H
#define RECURRENCE_PROJECT_SEARCH_H

#include "cost/recurrence/projection.h"
#include "model/nest/shape.h"
#include "model/recurrence/recurrence.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"
#include "sim/recurrence/systolic.h"

/*
 * An einsum on an array of a fixed size: which loops run along its rows and columns, how loops that
 * are longer are folded onto it, and in which order the rest runs.
 *
 * A row of space is a loop.  In tiles (locally parallel, globally sequential) as much of it as there are PEs runs
 * at once, and the tiles follow each other; in blocks (locally sequential, globally parallel) each PE has
 * neighbouring steps for itself.  The last loop of time runs innermost, and operands are carried along it and along
 * the array; along all others they are read again.  Values that are read come in at an edge of the array, unless no
 * two points share them: they are handed on along a row, or they stay in their PEs and are shifted in along the
 * first row of space, which takes as many steps as that has PEs.  PEs start one after the other along a row, or,
 * where wires carry what they have in common, together.
 *
 * If `drained`, every round of a loop waits until the array has drained, as simulators of systolic arrays count
 * (Samajdar and others, SCALE-Sim, ISPASS 2020).  Else it follows at the first step at which each PE is free and
 * every value has been made.
 */
struct folding {
	int rows;
	int loops[RECURRENCE_LOOPS_MOST]; /* by row of space */
	enum fold_order orders[RECURRENCE_LOOPS_MOST];
	bool wired[RECURRENCE_LOOPS_MOST]; /* PEs along it start together */
	/* All other loops, tiles included, outermost first; split loops count after all others, in
	 * the order of rows. */
	int time_count, time[RECURRENCE_LOOPS_MOST];
	bool drained;
	bool whole; /* tiles are as large as the array, even of loops that are shorter */
};

/* Calls visit(user, folding) for all of them, those that drain first; ends when it says false. */
bool foldings_visit(const struct space_time *spec,
	bool (*visit)(void *user, const struct folding *folding), void *user);

/*
 * The dataflow in which an operand stays (output-, weight- or input-stationary), drained after each
 * tile of the whole array: a reduced loop of it runs along the first row, else its loops in the order of its indices.
 * False if it does not see as many loops as the array has rows.
 */
bool folding_classical(const struct space_time *spec, int operand, struct folding *out);

/*
 * Explores the projections of one recurrence: a solver of the stage `project` offers, every offer is judged again,
 * those that nothing beats are the frontier, and each of its points is executed and compared with the sequential
 * order, value by value.
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

/* Returns the tiles and directions of an einsum, as a spec has them, with `between` after each key. */
const char *project_tiles_text(
	struct arena *arena, const struct space_time *spec, const char *between);

/* The allocation and the schedule in a line, as they can be written in a spec. */
const char *project_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection);

/* Values for input streams: whole numbers from -4 to 4 that depend on seed, stream and place. */
struct recurrence_inputs project_inputs(const uint64_t *seed);

#endif
