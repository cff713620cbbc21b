#ifndef REPORT_CHOICES_H
#define REPORT_CHOICES_H

#include "model/graph/plan.h"
#include "model/nest/shape.h"

#include <jansson.h>

/*
 * What a plan chose, as JSON for report/graph/diff.h.
 *
 * A problem's, by level from the outermost: the bound of each dimension ("4,3" where the last
 * round is shorter), `along` which axis a spatial one runs, the order of loops, outermost
 * first, and what the level keeps.  Fan-outs of a storage stand apart: "RF spatial".  Orders and
 * axes are told of loops above 1 in both plans: what only one of them loops over shows in the
 * bounds.
 *
 * A graph's: its cores; by op the step, the bundle and the mapping in a line; by tensor its stays.
 */
struct arena;
json_t *nest_choices(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, const struct mapping *other);
json_t *plan_choices(struct arena *arena, const struct plan *plan);

#endif
