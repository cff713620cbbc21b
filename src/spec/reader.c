#include "spec/reader.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/field.h"
#include "spec/node.h"
#include "spec/value.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LISTED_MOST = 16 }; /* words that a message lists */

bool reading_refuse(const struct reading *reading, const struct node *node, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	diag_error(reading->diag, node->span, "%s", text);
	if (node->alias.source)
		diag_note(reading->diag, node->alias, "used here through its alias");
	return false;
}

static bool is_missing(const struct node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
	       (text_equal(node->text, "~") || strcasecmp(node->text, "null") == 0);
}

static const char *place_name(
	const struct reading *reading, const struct node *map, const char *what)
{
	const struct node *name = node_find(map, "name");
	if (!name || name->kind != NODE_SCALAR || !*name->text)
		return what;
	return arena_format(reading->arena, "%s '%s'", what, name->text);
}

bool reader_open(struct reader *reader, const struct reading *reading, const struct node *node,
	const char *what)
{
	*reader = (struct reader){.reading = reading,
		.map = node,
		.what = what,
		.errors = diag_errors(reading->diag)};
	if (node->kind != NODE_MAP)
		return reading_refuse(
			reading, node, "%s is %s; a map is expected", what, node_kind_name(node));
	reader->what = place_name(reading, node, what);
	return true;
}

bool reader_asked(const struct reader *reader, const char *key)
{
	for (size_t i = 0; i < reader->known_count; i++)
		if (text_equal(reader->known[i], key))
			return true;
	return false;
}

static void mark_known(struct reader *reader, const char *key)
{
	if (reader_asked(reader, key))
		return;
	if (reader->known_count == reader->known_capacity)
		reader->known = array_grown(reader->reading->arena, reader->known,
			reader->known_count, &reader->known_capacity, sizeof *reader->known);
	reader->known[reader->known_count++] = key;
}

/* "a, b or c"; NULL when there are too many to list. */
static const char *list_words(struct arena *arena, const char *const *words, const char *last)
{
	size_t count = 0;
	struct text text = text_open(arena);
	while (words[count])
		count++;
	if (!count || count > LISTED_MOST)
		return NULL;
	for (size_t i = 0; i < count; i++)
		text_add(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : last, words[i]);
	return text_read(&text);
}

/* All keys asked for so far, NULL at the end. */
static const char **known_keys(const struct reader *reader)
{
	const char **known =
		arena_array(reader->reading->arena, const char *, reader->known_count + 1);
	if (reader->known_count)
		memcpy(known, reader->known, reader->known_count * sizeof *known);
	return known;
}

static void reader_complain_unknown(
	const struct reader *reader, const struct node_entry *entry, const char *const *known)
{
	struct diag *diag = reader->reading->diag;
	bool shown = !diag_full(diag);
	const char *near = shown ? suggest(entry->key, known) : NULL;
	const char *list =
		shown && !near ? list_words(reader->reading->arena, known, " and ") : NULL;
	diag_error(diag, entry->key_span,
		near   ? "unknown key '%s' in %s; did you mean '%s'?"
		: list ? "unknown key '%s' in %s; the keys here are %s"
		       : "unknown key '%s' in %s",
		entry->key, reader->what, near ? near : list);
}

void reader_done(struct reader *reader)
{
	const char **known = known_keys(reader);
	bool ended = reader->noun && diag_errors(reader->reading->diag) > reader->errors;
	for (size_t i = 0; i < reader->map->count; i++) {
		const struct node_entry *entry = &reader->map->entries[i];
		if (!reader_asked(reader, entry->key) &&
			!(ended && noun_has(reader->noun, entry->key)))
			reader_complain_unknown(reader, entry, known);
	}
}

void reader_done_lenient(struct reader *reader)
{
	const struct reading *reading = reader->reading;
	const char **known = known_keys(reader);
	for (size_t i = 0; i < reader->map->count; i++) {
		const struct node_entry *entry = &reader->map->entries[i];
		if (reader_asked(reader, entry->key))
			continue;
		const char *near = suggest_misspelt(entry->key, known);
		if (!reading->unread || (near && !node_find(reader->map, near)))
			reader_complain_unknown(reader, entry, known);
		else
			unread_add(reading->arena, reading->unread, entry, reader->what);
	}
}

/* A key that was not read yet may be the missing one, misspelt. */
static void complain_missing(struct reader *reader, const char *key)
{
	const struct node *map = reader->map;
	const char *const wanted[] = {key, NULL};
	reading_refuse(reader->reading, map, "%s has no '%s'", reader->what, key);
	for (size_t i = 0; i < map->count && !diag_full(reader->reading->diag); i++) {
		const struct node_entry *entry = &map->entries[i];
		if (reader_asked(reader, entry->key) || !suggest(entry->key, wanted))
			continue;
		mark_known(reader, entry->key);
		diag_note(reader->reading->diag, entry->key_span, "did you mean '%s' here?", key);
		return;
	}
}

bool reader_given(const struct reader *reader, const char *key)
{
	const struct node *node = node_find(reader->map, key);
	return node && !is_missing(node);
}

const struct node *read_node(struct reader *reader, const char *key, enum need need)
{
	assert(!reader->noun || noun_has(reader->noun, key));
	mark_known(reader, key);
	const struct node *node = node_find(reader->map, key);
	if (node && !is_missing(node))
		return node;
	if (need == REQUIRED && node)
		reading_refuse(reader->reading, node, "'%s' in %s is %s; it needs a value", key,
			reader->what, node->text);
	else if (need == REQUIRED)
		complain_missing(reader, key);
	return NULL;
}

const char *reader_place(const struct reader *reader, const char *key)
{
	return arena_format(reader->reading->arena, "'%s' in %s", key, reader->what);
}

bool reader_refuse(const struct reader *reader, const char *key, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	diag_error(reader->reading->diag, node_find(reader->map, key)->span, "%s %s",
		reader_place(reader, key), text);
	return false;
}

static const struct node *read_kind(
	struct reader *reader, const char *key, enum need need, enum node_kind kind)
{
	static const char *const names[] = {"a word", "a list", "a map"};
	const struct node *node = read_node(reader, key, need);
	if (!node || node->kind == kind)
		return node;
	reading_refuse(reader->reading, node, "%s is %s; %s is expected", reader_place(reader, key),
		node_kind_name(node), names[kind]);
	return NULL;
}

const struct node *read_map(struct reader *reader, const char *key, enum need need)
{
	return read_kind(reader, key, need, NODE_MAP);
}

const struct node *read_list(struct reader *reader, const char *key, enum need need)
{
	return read_kind(reader, key, need, NODE_LIST);
}

static bool has_text(const struct reading *reading, const struct node *node, const char *what,
	const char *expected)
{
	if (node->kind != NODE_SCALAR || !*node->text)
		return reading_refuse(reading, node, "%s is %s; %s is expected", what,
			node_kind_name(node), expected);
	if (node->tag)
		return reading_refuse(
			reading, node, "tag '%s' has no meaning on %s", node->tag, what);
	return true;
}

bool node_text(
	const struct reading *reading, const struct node *node, const char *what, const char **out)
{
	if (!has_text(reading, node, what, "a word"))
		return false;
	*out = node->text;
	return true;
}

bool read_text(struct reader *reader, const char *key, enum need need, const char **out)
{
	const struct node *node = read_node(reader, key, need);
	return node && node_text(reader->reading, node, reader_place(reader, key), out);
}

bool read_bool(struct reader *reader, const char *key, enum need need, bool *out)
{
	static const char *const words[] = {
		"false", "true", "no", "yes", "off", "on", "0", "1", NULL};
	const struct node *node = read_node(reader, key, need);
	if (!node || !has_text(reader->reading, node, reader_place(reader, key), "true or false"))
		return false;
	for (int i = 0; words[i]; i++)
		if (strcasecmp(node->text, words[i]) == 0) {
			*out = i % 2;
			return true;
		}
	return reading_refuse(reader->reading, node, "%s is '%s'; true or false is expected",
		reader_place(reader, key), node->text);
}

bool read_word(
	struct reader *reader, const char *key, enum need need, const char *const *words, int *out)
{
	const struct node *node = read_node(reader, key, need);
	if (!node || !has_text(reader->reading, node, reader_place(reader, key), "a word"))
		return false;
	for (int i = 0; words[i]; i++)
		if (text_equal(words[i], node->text)) {
			*out = i;
			return true;
		}
	struct arena *arena = reader->reading->arena;
	const char *list = list_words(arena, words, " or ");
	return reading_refuse(reader->reading, node, "%s is '%s'%s%s%s", reader_place(reader, key),
		node->text, list ? "; it can be " : "", list ? list : "",
		suggestion(arena, suggest(node->text, words), ""));
}

bool read_texts(struct reader *reader, const char *key, enum need need, const char *const **out,
	size_t *count)
{
	const struct node *node = read_node(reader, key, need);
	if (!node)
		return false;
	bool single = node->kind == NODE_SCALAR;
	if (node->kind == NODE_MAP)
		return reading_refuse(reader->reading, node,
			"%s is a map; a list of words is expected", reader_place(reader, key));
	size_t length = single ? 1 : node->count;
	const char **texts = arena_array(reader->reading->arena, const char *, length);
	const char *what = single ? reader_place(reader, key)
				  : arena_format(reader->reading->arena, "an item of %s",
					    reader_place(reader, key));
	bool fine = true;
	for (size_t i = 0; i < length; i++)
		fine &= node_text(reader->reading, node_item(node, i), what, &texts[i]);
	if (!fine)
		return false;
	*out = texts;
	*count = length;
	return true;
}

/* The quantity of a measure, and the unit of a bare number in it. */
struct measure {
	enum quantity quantity;
	int64_t num, den; /* what a value is multiplied by to be in the measure's unit */
	const char *unit; /* "bytes", "Hz"; "" for bare numbers */
	const char *expected;
};

static const struct measure bare = {QUANTITY_BARE, 1, 1, "", "a number without a unit"};
static const struct measure size = {QUANTITY_SIZE, 1, 1, " bytes", "a size such as 64KiB"};
static const struct measure clock_rate = {
	QUANTITY_CLOCK, 1000000000, 1, " Hz", "a clock such as 1.5GHz"};
static const struct measure rate = {
	QUANTITY_RATE, 1000000000, 1, " B/s", "a rate such as 204.8GB/s"};
static const struct measure energy = {QUANTITY_ENERGY, 1, 1, " pJ", "an energy such as 12pJ"};
static const struct measure duration = {QUANTITY_TIME, 1, 1, " ns", "a time such as 250ns"};

static bool reading_compute(const struct reading *reading, const struct node *node,
	const char *what, const struct measure *measure, struct value *out)
{
	struct value value, scaled;
	if (node->kind != NODE_SCALAR)
		return reading_refuse(reading, node, "%s is %s; %s is expected", what,
			node_kind_name(node), measure->expected);
	if (!expr_read(reading->diag, reading->variables, node, what, &value))
		return false;
	enum quantity quantity = value_quantity(value);
	if (quantity == QUANTITY_BARE && measure->quantity != QUANTITY_BARE) {
		*out = value;
		return true;
	}
	if (quantity != measure->quantity)
		return reading_refuse(reading, node, "%s is %s; %s is expected", what,
			quantity_name(quantity), measure->expected);
	value.bytes = value.time = value.energy = 0;
	if (value_mul(value, value_whole(measure->num), &scaled))
		return reading_refuse(reading, node, "%s is too large", what);
	*out = scaled;
	return true;
}

/*
 * Bare numbers that are hardly what was meant: by the key, in the unit of bare numbers.  Below or above, a
 * warning names the units, two at most, in which the number would be likely, and the one that it has: a number
 * with a unit is taken as it is.
 */
static const struct plausible {
	const char *map, *key; /* the first word of what the map is called */
	const struct measure *measure;
	const char *own;      /* the unit of a bare number */
	double least, most;   /* what a bare number may well be */
	double likely, limit; /* what the number may well be with another unit */
	struct {
		const char *name;
		double size;
	} units[3];
} plausible[] = {
	{"level", "clock", &clock_rate, "Hz", 1e6, 1e11, 5e7, 2e10,
		{{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}}},
	{"level", "size", &size, "B", 16, 1e18, 1024, 1e12, {{"KiB", 1024}, {"MiB", 1048576}}},
	{"level", "span_limit", &size, "B", 128, 1e18, 4096, 1e12,
		{{"KiB", 1024}, {"MiB", 1048576}}},
	{"search", "staging", &size, "B", 128, 1e18, 1024, 1e9, {{"KiB", 1024}, {"MiB", 1048576}}},
	{"level", "bundle_overhead", &duration, "ns", 1e-3, 1e9, 0.1, 1e6,
		{{"s", 1e9}, {"ms", 1e6}}},
	{"level", "core_overhead", &duration, "ns", 1e-3, 1e9, 0.1, 1e6, {{"s", 1e9}, {"ms", 1e6}}},
};

/* "1.2GHz or 1.2MHz" */
static const char *print_likely(
	struct arena *arena, const struct plausible *row, double number, const char *text)
{
	const char *said = NULL;
	for (size_t u = 0; u < 3 && row->units[u].name; u++) {
		double value = number * row->units[u].size;
		if (value < row->likely || value > row->limit)
			continue;
		said = said ? arena_format(arena, "%s or %s%s", said, text, row->units[u].name)
			    : arena_format(arena, "%s%s", text, row->units[u].name);
	}
	return said;
}

/* Units of 10^3 bytes beside powers of two: K of what memories are made of is 1024. */
static void note_decimal(const struct reading *reading, const struct node *node)
{
	char *unit;
	double number = strtod(node->text, &unit);
	double decimal = text_equal(unit, "KB") || text_equal(unit, "kB") ? 1e3
			 : text_equal(unit, "MB")                         ? 1e6
									  : 0;
	int exponent;
	if (decimal > 0 && frexp(number, &exponent) <= 0.5 && number >= 1)
		diag_remark(reading->diag, node->span,
			"%s are %.0f bytes: %s is 10^%d; write %.0f%ciB for %.0f", node->text,
			number * decimal, unit, decimal > 1e3 ? 6 : 3, number,
			decimal > 1e3 ? 'M' : 'K', number * (decimal > 1e3 ? 1048576 : 1024));
}

static void unit_weigh(struct reader *reader, const char *key, const struct node *node,
	const struct measure *measure)
{
	struct arena *arena = reader->reading->arena;
	char *end;
	if (node->kind != NODE_SCALAR)
		return;
	double number = strtod(node->text, &end);
	if (end != node->text && *end && measure == &size)
		note_decimal(reader->reading, node);
	for (size_t i = 0; end != node->text && !*end && i < sizeof plausible / sizeof *plausible;
		i++) {
		const struct plausible *row = &plausible[i];
		if (row->measure != measure || !text_equal(row->key, key) || number <= 0 ||
			strncmp(reader->what, row->map, strlen(row->map)) != 0 ||
			(number >= row->least && number <= row->most))
			continue;
		const char *likely = print_likely(arena, row, number, node->text);
		diag_warning(reader->reading->diag, node->span,
			"%s is %s%s, a bare number%s%s%s%s write %s%s if that is meant",
			reader_place(reader, key), node->text, measure->unit,
			likely ? "; did you mean " : "", likely ? likely : "", likely ? "?" : "",
			likely ? "" : ";", node->text, row->own);
	}
}

/* Doubles that are whole count as whole: log2 and powers may end there. */
static bool take_whole(struct value value, int64_t *out)
{
	if (value.exact && value.den == 1) {
		*out = value.num;
		return true;
	}
	if (value.exact || value.real != floor(value.real) || fabs(value.real) > 9007199254740992.0)
		return false;
	*out = (int64_t)value.real;
	return true;
}

static const char *print_range(struct arena *arena, int64_t least, int64_t most)
{
	if (most == INT64_MAX)
		return arena_format(arena, "must be at least %" PRId64, least);
	if (least == INT64_MIN)
		return arena_format(arena, "must be at most %" PRId64, most);
	if (least == most)
		return arena_format(arena, "can be only %" PRId64, least);
	return arena_format(arena, "can be %" PRId64 " to %" PRId64, least, most);
}

static bool compute_whole(const struct reading *reading, const struct node *node, const char *what,
	const struct measure *measure, int64_t least, int64_t most, int64_t *out)
{
	struct value value;
	int64_t n;
	if (!reading_compute(reading, node, what, measure, &value))
		return false;
	bool taken = take_whole(value, &n);
	if (!taken && !value.exact && value.real == floor(value.real))
		return reading_refuse(reading, node, "%s is %.10g%s; it %s", what, value.real,
			measure->unit, print_range(reading->arena, least, most));
	if (!taken)
		return reading_refuse(reading, node, "%s is %.10g%s; a whole number%s is expected",
			what, value.real, measure->unit, *measure->unit ? " of bytes" : "");
	if (n < least || n > most)
		return reading_refuse(reading, node, "%s is %" PRId64 "%s; it %s", what, n,
			measure->unit, print_range(reading->arena, least, most));
	*out = n;
	return true;
}

static bool compute_ratio(const struct reading *reading, const struct node *node, const char *what,
	const struct measure *measure, bool zero, struct ratio *out)
{
	struct value value;
	if (!reading_compute(reading, node, what, measure, &value))
		return false;
	if (value.real < 0 || (!zero && value.real == 0))
		return reading_refuse(reading, node, "%s is %.10g%s; it must be %s", what,
			value.real, measure->unit, zero ? "at least 0" : "more than 0");
	if (!value.exact)
		return reading_refuse(reading, node,
			"%s is %.17g%s; a fraction of fewer digits is expected", what, value.real,
			measure->unit);
	return ratio_make(value.num, value.den, out);
}

static bool compute_real(const struct reading *reading, const struct node *node, const char *what,
	const struct measure *measure, bool negative, double *out)
{
	struct value value;
	if (!reading_compute(reading, node, what, measure, &value))
		return false;
	if (value.real < 0 && !negative)
		return reading_refuse(reading, node, "%s is %.10g%s; it must be at least 0", what,
			value.real, measure->unit);
	*out = value.real;
	return true;
}

bool node_integer(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *out)
{
	return compute_whole(reading, node, what, &bare, least, most, out);
}

bool node_size(const struct reading *reading, const struct node *node, const char *what,
	int64_t least, int64_t most, int64_t *bytes)
{
	return compute_whole(reading, node, what, &size, least, most, bytes);
}

bool node_number(
	const struct reading *reading, const struct node *node, const char *what, double *out)
{
	return compute_real(reading, node, what, &bare, true, out);
}

bool read_integer(struct reader *reader, const char *key, enum need need, int64_t least,
	int64_t most, int64_t *out)
{
	const struct node *node = read_node(reader, key, need);
	return node && compute_whole(reader->reading, node, reader_place(reader, key), &bare, least,
			       most, out);
}

bool read_size(struct reader *reader, const char *key, enum need need, int64_t least, int64_t most,
	int64_t *bytes)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_whole(reader->reading, node, reader_place(reader, key), &size,
				    least, most, bytes);
	if (good)
		unit_weigh(reader, key, node, &size);
	return good;
}

bool read_number(struct reader *reader, const char *key, enum need need, double *out)
{
	const struct node *node = read_node(reader, key, need);
	return node &&
	       compute_real(reader->reading, node, reader_place(reader, key), &bare, true, out);
}

bool read_picojoules(struct reader *reader, const char *key, enum need need, double *out)
{
	const struct node *node = read_node(reader, key, need);
	if (!node || !compute_real(
			     reader->reading, node, reader_place(reader, key), &energy, false, out))
		return false;
	return *out <= PICOJOULES_MOST ||
	       reader_refuse(
		       reader, key, "is %.10g pJ; it must be at most %g pJ", *out, PICOJOULES_MOST);
}

bool read_ratio(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	return node &&
	       compute_ratio(reader->reading, node, reader_place(reader, key), &bare, true, out);
}

bool read_hertz(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_ratio(reader->reading, node, reader_place(reader, key),
				    &clock_rate, false, out);
	if (good)
		unit_weigh(reader, key, node, &clock_rate);
	return good;
}

bool read_rate(struct reader *reader, const char *key, enum need need, struct ratio *bytes_per_s)
{
	const struct node *node = read_node(reader, key, need);
	return node && compute_ratio(reader->reading, node, reader_place(reader, key), &rate, false,
			       bytes_per_s);
}

bool read_nanoseconds(struct reader *reader, const char *key, enum need need, struct ratio *out)
{
	const struct node *node = read_node(reader, key, need);
	bool good = node && compute_ratio(reader->reading, node, reader_place(reader, key),
				    &duration, true, out);
	if (good)
		unit_weigh(reader, key, node, &duration);
	return good;
}

bool node_nanoseconds(
	const struct reading *reading, const struct node *node, const char *what, struct ratio *out)
{
	return compute_ratio(reading, node, what, &duration, true, out);
}

enum { UNREAD_LISTED_MOST = 12 }; /* keys that the note lists */

void unread_add(struct arena *arena, struct unread *unread, const struct node_entry *entry,
	const char *what)
{
	if (names_find(&unread->names, entry->key) >= 0)
		return;
	names_add(arena, &unread->names, entry->key, (int)unread->keys.count);
	*array_add(arena, &unread->keys) = (struct unread_key){entry->key, what, entry->key_span};
}

void unread_note(struct arena *arena, const struct unread *unread, struct diag *diag)
{
	size_t count = unread->keys.count;
	struct text list = text_open(arena);
	for (size_t i = 0; i < count && i < UNREAD_LISTED_MOST; i++)
		text_add(&list, "%s'%s' in %s", i ? ", " : "", unread->keys.at[i].key,
			unread->keys.at[i].what);
	if (count > UNREAD_LISTED_MOST)
		text_add(&list, " and %zu more", count - UNREAD_LISTED_MOST);
	if (count)
		diag_remark(diag, unread->keys.at[0].span, "not read, as in Timeloop: %s%s%s",
			text_read(&list),
			unread->for_components ? "; Accelergy's plug-ins may know " : "",
			!unread->for_components ? ""
			: count == 1            ? "it"
						: "them");
}

struct unit {
	const char *name;
	int64_t num, den;
	signed char bytes, time, energy;
};

#define KI INT64_C(1024)
#define K INT64_C(1000)

/* In bytes, nanoseconds and picojoules. */
static const struct unit units[] = {
	{"B", 1, 1, 1, 0, 0},
	{"kB", K, 1, 1, 0, 0},
	{"KB", K, 1, 1, 0, 0},
	{"MB", K *K, 1, 1, 0, 0},
	{"GB", K *K *K, 1, 1, 0, 0},
	{"TB", K *K *K *K, 1, 1, 0, 0},
	{"KiB", KI, 1, 1, 0, 0},
	{"MiB", KI *KI, 1, 1, 0, 0},
	{"GiB", KI *KI *KI, 1, 1, 0, 0},
	{"TiB", KI *KI *KI *KI, 1, 1, 0, 0},
	{"B/s", 1, K *K *K, 1, -1, 0},
	{"kB/s", 1, K *K, 1, -1, 0},
	{"KB/s", 1, K *K, 1, -1, 0},
	{"MB/s", 1, K, 1, -1, 0},
	{"GB/s", 1, 1, 1, -1, 0},
	{"TB/s", K, 1, 1, -1, 0},
	{"KiB/s", KI, K *K *K, 1, -1, 0},
	{"MiB/s", KI *KI, K *K *K, 1, -1, 0},
	{"GiB/s", KI *KI *KI, K *K *K, 1, -1, 0},
	{"TiB/s", KI *KI *KI *KI, K *K *K, 1, -1, 0},
	{"Hz", 1, K *K *K, 0, -1, 0},
	{"kHz", 1, K *K, 0, -1, 0},
	{"KHz", 1, K *K, 0, -1, 0},
	{"MHz", 1, K, 0, -1, 0},
	{"GHz", 1, 1, 0, -1, 0},
	{"ps", 1, K, 0, 1, 0},
	{"ns", 1, 1, 0, 1, 0},
	{"us", K, 1, 0, 1, 0},
	{"ms", K *K, 1, 0, 1, 0},
	{"s", K *K *K, 1, 0, 1, 0},
	{"aJ", 1, K *K, 0, 0, 1},
	{"fJ", 1, K, 0, 0, 1},
	{"pJ", 1, 1, 0, 0, 1},
	{"nJ", K, 1, 0, 0, 1},
	{"uJ", K *K, 1, 0, 0, 1},
	{"mJ", K *K *K, 1, 0, 0, 1},
	{"J", K *K *K *K, 1, 0, 0, 1},
};

static bool ends_word(char c)
{
	return !isalnum((unsigned char)c) && c != '_';
}

bool unit_read(const char *text, size_t *length, struct value *out)
{
	const struct unit *longest = NULL;
	*length = 0;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t width = strlen(units[i].name);
		if (width > *length && strncmp(text, units[i].name, width) == 0 &&
			ends_word(text[width])) {
			longest = &units[i];
			*length = width;
		}
	}
	if (!longest)
		return false;
	value_fraction(longest->num, longest->den, out);
	out->bytes = longest->bytes;
	out->time = longest->time;
	out->energy = longest->energy;
	return true;
}

const char *unit_suggest(const char *word)
{
	enum { COUNT = sizeof units / sizeof *units };
	const char *names[COUNT + 1];
	for (size_t i = 0; i < COUNT; i++)
		names[i] = units[i].name;
	names[COUNT] = NULL;
	return suggest(word, names);
}
