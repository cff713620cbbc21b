#include "spec/field.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool noun_field(const struct noun *noun, size_t i, struct field *field)
{
	size_t own = 0;
	while (noun->fields && noun->fields[own].key) {
		if (own == i) {
			*field = noun->fields[own];
			return true;
		}
		own++;
	}
	i -= own;
	for (size_t p = 0; noun->parts && noun->parts[p]; p++)
		for (size_t k = 0; noun_field(noun->parts[p], k, field); k++)
			if (i-- == 0)
				return true;
	return noun->more && noun->more(i, field);
}

/* True if a key is the first word of a list, with '-' read as '_'. */
static bool field_matches(const char *spellings, const char *key)
{
	size_t i = 0;
	while (key[i] && (key[i] == '-' ? '_' : key[i]) == spellings[i])
		i++;
	return !key[i] && (!spellings[i] || spellings[i] == ' ');
}

int field_spelling(const struct field *field, const char *key)
{
	const char *at = field->spellings;
	if (!at)
		return text_equal(field->key, key) ? 0 : -1;
	for (int i = 0; *at; i++) {
		if (field_matches(at, key))
			return i;
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return -1;
}

const char *field_spelling_at(struct arena *arena, const struct field *field, int i)
{
	const char *at = field->spellings ? field->spellings : field->key;
	for (; i > 0 && *at; i--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return *at ? arena_format(arena, "%.*s", (int)strcspn(at, " "), at) : NULL;
}

const struct field *noun_find(const struct noun *noun, const char *key)
{
	const struct field *found = NULL;
	for (const struct field *field = noun->fields; field && field->key; field++)
		if (field_spelling(field, key) >= 0)
			return field;
	for (size_t p = 0; !found && noun->parts && noun->parts[p]; p++)
		found = noun_find(noun->parts[p], key);
	return found;
}

/* Reads a list of whole numbers or sizes. */
static void field_read_numbers(
	struct reader *map, const struct field *field, enum need need, struct numbers *out)
{
	const struct node *list = read_list(map, field->key, need);
	size_t count = list ? list->count : 0;
	int64_t *numbers = arena_array(map->reading->arena, int64_t, count + 1);
	for (size_t i = 0; i < count; i++)
		(field->type == FIELD_SIZE ? node_size : node_integer)(map->reading, list->items[i],
			field->item, field->least, field->most, &numbers[i]);
	if (list)
		*out = (struct numbers){numbers, count};
}

static void read_inner(struct reader *map, const struct field *field, enum need need, void *at,
	const void *context)
{
	struct reader inner;
	const struct node *node = read_map(map, field->key, need);
	if (!node || !noun_open(&inner, map->reading, node, field->key, field->noun))
		return;
	fields_read(&inner, field->noun, at, context);
	reader_done(&inner);
}

/* True if several values are a struct texts. */
static bool has_words(const struct field *field)
{
	return field->type == FIELD_TEXT || field->type == FIELD_CHOICE;
}

static void read_several(struct reader *map, const struct field *field, enum need need, void *at)
{
	struct texts *texts = at;
	if (has_words(field))
		read_texts(map, field->key, need, &texts->at, &texts->count);
	else
		field_read_numbers(map, field, need, at);
}

static void put_number(const struct field *field, void *at, int64_t number)
{
	if (field->size == sizeof(bool))
		*(bool *)at = number;
	else if (field->size == sizeof(int))
		*(int *)at = (int)number;
	else
		*(int64_t *)at = number;
}

static int64_t number_at(const struct field *field, const void *at)
{
	return field->size == sizeof(bool)  ? *(const bool *)at
	       : field->size == sizeof(int) ? *(const int *)at
					    : *(const int64_t *)at;
}

static const struct node *field_read_kept(
	struct reader *map, const struct field *field, enum need need)
{
	bool is_map = field->shape == SHAPE_NAMED ||
		      (field->shape == SHAPE_ONE &&
			      (field->type == FIELD_MAP || field->type == FIELD_SENTENCES));
	if (field->keep == KEEPS_KIND && (is_map || field->shape == SHAPE_LIST))
		return (is_map ? read_map : read_list)(map, field->key, need);
	return read_node(map, field->key, need);
}

static void read_place(struct reader *map, const struct field *field, void *at, const void *context)
{
	enum need need = field->required ? REQUIRED : OPTIONAL;
	const char *key = field->key;
	int64_t number;
	int word;
	if (field->keep) {
		*(const struct node **)at = field_read_kept(map, field, need);
		return;
	}
	if (field->shape != SHAPE_ONE) {
		read_several(map, field, need, at);
		return;
	}
	switch (field->type) {
	case FIELD_TEXT:
		read_text(map, key, need, at);
		return;
	case FIELD_FLAG:
		read_bool(map, key, need, at);
		return;
	case FIELD_WHOLE:
		if (read_integer(map, key, need, field->least, field->most, &number))
			put_number(field, at, number);
		return;
	case FIELD_SIZE:
		if (read_size(map, key, need, field->least, field->most, &number))
			put_number(field, at, number);
		return;
	case FIELD_NUMBER:
		read_number(map, key, need, at);
		return;
	case FIELD_RATIO:
		read_ratio(map, key, need, at);
		return;
	case FIELD_RATE:
		read_rate(map, key, need, at);
		return;
	case FIELD_CLOCK:
		read_hertz(map, key, need, at);
		return;
	case FIELD_TIME:
		read_nanoseconds(map, key, need, at);
		return;
	case FIELD_ENERGY:
		read_picojoules(map, key, need, at);
		return;
	case FIELD_CHOICE:
		if (read_word(map, key, need, field->words, &word))
			put_number(field, at, word);
		return;
	case FIELD_MAP:
		read_inner(map, field, need, at, context);
		return;
	case FIELD_ANY:
	case FIELD_SENTENCES:
		read_node(map, key, need);
	}
}

bool noun_has(const struct noun *noun, const char *key)
{
	struct field field;
	for (size_t i = 0; noun_field(noun, i, &field); i++) {
		size_t length = strcspn(field.key, "*");
		if (field.key[length] ? strncmp(field.key, key, length) == 0
				      : field_spelling(&field, key) >= 0)
			return true;
	}
	return false;
}

bool noun_open(struct reader *map, const struct reading *reading, const struct node *node,
	const char *what, const struct noun *noun)
{
	bool opened = reader_open(map, reading, node, what);
	map->noun = noun->older && !reader_given(map, noun->older) ? NULL : noun;
	return opened;
}

const char *field_given(const struct reader *map, const struct field *field)
{
	int first = INT_MAX;
	const char *key = field->key;
	for (size_t i = 0; field->spellings && i < map->map->count; i++) {
		int spelling = field_spelling(field, map->map->entries[i].key);
		if (spelling >= 0 && spelling < first) {
			first = spelling;
			key = map->map->entries[i].key;
		}
	}
	return key;
}

void field_read_filled(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const struct node *node = node_find(map->map, field->key);
	bool empty = node_is_empty(node) || (node->kind == NODE_SCALAR && !*node->text);
	if (field->required || !empty)
		read_place(map, field, field_place(field, whole), context);
	else
		read_node(map, field->key, OPTIONAL);
}

void field_check(struct reader *map, const struct field *field, void *whole, const void *context)
{
	max_align_t place[4];
	struct field own = *field;
	own.size = sizeof(int64_t);
	own.keep = field->type == FIELD_MAP ? KEEPS_KIND : KEEPS_NO_NODE;
	read_place(map, &own, place, context);
}

void field_skip(struct reader *map, const struct field *field, void *whole, const void *context)
{
	read_node(map, field->key, OPTIONAL);
}

void fields_mark(struct reader *map, const struct noun *noun)
{
	for (const struct field *row = noun->fields; row->key; row++)
		read_node(map, field_given(map, row), OPTIONAL);
}

void fields_read(struct reader *map, const struct noun *noun, void *whole, const void *context)
{
	fields_read_form(map, noun, 0, whole, context);
}

void fields_read_form(struct reader *map, const struct noun *noun, unsigned form, void *whole,
	const void *context)
{
	for (const struct field *row = noun->fields; row->key; row++) {
		struct field field = *row;
		if ((row->has && !row->has(whole)) || (form && row->forms && !(row->forms & form)))
			continue;
		field.required |= (row->needed & form) != 0;
		field.key = field_given(map, row);
		if (field.read)
			field.read(map, &field, whole, context);
		else if (field.has_place)
			read_place(map, &field, field_place(&field, whole), context);
	}
	for (const struct field *field = noun->fields; field->key; field++)
		if (field->needs && reader_given(map, field->key) &&
			!reader_given(map, field->needs))
			reader_refuse(map, field->key, "has no effect without '%s'", field->needs);
}

/* `[a, b]`; NULL if the key is missing. */
static const char *print_several(struct arena *arena, const struct field *field, const void *at)
{
	struct texts texts = {0};
	struct numbers numbers = {0};
	struct text text = text_open(arena);
	if (has_words(field))
		texts = *(const struct texts *)at;
	else if (field->count)
		numbers = (struct numbers){at, field->count};
	else
		numbers = *(const struct numbers *)at;
	for (size_t i = 0; i < texts.count + numbers.count; i++) {
		text_add(&text, i ? ", " : "[");
		if (texts.at)
			quote_yaml(&text, texts.at[i]);
		else
			text_add(&text, "%" PRId64, numbers.at[i]);
	}
	text_add(&text, text.length ? "]" : "[]");
	return texts.at || numbers.at ? text_read(&text) : NULL;
}

static const char *print_ratio(struct arena *arena, struct ratio ratio)
{
	return arena_format(arena,
		ratio.num && ratio.den != 1 ? "%" PRId64 "/%" PRId64 : "%" PRId64, ratio.num,
		ratio.den);
}

const char *real_text(struct arena *arena, double real)
{
	for (int digits = 6; digits < 17; digits++) {
		const char *text = arena_format(arena, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			return text;
	}
	return arena_format(arena, "%.17g", real);
}

/* A value as it is written; NULL if the key is missing. */
static const char *print_value(struct arena *arena, const struct field *field, const void *at)
{
	struct text text = text_open(arena);
	switch (field->type) {
	case FIELD_TEXT:
		if (!*(const char *const *)at)
			return NULL;
		quote_yaml(&text, *(const char *const *)at);
		return text_read(&text);
	case FIELD_FLAG:
		return *(const bool *)at ? "true" : "false";
	case FIELD_WHOLE:
	case FIELD_SIZE:
		return arena_format(arena, "%" PRId64, number_at(field, at));
	case FIELD_NUMBER:
	case FIELD_ENERGY:
		return real_text(arena, *(const double *)at);
	case FIELD_RATE: /* of 0: unlimited */
		if (!((const struct ratio *)at)->num)
			return NULL;
		return print_ratio(arena, *(const struct ratio *)at);
	case FIELD_RATIO:
	case FIELD_CLOCK:
	case FIELD_TIME:
		return print_ratio(arena, *(const struct ratio *)at);
	case FIELD_CHOICE:
		return field->words[number_at(field, at)];
	case FIELD_MAP:
		text_add(&text, "{");
		fields_write(&text, field->noun, at, ", ");
		text_add(&text, "}");
		return text_read(&text);
	case FIELD_ANY:
	case FIELD_SENTENCES:
		break;
	}
	return NULL;
}

void fields_write(
	struct text *text, const struct noun *noun, const void *whole, const char *between)
{
	int count = 0;
	for (const struct field *field = noun->fields; field->key; field++) {
		const void *at = (const char *)whole + field->offset;
		if (!field->has_place || field->keep || (field->has && !field->has(whole)))
			continue;
		const char *value = field->shape == SHAPE_ONE
					    ? print_value(text->arena, field, at)
					    : print_several(text->arena, field, at);
		if (value && (!field->omit || !text_equal(field->omit, value)))
			text_add(text, "%s%s: %s", count++ ? between : "", field->key, value);
	}
}
