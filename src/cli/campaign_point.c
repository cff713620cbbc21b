#include "cli/campaign_point.h"

#include "base/arena.h"
#include "cli/exploration.h"
#include "report/run/json_text.h"

#include <stdlib.h>

/* The options, and the trees of the point as the files. */
static struct arguments arguments_of(
	const struct campaign_points *points, const struct sweep_point *point, struct arena *arena)
{
	struct arguments arguments = *points->arguments;
	const char **at = arena_array(arena, const char *, point->file_count);
	struct span *spans = arena_array(arena, struct span, point->file_count);
	for (size_t i = 0; i < point->file_count; i++)
		at[i] = point->files[i]->span.source->name;
	arguments.count = point->file_count;
	arguments.at = at;
	arguments.spans = spans;
	return arguments;
}

static const char *list_plans(const struct exploring *exploring)
{
	const struct explorer *explorer = &exploring->inputs->kind->explore;
	json_t *list = json_array();
	for (size_t i = 0; i < exploration_points(exploring); i++) {
		const char *text = explorer->plan(exploring, i);
		json_array_append_new(list, text ? json_string(text) : json_null());
	}
	return json_dump(exploring->arena, list, JSON_COMPACT);
}

static int search(struct exploring *exploring, struct task_result *out)
{
	int status = exploration_prepare(exploring);
	if (status != EXIT_FOUND)
		return status;
	exploration_run(exploring);
	status = exploration_end(exploring);
	const struct frontier *frontier = &exploring->explored.frontier;
	if (exploration_points(exploring)) {
		out->pareto = exploring->inputs->kind->explore.texts(exploring).pareto;
		out->plans = list_plans(exploring);
	}
	if (frontier->count) {
		enum objective first = frontier->objectives.at[0];
		out->objective = objective_names[first];
		out->best = objective_value(first, &frontier->points[0].score);
	}
	return status;
}

/* What its proven latency may say of others; NULL: nothing. */
static const struct neighbour *neighbour_of(const struct campaign_points *points,
	const struct sweep_point *point, const struct exploring *exploring)
{
	const struct objectives *objectives = &exploring->wishes.objectives;
	bool asked = points->neighbours && objectives->count == 1 &&
		     objectives->at[0] == OBJECTIVE_LATENCY && exploring->inputs->kind->sizes_help;
	return asked ? neighbour_make(exploring->arena, point->files, point->file_count) : NULL;
}

static bool is_proven(const struct explored *explored)
{
	const struct found *found =
		explored->frontier.count ? explored->frontier.points[0].payload : NULL;
	return found && found->proof == PROOF_OPTIMAL && explored->complete;
}

bool campaign_point_explore(void *at, const struct sweep_point *point,
	const struct stopper *stopper, struct arena *arena, struct task_result *out)
{
	const struct campaign_points *points = at;
	struct arguments arguments = arguments_of(points, point, arena);
	struct diag *diag = diag_open(arena);
	struct inputs inputs;
	struct listener silent = *points->listener;
	char *said = NULL;
	size_t length = 0;
	FILE *people = open_memstream(&said, &length);
	silent.terminal = false;
	*out = (struct task_result){.version = LXPLORE_VERSION,
		.message = "",
		.pareto = "",
		.plans = "[]",
		.objective = ""};
	diag_fold_remarks(diag);
	if (inputs_read_files(arena, &arguments, point->files, diag, &inputs)) {
		struct exploring exploring = exploration_open(&inputs, &silent, people);
		exploring.wishes.asker = (struct asker){.jobs = 1, .stopper = *stopper};
		const struct neighbour *self = neighbour_of(points, point, &exploring);
		if (self)
			exploring.wishes.ceiling = neighbours_ceiling(points->neighbours, self);
		out->status = search(&exploring, out);
		if (self && is_proven(&exploring.explored))
			neighbours_add(points->neighbours, self, out->best);
	} else {
		diag_print(diag, people);
		out->status = EXIT_INPUT;
	}
	fclose(people);
	out->message = arena_text(arena, said);
	free(said);
	return !stopper_stops(stopper) || out->status == EXIT_INPUT;
}
