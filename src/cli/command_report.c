#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/kind.h"
#include "cli/report_page.h"
#include "cli/settings.h"
#include "report/page/page.h"
#include "report/run/listing.h"
#include "spec/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fields array(const char *);

/* A line of a CSV, RFC 4180 but for line ends in quotes, which ours has not. */
static struct fields split(struct arena *arena, const char *line, const char *end)
{
	struct fields fields = {0};
	while (line <= end) {
		struct text field = text_open(arena);
		bool quoted = line < end && *line == '"';
		for (line += quoted; line < end && (quoted || *line != ','); line++) {
			if (quoted && *line == '"' && (line + 1 == end || line[1] != '"')) {
				quoted = false;
				continue;
			}
			line += quoted && *line == '"';
			text_bytes(&field, line, 1);
		}
		*array_add(arena, &fields) = text_read(&field);
		line++;
	}
	return fields;
}

/* What is shown of pareto.csv: a name there, and what the value is divided by; 0: as it stands. */
static const struct column {
	const char *name;
	double unit;
} columns[] = {
	{"point", 0},
	{"latency_cycles", 0},
	{"estimate_cycles", 0},
	{"latency_ns", 1e3},
	{"energy_pj", 1e6},
	{"hbm_bytes", 0},
	{"lx_peak_bytes", 0},
	{"cores", 0},
	{"pes", 0},
	{"rounds", 0},
	{"utilization", 0.01},
	{"sim_ratio", 1},
	{"sim_agrees", 0},
	{"executed", 0},
	{"proof", 0},
	{"solver", 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *const titles[] = {"point", "cycles", "estimate", "us", "uJ", "HBM bytes",
	"LX peak", "cores", "PEs", "rounds", "use %", "sim/model", "agrees", "executed", "proof",
	"<solver", NULL};
_Static_assert(sizeof titles / sizeof *titles == COLUMNS + 1, "a title for each column");

static const char *show(struct arena *arena, const char *csv)
{
	struct listing *listing = listing_open(arena, titles);
	struct fields names = {0};
	for (const char *line = csv; *line;) {
		const char *end = line + strcspn(line, "\n");
		struct fields fields = split(arena, line, end);
		for (int c = 0; c < COLUMNS && names.count; c++) {
			const char *cell = "";
			for (size_t f = 0; f < names.count && f < fields.count; f++)
				if (text_equal(names.at[f], columns[c].name))
					cell = fields.at[f];
			if (columns[c].unit > 0 && *cell)
				listing_cell(listing, "%.3f", strtod(cell, NULL) / columns[c].unit);
			else
				listing_cell(listing, "%s", cell);
		}
		if (!names.count)
			names = fields;
		line = end + (*end == '\n');
	}
	return listing_text(listing);
}

static int write_page(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct option_value *output = option_find(arguments, "output");
	const char *folder = arguments->at[0];
	const char *path = output ? output->text : arena_format(arena, "%s/report.html", folder);
	const char *page = report_page(arena, folder, diag);
	if (!page)
		return command_refuse(diag);
	command_write(arena, path, page);
	fprintf(stderr, "lxplore: %s has %zu bytes%s\n", path, strlen(page),
		page_has_charts() ? "" : ", without charts: the program was built without npm");
	return EXIT_FOUND;
}

/* What `score --explain` says of the first plan, with the specs of the run. */
static int explain(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const char *folder = arguments->at[0];
	const struct source *source =
		file_read_table(arena, arena_format(arena, "%s/run.json", folder), diag);
	if (!source)
		return command_refuse(diag);
	const char *const *specs =
		run_specs(arena, arena_format(arena, "%.*s", (int)source->length, source->bytes));
	size_t count = 0;
	while (specs && specs[count])
		count++;
	const char **paths = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		paths[i] = specs[i];
	paths[count] = arena_format(arena, "%s/plans/point-001.yaml", folder);
	struct arguments files = *arguments;
	files.at = paths;
	files.count = count + 1;
	files.spans = arena_array(arena, struct span, count + 1);
	struct inputs inputs;
	if (inputs_read(arena, &files, diag, &inputs) && !inputs.kind->score)
		diag_error(diag, (struct span){0}, "%s has no score", inputs.kind->noun);
	return diag_failed(diag) ? command_refuse(diag)
				 : inputs.kind->score(&inputs, FORMAT_TEXT, false);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	enum format format = FORMAT_TEXT;
	if (arguments->count != 1)
		diag_error(diag, (struct span){0}, "report wants one results folder");
	if (!command_format(arguments, diag, &format) || diag_failed(diag))
		return command_refuse(diag);
	if (option_find(arguments, "html"))
		return write_page(arena, arguments, diag);
	if (option_find(arguments, "explain"))
		return explain(arena, arguments, diag);
	/* JSON is YAML as it stands. */
	bool json = format == FORMAT_JSON || format == FORMAT_YAML;
	const char *path =
		arena_format(arena, "%s/%s", arguments->at[0], json ? "run.json" : "pareto.csv");
	const struct source *source = file_read_table(arena, path, diag);
	if (!source || !file_check_characters(source, diag))
		return command_refuse(diag);
	const char *text = arena_format(arena, "%.*s", (int)source->length, source->bytes);
	command_print(format == FORMAT_TEXT ? show(arena, text) : text);
	return EXIT_FOUND;
}

const struct command command_report = {
	.name = "report",
	.usage = "DIR",
	.summary = "the table of a results folder, or a page",
	.manual = "DIR is a folder that `lxplore explore -o DIR` wrote; with --html also one of a\n"
		  "campaign.\n",
	.bit = OF_REPORT,
	.run = run,
};
