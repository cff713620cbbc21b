#include "campaign/export.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/pareto.h"

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

static bool csv_cells_have(const struct csv_cells *cells, const char *name)
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
		if (!csv_cells_have(&exporter->columns, names.at[i]))
			*array_add(exporter->arena, &exporter->columns) = names.at[i];
}

/* Cells of a row by the columns of all; "" where the row has none. */
static const char **exporter_arrange(
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
		const char **cells = exporter_arrange(exporter, &names, &row);
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
		print_row(exporter, &head, exporter_arrange(exporter, &names, &row));
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

struct merging {
	struct store *into;
	size_t *differ;
};

static void copy_task(void *context, const struct store_task *task)
{
	struct merging *merging = context;
	store_add_task(merging->into, task);
}

static void copy_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct merging *merging = context;
	store_add_point(merging->into, point);
}

static void copy_result(void *context, const struct task_result *result)
{
	struct merging *merging = context;
	store_add_result(merging->into, result, merging->differ);
}

const char *campaign_merge(
	struct arena *arena, struct store *into, struct store *from, size_t *differ)
{
	struct merging merging = {into, differ};
	struct store_head ours, theirs;
	const char *why = store_filled_head(from, &theirs);
	if (why)
		return why;
	store_begin(into);
	store_head(into, &ours);
	if (ours.fingerprint && !text_equal(ours.fingerprint, theirs.fingerprint))
		store_fail(into,
			arena_format(arena,
				"'%s' and '%s' are of different campaigns: specs or options differ",
				store_path(into), store_path(from)));
	if (!ours.fingerprint) {
		store_clear(into, &theirs);
		store_each_task(from, copy_task, &merging);
		store_each_point(from, copy_point, &merging);
	}
	store_fail(into, store_each_result(from, copy_result, &merging));
	return store_commit(into);
}

/* A point of one campaign. */
struct compared {
	const char *key; /* name and values, as they are printed */
	const char *status, *version, *pareto;
	bool has_best;
	double best;
};

struct compared_side {
	struct arena *arena;
	json_t *columns;
	struct array(struct compared) points;
	struct names names;
	const char *objective;
};

static const char *make_key(struct arena *arena, json_t *columns, const struct store_point *point)
{
	struct text text = text_open(arena);
	json_t *labels = json_loads(point->labels, 0, NULL);
	text_add(&text, "%s", point->name);
	for (size_t t = 0; t < json_array_size(columns); t++) {
		const char *label = json_string_value(json_array_get(labels, t));
		if (label)
			text_add(&text, "%s%s=%s", text.length ? " " : "",
				json_string_value(json_array_get(columns, t)), label);
	}
	json_decref(labels);
	return text_read(&text);
}

static void add_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct compared_side *side = context;
	const char *key = make_key(side->arena, side->columns, point);
	if (names_find(&side->names, key) >= 0)
		return; /* the same values twice, as of two named points */
	names_add(side->arena, &side->names, key, (int)side->points.count);
	*array_add(side->arena, &side->points) = (struct compared){
		.key = key,
		.status = task_status_name(result),
		.version = result ? arena_text(side->arena, result->version) : "",
		.pareto = result ? arena_text(side->arena, result->pareto) : "",
		.has_best = result && *result->objective,
		.best = result ? result->best : 0,
	};
	if (result && *result->objective && !side->objective)
		side->objective = arena_text(side->arena, result->objective);
}

static const char *read_side(struct arena *arena, struct store *store, struct compared_side *out)
{
	struct store_head head;
	const char *why = store_filled_head(store, &head);
	*out = (struct compared_side){.arena = arena};
	if (why)
		return why;
	out->columns = json_loads(head.columns, 0, NULL);
	why = store_each_point(store, add_point, out);
	json_decref(out->columns);
	return why;
}

/* --- what differs */

static json_t *side_value(const struct compared *point)
{
	return point ? json_pack("{s:s, s:s, s:o, s:s}", "status", point->status, "version",
			       point->version, "best",
			       point->has_best ? json_real(point->best) : json_null(), "pareto",
			       point->pareto)
		     : json_null();
}

/* Counts points in `key` of the tree, and lists one with what the sides have of it. */
static void add_difference(
	json_t *tree, const char *key, const struct compared *a, const struct compared *b)
{
	json_int_t count = json_integer_value(json_object_get(tree, key));
	json_object_set_new(tree, key, json_integer(count + 1));
	if (!text_equal(key, "equal"))
		json_array_append_new(json_object_get(tree, "points"),
			json_pack("{s:s, s:o, s:o}", "point", (a ? a : b)->key, "a", side_value(a),
				"b", side_value(b)));
}

const char *campaign_diff(struct arena *arena, struct store *a, struct store *b, json_t **out)
{
	struct compared_side x, y;
	const char *why = read_side(arena, a, &x);
	if (!why)
		why = read_side(arena, b, &y);
	if (why)
		return why;
	*out = json_pack("{s:i, s:i, s:i, s:i, s:s?, s:[]}", "equal", 0, "differ", 0, "only_a", 0,
		"only_b", 0, "objective", x.objective, "points");
	for (size_t i = 0; i < x.points.count; i++) {
		const struct compared *own = &x.points.at[i];
		int at = names_find(&y.names, own->key);
		const struct compared *other = at < 0 ? NULL : &y.points.at[at];
		bool equal = other && text_equal(own->pareto, other->pareto) &&
			     text_equal(own->status, other->status);
		add_difference(*out, equal ? "equal" : other ? "differ" : "only_a", own, other);
	}
	for (size_t i = 0; i < y.points.count; i++)
		if (names_find(&x.names, y.points.at[i].key) < 0)
			add_difference(*out, "only_b", NULL, &y.points.at[i]);
	return NULL;
}

/* --- texts */

/* The best value that a side has of a point; `other` if it has none. */
static const char *best_text(
	struct arena *arena, const json_t *point, const char *side, const char *other)
{
	const json_t *best = json_object_get(json_object_get(point, side), "best");
	return json_is_real(best) ? arena_format(arena, "%.17g", json_real_value(best)) : other;
}

static const char *ratio_text(struct arena *arena, const json_t *point)
{
	const json_t *a = json_object_get(json_object_get(point, "a"), "best");
	const json_t *b = json_object_get(json_object_get(point, "b"), "best");
	bool both = json_is_real(a) && json_is_real(b) && json_real_value(a) > 0;
	return both ? arena_format(arena, "%.6g", json_real_value(b) / json_real_value(a)) : "";
}

/* A word of a side; "" if it lacks the point. */
static const char *word_of(const json_t *point, const char *side, const char *key)
{
	const char *word = json_string_value(json_object_get(json_object_get(point, side), key));
	return word ? word : "";
}

const char *campaign_diff_text(struct arena *arena, const json_t *tree)
{
	static const char *const sides[] = {"a", "b"};
	const char *objective = json_string_value(json_object_get(tree, "objective"));
	const char *const titles[] = {objective ? arena_format(arena, "%s of A", objective) : "A",
		"of B", "B/A", "<point", NULL};
	struct listing *listing = listing_open(arena, titles);
	const json_t *points = json_object_get(tree, "points"), *point;
	size_t i;
	json_array_foreach(points, i, point) {
		for (int s = 0; s < 2; s++) {
			const char *status = word_of(point, sides[s], "status");
			listing_cell(listing, "%s",
				best_text(arena, point, sides[s], *status ? status : "none"));
		}
		listing_cell(listing, "%s", ratio_text(arena, point));
		listing_cell(listing, "%s", json_string_value(json_object_get(point, "point")));
	}
	return arena_format(arena,
		"%s%lld points are equal, %lld differ, %lld are in A alone, %lld in B alone\n",
		json_array_size(points) ? listing_text(listing) : "",
		json_integer_value(json_object_get(tree, "equal")),
		json_integer_value(json_object_get(tree, "differ")),
		json_integer_value(json_object_get(tree, "only_a")),
		json_integer_value(json_object_get(tree, "only_b")));
}

const char *campaign_diff_csv(struct arena *arena, const json_t *tree)
{
	struct text text = text_open(arena);
	const json_t *points = json_object_get(tree, "points"), *point;
	size_t i;
	text_add(&text, "point,status_a,status_b,best_a,best_b,ratio,version_a,version_b\n");
	json_array_foreach(points, i, point) {
		csv_field(&text, json_string_value(json_object_get(point, "point")));
		text_add(&text, ",%s,%s,%s,%s,%s,%s,%s\n", word_of(point, "a", "status"),
			word_of(point, "b", "status"), best_text(arena, point, "a", ""),
			best_text(arena, point, "b", ""), ratio_text(arena, point),
			word_of(point, "a", "version"), word_of(point, "b", "version"));
	}
	return text_read(&text);
}
