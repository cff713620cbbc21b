#include "base/arena.h"
#include "base/option.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/report_data.h"
#include "report/page/drawings.h"
#include "report/run/csv_rows.h"
#include "report/run/folder_files.h"

#include <math.h>
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
static bool varies(const json_t *rows, const char *column)
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

/* The column of colours if nobody names one: the workload of a campaign, else the cores; NULL: none. */
static const char *usual_colour(const json_t *rows)
{
	static const char *const names[] = {
		"specs", "problem", "workload", "network", "layers", "layer", "cores", NULL};
	for (size_t i = 0; names[i]; i++)
		if (varies(rows, names[i]))
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
static bool write_frontier(struct writing *writing, const struct arguments *arguments,
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
			"'--axes' wants two columns with numbers in them, such as "
			"latency_ns,energy_pj; there are %s",
			list_columns(writing->arena, rows, false));
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
		write_one(writing, arena_format(writing->arena, "%s-roofline", name),
			roofline_svg(writing->arena, title, details));
	}
}

int report_drawings(struct arena *arena, const char *folder, const struct arguments *arguments,
	json_t *data, struct diag *diag)
{
	struct writing writing = {
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
