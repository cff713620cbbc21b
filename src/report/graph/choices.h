#ifndef REPORT_GRAPH_CHOICES_H
#define REPORT_GRAPH_CHOICES_H

#include "model/graph/plan.h"
#include "model/nest/shape.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The choices of a plan as JSON, and the differences between two plans.
 *
 * A problem's, by level from the outermost: the bound of each dimension ("4,3" where the last
 * round is shorter), `along` which axis a spatial one runs, the order of loops, outermost
 * first, and what the level keeps.  Fan-outs of a storage stand apart: "RF spatial".  Orders and
 * axes contain the loops above 1 in both plans; a loop of only one plan shows in the
 * bounds.
 *
 * A graph's: its cores; by op the step, the bundle and the mapping in a line; by tensor its stays.
 */
struct arena;
json_t *nest_choices(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, const struct mapping *other);
json_t *plan_choices(struct arena *arena, const struct plan *plan);

/*
 * Two plans side by side: their choices and counts.  Each side is a pair of JSON
 * values of the same shape; lists in them have elements with a `name`, `op` or `tensor`.
 * A side may lack elements of the other.
 *
 * As text a table of each, as CSV and JSON every value with its path: "RF.A.total_reads".
 * Counts have a ratio, b / a, where a is not 0.
 */
struct diff_side {
	const char *name; /* of the file */
	const char *line; /* the plan, if one line says it; NULL */
	json_t *choices, *counts;
};

struct diff {
	const char *counting; /* NULL: of a graph */
	struct diff_side a, b;
	bool all; /* show what is equal, too */
};

/* The result as one tree: `equal`, the names, and a list of choices and of counts, each with its path `what`, `a`, `b`
 * (null: that side has none) and `ratio`; the caller releases it.  Its texts for people and as CSV. */
json_t *diff_tree(struct arena *arena, const struct diff *diff);
const char *diff_text(struct arena *arena, const struct diff *diff, const json_t *tree);
const char *diff_csv(struct arena *arena, const json_t *tree);

#endif
