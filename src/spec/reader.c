#include "spec/reader.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/unread.h"

#include <stdarg.h>
#include <stdio.h>
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
	*reader = (struct reader){.reading = reading, .map = node, .what = what};
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

static void complain_unknown(
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
	for (size_t i = 0; i < reader->map->count; i++)
		if (!reader_asked(reader, reader->map->entries[i].key))
			complain_unknown(reader, &reader->map->entries[i], known);
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
			complain_unknown(reader, entry, known);
		else
			unread_add(reading->arena, reading->unread, entry, reader->what);
	}
}

/* A key nobody asked for yet may be the missing one, misspelt. */
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

const struct node *read_node(struct reader *reader, const char *key, enum need need)
{
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
			reading, node, "tag '%s' means nothing on %s", node->tag, what);
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
