#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/outputs.h"
#include "report/run/csv_rows.h"
#include "report/run/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *task_status_name(const struct task_result *result)
{
	static const char *const names[] = {"found", "impossible", "wrong", "nothing", "crashed"};
	return !result                          ? "open"
	       : result->status == TASK_CRASHED ? names[4]
						: names[result->status & 3];
}

/* --- the columns of all results together */

struct exporter {
	struct arena *arena, *scratch;
	print_text *print;
	json_t *targets;          /* the head's columns */
	struct csv_cells heads;   /* headers of pareto.csv that were met */
	struct csv_cells columns; /* theirs together */
	bool *used;               /* the columns that have a value */
	size_t count;
};

static bool has(const struct csv_cells *cells, const char *name)
{
	for (size_t i = 0; i < cells->count; i++)
		if (text_equal(cells->at[i], name))
			return true;
	return false;
}

static void collect_columns(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct exporter *exporter = context;
	size_t length = result ? strcspn(result->pareto, "\n") : 0;
	for (size_t i = 0; i < exporter->heads.count && length; i++)
		if (strncmp(exporter->heads.at[i], result->pareto, length) == 0 &&
			!exporter->heads.at[i][length])
			return;
	if (!length)
		return;
	const char *head = arena_format(exporter->arena, "%.*s", (int)length, result->pareto);
	*array_add(exporter->arena, &exporter->heads) = head;
	struct csv_cells names = csv_cells(exporter->arena, &head);
	for (size_t i = 0; i < names.count; i++)
		if (!has(&exporter->columns, names.at[i]))
			*array_add(exporter->arena, &exporter->columns) = names.at[i];
}

/* Cells of a row by the columns of all; "" where the row has none. */
static const char **arrange(
	const struct exporter *exporter, const struct csv_cells *names, const struct csv_cells *row)
{
	const char **cells =
		arena_array(exporter->scratch, const char *, exporter->columns.count + 1);
	for (size_t c = 0; c < exporter->columns.count; c++) {
		cells[c] = "";
		for (size_t i = 0; i < names->count && i < row->count; i++)
			if (text_equal(names->at[i], exporter->columns.at[c]))
				cells[c] = row->at[i];
	}
	return cells;
}

/* Keeps the columns that some row has a value in. */
static void note_used(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct exporter *exporter = context;
	struct arena_mark mark = arena_mark(exporter->scratch);
	const char *line = result ? result->pareto : "";
	struct csv_cells names = csv_cells(exporter->scratch, &line);
	while (*line) {
		struct csv_cells row = csv_cells(exporter->scratch, &line);
		const char **cells = arrange(exporter, &names, &row);
		for (size_t c = 0; c < exporter->columns.count; c++)
			exporter->used[c] |= *cells[c] != '\0';
	}
	arena_release(exporter->scratch, mark);
}

/* Leaves out the columns that no row has a value in. */
static const char *drop_empty(struct exporter *exporter, struct store *store)
{
	size_t kept = 0;
	exporter->used = arena_array(exporter->arena, bool, exporter->columns.count + 1);
	memset(exporter->used, 0, (exporter->columns.count + 1) * sizeof *exporter->used);
	const char *why = store_each_point(store, note_used, exporter);
	for (size_t c = 0; c < exporter->columns.count; c++)
		if (exporter->used[c])
			exporter->columns.at[kept++] = exporter->columns.at[c];
	exporter->columns.count = kept;
	return why;
}

/* --- CSV */

static const char *column_name(const char *name)
{
	return text_equal(name, "point") ? "frontier" : name;
}

static void add_field(struct text *line, const char *value)
{
	text_add(line, ",");
	csv_field(line, value);
}

static void print_row(const struct exporter *exporter, const struct text *head, const char **cells)
{
	struct text line = text_open(exporter->scratch);
	text_add(&line, "%s", text_read(head));
	for (size_t c = 0; c < exporter->columns.count; c++)
		add_field(&line, cells ? cells[c] : "");
	text_add(&line, "\n");
	exporter->print(text_read(&line));
}

static void print_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct exporter *exporter = context;
	struct arena_mark mark = arena_mark(exporter->scratch);
	struct text head = text_open(exporter->scratch);
	json_t *labels = json_loads(point->labels, 0, NULL);
	text_add(&head, "%zu,", point->ordinal);
	csv_field(&head, point->name);
	for (size_t t = 0; t < json_array_size(exporter->targets); t++) {
		const char *label = json_string_value(json_array_get(labels, t));
		add_field(&head, label ? label : "");
	}
	json_decref(labels);
	text_add(&head, ",%s,%s", task_status_name(result), result ? result->version : "");
	const char *line = result ? result->pareto : "";
	struct csv_cells names = csv_cells(exporter->scratch, &line);
	if (!*line)
		print_row(exporter, &head, NULL);
	while (*line) {
		struct csv_cells row = csv_cells(exporter->scratch, &line);
		print_row(exporter, &head, arrange(exporter, &names, &row));
	}
	arena_release(exporter->scratch, mark);
}

static const char *open_exporter(struct arena *arena, struct store *store, print_text *print,
	struct exporter *out, struct store_head *head)
{
	const char *why = store_filled_head(store, head);
	*out = (struct exporter){.arena = arena, .print = print};
	if (why)
		return why;
	out->targets = json_loads(head->columns, 0, NULL);
	out->scratch = arena_open();
	return store_each_point(store, collect_columns, out);
}

static void close_exporter(struct exporter *exporter)
{
	json_decref(exporter->targets);
	arena_close(exporter->scratch);
}

const char *export_csv(struct arena *arena, struct store *store, print_text *print)
{
	struct exporter exporter;
	struct store_head head;
	const char *why = open_exporter(arena, store, print, &exporter, &head);
	if (!why)
		why = drop_empty(&exporter, store);
	struct text line = text_open(arena);
	text_add(&line, "point,name");
	for (size_t t = 0; t < json_array_size(exporter.targets); t++)
		add_field(&line, json_string_value(json_array_get(exporter.targets, t)));
	text_add(&line, ",status,version");
	for (size_t c = 0; c < exporter.columns.count; c++)
		add_field(&line, column_name(exporter.columns.at[c]));
	text_add(&line, "\n");
	if (!why) {
		print(text_read(&line));
		why = store_each_point(store, print_point, &exporter);
	}
	close_exporter(&exporter);
	return why;
}

/* --- JSON */

/* The rows of pareto.csv, with its `point` called `frontier`. */
static json_t *frontier_value(struct exporter *exporter, const struct task_result *result)
{
	json_t *list = json_array(),
	       *rows = csv_rows(exporter->scratch, result ? result->pareto : "");
	size_t i;
	json_t *row, *value;
	const char *name;
	json_array_foreach(rows, i, row) {
		json_t *object = json_object();
		json_object_foreach(row, name, value)
			json_object_set(object, column_name(name), value);
		json_array_append_new(list, object);
	}
	json_decref(rows);
	return list;
}

static void print_object(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct exporter *exporter = context;
	struct arena_mark mark = arena_mark(exporter->scratch);
	json_t *labels = json_loads(point->labels, 0, NULL), *values = json_object();
	for (size_t t = 0; t < json_array_size(exporter->targets); t++)
		json_object_set(values, json_string_value(json_array_get(exporter->targets, t)),
			json_array_get(labels, t));
	json_decref(labels);
	json_t *plans = result ? json_loads(result->plans, 0, NULL) : NULL;
	json_t *object = json_pack("{s:I, s:s, s:o, s:s, s:s, s:s, s:o, s:o}", "point",
		(json_int_t)point->ordinal, "name", point->name, "values", values, "status",
		task_status_name(result), "version", result ? result->version : "", "message",
		result ? result->message : "", "frontier", frontier_value(exporter, result),
		"plans", plans ? plans : json_array());
	exporter->print(exporter->count++ ? ",\n" : "\n");
	exporter->print(json_dump(exporter->scratch, object, JSON_COMPACT));
	arena_release(exporter->scratch, mark);
}

const char *export_json(struct arena *arena, struct store *store, print_text *print)
{
	struct exporter exporter;
	struct store_head head;
	const char *why = open_exporter(arena, store, print, &exporter, &head);
	if (!why) {
		print("{\"campaign\": ");
		print(json_dump(arena, json_string(head.name), JSON_ENCODE_ANY));
		print(", \"columns\": ");
		print(head.columns);
		print(", \"points\": [");
		why = store_each_point(store, print_object, &exporter);
		print("\n]}\n");
	}
	close_exporter(&exporter);
	return why;
}
