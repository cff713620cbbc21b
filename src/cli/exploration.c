#include "cli/exploration.h"

#include "base/arena.h"
#include "cli/results.h"
#include "report/run/folder.h"
#include "report/run/pareto.h"

struct exploring exploration_open(
	const struct inputs *inputs, const struct listener *listener, FILE *people)
{
	return (struct exploring){.arena = inputs->arena,
		.inputs = inputs,
		.listener = *listener,
		.people = people,
		.wishes = inputs->wishes};
}

int exploration_prepare(struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	return explorer->prepare ? explorer->prepare(exploring) : EXIT_FOUND;
}

void exploration_run(struct exploring *exploring)
{
	exploring->explored = exploring->inputs->kind->explore.run(exploring);
	exploring->record = results_record(exploring->inputs, &exploring->listener);
	if (!exploring->record.limit)
		exploring->record.limit = exploring->explored.limit;
}

size_t exploration_points(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	return explorer->points ? explorer->points(exploring) : exploring->explored.frontier.count;
}

struct result_texts exploration_gather(struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	struct folder *folder = exploring->folder;
	if (explorer->finish)
		explorer->finish(exploring);
	struct result_texts texts = explorer->texts(exploring);
	for (size_t i = 0; i < exploration_points(exploring); i++) {
		const char *text = explorer->plan(exploring, i);
		if (text)
			folder_add(folder, pareto_plan_path(exploring->arena, i), text);
	}
	folder_add(folder, "run.json", texts.run);
	folder_add(folder, "pareto.csv", texts.pareto);
	return texts;
}

static int tell_nothing(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	const struct explored *explored = &exploring->explored;
	const char *limit = exploring->record.limit, *why;
	bool certain = explorer->none ? explored->complete : !limit;
	if (explorer->nothing)
		why = explorer->nothing(exploring, &certain);
	else
		why = arena_format(exploring->arena, "no %s was found%s", explorer->found,
			certain && explorer->none ? explorer->none : "");
	fprintf(exploring->people, "lxplore: %s%s%s\n", why, limit ? ": " : "", limit ? limit : "");
	const char **lines = refusals_lines(&explored->refusals, exploring->arena);
	for (size_t i = 0; i < explored->refusals.count; i++)
		fprintf(exploring->people, "  %s\n", lines[i]);
	return certain ? EXIT_IMPOSSIBLE : EXIT_NOTHING;
}

static int judge(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	const struct explored *explored = &exploring->explored;
	if (explored->complaint)
		fprintf(exploring->people, "lxplore: %s\n", explored->complaint);
	if (!exploration_points(exploring))
		return tell_nothing(exploring);
	return explorer->judge ? explorer->judge(exploring) : EXIT_FOUND;
}

int exploration_end(const struct exploring *exploring)
{
	int status = judge(exploring);
	if (!exploring->explored.fault)
		return status;
	fprintf(exploring->people, "lxplore: the simulator disagrees with the model: %s\n",
		exploring->explored.fault);
	return EXIT_IMPOSSIBLE;
}

int exploration_refuse(const struct exploring *exploring)
{
	diag_print(exploring->inputs->diag, exploring->people);
	return EXIT_INPUT;
}
