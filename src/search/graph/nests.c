#include "search/graph/nests.h"

#include "base/arena.h"
#include "model/graph/op_shape.h"
#include "model/nest/nest_mapping.h"

bool nests_plan(
	struct plan *plan, const struct stopper *stopper, struct arena *arena, const char **why)
{
	for (int i = 0; i < plan->step_count && !stopper_stops(stopper); i++) {
		struct step *step = &plan->steps[i];
		const struct op *op = &plan->workload->ops[step->op];
		if (!op_is_tiled(op))
			continue;
		const struct shape *shape =
			shape_of_op(arena, plan->arch, plan->workload, op, NULL);
		if (!shape) {
			*why = arena_format(arena,
				"op '%s' is no loop nest that this machine can run", op->name);
			return false;
		}
		step->mapping = nest_mapping_make(plan->arch, shape);
	}
	return true;
}
