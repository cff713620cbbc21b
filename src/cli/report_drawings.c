#include "base/arena.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/report_data.h"
#include "report/page/drawings.h"
#include "report/run/csv_rows.h"
#include "report/run/folder_files.h"

#include <stdlib.h>
#include <string.h>

struct writing {
	struct arena *arena;
	const char *folder, *title;
	int count;
};

static void write_one(struct writing *writing, const char *name, const char *text)
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

/* The points of all frontiers of a campaign. */
static json_t *rows_of_campaign(const json_t *campaign)
{
	json_t *rows = json_array(), *point;
	size_t i;
	json_array_foreach(json_object_get(campaign, "points"), i, point)
		json_array_extend(rows, json_object_get(point, "frontier"));
	return rows;
}

/* "latency_ns, energy_pj": all columns with a number in them. */
static const char *numeric_columns(struct arena *arena, const json_t *rows)
{
	struct text text = text_open(arena);
	json_t *seen = json_object(), *row, *cell;
	const char *name;
	size_t i;
	json_array_foreach(rows, i, row)
		json_object_foreach(row, name, cell) {
			if (!json_is_number(cell) || json_object_get(seen, name))
				continue;
			json_object_set_new(seen, name, json_true());
			text_add(&text, "%s%s", text.length ? ", " : "", name);
		}
	json_decref(seen);
	return text_read(&text);
}

/* False after complaining. */
static bool write_frontier(struct writing *writing, const struct option_value *axes,
	const json_t *rows, struct diag *diag)
{
	const char *comma = axes ? strchr(axes->text, ',') : NULL, *x = NULL;
	if (comma)
		x = arena_format(writing->arena, "%.*s", (int)(comma - axes->text), axes->text);
	const char *text =
		frontier_svg(writing->arena, writing->title, rows, x, comma ? comma + 1 : NULL);
	if (axes && (!comma || !text))
		diag_error(diag, axes->span,
			"'--axes' wants two columns of pareto.csv with numbers in them, such as "
			"latency_ns,energy_pj; there are %s",
			numeric_columns(writing->arena, rows));
	write_one(writing, "frontier", text);
	return !diag_failed(diag);
}

static void write_points(struct writing *writing, const json_t *data)
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
	}
}

int report_drawings(struct arena *arena, const char *folder, const struct option_value *axes,
	json_t *data, struct diag *diag)
{
	struct writing writing = {
		arena, folder, last_name(json_string_value(json_object_get(data, "title"))), 0};
	const char *csv = json_string_value(json_object_get(data, "csv"));
	json_t *rows =
		csv ? csv_rows(arena, csv) : rows_of_campaign(json_object_get(data, "campaign"));
	json_t *note;
	size_t i;
	const char *why = folder_parents(arena, arena_format(arena, "%s/", folder));
	if (why)
		diag_error(diag, (struct span){0}, "%s", why);
	if (!why && write_frontier(&writing, axes, rows, diag))
		write_points(&writing, data);
	json_array_foreach(json_object_get(data, "notes"), i, note)
		diag_warning(diag, (struct span){0}, "%s", json_string_value(note));
	if (!writing.count && !diag_failed(diag))
		diag_error(diag, (struct span){0}, "there is nothing to draw: no point was found");
	json_decref(rows);
	return diag_failed(diag) ? 0 : writing.count;
}
