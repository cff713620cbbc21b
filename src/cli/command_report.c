#include "cli/command_check.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/export.h"
#include "cli/command.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "report/page/page.h"
#include "report/run/folder.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"
#include "spec/file.h"
#include "spec/node.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * `report`: the results of a run as tables, a page and drawings.  The copies of the specs in the folder are read again to
 * score and execute its plans; if these and the specs themselves are gone or have changed since, `notes` of the page say
 * so and details are missing.
 */

/* Points with details: of more, the page would be too large to send around. */
enum { DETAILS_MOST = 60 };

/* Files of layers that are scored for a page: a second or two. */
enum { LAYERS_MOST = 400 };

/* A plan of a run, or, `layer`, the mapping of a layer of a network, which is scored without the network. */
struct report_plan {
	const json_t *run;
	const char *folder, *path;
	const char *more; /* an option of `score`, or NULL */
	bool layer;
};

static const char *read_file(
	struct arena *arena, const char *folder, const char *name, struct diag *diag)
{
	const struct source *source =
		file_read_table(arena, arena_format(arena, "%s/%s", folder, name), diag);
	if (!source || !file_check_characters(source, diag))
		return NULL;
	return arena_format(arena, "%.*s", (int)source->length, source->bytes);
}

/* Adds a note that is not there. */
static void report_note(json_t *notes, const char *text)
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

/* True if a spec is the network itself, which its layers are scored without. */
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

/*
 * The command line of `score` of a plan: the specs of the run, its options as far as `score` has them, `more` and the
 * plan.  NULL, with *why set: specs that are gone or have changed, or a network beside its machine in one file.
 */
static char **report_line(
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

static bool report_inputs(struct arena *arena, const struct report_plan *plan, struct diag *diag,
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

/* Returns the details of one plan; NULL with the reason in *why. */
static json_t *details_of(struct arena *arena, const struct report_plan *plan, const char **why)
{
	struct diag *diag = diag_open(arena);
	struct inputs inputs;
	bool good = report_inputs(arena, plan, diag, &inputs, why);
	if (!good)
		*why = arena_format(arena, "%s: maps, timelines and energies are missing",
			*why ? *why : "the specs of the run cannot be read again");
	return good && inputs.kind->details ? inputs.kind->details(&inputs) : NULL;
}

/* True of the folder of a network, which has a table of its layers. */
static bool report_has_layers(struct arena *arena, const char *folder)
{
	return !access(arena_format(arena, "%s/layers.csv", folder), R_OK);
}

/* NULL, and why not. */
static json_t *levels_of(struct arena *arena, const struct report_plan *plan, const char **why)
{
	struct inputs inputs;
	if (!report_inputs(arena, plan, diag_open(arena), &inputs, why) || !inputs.kind->details) {
		*why = *why ? *why : arena_format(arena, "'%s' cannot be read", plan->path);
		return NULL;
	}
	json_t *details = inputs.kind->details(&inputs), *list = json_array(), *level;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(details, "score"), "levels"), i, level)
		json_array_append_new(list, json_pack("[O, O]", json_object_get(level, "name"),
						    json_object_get(level, "energy_pj")));
	json_decref(details);
	return list;
}

/* By file of a layer's point: the energy of each level, [[name, pJ]..], of one occurrence. */
static json_t *report_layers(struct arena *arena, const json_t *run, const char *folder,
	const char *layers_csv, json_t *notes)
{
	json_t *rows = csv_rows(arena, layers_csv), *energies = json_object(), *row;
	struct arena *scratch = arena_open();
	const char *why = NULL;
	size_t i;
	json_array_foreach(rows, i, row) {
		const char *file = json_string_value(json_object_get(row, "plan"));
		if (why || !file || json_object_get(energies, file))
			continue;
		if (json_object_size(energies) == LAYERS_MOST) {
			report_note(notes,
				arena_format(arena,
					"energies of levels are those of the first %d points of "
					"layers",
					LAYERS_MOST));
			break;
		}
		struct arena_mark mark = arena_mark(scratch);
		struct report_plan plan = {
			run, folder, arena_format(scratch, "%s/%s", folder, file), NULL, true};
		json_t *levels = levels_of(scratch, &plan, &why);
		if (levels)
			json_object_set_new(energies, file, levels);
		if (why)
			report_note(notes,
				arena_format(arena, "%s: energies of levels are missing", why));
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	json_decref(rows);
	return energies;
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
		diag_error(diag, (struct span){0}, "'%s/run.json' is not JSON: %s", folder,
			error.text);
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
static void command_report_slim(json_t *campaign)
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
		diag_error(diag, (struct span){0}, "%s", why ? why : "the campaign is not JSON");
	store_close(store);
	if (!campaign)
		return NULL;
	command_report_slim(campaign);
	return json_pack("{s:s, s:o, s:[]}", "title", folder, "campaign", campaign, "notes");
}

static json_t *report_data(struct arena *arena, const char *folder, struct diag *diag)
{
	bool campaign = !access(arena_format(arena, "%s/campaign.sqlite", folder), R_OK);
	return campaign ? campaign_data(arena, folder, diag) : run_data(arena, folder, diag);
}

/* A word as a shell reads it. */
static void add_word(struct text *text, const char *word)
{
	bool plain = *word != '\0';
	for (const char *at = word; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr("_-+=./,:@%", *at));
	text_add(text, plain ? " " : " '");
	for (const char *at = word; *at; at++)
		if (*at == '\'')
			text_add(text, "'\\''");
		else
			text_bytes(text, at, 1);
	text_add(text, plain ? "" : "'");
}

static const char *text_of(const struct node *layer, const char *key)
{
	const struct node *node = node_find(layer, key);
	return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* False, and why not. */
static bool report_plan_add_layer(struct text *text, const struct report_plan *point,
	const struct node *layer, const char **why)
{
	int count;
	struct arena *arena = text->arena;
	const char *name = text_of(layer, "layer"), *file = text_of(layer, "file");
	const char *times = text_of(layer, "count");
	if (!name || !file || !times)
		return false;
	struct report_plan plan = *point;
	plan.path = arena_format(arena, "%s/%s", point->folder, file);
	plan.layer = true;
	char **line = report_line(arena, &plan, &count, why);
	if (!line)
		return false;
	text_add(text, "# layer '%s', %s\nlxplore score", utf8_shown(arena, name),
		text_equal(times, "1") ? "once" : arena_format(arena, "%s times", times));
	for (int i = 0; i < count; i++)
		add_word(text, line[i]);
	text_add(text, "\n");
	return true;
}

/* The commands that print what `more` asks for of each layer of a network's point, as a shell reads them; NULL after
 * complaining. */
static const char *report_layer_commands(
	struct arena *arena, const struct report_plan *plan, struct diag *diag)
{
	const struct node *root = node_read_file(arena, plan->path, diag);
	const struct node *layers = node_find(node_find(root, "plan"), "layers");
	const char *why = NULL;
	struct text text = text_open(arena);
	text_add(&text, "# every layer has a mapping of its own; these commands print them\n");
	if (!root)
		return NULL;
	for (size_t i = 0; layers && i < layers->count && !why; i++)
		if (!report_plan_add_layer(&text, plan, node_item(layers, i), &why) && !why)
			why = arena_format(arena, "'%s' is not the plan of a network", plan->path);
	if (!layers)
		why = arena_format(arena, "'%s' is not the plan of a network", plan->path);
	if (why)
		diag_error(diag, root->span, "%s", why);
	return why ? NULL : text_read(&text);
}

struct page_writing {
	struct arena *arena;
	const char *folder, *title;
	int count;
};

static void write_one(struct page_writing *writing, const char *name, const char *text)
{
	if (!text)
		return;
	command_write(writing->arena,
		arena_format(writing->arena, "%s/%s.svg", writing->folder, name), text);
	writing->count++;
}

/* "b" of "a/b". */
static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* A swept value as its column has it: a number where it is one, and of the path of a spec its last name. */
static json_t *swept_value(struct arena *arena, const json_t *value)
{
	const char *text = json_string_value(value);
	char *end = NULL;
	double number = text ? strtod(text, &end) : 0;
	if (!text)
		return json_null();
	if (end != text && !*end && isfinite(number))
		return json_real(number);
	const char *name = last_name(text);
	size_t length = strlen(name), suffix = strlen(".yaml");
	bool yaml = length > suffix && text_equal(name + length - suffix, ".yaml");
	return json_string(
		arena_format(arena, "%.*s", (int)(yaml ? length - suffix : length), name));
}

/* The points of all frontiers of a campaign, with the values of their run. */
static json_t *rows_of_campaign(struct arena *arena, const json_t *campaign)
{
	json_t *rows = json_array(), *point, *row, *value;
	const char *name;
	size_t i, f;
	json_array_foreach(json_object_get(campaign, "points"), i, point)
		json_array_foreach(json_object_get(point, "frontier"), f, row) {
			json_object_foreach(json_object_get(point, "values"), name, value)
				if (!json_object_get(row, name))
					json_object_set_new(row, name, swept_value(arena, value));
			json_array_append(rows, row);
		}
	return rows;
}

/* True if the column has two different values. */
static bool command_report_varies(const json_t *rows, const char *column)
{
	const json_t *first = NULL;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		const json_t *cell = json_object_get(row, column);
		if (cell && !json_is_null(cell) && first && !json_equal(first, cell))
			return true;
		first = first ? first : cell;
	}
	return false;
}

/* Returns the default column of colours: the workload of a campaign, else the cores; NULL for none. */
static const char *usual_colour(const json_t *rows)
{
	static const char *const names[] = {
		"specs", "problem", "workload", "network", "layers", "layer", "cores", NULL};
	for (size_t i = 0; names[i]; i++)
		if (command_report_varies(rows, names[i]))
			return names[i];
	return NULL;
}

/* "latency_ns, energy_pj": all columns with a number in them, or with a number or word. */
static const char *list_columns(struct arena *arena, const json_t *rows, bool words)
{
	struct text text = text_open(arena);
	json_t *seen = json_object(), *row, *cell;
	const char *name;
	size_t i;
	json_array_foreach(rows, i, row)
		json_object_foreach(row, name, cell) {
			if (!(json_is_number(cell) || (words && json_is_string(cell))) ||
				json_object_get(seen, name))
				continue;
			json_object_set_new(seen, name, json_true());
			text_add(&text, "%s%s", text.length ? ", " : "", name);
		}
	json_decref(seen);
	return text_read(&text);
}

/* The column that --colour names; false after complaining. */
static bool find_colour(struct arena *arena, const struct option_value *asked, const json_t *rows,
	struct diag *diag, const char **out)
{
	size_t i;
	json_t *row;
	*out = asked ? asked->text : usual_colour(rows);
	if (!asked)
		return true;
	json_array_foreach(rows, i, row) {
		const json_t *cell = json_object_get(row, asked->text);
		if (cell && !json_is_null(cell))
			return true;
	}
	diag_error(diag, asked->span, "no point has a column '%s'; there are %s", asked->text,
		list_columns(arena, rows, true));
	return false;
}

/* False after complaining. */
static bool write_frontier(struct page_writing *writing, const struct arguments *arguments,
	const json_t *rows, struct diag *diag)
{
	const struct option_value *axes = option_find(arguments, "axes");
	const char *comma = axes ? strchr(axes->text, ',') : NULL, *x = NULL, *colour;
	if (!find_colour(writing->arena, option_find(arguments, "colour"), rows, diag, &colour))
		return false;
	if (comma)
		x = arena_format(writing->arena, "%.*s", (int)(comma - axes->text), axes->text);
	const char *text = frontier_svg(
		writing->arena, writing->title, rows, x, comma ? comma + 1 : NULL, colour);
	if (axes && (!comma || !text))
		diag_error(diag, axes->span,
			"'--axes' needs two columns of numbers, such as "
			"latency_ns,energy_pj; there are %s",
			list_columns(writing->arena, rows, false));
	write_one(writing, "frontier", text);
	return !diag_failed(diag);
}

static void write_points(struct page_writing *writing, const json_t *data)
{
	const char *number;
	json_t *point;
	json_object_foreach(json_object_get(data, "points"), number, point) {
		const json_t *details = json_object_get(point, "details");
		const char *title =
			arena_format(writing->arena, "%s, point %s", writing->title, number);
		const char *name = arena_format(writing->arena, "point-%03d", atoi(number));
		write_one(writing, arena_format(writing->arena, "%s-lx", name),
			lx_svg(writing->arena, title, details));
		write_one(writing, arena_format(writing->arena, "%s-nest", name),
			nest_svg(writing->arena, title, details));
		write_one(writing, arena_format(writing->arena, "%s-roofline", name),
			roofline_svg(writing->arena, title, details));
	}
}

static int report_drawings(struct arena *arena, const char *folder,
	const struct arguments *arguments, json_t *data, struct diag *diag)
{
	struct page_writing writing = {
		arena, folder, last_name(json_string_value(json_object_get(data, "title"))), 0};
	const char *csv = json_string_value(json_object_get(data, "csv"));
	json_t *rows = csv ? csv_rows(arena, csv)
			   : rows_of_campaign(arena, json_object_get(data, "campaign"));
	json_t *note;
	size_t i;
	const char *why = folder_parents(arena, arena_format(arena, "%s/", folder));
	if (why)
		diag_error(diag, (struct span){0}, "%s", why);
	if (!why && write_frontier(&writing, arguments, rows, diag))
		write_points(&writing, data);
	json_array_foreach(json_object_get(data, "notes"), i, note)
		diag_warning(diag, (struct span){0}, "%s", json_string_value(note));
	if (!writing.count && !diag_failed(diag))
		diag_error(diag, (struct span){0}, "there is nothing to draw: no point was found");
	json_decref(rows);
	return diag_failed(diag) ? 0 : writing.count;
}

/* Columns of pareto.csv that are shown, with their titles; amounts have their unit in each cell. */
enum style { AS_IT_STANDS, WITH_UNIT, CYCLES, PERCENT, RATIO };
static const struct report_column {
	const char *name, *title;
	enum style style;
} columns[] = {
	{"point", "point", AS_IT_STANDS},
	{"latency_ns", "latency", WITH_UNIT},
	{"estimate_ns", "estimate", WITH_UNIT}, /* see show */
	{"energy_pj", "energy", WITH_UNIT},
	{"hbm_bytes", "HBM", WITH_UNIT},
	{"lx_peak_bytes", "LX peak", WITH_UNIT},
	{"cores", "cores", AS_IT_STANDS},
	{"pes", "PEs", AS_IT_STANDS},
	{"rounds", "rounds", AS_IT_STANDS},
	{"sim_ratio", "sim/model", RATIO},
	{"executed", "executed", AS_IT_STANDS},
	{"latency_cycles", "", CYCLES},
	{"utilization", "use", PERCENT},
	{"proof", "proof", AS_IT_STANDS},
	{"solver", "<solver", AS_IT_STANDS},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The unit that a column is written in: that of its largest value. */
static const struct amount_unit *command_report_unit(const json_t *rows, const char *name)
{
	double most = 0;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
		most = fmax(most, fabs(json_number_value(json_object_get(row, name))));
	return amount_unit(amount_of_column(name), most);
}

static const char *command_report_cell_text(
	struct arena *arena, const json_t *rows, const json_t *row, int c, bool estimated)
{
	const struct report_column *column = &columns[c];
	const char *name = estimated && column->style == CYCLES ? "estimate_cycles" : column->name;
	const json_t *cell = json_object_get(row, name);
	double value = json_number_value(cell);
	if (!cell || json_is_null(cell))
		return "";
	if (!json_is_number(cell) || column->style == AS_IT_STANDS)
		return json_leaf_text(arena, cell);
	if (column->style == WITH_UNIT)
		return amount_in(arena, value, command_report_unit(rows, column->name));
	if (column->style == CYCLES)
		return arena_format(arena, "%s cycles", amount_number(arena, value));
	if (column->style == PERCENT)
		return amount_share(arena, value);
	/* As `explore` marks it. */
	const char *agrees = json_string_value(json_object_get(row, "sim_agrees"));
	return arena_format(
		arena, "%.3f%s", value, agrees && text_equal(agrees, "false") ? " !" : "");
}

/* True if the run was about estimates: the latency of graphs is the estimate then, and their latency_ns a bound. */
static bool is_estimated(struct arena *arena, const char *folder, const json_t *rows)
{
	json_t *run = report_run(arena, folder, diag_open(arena)), *option;
	bool estimated = !json_is_null(json_object_get(json_array_get(rows, 0), "estimate_ns"));
	size_t i;
	json_array_foreach(json_object_get(run, "options"), i, option)
		estimated &= !text_equal(json_string_value(option), "--price=bound");
	json_decref(run);
	return estimated;
}

/* Returns a line that names the assumed energies of the run; "" if it has none. */
static const char *name_assumed(struct arena *arena, const char *folder)
{
	json_t *run = report_run(arena, folder, diag_open(arena));
	const char *names = json_string_value(json_object_get(run, "assumed_energies"));
	const char *line =
		names && *names
			? arena_format(arena, "energies are assumed, not measured: %s\n", names)
			: "";
	json_decref(run);
	return line;
}

static const char *command_report_show(struct arena *arena, const char *folder, const char *csv)
{
	enum { LATENCY = 1, ESTIMATE };
	const char *titles[COLUMNS + 1] = {NULL};
	json_t *row, *rows = csv_rows(arena, csv);
	bool estimated = is_estimated(arena, folder, rows);
	for (int c = 0; c < COLUMNS; c++)
		titles[c] = columns[c].title;
	if (estimated)
		titles[ESTIMATE] = "bound";
	struct listing *listing = listing_open(arena, titles);
	size_t i;
	json_array_foreach(rows, i, row)
		for (int c = 0; c < COLUMNS; c++) {
			bool other = estimated && (c == LATENCY || c == ESTIMATE);
			listing_cell(listing, "%s",
				command_report_cell_text(arena, rows, row,
					other ? LATENCY + ESTIMATE - c : c, estimated));
		}
	json_decref(rows);
	return arena_format(arena, "%s%s", listing_text(listing), name_assumed(arena, folder));
}

static int write_page(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct option_value *output = option_find(arguments, "output");
	const char *folder = arguments->at[0];
	const char *path = output ? output->text : arena_format(arena, "%s/report.html", folder);
	json_t *data = report_data(arena, folder, diag);
	if (!data)
		return command_refuse(diag);
	const char *page = page_html(arena, data);
	command_write(arena, path, page);
	utf8_print(stderr, "lxplore: %s has %zu bytes%s\n", path, strlen(page),
		page_has_charts() ? "" : ", without charts: the program was built without npm");
	return EXIT_FOUND;
}

static int write_drawings(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const char *folder = option_find(arguments, "svg")->text;
	json_t *data = report_data(arena, arguments->at[0], diag);
	int count = data ? report_drawings(arena, folder, arguments, data, diag) : 0;
	json_decref(data);
	if (!count)
		return command_refuse(diag);
	diag_print(diag, stderr);
	utf8_print(stderr, "lxplore: %d drawing%s in %s\n", count, count == 1 ? "" : "s", folder);
	return EXIT_FOUND;
}

/* Prints the score of a point's plan with the specs of the run; for a network, the commands that print the scores. */
static int score_point(struct arena *arena, const struct arguments *arguments, enum format format,
	struct diag *diag)
{
	const char *why = NULL, *folder = arguments->at[0];
	int64_t point = 1;
	struct inputs inputs;
	json_t *run = report_run(arena, folder, diag);
	if (!run || !option_integer(arguments, "point", 0, diag, &point))
		return command_refuse(diag);
	struct report_plan plan = {.run = run,
		.folder = folder,
		.path = arena_format(
			arena, "%s/%s", folder, pareto_plan_path(arena, (size_t)point - 1)),
		.more = option_find(arguments, "explain") ? "--explain" : NULL};
	if (report_has_layers(arena, folder)) {
		plan.more = plan.more ? plan.more : "--format=timeloop";
		const char *commands = report_layer_commands(arena, &plan, diag);
		json_decref(run);
		if (commands)
			command_print(commands);
		return commands ? EXIT_FOUND : command_refuse(diag);
	}
	bool good = report_inputs(arena, &plan, diag, &inputs, &why);
	json_decref(run);
	if (why)
		diag_error(diag, (struct span){0}, "%s", why);
	return good ? kind_score(&inputs, format, false) : command_refuse(diag);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	enum format format = FORMAT_TEXT;
	if (arguments->count != 1)
		diag_error(diag, (struct span){0},
			"report needs one results folder, such as results/NAME");
	if (!command_format(arguments, diag, &format) || diag_failed(diag))
		return command_refuse(diag);
	if (option_find(arguments, "html"))
		return write_page(arena, arguments, diag);
	if (option_find(arguments, "svg"))
		return write_drawings(arena, arguments, diag);
	if (format == FORMAT_TIMELOOP || option_find(arguments, "explain"))
		return score_point(arena, arguments, format, diag);
	const char *path = arena_format(arena, "%s/%s", arguments->at[0],
		format == FORMAT_JSON ? "run.json" : "pareto.csv");
	const struct source *source = file_read_table(arena, path, diag);
	if (!source || !file_check_characters(source, diag))
		return command_refuse(diag);
	const char *text = arena_format(arena, "%.*s", (int)source->length, source->bytes);
	command_print(
		format == FORMAT_TEXT ? command_report_show(arena, arguments->at[0], text) : text);
	return EXIT_FOUND;
}

const struct command command_report = {
	.name = "report",
	.usage = "DIR",
	.summary = "the table of a results folder, a page, or drawings",
	.manual =
		"DIR is a folder that `lxplore explore -o DIR` wrote; with --html and --svg also\n"
		"one of a campaign.\n",
	.bit = OF_REPORT,
	.run = run,
};
