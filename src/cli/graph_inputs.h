#ifndef CLI_GRAPH_INPUTS_H
#define CLI_GRAPH_INPUTS_H

#include "base/diag.h"
#include "cli/inputs.h"
#include "model/graph/workload.h"
#include "search/graph/evaluate.h"
#include "search/graph/explore.h"
#include "search/graph/recipe.h"

/*
 * A workload graph: `architecture`, `workload`, and what may come with them: `plan`, `constraints`,
 * `search` with the settings of planning.
 */
extern const struct input_kind graph_kind;

struct graph_inputs {
	const struct arch *arch;
	const struct workload *workload;
	const struct plan *plan; /* of a `plan:` key; NULL without one */
	struct span plan_span;
	struct exploration exploration; /* without `wishes`, see `inputs` */
	bool cores_given;               /* by the spec or the command line: only that many */
	struct {
		bool divide, place, joint;
	} chosen; /* stages whose solvers the user named */
};

/* Into inputs->own; false after complaining. */
bool graph_inputs_read(struct inputs *inputs, struct sheet *sheet);

/* The same where a `problem` stands in the place of the workload, for a machine whose tiles move in
 * boxes: it is a graph of one op, and the inputs are of that kind from now on. */
bool graph_inputs_read_problem(struct inputs *inputs, struct sheet *sheet, const struct arch *arch);

/* True if the plan of the specs, if there is one, keeps all constraints; complains. */
bool graph_inputs_check_plan(const struct inputs *inputs);

/* The plan of the specs, or the one that the default settings make. */
struct recipe_result graph_inputs_plan(const struct inputs *inputs);

/*
 * Prices a plan before anything else is done with it; that of the specs is checked first, as far as it
 * can be lowered.  False where it is illegal, after printing the reason with the line of the step.
 */
bool graph_inputs_price(
	const struct inputs *inputs, const struct plan *plan, struct outcome *outcome);

/* Prints why the plan of an outcome is illegal, with the line of the step; -1: of the plan. */
void graph_inputs_illegal(
	const struct inputs *inputs, const struct plan *plan, int step, const char *why);

/* Prints all that was collected and what the division complained about, at the
 * ops that it means, to stderr; false without a plan. */
bool graph_inputs_believe(const struct inputs *inputs, const struct recipe_result *made);

/*
 * Numbers of tensors in a file, a line each, in row-major order:
 *
 *	x: 1 2.5 -3e-2
 */
struct arena;

/* Reads host arrays by tensor, NULL for tensors that the file does not name.  NULL after complaining. */
void **graph_values_read(
	struct arena *arena, const struct workload *workload, const char *path, struct diag *diag);

/* Writes the outputs of the workload; `arrays` are host arrays by tensor. */
const char *graph_values_text(
	struct arena *arena, const struct workload *workload, void *const *arrays);

#endif
