#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/kind.h"
#include "cli/report_data.h"
#include "cli/settings.h"
#include "report/page/page.h"
#include "report/run/json.h"
#include "report/run/pareto.h"
#include "spec/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of pareto.csv: a name there, and its title; amounts have their unit in each cell. */
enum style { AS_IT_STANDS, WITH_UNIT, CYCLES, PERCENT, RATIO };
static const struct column {
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
static const struct amount_unit *unit_of(const json_t *rows, const char *name)
{
	double most = 0;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
		most = fmax(most, fabs(json_number_value(json_object_get(row, name))));
	return amount_unit(amount_of_column(name), most);
}

static const char *cell_text(
	struct arena *arena, const json_t *rows, const json_t *row, int c, bool estimated)
{
	const struct column *column = &columns[c];
	const char *name = estimated && column->style == CYCLES ? "estimate_cycles" : column->name;
	const json_t *cell = json_object_get(row, name);
	double value = json_number_value(cell);
	if (!cell || json_is_null(cell))
		return "";
	if (!json_is_number(cell) || column->style == AS_IT_STANDS)
		return json_leaf_text(arena, cell);
	if (column->style == WITH_UNIT)
		return amount_in(arena, value, unit_of(rows, column->name));
	if (column->style == CYCLES)
		return arena_format(arena, "%s cycles", amount_number(arena, value));
	if (column->style == PERCENT)
		return arena_format(arena, "%.1f %%", 100 * value);
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

static const char *show(struct arena *arena, const char *folder, const char *csv)
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
				cell_text(arena, rows, row, other ? LATENCY + ESTIMATE - c : c,
					estimated));
		}
	json_decref(rows);
	return listing_text(listing);
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

/* What `score` says of the plan of a point, with the specs of the run; of a network, the commands that say it. */
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
	/* JSON is YAML as it stands. */
	bool json = format == FORMAT_JSON || format == FORMAT_YAML;
	const char *path =
		arena_format(arena, "%s/%s", arguments->at[0], json ? "run.json" : "pareto.csv");
	const struct source *source = file_read_table(arena, path, diag);
	if (!source || !file_check_characters(source, diag))
		return command_refuse(diag);
	const char *text = arena_format(arena, "%.*s", (int)source->length, source->bytes);
	command_print(format == FORMAT_TEXT ? show(arena, arguments->at[0], text) : text);
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
