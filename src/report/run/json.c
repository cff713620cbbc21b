#include "report/run/json.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *json_dump(struct arena *arena, json_t *value, size_t flags)
{
	struct text text = text_open(arena);
	char *dumped = value ? json_dumps(value, flags) : NULL;
	if (dumped)
		utf8_escape(&text, dumped);
	json_decref(value);
	const char *line = dumped ? text_read(&text) : NULL;
	free(dumped);
	return line;
}

const char *json_text(struct arena *arena, json_t *root)
{
	const char *dumped = json_dump(arena, root, JSON_INDENT(2));
	if (!dumped)
		fatal("the results could not be written");
	return arena_format(arena, "%s\n", dumped);
}

/* True for a text that spreadsheets would compute. */
static bool csv_is_formula(const char *value)
{
	char *end;
	if (!*value || !strchr("=@+-\t\r", *value))
		return false;
	strtod(value, &end);
	return end == value || *end;
}

void csv_field(struct text *text, const char *value)
{
	bool formula = csv_is_formula(value);
	if (!formula && !strpbrk(value, ",\"\n")) {
		text_add(text, "%s", value);
		return;
	}
	text_add(text, formula ? "\"'" : "\"");
	for (; *value; value++)
		text_add(text, *value == '"' ? "\"\"" : "%c", *value);
	text_add(text, "\"");
}

const char *json_leaf_text(struct arena *arena, const json_t *leaf)
{
	if (json_is_string(leaf))
		return json_string_value(leaf);
	char *dumped = json_dumps(leaf, JSON_ENCODE_ANY);
	const char *text = arena_text(arena, dumped);
	free(dumped);
	return text;
}

static void json_flatten(struct text *text, struct arena *arena, const char *path, json_t *value)
{
	const char *dot = path[0] ? "." : "";
	if (json_is_object(value)) {
		const char *key;
		json_t *child;
		json_object_foreach(value, key, child)
			json_flatten(
				text, arena, arena_format(arena, "%s%s%s", path, dot, key), child);
	} else if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			json_flatten(text, arena, arena_format(arena, "%s%s%zu", path, dot, i),
				json_array_get(value, i));
	} else {
		csv_field(text, path);
		text_add(text, ",");
		csv_field(text, json_leaf_text(arena, value));
		text_add(text, "\n");
	}
}

const char *json_csv(struct arena *arena, json_t *root)
{
	struct text text = text_open(arena);
	text_add(&text, "key,value\n");
	json_flatten(&text, arena, "", root);
	json_decref(root);
	return text_read(&text);
}

json_t *json_real_or_infinite(double value)
{
	return isinf(value) ? json_string("infinite") : json_real(value);
}

const char *const certificate_answers[] = {"holds", "rejected", "undecided"};

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

struct text trace_open(struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text, "[");
	return text;
}

const char *trace_end(struct text *text)
{
	text_add(text, "\n]\n");
	return text_read(text);
}

static void json_add_line(struct text *text, json_t *object)
{
	char *line = json_dumps(object, JSON_COMPACT);
	text_add(text, "%s%s", text->length > 1 ? ",\n" : "\n", line);
	free(line);
	json_decref(object);
}

void trace_process(struct text *text, int64_t process, const char *name)
{
	json_add_line(text, json_pack("{s:s, s:s, s:I, s:{s:s}}", "name", "process_name", "ph", "M",
				    "pid", (json_int_t)process, "args", "name", name));
}

void trace_thread(struct text *text, int64_t process, int64_t thread, const char *name)
{
	json_add_line(text,
		json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "name", "thread_name", "ph", "M", "pid",
			(json_int_t)process, "tid", (json_int_t)thread, "args", "name", name));
}

void trace_event(struct text *text, const char *name, int64_t process, int64_t thread, double us,
	double us_long, json_t *arguments)
{
	json_add_line(text, json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:o}", "name", name, "ph",
				    "X", "pid", (json_int_t)process, "tid", (json_int_t)thread,
				    "ts", us, "dur", us_long, "args", arguments));
}
