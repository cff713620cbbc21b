#include "model/recurrence/space_time_read.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/recurrence/recurrence.h"
#include "spec/field.h"

#include <math.h>
#include <string.h>

struct transform_text {
	const struct reading *reading;
	const struct node *text;
	const struct recurrence *recurrence;
	struct projection *projection;
	size_t at;
};

static char transform_look(struct transform_text *call)
{
	call->at += strspn(call->text->text + call->at, " \t\r\n");
	return call->text->text[call->at];
}

static bool transform_refuse(struct transform_text *call, size_t from, size_t to, const char *why)
{
	diag_error(call->reading->diag, node_part(call->text, from, to), "%s", why);
	return false;
}

static bool transform_take(struct transform_text *call, char wanted)
{
	if (transform_look(call) != wanted)
		return false;
	call->at++;
	return true;
}

static bool expect(struct transform_text *call, char wanted, const char *where)
{
	char found = transform_look(call);
	if (found == wanted) {
		call->at++;
		return true;
	}
	return transform_refuse(call, call->at, call->at + (found != 0),
		arena_format(call->reading->arena, "'%c' is expected %s", wanted, where));
}

static const char *take_word(struct transform_text *call)
{
	transform_look(call);
	size_t from = call->at;
	while (scan_is_letter(call->text->text[call->at]) ||
		scan_is_digit(call->text->text[call->at]))
		call->at++;
	if (call->at == from) {
		transform_refuse(call, from, from + (call->text->text[from] != 0),
			"a name is expected here");
		return NULL;
	}
	return arena_format(
		call->reading->arena, "%.*s", (int)(call->at - from), call->text->text + from);
}

static bool parse_reverse(struct transform_text *call, int loop)
{
	const char *known[3 * RECURRENCE_LOOPS_MOST + 1];
	struct term_names names = {.reading = call->reading, .loops = known};
	struct scan_fault fault;
	struct projection *projection = call->projection;
	int spaces = projection->space_count, times = projection->time_count;
	size_t from = call->at;
	memcpy(known, projection->space_names, sizeof *known * (size_t)spaces);
	memcpy(known + spaces, projection->time_names, sizeof *known * (size_t)times);
	loop_names(call->recurrence->loops, call->recurrence->loop_count, known + spaces + times);
	const struct term *term =
		term_parse(call->reading->arena, call->text->text, &call->at, &names, &fault);
	if (!term)
		return transform_refuse(call, fault.from, fault.to, fault.text);
	if (term_has_stream(term))
		return transform_refuse(
			call, from, call->at, "a reverse transform reads no streams");
	if (projection->reverse[loop])
		return transform_refuse(call, from, call->at,
			arena_format(call->reading->arena, "'%s' has a reverse already",
				call->recurrence->loops[loop].name));
	projection->reverse[loop] = term;
	projection->reverse_order[projection->reverse_count++] = loop;
	return true;
}

/* Loops, or names of rows, from a term's names; see struct projection's `reverse`. */
static bool read_reverse_term(const struct reading *reading, const struct node *text, size_t *at,
	const struct recurrence *recurrence, int loop, struct projection *projection)
{
	struct transform_text call = {reading, text, recurrence, projection, *at};
	bool good = parse_reverse(&call, loop);
	*at = call.at;
	if (good && transform_look(&call))
		return transform_refuse(&call, call.at, call.at + 1, "the value should end here");
	return good;
}

/* The loops that no row of time or space names, as rows of time outside all others. */
static void add_outer_loops(
	const struct recurrence *recurrence, uint32_t named, struct projection *projection)
{
	int outer = 0, count = projection->time_count;
	for (int i = 0; i < recurrence->loop_count; i++)
		outer += !(named >> i & 1);
	memmove(projection->time + outer, projection->time,
		sizeof *projection->time * (size_t)count);
	memmove(projection->time_names + outer, projection->time_names,
		sizeof *projection->time_names * (size_t)count);
	for (int i = 0, row = 0; i < recurrence->loop_count; i++) {
		if (named >> i & 1)
			continue;
		memset(projection->time[row], 0, sizeof projection->time[row]);
		projection->time[row][i] = 1;
		projection->time_names[row++] = recurrence->loops[i].name;
	}
	projection->time_count += outer;
}

/* {c, q} */
static bool parse_sources(struct transform_text *call, int *loops, int *count)
{
	uint32_t seen = 0;
	if (!expect(call, '{', "before the source loops"))
		return false;
	do {
		transform_look(call);
		size_t from = call->at;
		const char *name = take_word(call);
		if (!name)
			return false;
		int loop = loop_named(call->recurrence->loops, call->recurrence->loop_count, name);
		if (loop < 0 || seen >> loop & 1) {
			const char *near = loop < 0 ? loop_near(call->recurrence->loops,
							      call->recurrence->loop_count, name)
						    : NULL;
			return transform_refuse(call, from, call->at,
				arena_format(call->reading->arena, "'%s' is %s%s", name,
					loop < 0 ? "not a loop" : "named twice",
					suggestion(call->reading->arena, near, "")));
		}
		seen |= UINT32_C(1) << loop;
		loops[(*count)++] = loop;
	} while (transform_take(call, ','));
	return expect(call, '}', "after the source loops");
}

/* {k, t} */
static bool parse_rows(struct transform_text *call, int most)
{
	struct projection *projection = call->projection;
	const char *names[RECURRENCE_LOOPS_MOST];
	int count = 0;
	if (!expect(call, '{', "before the destination loops"))
		return false;
	do {
		transform_look(call);
		size_t from = call->at;
		if (!(names[count] = take_word(call)))
			return false;
		for (int i = 0; i < count; i++)
			if (text_equal(names[i], names[count]))
				return transform_refuse(call, from, call->at, "this name is taken");
		if (++count > most)
			return transform_refuse(call, from, call->at,
				"there are more destination loops than source loops");
	} while (transform_take(call, ','));
	projection->space_count = count - 1;
	projection->time_count = 1;
	memcpy(projection->space_names, names, sizeof *names * (size_t)(count - 1));
	projection->time_names[0] = names[count - 1];
	return expect(call, '}', "after the destination loops");
}

static bool parse_entry(struct transform_text *call, int64_t *out)
{
	bool negative = transform_take(call, '-');
	transform_look(call);
	size_t from = call->at;
	int64_t value = 0;
	const char *text = call->text->text;
	for (; text[call->at] >= '0' && text[call->at] <= '9'; call->at++)
		if (value < PROJECTION_ENTRY_MOST)
			value = 10 * value + (text[call->at] - '0');
	double number = (double)value;
	if (call->at == from) {
		const char *name = take_word(call);
		if (!name)
			return false;
		if (!term_variable(call->reading, name, &number) || number != floor(number))
			return transform_refuse(call, from, call->at,
				arena_format(call->reading->arena,
					"'%s' is not a variable with a whole number", name));
	}
	if (number > PROJECTION_ENTRY_MOST || number < -PROJECTION_ENTRY_MOST)
		return transform_refuse(call, from, call->at, "an entry is at most 1000000");
	*out = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* {1, 1, 0, 1}: a row of all source loops for each destination loop. */
static bool parse_matrix(struct transform_text *call, const int *loops, int count)
{
	struct projection *projection = call->projection;
	int rows = projection->space_count + 1;
	if (!expect(call, '{', "before the matrix"))
		return false;
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < count; c++) {
			int64_t *row = r < rows - 1 ? projection->space[r] : projection->time[0];
			if ((r || c) &&
				!expect(call, ',',
					arena_format(call->reading->arena,
						"here: the matrix has %d rows of %d", rows, count)))
				return false;
			if (!parse_entry(call, &row[loops[c]]))
				return false;
		}
	return expect(
		call, '}', arena_format(call->reading->arena, "after %d rows of %d", rows, count));
}

/* {q, t, c, k - q} */
static bool parse_reverses(struct transform_text *call)
{
	call->at++;
	do {
		transform_look(call);
		size_t from = call->at;
		const char *name = take_word(call);
		if (!name)
			return false;
		int loop = loop_named(call->recurrence->loops, call->recurrence->loop_count, name);
		if (loop < 0)
			return transform_refuse(call, from, call->at,
				arena_format(
					call->reading->arena, "'%s' is not a source loop", name));
		if (!expect(call, ',', "between a source loop and its value") ||
			!parse_reverse(call, loop))
			return false;
	} while (transform_take(call, ','));
	return expect(call, '}', "after the reverse transform");
}

static bool parse_flag(struct transform_text *call)
{
	transform_look(call);
	size_t from = call->at;
	const char *name = take_word(call);
	if (!name)
		return false;
	if (text_equal(name, "SpaceTimeTransform")) {
		if (!expect(call, ':', "after SpaceTimeTransform") ||
			!expect(call, ':', "after SpaceTimeTransform") || !(name = take_word(call)))
			return false;
	}
	if (!text_equal(name, "NoCheckTime") && !text_equal(name, "CheckTime"))
		return transform_refuse(
			call, from, call->at, "CheckTime or NoCheckTime is expected here");
	return true;
}

/*
 * A projection as T2S writes it:
 *
 *	Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1}, {q, t, c, k - q},
 *		SpaceTimeTransform::NoCheckTime)
 *
 * source loops, destination loops of which the last is time, the matrix by rows, and, if the
 * matrix has no inverse of its own, the source loops from the destination loops.  Loops that are
 * not named stay outside as loops of time.
 */
static bool read_call(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct projection *out)
{
	struct transform_text call = {reading, text, recurrence, out, 0};
	int loops[RECURRENCE_LOOPS_MOST], count = 0;
	transform_look(&call);
	size_t from = call.at;
	const char *name = take_word(&call);
	if (name && transform_take(&call, '.')) { /* Z.space_time_transform(...) */
		transform_look(&call);
		from = call.at;
		name = take_word(&call);
	}
	if (!name)
		return false;
	if (!text_equal(name, "space_time_transform"))
		return transform_refuse(
			&call, from, call.at, "space_time_transform is expected here");
	out->span = text->span;
	if (!expect(&call, '(', "after space_time_transform") ||
		!parse_sources(&call, loops, &count) ||
		!expect(&call, ',', "after the source loops") || !parse_rows(&call, count) ||
		!expect(&call, ',', "after the destination loops") ||
		!parse_matrix(&call, loops, count))
		return false;
	uint32_t named = 0;
	for (int i = 0; i < count; i++)
		named |= UINT32_C(1) << loops[i];
	add_outer_loops(recurrence, named, out);
	while (transform_take(&call, ','))
		if (transform_look(&call) == '{' ? !parse_reverses(&call) : !parse_flag(&call))
			return false;
	if (!expect(&call, ')', "at the end"))
		return false;
	transform_take(&call, ';');
	return !transform_look(&call) ||
	       transform_refuse(&call, call.at, call.at + 1, "the call should end here");
}

/* One row, or a list of rows. */
static bool read_rows(const struct reading *reading, const struct node *list, const char *key,
	int loops, int64_t (*out)[RECURRENCE_LOOPS_MOST], int *count)
{
	if (!list)
		return true;
	char what[64];
	snprintf(what, sizeof what, "a row of '%s'", key);
	*count = space_time_is_vector(list) ? 1 : (int)list->count;
	if (*count > loops || (!list->count && text_equal(key, "schedule")))
		return reading_refuse(reading, list, "'%s' has 1 to %d rows", key, loops);
	if (space_time_is_vector(list))
		return space_time_vector(reading, list, what, loops, -PROJECTION_ENTRY_MOST,
			PROJECTION_ENTRY_MOST, out[0]);
	bool good = true;
	for (int i = 0; i < *count; i++)
		good &= space_time_vector(reading, list->items[i], what, loops,
			-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, out[i]);
	return good;
}

/* Given names, or PREFIX, PREFIX1, ...; all names are kept apart. */
static bool read_names(struct reader *map, const char *key, const struct texts *given, char prefix,
	int count, const char **out)
{
	for (int i = 0; i < count; i++)
		out[i] =
			arena_format(map->reading->arena, count > 1 ? "%c%d" : "%c", prefix, i + 1);
	if (!given->at)
		return true;
	if (given->count != (size_t)count)
		return reading_refuse(map->reading, node_find(map->map, key),
			"'%s' names %zu loops, but there are %d rows", key, given->count, count);
	for (int i = 0; i < count; i++)
		out[i] = given->at[i];
	return true;
}

static bool read_reverse(struct reader *map, const struct node *reverse,
	const struct recurrence *recurrence, struct projection *projection)
{
	bool good = true;
	for (size_t i = 0; reverse && i < reverse->count; i++) {
		const struct node_entry *entry = &reverse->entries[i];
		int loop = loop_named(recurrence->loops, recurrence->loop_count, entry->key);
		size_t at = 0;
		if (loop < 0 || entry->value->kind != NODE_SCALAR) {
			diag_error(map->reading->diag, entry->key_span,
				loop < 0 ? "'%s' is not a loop" : "the value of '%s' is a term",
				entry->key);
			good = false;
			continue;
		}
		good &= read_reverse_term(
			map->reading, entry->value, &at, recurrence, loop, projection);
	}
	return good;
}

/* Rows of a projection, as the spec or a plan of an earlier search has them. */
static bool read_matrices(
	const struct reading *reading, const struct space_time_form *form, struct space_time *out)
{
	struct projection *projection = &out->projection;
	int loops = out->recurrence.loop_count;
	const struct node *space = form->allocation, *time = form->schedule;
	out->has_space = space != NULL;
	out->has_time = time != NULL;
	if (space || time)
		projection->span = space ? space->span : time->span;
	bool good = read_rows(
		reading, space, "allocation", loops, projection->space, &projection->space_count);
	good &= read_rows(
		reading, time, "schedule", loops, projection->time, &projection->time_count);
	return good;
}

/* The limits of the rows that are given, or else of those that a search will make. */
static void read_row_names(
	struct reader *map, const struct space_time_form *form, struct space_time *out)
{
	struct projection *projection = &out->projection;
	if (node_find(map->map, "transform"))
		return;
	read_names(map, "space", &form->space, 'p',
		out->has_space ? projection->space_count : out->space_rows,
		projection->space_names);
	read_names(map, "time", &form->time, 't', out->has_time ? projection->time_count : 1,
		projection->time_names);
}

static const char *const fold_orders[] = {"tiles", "blocks", NULL};

struct search_form {
	const struct node *allocation, *schedule, *vector, *rows;
	int wires;
	struct texts folds;
};

static const struct field search_fields[] = {
	{"allocation", FIELD_WHOLE, "least and most of its entries", .usual = "[-1, 1]",
		.shape = SHAPE_LIST, KEEP(struct search_form, allocation)},
	{"schedule", FIELD_WHOLE, "least and most of its entries", .usual = "[-2, 2]",
		.shape = SHAPE_LIST, KEEP(struct search_form, schedule)},
	{"vector", FIELD_WHOLE, "least and most of the entries of one projection vector",
		.shape = SHAPE_LIST, KEEP(struct search_form, vector)},
	{"rows", FIELD_WHOLE, "rows of the allocation", .usual = "2",
		KEEP_ANY(struct search_form, rows)},
	{"wires", FIELD_WHOLE, "streams that may be wires", .usual = "0",
		INTO(struct search_form, wires), .most = RECURRENCE_DEPENDENCES_MOST},
	{"fold", FIELD_CHOICE, "orders of folds to try", .shape = SHAPE_SOME, .words = fold_orders,
		INTO(struct search_form, folds)},
	{0},
};
static const struct noun search_noun = {.name = "projection_search", .fields = search_fields};

struct fold_form {
	const struct node *array;
	int order;
};

static const struct field fold_fields[] = {
	{"array", FIELD_WHOLE, "its sizes", .shape = SHAPE_LIST, .required = true,
		KEEP(struct fold_form, array)},
	{"order", FIELD_CHOICE, .usual = "`tiles`", .words = fold_orders,
		INTO(struct fold_form, order)},
	{0},
};
static const struct noun fold_noun = {.name = "fold", .fields = fold_fields};

static bool has_no_call(const void *space_time)
{
	return !((const struct space_time_form *)space_time)->call;
}

#define IN(bits, how, member) .forms = (bits), how(struct space_time_form, member)
#define EVERY(how, member) IN(SPACE_TIME_EVERY, how, member)
#define TILES(member) IN(SPACE_TIME_TILES, KEEP, member)

static const struct field space_time_fields[] = {
	{"loops", FIELD_ANY, "the extent of each loop, or its first and last value",
		.shape = SHAPE_NAMED, .needed = SPACE_TIME_LOOPS,
		IN(SPACE_TIME_LOOPS | SPACE_TIME_BESIDE, KEEP, loops)},
	{"equations", FIELD_TEXT, "recurrences", EVERY(KEEP_ANY, equations)},
	{"dependences", FIELD_MAP, "by stream: a vector, a list of vectors, or of maps",
		.noun = &dependences_noun, EVERY(KEEP_ANY, dependences)},
	{"einsum", FIELD_TEXT, EVERY(KEEP_ANY, einsum)},
	{"op", FIELD_TEXT, "an op of the workload beside it", IN(SPACE_TIME_BESIDE, KEEP_ANY, op)},
	{"domain", FIELD_TEXT, EVERY(KEEP_ANY, domain)},
	{"allocation", FIELD_ANY, "rows of space", .shape = SHAPE_LIST,
		IN(SPACE_TIME_EVERY | SPACE_TIME_PLAN, KEEP, allocation)},
	{"schedule", FIELD_ANY, "rows of time", .shape = SHAPE_LIST,
		IN(SPACE_TIME_EVERY | SPACE_TIME_PLAN, KEEP, schedule)},
	{"transform", FIELD_TEXT, "both, as a call of space_time_transform", EVERY(KEEP_ANY, call)},
	{"space", FIELD_TEXT, "names of the rows of space", .shape = SHAPE_SOME, .has = has_no_call,
		EVERY(INTO, space)},
	{"time", FIELD_TEXT, "names of the rows of time", .shape = SHAPE_SOME, .has = has_no_call,
		EVERY(INTO, time)},
	{"reverse", FIELD_ANY, .shape = SHAPE_NAMED, EVERY(KEEP, reverse)},
	{"wires", FIELD_TEXT, "streams that reach all PEs at once", .shape = SHAPE_SOME,
		IN(SPACE_TIME_EVERY | SPACE_TIME_PLAN, KEEP_ANY, wires)},
	{"shuffle", FIELD_TEXT, .shape = SHAPE_SOME, EVERY(KEEP_ANY, shuffle)},
	{"stays", FIELD_TEXT, "streams that stay in their PE", .shape = SHAPE_SOME,
		EVERY(KEEP_ANY, stays)},
	{"lanes", FIELD_ANY, EVERY(KEEP_ANY, lanes)},
	{"reach", FIELD_WHOLE, EVERY(INTO, reach), .most = PROJECTION_ENTRY_MOST},
	{"check_time", FIELD_FLAG, .has = has_no_call, EVERY(INTO, checked)},
	{"array", FIELD_WHOLE, "sizes of the array of PEs", .shape = SHAPE_LIST,
		EVERY(KEEP, array)},
	{"split", FIELD_ANY, "extents of tiles", .shape = SHAPE_NAMED, TILES(split)},
	{"sum", FIELD_ANY, .shape = SHAPE_LIST, IN(SPACE_TIME_TILES, KEEP_ANY, sum)},
	{"reread", FIELD_ANY, .shape = SHAPE_LIST, IN(SPACE_TIME_TILES, KEEP_ANY, reread)},
	{"load", FIELD_ANY, .shape = SHAPE_NAMED, TILES(load)},
	{"fold", FIELD_MAP, .noun = &fold_noun, EVERY(KEEP, fold)},
	{"search", FIELD_MAP, .noun = &search_noun, EVERY(KEEP, search)},
	{0},
};
static const struct noun *const space_time_parts[] = {&bans_noun, NULL};
const struct noun space_time_noun = {
	.name = "space_time", .fields = space_time_fields, .parts = space_time_parts};

/* The `projection:` key of a plan, beside a spec that leaves all open. */
static bool read_plan(
	const struct reading *reading, const struct node *plan, struct space_time *out)
{
	struct reader map;
	struct space_time_form form = {0};
	if (out->has_space || out->has_time)
		return reading_refuse(reading, plan,
			"the spec has an allocation or a schedule of its own; take it out, or this plan");
	if (!noun_open(&map, reading, plan, "projection", &space_time_noun))
		return false;
	fields_read_form(&map, &space_time_noun,
		SPACE_TIME_PLAN | (out->einsum ? SPACE_TIME_TILES : 0), &form, NULL);
	bool good = read_matrices(reading, &form, out);
	good &= space_time_streams(
		reading, form.wires, "wires", &out->recurrence, &out->projection.wires);
	reader_done(&map);
	return good;
}

static bool read_projection(
	struct reader *map, const struct space_time_form *form, struct space_time *out)
{
	struct projection *projection = &out->projection;
	const struct recurrence *recurrence = &out->recurrence;
	const struct node *call = form->call;
	projection->span = map->map->span;
	if (call) {
		const struct node *other = form->allocation ? form->allocation : form->schedule;
		if (other)
			return reading_refuse(map->reading, other,
				"the transform gives this already; remove one of the two");
		if (call->kind != NODE_SCALAR)
			return reading_refuse(map->reading, call,
				"'transform' is a text: space_time_transform({..}, {..}, {..})");
		out->has_space = out->has_time = true;
		return read_call(map->reading, call, recurrence, projection);
	}
	return read_matrices(map->reading, form, out);
}

static bool read_range(
	struct reader *map, const char *key, const struct node *list, struct projection_range *out)
{
	int64_t ends[2] = {out->least, out->most};
	if (list && !space_time_vector(map->reading, list, key, 2, -1000, 1000, ends))
		return false;
	*out = (struct projection_range){ends[0], ends[1]};
	return ends[0] <= ends[1] ||
	       reading_refuse(map->reading, list, "'%s' is empty: it goes from least to most", key);
}

/* `fold: tiles`, `fold: [tiles, blocks]` */
static bool read_folds(struct reader *map, const struct texts *folds, struct space_time *out)
{
	const struct node *node = node_find(map->map, "fold");
	if (!folds->at)
		return true;
	if (!out->einsum)
		return reading_refuse(map->reading, node,
			"a search folds einsums only: the reads at tile borders follow from their indices");
	for (size_t i = 0; i < folds->count; i++) {
		int order = 0;
		while (fold_orders[order] && !text_equal(fold_orders[order], folds->at[i]))
			order++;
		if (!fold_orders[order])
			return reading_refuse(map->reading, node_item(node, i),
				"'%s' is not an order of folds; use tiles or blocks", folds->at[i]);
		out->folds |= UINT32_C(1) << order;
	}
	return true;
}

static bool read_search(struct reader *map, const struct node *node, struct space_time *out)
{
	struct search_form form = {0};
	int64_t rows = number_min(2, out->recurrence.loop_count - 1);
	out->space_range = (struct projection_range){-1, 1};
	out->time_range = (struct projection_range){-2, 2};
	out->space_rows = (int)rows;
	if (!node)
		return true;
	struct reader search;
	noun_open(&search, map->reading, node, "search", &search_noun);
	fields_read(&search, &search_noun, &form, NULL);
	bool good = read_range(&search, "allocation", form.allocation, &out->space_range) &&
		    read_range(&search, "schedule", form.schedule, &out->time_range) &&
		    read_range(&search, "vector", form.vector, &out->vector_range);
	out->by_vectors = form.vector != NULL;
	good = read_folds(&search, &form.folds, out) && good;
	if (form.vector && (form.allocation || form.rows))
		good = reading_refuse(map->reading, form.vector,
			"'vector' lists projections with one vector each; 'allocation' and 'rows' list "
			"matrices: give one of the two");
	if (out->folds) { /* every axis of the array is a row, as long as there are loops */
		const struct node *array = node_find(map->map, "array");
		rows = number_min(array ? (int64_t)array->count : 0, out->recurrence.loop_count);
	}
	if (form.rows)
		node_integer(map->reading, form.rows, reader_place(&search, "rows"), 0,
			out->recurrence.loop_count, &rows);
	out->space_rows = out->by_vectors ? out->recurrence.loop_count - 1 : (int)rows;
	out->wires_most = form.wires;
	reader_done(&search);
	return good;
}

/* The spec becomes that of the small array. */
static bool read_fold(struct reader *map, const struct node *node, struct space_time *out)
{
	struct fold_form form = {0};
	struct fold fold = {0};
	const char *why;
	if (!node)
		return true;
	struct reader reader;
	noun_open(&reader, map->reading, node, "fold", &fold_noun);
	fields_read(&reader, &fold_noun, &form, NULL);
	reader_done(&reader);
	if (!form.array)
		return false;
	if (!out->has_space || !out->has_time)
		return reading_refuse(map->reading, node,
			"'fold' needs an 'allocation' and a 'schedule': they are what is folded");
	fold.order = (enum fold_order)form.order;
	fold.row_count = out->projection.space_count;
	if (!space_time_vector(map->reading, form.array, "'array' of 'fold'", fold.row_count, 1,
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
	struct space_time_form form = {0};
	size_t before = diag_errors(reading->diag);
	*out = (struct space_time){0};
	if (!noun_open(&map, reading, node, "space_time", &space_time_noun))
		return false;
	struct recurrence *recurrence = &out->recurrence;
	fields_read_form(&map, &space_time_noun, SPACE_TIME_EVERY, &form, NULL);
	fields_read(&map, &bans_noun, &form.bans, NULL);
	if (space_time_body(&map, &form, beside, out)) {
		read_projection(&map, &form, out);
		if (beside && beside->plan)
			read_plan(reading, beside->plan, out);
		space_time_streams(
			reading, form.wires, "wires", recurrence, &out->projection.wires);
		read_search(&map, form.search, out);
		if (diag_errors(reading->diag) == before) {
			read_row_names(&map, &form, out);
			read_reverse(&map, form.reverse, recurrence, &out->projection);
			space_time_limits(&map, &form, beside ? beside->targets : NULL, out);
		}
		if (diag_errors(reading->diag) == before && read_fold(&map, form.fold, out))
			check_folds(&map, beside, out);
		reader_done(&map);
	}
	return diag_errors(reading->diag) == before;
}
