#include "cli/command_space_time.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/listener.h"
#include "report/run/pareto.h"
#include "report/recurrence/projection_code.h"
#include "report/recurrence/projection_report.h"
#include "cli/results.h"

#include <inttypes.h>
#include <stdio.h>

static struct project_search open_search(const struct inputs *inputs)
{
	const struct exploration *exploration = &inputs->exploration;
	return (struct project_search){.spec = &inputs->space_time->spec,
		.wishes = exploration->wishes,
		.solver = inputs->space_time->solver};
}

/* The projection that the specs give; false after complaining when they leave a part open. */
static bool find_given(const struct inputs *inputs, struct project_found *found, struct diag *diag)
{
	const struct space_time *spec = &inputs->space_time->spec;
	if (!spec->has_space || !spec->has_time) {
		diag_error(diag, spec->projection.span,
			"the specs give no %s; give it, or let explore search it",
			!spec->has_space ? "'allocation'" : "'schedule'");
		return false;
	}
	*found = (struct project_found){.spec = spec,
		.projection = spec->projection,
		.facts = projection_facts(&spec->recurrence, &spec->projection, spec)};
	return true;
}

/* The refusal, at the projection and the dependence that it is about. */
static bool is_legal(const struct space_time *spec, const struct project_found *found,
	struct arena *arena, struct diag *diag)
{
	const char *why = projection_fault_text(arena, spec, &found->projection, &found->facts);
	if (!why)
		return true;
	diag_error(diag, spec->projection.span, "%s", why);
	if (found->facts.dependence >= 0)
		diag_note(diag, spec->recurrence.dependences[found->facts.dependence].span,
			"the dependence is here");
	return false;
}

/* `--code`; false after complaining. */
static bool write_code(const struct arguments *arguments, const struct space_time *spec,
	const struct project_found *found, struct arena *arena, struct diag *diag)
{
	const struct option_value *file = option_find(arguments, "code");
	const char *why = NULL;
	if (!file)
		return true;
	const char *code =
		projection_code(arena, &spec->recurrence, &found->projection, &found->facts, &why);
	if (!code) {
		diag_error(diag, file->span, "there is no code for this projection: %s", why);
		return false;
	}
	command_write(arena, file->text, code);
	return true;
}

int command_space_time_score(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, bool simulated, struct diag *diag)
{
	struct project_search search = open_search(inputs);
	const struct recurrence *recurrence = &search.spec->recurrence;
	struct project_found found;
	int format = (int)command_format();
	bool good = option_word(arguments, "format", format_names, diag, &format);
	if (!find_given(inputs, &found, diag) || !good)
		return command_refuse(diag);
	bool legal = is_legal(search.spec, &found, arena, diag);
	if (legal && simulated)
		project_execute(&search, &found, arena);
	const char *fault = found.obstacle;
	if (!fault)
		fault = systolic_fault_text(arena, recurrence, &found.execution);
	bool large = found.large || found.execution.fault == SYSTOLIC_LARGE;
	if (fault && !large)
		diag_error(diag, (struct span){0}, "%s", fault);
	if (legal && !diag_failed(diag))
		legal = write_code(arguments, search.spec, &found, arena, diag);
	diag_print(diag, stderr);
	command_print(format == FORMAT_TEXT ? projection_text(arena, &found)
					    : projection_json(arena, &found, format == FORMAT_CSV));
	if (large)
		fprintf(stderr, "lxplore: not executed: %s\n", fault);
	if (large && !diag_failed(diag))
		return EXIT_NOTHING;
	return legal && (!simulated || found.common.execution.agrees) ? EXIT_FOUND
								      : EXIT_IMPOSSIBLE;
}

int command_space_time_check(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, struct diag *diag)
{
	const struct space_time *spec = &inputs->space_time->spec;
	const struct recurrence *recurrence = &spec->recurrence;
	struct project_found found;
	if (option_find(arguments, "format")) {
		diag_error(diag, option_find(arguments, "format")->span,
			"'--format' is for problems; this is a projection");
		return command_refuse(diag);
	}
	command_print(arena_format(arena,
		"specs: %d loops, %" PRId64 " points in their box, %d streams, %d dependences\n",
		recurrence->loop_count, recurrence_box(recurrence), recurrence->stream_count,
		recurrence->dependence_count));
	if (!spec->has_space || !spec->has_time) {
		command_print("projection: explore searches it\n");
		return EXIT_FOUND;
	}
	find_given(inputs, &found, diag);
	if (!is_legal(spec, &found, arena, diag)) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	command_print(projection_text(arena, &found));
	return EXIT_FOUND;
}

int command_space_time_explore(struct arena *arena, const struct arguments *arguments,
	const struct inputs *inputs, const struct explore_request *request, struct diag *diag)
{
	struct project_search search = open_search(inputs);
	struct folder *folder = results_open(arena, arguments, "space_time");
	struct listener listener = listener_open(request->seconds, request->quiet, "projections");
	search.wishes.asker = listener_asker(&listener, request->jobs);
	diag_print(diag, stderr);
	struct explored explored = project_explore(&search, arena);
	struct run_record record = results_record(arena, arguments, inputs, &listener);
	if (!explored.complete && !record.limit && search.wishes.budget)
		record.limit = "budget";
	const struct frontier *frontier = &explored.frontier;
	struct results_texts texts = {
		.plans = arena_array(arena, const char *, frontier->count),
		.run = projection_run_json(arena, &record, &explored),
		.pareto = projection_pareto_csv(arena, &explored),
		.table = projection_pareto_table(arena, &explored),
		.what = "legal projection",
		.none = ", and there is none in these ranges",
		.work = arena_format(arena, "%" PRIu64 " projections looked at%s",
			explored.effort.evaluated,
			explored.complete ? ", nothing better is left" : ""),
	};
	for (size_t i = 0; i < frontier->count; i++)
		texts.plans[i] = projection_plan_yaml(arena, &frontier->points[i]);
	return results_end(arena, folder, &texts, &explored, &record, request);
}
