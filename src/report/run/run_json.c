#include "report/run/run_json.h"

#include "base/arena.h"

#include <inttypes.h>

static json_t *make_sources(const struct run_record *record, struct arena *arena)
{
	json_t *list = json_array();
	for (size_t i = 0; i < record->source_count; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s?}", "path", record->sources[i].path, "fnv1a",
				arena_format(arena, "%016" PRIx64, record->sources[i].hash), "copy",
				record->sources[i].copy));
	return list;
}

static json_t *make_files(const struct run_record *record, struct arena *arena)
{
	json_t *object = json_object();
	for (size_t i = 0; i < record->file_count; i++)
		json_object_set_new(object, record->files[i].name,
			json_string(arena_format(arena, "%016" PRIx64, record->files[i].hash)));
	return object;
}

json_t *run_texts(const char *const *at, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(at[i]));
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
	if (effort->asked) {
		json_object_set_new(object, "ops_asked", json_integer((json_int_t)effort->asked));
		json_object_set_new(object, "ops_known", json_integer((json_int_t)effort->known));
	}
	return object;
}

json_t *run_head(const struct run_record *record, struct arena *arena)
{
	size_t objectives = 0;
	while (record->objectives[objectives])
		objectives++;
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:s, s:f, s:b, s:o}", "version",
		record->version, "specs", make_sources(record, arena), "files",
		make_files(record, arena), "options",
		run_texts(record->options, record->option_count), "seed", (json_int_t)record->seed,
		"objectives", run_texts(record->objectives, objectives), "counting",
		record->counting, "seconds", record->seconds, "cut_short", record->limit != NULL,
		"limit", record->limit ? json_string(record->limit) : json_null());
}
