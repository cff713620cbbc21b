#include "model/recurrence/space_time_read.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/recurrence/recurrence_fold.h"

#include <string.h>

/* One row, or a list of rows. */
static bool read_rows(struct reader *map, const char *key, int loops,
	int64_t (*out)[RECURRENCE_LOOPS_MOST], int *count)
{
	const struct node *list = read_list(map, key, OPTIONAL);
	if (!list)
		return true;
	char what[64];
	snprintf(what, sizeof what, "a row of '%s'", key);
	*count = space_time_is_vector(list) ? 1 : (int)list->count;
	if (*count > loops || (!list->count && text_equal(key, "schedule")))
		return reading_refuse(map->reading, list, "'%s' has 1 to %d rows", key, loops);
	if (space_time_is_vector(list))
		return space_time_vector(map->reading, list, what, loops, -PROJECTION_ENTRY_MOST,
			PROJECTION_ENTRY_MOST, out[0]);
	bool good = true;
	for (int i = 0; i < *count; i++)
		good &= space_time_vector(map->reading, list->items[i], what, loops,
			-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, out[i]);
	return good;
}

/* Given names, or PREFIX, PREFIX1, ...; all names are kept apart. */
static bool read_names(
	struct reader *map, const char *key, char prefix, int count, const char **out)
{
	const char *const *given = NULL;
	size_t given_count = 0;
	for (int i = 0; i < count; i++)
		out[i] =
			arena_format(map->reading->arena, count > 1 ? "%c%d" : "%c", prefix, i + 1);
	if (!read_texts(map, key, OPTIONAL, &given, &given_count))
		return true;
	if (given_count != (size_t)count)
		return reading_refuse(map->reading, read_node(map, key, OPTIONAL),
			"'%s' names %zu loops, but there are %d rows", key, given_count, count);
	for (int i = 0; i < count; i++)
		out[i] = given[i];
	return true;
}

static bool read_reverse(
	struct reader *map, const struct recurrence *recurrence, struct projection *projection)
{
	const struct node *reverse = read_map(map, "reverse", OPTIONAL);
	bool good = true;
	for (size_t i = 0; reverse && i < reverse->count; i++) {
		const struct node_entry *entry = &reverse->entries[i];
		int loop = recurrence_loop_named(recurrence, entry->key);
		size_t at = 0;
		if (loop < 0 || entry->value->kind != NODE_SCALAR) {
			diag_error(map->reading->diag, entry->key_span,
				loop < 0 ? "'%s' is no loop" : "the value of '%s' is a term",
				entry->key);
			good = false;
			continue;
		}
		good &= space_time_reverse(
			map->reading, entry->value, &at, recurrence, loop, projection);
	}
	return good;
}

/* Rows of a projection, as the spec or a plan of an earlier search has them. */
static bool read_matrices(struct reader *map, struct space_time *out)
{
	struct projection *projection = &out->projection;
	int loops = out->recurrence.loop_count;
	const struct node *space = read_node(map, "allocation", OPTIONAL);
	const struct node *time = read_node(map, "schedule", OPTIONAL);
	out->has_space = space != NULL;
	out->has_time = time != NULL;
	if (space || time)
		projection->span = space ? space->span : time->span;
	bool good =
		read_rows(map, "allocation", loops, projection->space, &projection->space_count);
	good &= read_rows(map, "schedule", loops, projection->time, &projection->time_count);
	return good;
}

/* The limits of the rows that are given, or else of those that a search will make. */
static void read_row_names(struct reader *map, struct space_time *out)
{
	struct projection *projection = &out->projection;
	if (node_find(map->map, "transform"))
		return;
	read_names(map, "space", 'p', out->has_space ? projection->space_count : out->space_rows,
		projection->space_names);
	read_names(map, "time", 't', out->has_time ? projection->time_count : 1,
		projection->time_names);
}

/* The `projection:` key of a plan, beside a spec that leaves all open. */
static bool read_plan(
	const struct reading *reading, const struct node *plan, struct space_time *out)
{
	struct reader map;
	if (out->has_space || out->has_time)
		return reading_refuse(reading, plan,
			"the spec has an allocation or a schedule of its own; take it out, or this plan");
	if (!reader_open(&map, reading, plan, "projection"))
		return false;
	static const char *const tiles[] = {"split", "sum", "reread", "load"};
	bool good = read_matrices(&map, out);
	good &= space_time_streams(&map, "wires", &out->recurrence, &out->projection.wires);
	for (int i = 0; out->einsum && i < 4; i++) /* the body has read them */
		read_node(&map, tiles[i], OPTIONAL);
	reader_done(&map);
	return good;
}

static bool read_projection(struct reader *map, struct space_time *out)
{
	struct projection *projection = &out->projection;
	const struct recurrence *recurrence = &out->recurrence;
	/* looked into when all rows are known */
	static const char *const later[] = {"space", "time", "reverse"};
	const struct node *call = read_node(map, "transform", OPTIONAL);
	const struct node *space = read_node(map, "allocation", OPTIONAL);
	const struct node *time = read_node(map, "schedule", OPTIONAL);
	projection->span = map->map->span;
	if (call) {
		const struct node *other = space ? space : time;
		if (other)
			return reading_refuse(map->reading, other,
				"the transform says this already; give one of the two");
		if (call->kind != NODE_SCALAR)
			return reading_refuse(map->reading, call,
				"'transform' is a text: space_time_transform({..}, {..}, {..})");
		out->has_space = out->has_time = true;
		return space_time_call(map->reading, call, recurrence, projection);
	}
	bool good = read_matrices(map, out);
	bool checked = true;
	read_bool(map, "check_time", OPTIONAL, &checked);
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		read_node(map, later[i], OPTIONAL);
	return good;
}

static bool read_range(struct reader *map, const char *key, struct projection_range *out)
{
	const struct node *list = read_list(map, key, OPTIONAL);
	int64_t ends[2] = {out->least, out->most};
	if (list && !space_time_vector(map->reading, list, key, 2, -1000, 1000, ends))
		return false;
	*out = (struct projection_range){ends[0], ends[1]};
	return ends[0] <= ends[1] ||
	       reading_refuse(map->reading, list, "'%s' is empty: it goes from least to most", key);
}

/* `fold: tiles`, `fold: [tiles, blocks]` */
static bool read_folds(struct reader *map, struct space_time *out)
{
	static const char *const orders[] = {"tiles", "blocks", NULL};
	const char *const *given = NULL;
	size_t count = 0;
	const struct node *node = node_find(map->map, "fold");
	if (!read_texts(map, "fold", OPTIONAL, &given, &count))
		return true;
	if (!out->einsum)
		return reading_refuse(map->reading, node,
			"a search folds einsums: what it reads again where tiles meet follows from "
			"their indices");
	for (size_t i = 0; i < count; i++) {
		int order = 0;
		while (orders[order] && !text_equal(orders[order], given[i]))
			order++;
		if (!orders[order])
			return reading_refuse(map->reading, node_item(node, i),
				"'%s' is no order of folds: there are tiles and blocks", given[i]);
		out->folds |= UINT32_C(1) << order;
	}
	return true;
}

static bool read_search(struct reader *map, struct space_time *out)
{
	const struct node *node = read_map(map, "search", OPTIONAL);
	int64_t rows = number_min(2, out->recurrence.loop_count - 1), wires = 0;
	out->space_range = (struct projection_range){-1, 1};
	out->time_range = (struct projection_range){-2, 2};
	out->space_rows = (int)rows;
	if (!node)
		return true;
	struct reader search;
	reader_open(&search, map->reading, node, "search");
	bool good = read_range(&search, "allocation", &out->space_range) &&
		    read_range(&search, "schedule", &out->time_range) &&
		    read_range(&search, "vector", &out->vector_range);
	const struct node *vector = node_find(node, "vector");
	const struct node *rows_node = node_find(node, "rows");
	out->by_vectors = vector != NULL;
	good = read_folds(&search, out) && good;
	if (vector && (node_find(node, "allocation") || rows_node))
		good = reading_refuse(map->reading, vector,
			"'vector' lists projections with one vector each; 'allocation' and 'rows' list "
			"matrices: give one of the two");
	if (out->folds) { /* every axis of the array is a row, as long as there are loops */
		const struct node *array = node_find(map->map, "array");
		rows = number_min(array ? (int64_t)array->count : 0, out->recurrence.loop_count);
	}
	read_integer(&search, "rows", OPTIONAL, 0, out->recurrence.loop_count, &rows);
	read_integer(&search, "wires", OPTIONAL, 0, RECURRENCE_DEPENDENCES_MOST, &wires);
	out->space_rows = out->by_vectors ? out->recurrence.loop_count - 1 : (int)rows;
	out->wires_most = (int)wires;
	reader_done(&search);
	return good;
}

/* The spec becomes that of the small array. */
static bool read_fold(struct reader *map, struct space_time *out)
{
	static const char *const orders[] = {"tiles", "blocks", NULL};
	const struct node *node = read_map(map, "fold", OPTIONAL);
	struct fold fold = {0};
	int order = 0;
	const char *why;
	if (!node)
		return true;
	struct reader reader;
	reader_open(&reader, map->reading, node, "fold");
	const struct node *list = read_list(&reader, "array", REQUIRED);
	read_word(&reader, "order", OPTIONAL, orders, &order);
	reader_done(&reader);
	if (!list)
		return false;
	if (!out->has_space || !out->has_time)
		return reading_refuse(map->reading, node,
			"'fold' needs an 'allocation' and a 'schedule': they are what is folded");
	fold.order = (enum fold_order)order;
	fold.row_count = out->projection.space_count;
	if (!space_time_vector(map->reading, list, "'array' of 'fold'", fold.row_count, 1,
		    RECURRENCE_EXTENT_MOST, fold.sizes))
		return false;
	return recurrence_fold(map->reading->arena, &fold, out, &why) ||
	       reading_refuse(map->reading, node, "%s", why);
}

static void refuse_chosen(const struct reading *reading, const struct node *node, const char *key)
{
	if (node)
		reading_refuse(reading, node,
			"a search that folds chooses '%s' by itself: take it out, or 'fold' of 'search'",
			key);
}

/* A search that folds chooses tiles, allocation and schedule by itself, of an array whose size it
 * knows; a plan says what it chose. */
static void check_folds(
	struct reader *map, const struct space_time_beside *beside, const struct space_time *spec)
{
	static const char *const chosen[] = {
		"allocation", "schedule", "transform", "split", "sum", "reread", "load", NULL};
	static const char *const ranges[] = {"allocation", "schedule", "vector", NULL};
	const struct node *search = node_find(map->map, "search");
	if (!spec->folds)
		return;
	for (int i = 0; chosen[i]; i++)
		refuse_chosen(map->reading, node_find(map->map, chosen[i]), chosen[i]);
	for (int i = 0; ranges[i]; i++)
		refuse_chosen(map->reading, node_find(search, ranges[i]), ranges[i]);
	bool planned = beside && beside->plan;
	const struct node *array = node_find(map->map, "array"), *rows = node_find(search, "rows");
	size_t sizes = array ? array->count : 0;
	if (!planned && (!sizes || (rows && sizes != (size_t)spec->space_rows)))
		reading_refuse(map->reading, node_find(search, "fold"),
			"to fold there must be an 'array' with as many sizes as rows of space, "
			"such as [4, 4]");
}

bool space_time_read(const struct reading *reading, const struct node *node,
	const struct space_time_beside *beside, struct space_time *out)
{
	struct reader map;
	size_t before = diag_errors(reading->diag);
	*out = (struct space_time){0};
	if (!reader_open(&map, reading, node, "space_time"))
		return false;
	struct recurrence *recurrence = &out->recurrence;
	if (space_time_body(&map, beside, out)) {
		read_projection(&map, out);
		read_node(&map, "fold", OPTIONAL);
		if (beside && beside->plan)
			read_plan(reading, beside->plan, out);
		space_time_streams(&map, "wires", recurrence, &out->projection.wires);
		read_search(&map, out);
		if (diag_errors(reading->diag) == before) {
			read_row_names(&map, out);
			read_reverse(&map, recurrence, &out->projection);
			space_time_limits(&map, beside ? beside->targets : NULL, out);
		} else {
			space_time_skip_limits(&map);
		}
		if (diag_errors(reading->diag) == before && read_fold(&map, out))
			check_folds(&map, beside, out);
		reader_done(&map);
	}
	return diag_errors(reading->diag) == before;
}
