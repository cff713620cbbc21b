#ifndef INPUTS_H
#define INPUTS_H

#include "base/option.h"
#include "model/graph/planning.h"
#include "report/run/run_json.h"
#include "search/drive/candidate.h"
#include "search/graph/explore.h"
#include "spec/reader.h"

/*
 * Everything that the spec files and the options of one command say, read,
 * checked and put together.  Precedence: built-in default, environment, `search:`
 * of the specs, command line.
 */
struct inputs {
	struct reading reading;
	const struct nest_inputs *nest; /* of a `problem:`; NULL: a graph, and the rest holds */
	const struct network_inputs *network;       /* of a `network:`; NULL likewise */
	const struct space_time_inputs *space_time; /* of a `space_time:` likewise */
	const struct broadcast_inputs *broadcast;   /* of a `broadcast:`; NULL likewise */
	const struct arch *arch;
	const struct workload *workload;
	const struct plan *plan; /* of a `plan:` key; NULL without one */
	struct span plan_span;
	struct exploration
		exploration; /* of a problem or network: objectives, budgets, seed, simulate */
	bool cores_given;    /* by the spec or the command line: only that many */
	struct {
		bool divide, place, joint;
	} chosen; /* stages of a graph whose solvers the user named */
	size_t source_count;
	const struct run_source *sources;
};

/* Options that all commands share which read specs; to be put into their
 * tables.  (The formatter takes the last row for a block.) */
/* clang-format off */
#define INPUT_OPTIONS                                                                              \
	{"cores", 'c', "N", "use at most N cores (also SENCORES, search: cores)", false},          \
	{"solver", 0, "STAGE=NAME",                                                                \
		"only this solver of a stage; may be repeated (lxplore list solvers)", true},      \
	{"mode", 0, "strict|compatible",                                                           \
		"strict (default): an unsatisfied span is an error; compatible: a warning",        \
		false},                                                                            \
	{"counting", 0, "exact|timeloop", "of a problem's accesses (default exact)", false},       \
	{"imperfect", 0, "all|DIM,..",                                                             \
		"dimensions of a problem whose factors need not divide", false},                   \
	{"epsilon", 0, "E",                                                                        \
		"a proof of a problem may end with points worse than the best by this part", \
		false},                                                                            \
	{"seed", 's', "S", "of everything random (default 1)", false},                             \
	{"verbose", 'v', NULL, "show every note on what was read", false}
/* clang-format on */

/* False after complaining to `diag`. */
bool inputs_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct inputs *out);

/* The files of the arguments, each read once; NULL in the place of one that could not be, after
 * complaining.  And inputs_read of such, for who asks about some of them twice. */
const struct node *const *inputs_files(
	struct arena *arena, const struct arguments *arguments, struct diag *diag);
bool inputs_read_files(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out);

/* A solver of a stage by name; NULL after complaining, with the nearest one. */
struct solver;
const struct solver *inputs_solver(
	enum stage stage, const char *name, struct span span, struct diag *diag);

/* Whether the plan of the specs, if there is one, keeps all constraints; complains. */
bool inputs_check_plan(const struct inputs *inputs, struct diag *diag);

/* The plan of the specs, or the one that the default settings make. */
struct recipe_result;
struct recipe_result inputs_plan(const struct inputs *inputs, struct arena *arena);

/* Prints all that was collected and what the division complained about, at the
 * ops that it means, to stderr; false when there is no plan. */
bool inputs_believe(
	const struct inputs *inputs, const struct recipe_result *made, struct diag *diag);

#endif
