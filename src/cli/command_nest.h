#ifndef COMMAND_NEST_H
#define COMMAND_NEST_H

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/inputs_nest.h"
#include "report/nest/nest_report.h"

/*
 * `score` and `simulate` of a problem: what stands in the specs is counted,
 * executed if `simulated`, and printed.  The answer is the exit status.
 */
int command_nest_score(struct arena *arena, const struct arguments *arguments,
	const struct nest_inputs *inputs, uint64_t seed, bool simulated, struct diag *diag);

/* Timeloop's counting has no meaning where factors do not divide: warned of, and counted exactly. */
enum counting command_nest_counting(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag);

/* Timeloop lets a home hold less than comes into its tile, and sums end in parts: warned of. */
void command_nest_warn_homes(const struct nest_inputs *inputs, const struct mapping *mapping,
	const char *what, struct arena *arena, struct diag *diag);

/* The mapping of the specs, counted. */
struct nest_report command_nest_report(
	const struct nest_inputs *inputs, enum counting counting, struct arena *arena);

/* `explore` of a problem. */
int command_nest_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag);

/* Of a mapspace alone: there is a mapping, there is none, that was not decided. */
struct mapspace_check;
enum exit_status mapspace_check_status(const struct mapspace_check *check);

/* `check` of a problem: what is known of its mappings before any search. */
int command_nest_check(struct arena *arena, const struct arguments *arguments,
	const struct nest_inputs *inputs, struct diag *diag);

#endif
