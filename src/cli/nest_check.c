#include "cli/nest_check.h"

#include "base/arena.h"
#include "base/array.h"
#include "cost/nest/nest.h"

const char *const *nest_check_faults(
	const struct nest_inputs *inputs, struct arena *arena, struct diag *diag)
{
	struct array(const char *) why = {0};
	const struct nest_model *model =
		nest_model_make(arena, inputs->hierarchy, inputs->shape, inputs->counting);
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	nest_evaluate(model, inputs->mapping, counts, score);
	const char *verdict = nest_verdict_text(arena, inputs->hierarchy, inputs->shape, score);
	if (verdict)
		*array_add(arena, &why) = verdict;
	for (size_t i = 0; i < inputs->constraints->count; i++) {
		const char *broken = constraints_check_one(
			inputs->constraints, i, inputs->domain, inputs->mapping, arena);
		if (!broken)
			continue;
		diag_error(diag, inputs->constraints->at[i].span, "%s", broken);
		*array_add(arena, &why) = broken;
	}
	*array_add(arena, &why) = NULL;
	return why.at;
}

enum exit_status nest_check_status(const struct mapspace_check *check)
{
	if (check->contradictory)
		return EXIT_IMPOSSIBLE;
	switch (check->feasible.verdict) {
	case VERDICT_YES:
		return EXIT_FOUND;
	case VERDICT_NO:
		return EXIT_IMPOSSIBLE;
	default:
		return EXIT_NOTHING;
	}
}
