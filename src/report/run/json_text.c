#include "report/run/json_text.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *json_dump(struct arena *arena, json_t *value, size_t flags)
{
	struct text text = text_open(arena);
	char *dumped = value ? json_dumps(value, flags) : NULL;
	if (dumped)
		utf8_escape(&text, dumped);
	json_decref(value);
	const char *line = dumped ? text_read(&text) : NULL;
	free(dumped);
	return line;
}

const char *json_text(struct arena *arena, json_t *root)
{
	const char *dumped = json_dump(arena, root, JSON_INDENT(2));
	if (!dumped)
		fatal("the results could not be written");
	return arena_format(arena, "%s\n", dumped);
}

/* True for a text that spreadsheets would compute. */
static bool csv_is_formula(const char *value)
{
	char *end;
	if (!*value || !strchr("=@+-\t\r", *value))
		return false;
	strtod(value, &end);
	return end == value || *end;
}

void csv_field(struct text *text, const char *value)
{
	bool formula = csv_is_formula(value);
	if (!formula && !strpbrk(value, ",\"\n")) {
		text_add(text, "%s", value);
		return;
	}
	text_add(text, formula ? "\"'" : "\"");
	for (; *value; value++)
		text_add(text, *value == '"' ? "\"\"" : "%c", *value);
	text_add(text, "\"");
}

const char *json_leaf_text(struct arena *arena, const json_t *leaf)
{
	if (json_is_string(leaf))
		return json_string_value(leaf);
	char *dumped = json_dumps(leaf, JSON_ENCODE_ANY);
	const char *text = arena_text(arena, dumped);
	free(dumped);
	return text;
}

static void flatten(struct text *text, struct arena *arena, const char *path, json_t *value)
{
	const char *dot = path[0] ? "." : "";
	if (json_is_object(value)) {
		const char *key;
		json_t *child;
		json_object_foreach(value, key, child)
			flatten(text, arena, arena_format(arena, "%s%s%s", path, dot, key), child);
	} else if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			flatten(text, arena, arena_format(arena, "%s%s%zu", path, dot, i),
				json_array_get(value, i));
	} else {
		csv_field(text, path);
		text_add(text, ",");
		csv_field(text, json_leaf_text(arena, value));
		text_add(text, "\n");
	}
}

const char *json_csv(struct arena *arena, json_t *root)
{
	struct text text = text_open(arena);
	text_add(&text, "key,value\n");
	flatten(&text, arena, "", root);
	json_decref(root);
	return text_read(&text);
}

json_t *json_real_or_infinite(double value)
{
	return isinf(value) ? json_string("infinite") : json_real(value);
}
