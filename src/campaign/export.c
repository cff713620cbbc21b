#include "campaign/export.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/run/json.h"
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

struct difference {
	const char *key;
	const struct compared *a, *b; /* NULL: it has no such point */
};

struct differences array(struct difference);

static void find_differences(struct arena *arena, const struct compared_side *a,
	const struct compared_side *b, struct campaign_diff *counts, struct differences *out)
{
	for (size_t i = 0; i < a->points.count; i++) {
		const struct compared *x = &a->points.at[i];
		int other = names_find(&b->names, x->key);
		const struct compared *y = other < 0 ? NULL : &b->points.at[other];
		if (y && text_equal(x->pareto, y->pareto) && text_equal(x->status, y->status)) {
			counts->equal++;
			continue;
		}
		*(y ? &counts->changed : &counts->only_a) += 1;
		*array_add(arena, out) = (struct difference){x->key, x, y};
	}
	for (size_t i = 0; i < b->points.count; i++) {
		const struct compared *y = &b->points.at[i];
		if (names_find(&a->names, y->key) >= 0)
			continue;
		counts->only_b++;
		*array_add(arena, out) = (struct difference){y->key, NULL, y};
	}
}

/* --- texts */

static const char *best_text(struct arena *arena, const struct compared *point)
{
	if (!point)
		return "";
	return point->has_best ? arena_format(arena, "%.17g", point->best) : point->status;
}

static const char *ratio_text(struct arena *arena, const struct difference *at)
{
	bool both = at->a && at->b && at->a->has_best && at->b->has_best && at->a->best > 0;
	return both ? arena_format(arena, "%.6g", at->b->best / at->a->best) : "";
}

static const char *make_listing(struct arena *arena, const struct differences *all,
	const struct campaign_diff *counts, const char *objective)
{
	const char *const titles[] = {objective ? arena_format(arena, "%s of A", objective) : "A",
		"of B", "B/A", "<point", NULL};
	struct listing *listing = listing_open(arena, titles);
	for (size_t i = 0; i < all->count; i++) {
		const struct difference *at = &all->at[i];
		listing_cell(listing, "%s", at->a ? best_text(arena, at->a) : "none");
		listing_cell(listing, "%s", at->b ? best_text(arena, at->b) : "none");
		listing_cell(listing, "%s", ratio_text(arena, at));
		listing_cell(listing, "%s", at->key);
	}
	return arena_format(arena,
		"%s%zu points are equal, %zu differ, %zu are in A alone, %zu in B alone\n",
		all->count ? listing_text(listing) : "", counts->equal, counts->changed,
		counts->only_a, counts->only_b);
}

static const char *make_csv(struct arena *arena, const struct differences *all)
{
	struct text text = text_open(arena);
	text_add(&text, "point,status_a,status_b,best_a,best_b,ratio,version_a,version_b\n");
	for (size_t i = 0; i < all->count; i++) {
		const struct difference *at = &all->at[i];
		const struct compared *a = at->a, *b = at->b;
		csv_field(&text, at->key);
		text_add(&text, ",%s,%s,%s,%s,%s,%s,%s\n", a ? a->status : "", b ? b->status : "",
			a && a->has_best ? best_text(arena, a) : "",
			b && b->has_best ? best_text(arena, b) : "", ratio_text(arena, at),
			a ? a->version : "", b ? b->version : "");
	}
	return text_read(&text);
}

static json_t *side_value(const struct compared *point)
{
	return point ? json_pack("{s:s, s:s, s:o, s:s}", "status", point->status, "version",
			       point->version, "best",
			       point->has_best ? json_real(point->best) : json_null(), "pareto",
			       point->pareto)
		     : json_null();
}

static const char *make_json(
	struct arena *arena, const struct differences *all, const struct campaign_diff *counts)
{
	json_t *list = json_array();
	for (size_t i = 0; i < all->count; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o}", "point", all->at[i].key, "a",
				      side_value(all->at[i].a), "b", side_value(all->at[i].b)));
	return json_text(arena,
		json_pack("{s:I, s:I, s:I, s:I, s:o}", "equal", (json_int_t)counts->equal, "differ",
			(json_int_t)counts->changed, "only_a", (json_int_t)counts->only_a, "only_b",
			(json_int_t)counts->only_b, "points", list));
}

const char *campaign_diff(struct arena *arena, struct store *a, struct store *b,
	enum diff_form form, struct campaign_diff *counts, const char **out)
{
	struct compared_side x, y;
	struct differences all = {0};
	*counts = (struct campaign_diff){0};
	const char *why = read_side(arena, a, &x);
	if (!why)
		why = read_side(arena, b, &y);
	if (why)
		return why;
	find_differences(arena, &x, &y, counts, &all);
	*out = form == DIFF_TEXT  ? make_listing(arena, &all, counts, x.objective)
	       : form == DIFF_CSV ? make_csv(arena, &all)
				  : make_json(arena, &all, counts);
	return NULL;
}
