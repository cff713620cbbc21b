#include "spec/field.h"

#include "base/arena.h"
#include "base/text.h"

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
static bool matches(const char *spellings, const char *key)
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
		if (matches(at, key))
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

static void read_place(struct reader *map, const struct field *field, void *at)
{
	enum need need = field->required ? REQUIRED : OPTIONAL;
	const char *key = field->key;
	switch (field->type) {
	case FIELD_TEXT:
		read_text(map, key, need, at);
		return;
	case FIELD_FLAG:
		read_bool(map, key, need, at);
		return;
	case FIELD_WHOLE:
		read_integer(map, key, need, field->least, field->most, at);
		return;
	case FIELD_SIZE:
		read_size(map, key, need, field->least, field->most, at);
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
		read_word(map, key, need, field->words, at);
		return;
	case FIELD_ANY:
	case FIELD_MAP:
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

void fields_read(struct reader *map, const struct noun *noun, void *whole, const void *context)
{
	for (const struct field *field = noun->fields; field->key; field++) {
		if (field->read)
			field->read(map, field, whole, context);
		else if (field->has_place)
			read_place(map, field, field_place(field, whole));
	}
	for (const struct field *field = noun->fields; field->key; field++)
		if (field->needs && reader_given(map, field->key) &&
			!reader_given(map, field->needs))
			reader_refuse(map, field->key, "says nothing without '%s'", field->needs);
}
