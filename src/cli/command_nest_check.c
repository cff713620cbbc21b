#include "base/arena.h"
#include "base/array.h"
#include "cli/command.h"
#include "cli/command_nest.h"
#include "cost/nest/nest.h"
#include "report/nest/mapspace_check_report.h"

#include <stdio.h>

/* Everything that stands against the mapping: the verdict, and every constraint that it breaks,
 * which are complained about, too.  NULL ends them. */
static const char *const *find_faults(
	struct arena *arena, const struct nest_inputs *inputs, struct diag *diag)
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

enum exit_status mapspace_check_status(const struct mapspace_check *check)
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

int command_nest_check(struct arena *arena, const struct arguments *arguments,
	const struct nest_inputs *inputs, struct diag *diag)
{
	int format = FORMAT_TEXT;
	if (!option_word(arguments, "format", format_names, diag, &format))
		return command_refuse(diag);
	struct mapspace_check check =
		mapspace_check(inputs->domain, inputs->constraints, NULL, diag, arena);
	struct mapspace_check_report report = {.check = &check, .mapping = inputs->mapping != NULL};
	if (report.mapping)
		report.why = find_faults(arena, inputs, diag);
	if (report.mapping && command_nest_counting(inputs, arena, diag) == COUNTING_TIMELOOP)
		command_nest_warn_homes(inputs, inputs->mapping, "the mapping", arena, diag);
	diag_print(diag, stderr);
	/* JSON is YAML as it stands. */
	command_print(format == FORMAT_TEXT  ? mapspace_check_text(arena, &report)
		      : format == FORMAT_CSV ? mapspace_check_csv(arena, &report)
					     : mapspace_check_json(arena, &report));
	if (report.mapping && report.why[0])
		return EXIT_IMPOSSIBLE;
	return mapspace_check_status(&check);
}
