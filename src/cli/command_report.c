#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "spec/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Our own CSV: no quotes, no escapes, one line a row. */
struct fields array(const char *);

static struct fields split(struct arena *arena, const char *line, size_t length)
{
	struct fields fields = {0};
	for (size_t start = 0, i = 0; i <= length; i++)
		if (i == length || line[i] == ',') {
			*array_add(arena, &fields) =
				arena_format(arena, "%.*s", (int)(i - start), line + start);
			start = i + 1;
		}
	return fields;
}

struct column {
	const char *name;
	const char *title;
	double scale; /* 0: as it stands */
	int width;
};

static const struct column columns[] = {
	{"point", "point", 0, 5},
	{"latency_ns", "latency us", 1e-3, 11},
	{"energy_pj", "energy uJ", 1e-6, 11},
	{"hbm_bytes", "HBM bytes", 0, 12},
	{"lx_peak_bytes", "LX peak", 0, 9},
	{"cores", "cores", 0, 5},
	{"utilization", "use %", 100, 7},
	{"sim_ratio", "sim/model", 1, 9},
	{"sim_agrees", "agrees", 0, 6},
	{"executed", "executed", 0, 8},
	{"proof", "proof", 0, 7},
	{"solver", "solver", 0, 1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_cell(struct text *text, const struct column *column, const char *cell)
{
	if (column->scale == 0 || !cell[0])
		text_add(text, "  %*s", column->width, cell[0] ? cell : "-");
	else
		text_add(text, "  %*.3f", column->width, strtod(cell, NULL) * column->scale);
}

static const char *table(struct arena *arena, const char *csv)
{
	struct text text = text_open(arena);
	int place[COLUMNS];
	size_t row = 0;
	for (const char *line = csv; *line; row++) {
		const char *end = strchr(line, '\n');
		size_t length = end ? (size_t)(end - line) : strlen(line);
		struct fields fields = split(arena, line, length);
		for (int c = 0; c < COLUMNS; c++) {
			if (row == 0) {
				place[c] = -1;
				for (size_t f = 0; f < fields.count; f++)
					if (text_equal(fields.at[f], columns[c].name))
						place[c] = (int)f;
				text_add(&text, "  %*s", columns[c].width, columns[c].title);
			} else {
				bool there = place[c] >= 0 && (size_t)place[c] < fields.count;
				add_cell(&text, &columns[c], there ? fields.at[place[c]] : "");
			}
		}
		text_add(&text, "\n");
		line += length + (end != NULL);
	}
	return text_read(&text);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	if (arguments->count != 1) {
		fputs("lxplore: report wants one results folder\n", stderr);
		return EXIT_INPUT;
	}
	const char *path = arena_format(arena, "%s/pareto.csv", arguments->at[0]);
	const struct source *source = file_read_table(arena, path, diag);
	if (!source || !file_check_characters(source, diag))
		return command_refuse(diag);
	command_print(
		table(arena, arena_format(arena, "%.*s", (int)source->length, source->bytes)));
	return EXIT_FOUND;
}

const struct command command_report = {
	.name = "report",
	.usage = "DIR",
	.summary = "prints the table of a results folder",
	.manual = "DIR is a folder that `lxplore explore -o DIR` wrote.\n",
	.run = run,
};
