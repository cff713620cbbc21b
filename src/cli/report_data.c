#include "cli/report_data.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/export.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "spec/file.h"
#include "spec/node.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Points with details: of more, the page would be too large to send around. */
enum { DETAILS_MOST = 60 };

static const char *read_file(
	struct arena *arena, const char *folder, const char *name, struct diag *diag)
{
	const struct source *source =
		file_read_table(arena, arena_format(arena, "%s/%s", folder, name), diag);
	if (!source || !file_check_characters(source, diag))
		return NULL;
	return arena_format(arena, "%.*s", (int)source->length, source->bytes);
}

void report_note(json_t *notes, const char *text)
{
	for (size_t i = 0; i < json_array_size(notes); i++)
		if (text_equal(json_string_value(json_array_get(notes, i)), text))
			return;
	json_array_append_new(notes, json_string(text));
}

static bool hash_is(struct arena *arena, const char *path, const char *hash)
{
	struct diag *diag = diag_open(arena);
	const struct source *source =
		hash && !access(path, R_OK) ? file_read_table(arena, path, diag) : NULL;
	return source && text_equal(hash, arena_format(arena, "%016" PRIx64, source->hash));
}

bool report_is_written(struct arena *arena, const json_t *run, const char *folder, const char *name)
{
	const char *hash = json_string_value(json_object_get(json_object_get(run, "files"), name));
	return hash_is(arena, arena_format(arena, "%s/%s", folder, name), hash);
}

/* The file of a spec: its copy, or where that is not as it was written the spec itself; NULL, and why not. */
static const char *file_of(
	struct arena *arena, const struct report_plan *plan, const json_t *spec, const char **why)
{
	const char *path = json_string_value(json_object_get(spec, "path"));
	const char *hash = json_string_value(json_object_get(spec, "fnv1a"));
	const char *name = json_string_value(json_object_get(spec, "copy"));
	const char *copy = name ? arena_format(arena, "%s/%s", plan->folder, name) : NULL;
	if (copy && report_is_written(arena, plan->run, plan->folder, name))
		return copy;
	if (path && hash_is(arena, path, hash))
		return path;
	const char *told = copy ? copy : path ? path : "a spec";
	*why = arena_format(arena, "'%s' %s", told,
		access(told, R_OK) ? "is gone" : "has changed since the run");
	return NULL;
}

/* Whether a spec is the network itself, which its layers are scored without. */
static bool is_network(struct arena *arena, const char *path, const char **why)
{
	const struct node *root = node_read_file(arena, path, diag_open(arena));
	if (!node_find(root, "network"))
		return false;
	if (node_find(root, "architecture") || node_find(root, "arch"))
		*why = arena_format(arena,
			"'%s' has a network and its machine in one file; put them into two to "
			"score the layers",
			path);
	return true;
}

char **report_line(
	struct arena *arena, const struct report_plan *plan, int *count, const char **why)
{
	struct array(char *) line = {0};
	size_t i;
	json_t *spec, *option;
	*why = NULL;
	json_array_foreach(json_object_get(plan->run, "specs"), i, spec) {
		const char *path = file_of(arena, plan, spec, why);
		if (path && !(plan->layer && is_network(arena, path, why)))
			*array_add(arena, &line) = (char *)path;
		if (*why)
			return NULL;
	}
	json_array_foreach(json_object_get(plan->run, "options"), i, option) {
		const char *text = json_string_value(option);
		size_t length = text ? strcspn(text, "=") : 0;
		if (length > 2 &&
			settings_find(
				arena_format(arena, "%.*s", (int)length - 2, text + 2), OF_SCORE))
			*array_add(arena, &line) = (char *)text;
	}
	if (plan->more)
		*array_add(arena, &line) = (char *)plan->more;
	*array_add(arena, &line) = (char *)plan->path;
	*count = (int)line.count;
	return line.at;
}

bool report_inputs(struct arena *arena, const struct report_plan *plan, struct diag *diag,
	struct inputs *out, const char **why)
{
	int count;
	char **line = report_line(arena, plan, &count, why);
	struct arguments *arguments = arena_new(arena, struct arguments);
	if (!line ||
		!option_parse(arena, settings_of(arena, OF_SCORE), count, line, diag, arguments))
		return false;
	spec_files(arena, arguments, diag);
	return !diag_failed(diag) && inputs_read(arena, arguments, diag, out) && !diag_failed(diag);
}

/* What the kind says of one plan; NULL, and why not. */
static json_t *details_of(struct arena *arena, const struct report_plan *plan, const char **why)
{
	struct diag *diag = diag_open(arena);
	struct inputs inputs;
	bool good = report_inputs(arena, plan, diag, &inputs, why);
	if (!good)
		*why = arena_format(arena, "%s: there are no maps, timelines and energies",
			*why ? *why : "the specs of the run cannot be read again");
	return good && inputs.kind->details ? inputs.kind->details(&inputs) : NULL;
}

/* The plans of the table's rows, by their number. */
static json_t *list_points(
	struct arena *arena, const char *folder, const json_t *run, json_t *notes)
{
	json_t *points = json_object();
	struct diag *diag = diag_open(arena);
	bool network = report_has_layers(arena, folder);
	for (int i = 1; i <= DETAILS_MOST; i++) {
		const char *name = arena_format(arena, "plans/point-%03d.yaml", i), *why = NULL;
		const char *path = arena_format(arena, "%s/%s", folder, name);
		const char *text = access(path, R_OK) ? NULL : read_file(arena, folder, name, diag);
		if (!text)
			break;
		struct report_plan plan = {run, folder, path, NULL, false};
		json_t *details = network ? NULL : details_of(arena, &plan, &why);
		json_t *point = json_pack("{s:s}", "plan", text);
		if (details)
			json_object_set_new(point, "details", details);
		else if (why)
			report_note(notes, why);
		json_object_set_new(points, arena_format(arena, "%d", i), point);
	}
	return points;
}

json_t *report_run(struct arena *arena, const char *folder, struct diag *diag)
{
	const char *text = read_file(arena, folder, "run.json", diag);
	json_error_t error;
	json_t *run = text ? json_loads(text, 0, &error) : NULL;
	if (text && !run)
		diag_error(
			diag, (struct span){0}, "'%s/run.json' is no JSON: %s", folder, error.text);
	return run;
}

static json_t *run_data(struct arena *arena, const char *folder, struct diag *diag)
{
	json_t *run = report_run(arena, folder, diag);
	const char *csv = run ? read_file(arena, folder, "pareto.csv", diag) : NULL;
	if (!csv) {
		json_decref(run);
		return NULL;
	}
	json_t *notes = json_array(), *points = list_points(arena, folder, run, notes);
	json_t *data = json_pack("{s:s, s:o, s:s, s:o, s:o}", "title", folder, "run", run, "csv",
		csv, "points", points, "notes", notes);
	const char *layers = report_has_layers(arena, folder)
				     ? read_file(arena, folder, "layers.csv", diag)
				     : NULL;
	if (layers) {
		json_object_set_new(data, "layers", json_string(layers));
		json_object_set_new(
			data, "layer_energies", report_layers(arena, run, folder, layers, notes));
	}
	return data;
}

static struct text *printed; /* where print_to adds what an export prints */

static void print_to(const char *text)
{
	text_add(printed, "%s", text);
}

/* Leaves out what is empty, and the plans of all but the first points. */
static void slim(json_t *campaign)
{
	size_t i, f;
	json_t *point, *found, *value;
	const char *key;
	void *next;
	json_array_foreach(json_object_get(campaign, "points"), i, point) {
		if (i >= DETAILS_MOST)
			json_object_del(point, "plans");
		json_array_foreach(json_object_get(point, "frontier"), f, found)
			json_object_foreach_safe(found, next, key, value)
				if (json_is_null(value))
					json_object_del(found, key);
	}
}

static json_t *campaign_data(struct arena *arena, const char *folder, struct diag *diag)
{
	struct text text = text_open(arena);
	struct store *store = NULL;
	const char *why = store_open_read(folder, &store);
	printed = &text;
	if (!why)
		why = export_json(arena, store, print_to);
	json_t *campaign = why ? NULL : json_loads(text_read(&text), 0, NULL);
	if (!campaign)
		diag_error(diag, (struct span){0}, "%s", why ? why : "the campaign is no JSON");
	store_close(store);
	if (!campaign)
		return NULL;
	slim(campaign);
	return json_pack("{s:s, s:o, s:[]}", "title", folder, "campaign", campaign, "notes");
}

json_t *report_data(struct arena *arena, const char *folder, struct diag *diag)
{
	bool campaign = !access(arena_format(arena, "%s/campaign.sqlite", folder), R_OK);
	return campaign ? campaign_data(arena, folder, diag) : run_data(arena, folder, diag);
}
