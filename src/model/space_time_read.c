#include "base/arena.h"
#include "base/text.h"
#include "model/recurrence_equations.h"
#include "model/recurrence_fold.h"
#include "model/recurrence_invent.h"
#include "model/space_time_call.h"

#include <string.h>

/* Loops may lie anywhere within this, so that sums of eight products fit. */
static const int64_t loop_most = (int64_t)1 << 31;

static bool read_loop(
	const struct reading *reading, const struct node_entry *entry, struct recurrence_loop *loop)
{
	const struct node *node = entry->value;
	*loop = (struct recurrence_loop){.name = entry->key, .extent = 1};
	if (node->kind != NODE_LIST)
		return node_integer(reading, node, entry->key, 1, loop_most, &loop->extent);
	int64_t end = 0;
	if (node->count != 2)
		return reading_refuse(reading, node,
			"'%s' is an extent, or [first, end) as a list of two", entry->key);
	if (!node_integer(
		    reading, node->items[0], entry->key, -loop_most, loop_most, &loop->least) ||
		!node_integer(reading, node->items[1], entry->key, loop->least + 1,
			loop->least + loop_most, &end))
		return false;
	loop->extent = end - loop->least;
	return true;
}

static bool read_loops(struct reader *map, struct recurrence *recurrence)
{
	const struct node *loops = read_map(map, "loops", REQUIRED);
	if (!loops)
		return false;
	if (!loops->count || loops->count > RECURRENCE_LOOPS_MOST)
		return reading_refuse(
			map->reading, loops, "there are 1 to 8 loops, not %zu", loops->count);
	bool good = true;
	for (size_t i = 0; i < loops->count; i++)
		good &= read_loop(map->reading, &loops->entries[i], &recurrence->loops[i]);
	recurrence->loop_count = (int)loops->count;
	return good;
}

/* The names of loops alone. */
struct condition {
	const struct reading *reading;
	const struct recurrence *recurrence;
};

static int find_loop(void *user, const char *name)
{
	return recurrence_loop_named(((struct condition *)user)->recurrence, name);
}

static int no_stream(void *user, const char *name)
{
	(void)user, (void)name;
	return 0;
}

static bool find_number(void *user, const char *name, double *out)
{
	return recurrence_number(((struct condition *)user)->reading, name, out);
}

static const char *find_near(void *user, const char *name)
{
	const struct recurrence *recurrence = ((struct condition *)user)->recurrence;
	const char *known[RECURRENCE_LOOPS_MOST + 1] = {0};
	for (int i = 0; i < recurrence->loop_count; i++)
		known[i] = recurrence->loops[i].name;
	return suggest(name, known);
}

/* A condition over loops; true without one. */
static bool read_condition(struct reader *map, const char *key, const struct recurrence *recurrence,
	const struct term **out)
{
	const struct node *node = read_node(map, key, OPTIONAL);
	if (!node)
		return true;
	if (node->kind != NODE_SCALAR)
		return reading_refuse(
			map->reading, node, "'%s' is a condition such as i >= k", key);
	struct condition user = {map->reading, recurrence};
	struct term_names names = {&user, find_loop, no_stream, find_number, find_near};
	struct term_fault fault = {0};
	size_t at = 0;
	const struct term *term = term_parse(map->reading->arena, node->text, &at, &names, &fault);
	if (term) {
		at += strspn(node->text + at, " \t\r\n");
		if (node->text[at])
			fault = (struct term_fault){at, at + 1, "the condition should end here"};
		else if (term_has_stream(term))
			fault = (struct term_fault){
				0, at, "a condition depends on loops, not on streams"};
	}
	if (fault.text)
		diag_error(map->reading->diag, node_part(node, fault.from, fault.to), "%s",
			fault.text);
	*out = term;
	return !fault.text;
}

/* A list of so many whole numbers. */
static bool read_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out)
{
	if (node->kind != NODE_LIST || node->count != (size_t)count)
		return reading_refuse(
			reading, node, "%s is a list of %d whole numbers", what, count);
	bool good = true;
	for (int i = 0; i < count; i++)
		good &= node_integer(reading, node->items[i], what, least, most, &out[i]);
	return good;
}

static bool read_dependence(
	struct reader *map, const struct node *node, int stream, struct recurrence *recurrence)
{
	const struct reading *reading = map->reading;
	int64_t vector[RECURRENCE_LOOPS_MOST] = {0};
	const struct term *when = NULL;
	bool good, zero = true;
	if (node->kind == NODE_MAP) {
		struct reader entry;
		reader_open(&entry, reading, node, "dependence");
		const struct node *list = read_list(&entry, "vector", REQUIRED);
		good = read_condition(&entry, "when", recurrence, &when);
		good &= list && read_vector(reading, list, "'vector'", recurrence->loop_count,
					-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
		reader_done(&entry);
	} else {
		good = read_vector(reading, node, "a dependence", recurrence->loop_count,
			-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
	}
	for (int i = 0; i < recurrence->loop_count; i++)
		zero &= !vector[i];
	if (good && zero)
		return reading_refuse(reading, node, "a dependence of a point on itself");
	if (good &&
		!recurrence_depend(reading->arena, recurrence, stream, vector, when, node->span))
		return reading_refuse(
			reading, node, "more than 64 dependences, or too many of one vector");
	return good;
}

static bool is_list_of_numbers(const struct node *node)
{
	return node->kind == NODE_LIST && node->count && node->items[0]->kind == NODE_SCALAR;
}

static bool read_dependences(
	struct reader *map, const struct node *streams, struct recurrence *recurrence)
{
	bool good = true;
	if (streams->count > RECURRENCE_STREAMS_MOST)
		return reading_refuse(map->reading, streams, "there are at most 16 streams");
	for (size_t i = 0; i < streams->count; i++) {
		const struct node_entry *entry = &streams->entries[i];
		recurrence->streams[i] = (struct stream){.name = entry->key,
			.kind = STREAM_RECURRENT,
			.rank = recurrence->loop_count,
			.span = entry->key_span};
		recurrence->stream_count = (int)i + 1;
		if (entry->value->kind == NODE_MAP || is_list_of_numbers(entry->value)) {
			good &= read_dependence(map, entry->value, (int)i, recurrence);
			continue;
		}
		if (entry->value->kind != NODE_LIST) {
			good = reading_refuse(map->reading, entry->value,
				"the dependences of '%s' are one vector or a list of vectors",
				entry->key);
			continue;
		}
		for (size_t k = 0; k < entry->value->count; k++)
			good &= read_dependence(map, entry->value->items[k], (int)i, recurrence);
	}
	return good;
}

static bool read_body(struct reader *map, struct recurrence *recurrence)
{
	const struct node *equations = read_node(map, "equations", OPTIONAL);
	const struct node *dependences = read_map(map, "dependences", OPTIONAL);
	if (equations && dependences)
		return reading_refuse(map->reading, dependences,
			"dependences follow from the equations; give one of the two");
	if (dependences) {
		if (!read_dependences(map, dependences, recurrence))
			return false;
		recurrence_invent(map->reading->arena, recurrence);
		return true;
	}
	if (!equations)
		return reading_refuse(
			map->reading, map->map, "'space_time' needs 'equations' or 'dependences'");
	if (equations->kind != NODE_SCALAR)
		return reading_refuse(
			map->reading, equations, "'equations' is a text with an equation a line");
	return recurrence_equations(map->reading, equations, recurrence);
}

/* Streams by name, as bits. */
static bool read_streams(
	struct reader *map, const char *key, const struct recurrence *recurrence, uint32_t *out)
{
	const struct node *list = read_node(map, key, OPTIONAL);
	size_t count = !list ? 0 : list->kind == NODE_LIST ? list->count : 1;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		const char *name = NULL, *known[RECURRENCE_STREAMS_MOST + 1] = {0};
		const struct node *item = node_item(list, i);
		if (!node_text(map->reading, item, key, &name)) {
			good = false;
			continue;
		}
		for (int k = 0; k < recurrence->stream_count; k++)
			known[k] = recurrence->streams[k].name;
		int stream = recurrence_stream_named(recurrence, name);
		if (stream >= 0) {
			*out |= UINT32_C(1) << stream;
			continue;
		}
		const char *near = suggest(name, known);
		good = near ? reading_refuse(map->reading, item,
				      "'%s' is no stream; did you mean '%s'?", name, near)
			    : reading_refuse(map->reading, item, "'%s' is no stream", name);
	}
	return good;
}

/* One row, or a list of rows. */
static bool read_rows(struct reader *map, const char *key, int loops,
	int64_t (*out)[RECURRENCE_LOOPS_MOST], int *count)
{
	const struct node *list = read_list(map, key, OPTIONAL);
	if (!list)
		return true;
	char what[64];
	snprintf(what, sizeof what, "a row of '%s'", key);
	*count = is_list_of_numbers(list) ? 1 : (int)list->count;
	if (*count > loops || (!list->count && text_equal(key, "schedule")))
		return reading_refuse(map->reading, list, "'%s' has 1 to %d rows", key, loops);
	if (is_list_of_numbers(list))
		return read_vector(map->reading, list, what, loops, -PROJECTION_ENTRY_MOST,
			PROJECTION_ENTRY_MOST, out[0]);
	bool good = true;
	for (int i = 0; i < *count; i++)
		good &= read_vector(map->reading, list->items[i], what, loops,
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
	good = good &&
	       read_names(map, "space", 'p', projection->space_count, projection->space_names);
	return good && read_names(map, "time", 't', projection->time_count, projection->time_names);
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
	bool good = read_matrices(&map, out) &&
		    read_streams(&map, "wires", &out->recurrence, &out->projection.wires);
	reader_done(&map);
	return good;
}

static bool read_projection(struct reader *map, struct space_time *out)
{
	struct projection *projection = &out->projection;
	const struct recurrence *recurrence = &out->recurrence;
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
	projection->unchecked = !checked;
	return good && read_reverse(map, recurrence, projection);
}

static bool read_range(struct reader *map, const char *key, struct projection_range *out)
{
	const struct node *list = read_list(map, key, OPTIONAL);
	int64_t ends[2] = {out->least, out->most};
	if (list && !read_vector(map->reading, list, key, 2, -1000, 1000, ends))
		return false;
	*out = (struct projection_range){ends[0], ends[1]};
	return ends[0] <= ends[1] ||
	       reading_refuse(map->reading, list, "'%s' is empty: it goes from least to most", key);
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
	if (vector && (node_find(node, "allocation") || rows_node))
		good = reading_refuse(map->reading, vector,
			"'vector' lists projections with one vector each; 'allocation' and 'rows' list "
			"matrices: give one of the two");
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
	if (!read_vector(map->reading, list, "'array' of 'fold'", fold.row_count, 1, loop_most,
		    fold.sizes))
		return false;
	return recurrence_fold(map->reading->arena, &fold, out, &why) ||
	       reading_refuse(map->reading, node, "%s", why);
}

bool space_time_read(const struct reading *reading, const struct node *node,
	const struct node *plan, struct space_time *out)
{
	struct reader map;
	size_t before = diag_errors(reading->diag);
	*out = (struct space_time){0};
	if (!reader_open(&map, reading, node, "space_time"))
		return false;
	struct recurrence *recurrence = &out->recurrence;
	bool good = read_loops(&map, recurrence) &&
		    read_condition(&map, "domain", recurrence, &recurrence->domain) &&
		    read_body(&map, recurrence);
	if (good) {
		read_projection(&map, out);
		if (plan)
			read_plan(reading, plan, out);
		read_streams(&map, "wires", recurrence, &out->projection.wires);
		read_streams(&map, "stays", recurrence, &out->stays);
		read_search(&map, out);
		read_integer(&map, "reach", OPTIONAL, 0, PROJECTION_ENTRY_MOST, &out->reach);
		const struct node *array = read_list(&map, "array", OPTIONAL);
		if (array && array->count <= RECURRENCE_LOOPS_MOST)
			read_vector(reading, array, "'array'", (int)array->count, 1, loop_most,
				out->array);
		else if (array)
			reading_refuse(reading, array, "'array' has at most 8 sizes");
		if (diag_errors(reading->diag) == before)
			read_fold(&map, out);
		reader_done(&map);
	}
	return diag_errors(reading->diag) == before;
}
