#include "report/run/run_json.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "report/run/json_text.h"
#include "report/run/run_head.h"

#include <inttypes.h>
#include <stdlib.h>

static json_t *make_sources(const struct run_record *record, struct arena *arena)
{
	json_t *list = json_array();
	for (size_t i = 0; i < record->source_count; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s}", "path", record->sources[i].path, "fnv1a",
				      arena_format(arena, "%016" PRIx64, record->sources[i].hash)));
	return list;
}

json_t *run_texts(const char *const *at, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(at[i]));
	return list;
}

static json_t *make_objectives(const struct run_record *record, struct arena *arena)
{
	const struct objectives *objectives = record->objectives;
	json_t *list = json_array();
	for (size_t i = 0; i < objectives->count; i++)
		json_array_append_new(list,
			json_string(objective_text(arena, objectives->at[i], record->hierarchy)));
	return list;
}

json_t *run_counters(const struct effort *effort)
{
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {{"evaluated", effort->evaluated}, {"ticks", effort->ticks},
		{"states", effort->states}, {"edges", effort->edges}, {"labels", effort->labels},
		{"offered", effort->offered}, {"refused", effort->refused},
		{"pruned", effort->pruned}, {"simulated", effort->simulated},
		{"over_simulation_budget", effort->unsimulated},
		{"simulator_events", effort->events}, {"disagreed", effort->disagreed},
		{"candidate_bytes_mean", effort->offered ? effort->bytes / effort->offered : 0},
		{"candidate_bytes_most", effort->bytes_most},
		{"frontier_bytes_kept", effort->bytes_kept}};
	json_t *object = json_object();
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
		json_object_set_new(
			object, counters[i].name, json_integer((json_int_t)counters[i].value));
	return object;
}

static json_t *make_points(const struct explored *explored)
{
	json_t *list = json_array();
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct plan_found *found = explored->frontier.points[i].payload;
		const struct execution *execution = &found->common.execution;
		json_t *point = json_pack("{s:I, s:s, s:i, s:b}", "point", (json_int_t)i + 1,
			"solver", found->common.solver, "cores_allowed",
			found->recipe.planning.cores, "k_fast", found->recipe.planning.k_fast);
		if (execution->finished)
			json_object_set_new(
				point, "executed", json_string(execution_name(execution)));
		if (execution->finished && execution->mode == SIM_DATA)
			json_object_set_new(
				point, "worst_ulps", json_real_or_infinite(execution->worst_ulps));
		if (execution->worst_tensor)
			json_object_set_new(
				point, "worst_tensor", json_string(execution->worst_tensor));
		if (execution->off_tensor)
			json_object_set_new(point, "off",
				json_pack("{s:s, s:o, s:o}", "tensor", execution->off_tensor,
					"ulps", json_real_or_infinite(execution->off_ulps),
					"ulps_stated", json_real_or_infinite(execution->off_most)));
		if (execution->why_longer)
			json_object_set_new(
				point, "sim_ratio_because", json_string(execution->why_longer));
		json_array_append_new(list, point);
	}
	return list;
}

json_t *run_head(const struct run_record *record, struct arena *arena)
{
	return json_pack("{s:s, s:o, s:o, s:I, s:o, s:s, s:f, s:b, s:o}", "version",
		record->version, "specs", make_sources(record, arena), "options",
		run_texts(record->options, record->option_count), "seed", (json_int_t)record->seed,
		"objectives", make_objectives(record, arena), "counting", record->counting,
		"seconds", record->seconds, "cut_short", record->limit != NULL, "limit",
		record->limit ? json_string(record->limit) : json_null());
}

const char *run_dump(struct arena *arena, json_t *root)
{
	const char *dumped = json_dump(arena, root, JSON_INDENT(2));
	if (!dumped)
		fatal("run.json could not be made");
	return arena_format(arena, "%s\n", dumped);
}

const char *run_json(
	struct arena *arena, const struct run_record *record, const struct explored *explored)
{
	json_t *root = run_head(record, arena);
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	json_object_set_new(root, "points", make_points(explored));
	json_object_set_new(root, "refusals",
		run_texts(refusals_lines(&explored->refusals, arena), explored->refusals.count));
	return run_dump(arena, root);
}
