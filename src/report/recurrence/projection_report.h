#ifndef RECURRENCE_PROJECTION_REPORT_H
#define RECURRENCE_PROJECTION_REPORT_H

#include "report/run/json.h"
#include "search/recurrence/project_search.h"

#include <jansson.h>

/*
 * Projections, for people and programs.  The columns of pareto.csv are those of
 * report/run/pareto.h; a plan is a `space_time:` spec that score, simulate and check read.
 */
struct arena;

/* The fault of a projection, with its counterexample, and the place to mend it; NULL without a fault. */
const char *projection_fault_text(struct arena *arena, const struct space_time *spec,
	const struct projection *projection, const struct projection_facts *facts);

/* The fault of an execution; NULL without one. */
const char *systolic_fault_text(struct arena *arena, const struct recurrence *recurrence,
	const struct systolic_result *result);

/* Facts, channels, bounds, registers; an execution is added.  Then that tree for people. */
json_t *projection_json(const struct project_found *found);
const char *projection_text(
	struct arena *arena, const struct project_found *found, const json_t *tree);

/* The output of `check`: sizes of the recurrence, and its projection, which may be NULL.  The text is of the sizes. */
json_t *projection_check_json(
	const struct recurrence *recurrence, const struct project_found *found);
const char *projection_check_text(struct arena *arena, const json_t *tree);

const char *projection_pareto_csv(struct arena *arena, const struct explored *explored);
const char *projection_pareto_table(struct arena *arena, const struct explored *explored);
const char *projection_run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored);

/* The allocation and the schedule of a point, to be given after the spec itself. */
const char *projection_plan_yaml(struct arena *arena, const struct point *point);

/*
 * An execution in the trace-event format (report/run/json.h): a row for each PE with the points that it
 * computes, a microsecond for a cycle.  NULL where more than PROJECTION_TRACE_MOST points were computed.
 */
enum { PROJECTION_TRACE_MOST = 2000000 };
const char *projection_trace_json(struct arena *arena, const struct project_found *found);

/*
 * The projected recurrence as a C function that computes it: loops of time around loops of space,
 * the reverse transform, the guard, shift registers.
 *
 *	void project(void);
 *
 * It calls a function for each input (indices in, value out) and for each output (indices and the
 * value in), by their names; a recurrence without outputs hands every value of a stream S at its
 * point to S_at.  Names that C has taken get an underscore.  The projection must be legal and have
 * no wires in opposite directions; NULL and *why else.
 */
const char *projection_code(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection, const struct projection_facts *facts,
	const char **why);

#endif
