#include "base/option.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct parse {
	struct arena *arena;
	const struct option *table;
	struct diag *diag;
	struct array(struct option_value) options;
	struct array(const char *) rest;
	struct array(struct span) spans;
};

static struct span argument_span(struct arena *arena, int number, const char *text)
{
	struct source *source = arena_new(arena, struct source);
	source->name = arena_format(arena, "argument %d", number);
	source->bytes = text;
	source->length = strlen(text);
	return (struct span){source, 1, 1, 1, (int)source->length + 1};
}

static const struct option *find(const struct option *table, const char *name, size_t length)
{
	for (const struct option *option = table; option->name; option++)
		if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

static void complain_unknown(struct parse *parse, struct span span, const char *name, size_t length)
{
	size_t count = 0;
	while (parse->table[count].name)
		count++;
	const char **names = arena_array(parse->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		names[i] = parse->table[i].name;
	const char *word = arena_format(parse->arena, "%.*s", (int)length, name);
	const char *near = suggest(word, names);
	if (near)
		diag_error(parse->diag, span, "unknown option '--%s'; did you mean '--%s'?", word,
			near);
	else
		diag_error(parse->diag, span, "unknown option '--%s'; --help lists them", word);
}

static void take(
	struct parse *parse, const struct option *option, const char *text, struct span span)
{
	*array_add(parse->arena, &parse->options) = (struct option_value){option, text, span};
}

/* Both forms end here; answers how many further arguments were used. */
static int take_with(struct parse *parse, const struct option *option, const char *inside,
	const char *next, struct span span, int number)
{
	if (!option->argument) {
		if (inside)
			diag_error(parse->diag, span, "option '--%s' takes no value", option->name);
		take(parse, option, "", span);
		return 0;
	}
	if (inside) {
		take(parse, option, inside, span);
		return 0;
	}
	if (!next) {
		diag_error(parse->diag, span, "option '--%s' needs a value: %s", option->name,
			option->argument);
		return 0;
	}
	take(parse, option, next, argument_span(parse->arena, number + 1, next));
	return 1;
}

static int parse_long(struct parse *parse, const char *text, const char *next, int number)
{
	struct span span = argument_span(parse->arena, number, text);
	const char *name = text + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *option = find(parse->table, name, length);
	if (!option) {
		complain_unknown(parse, span, name, length);
		return 0;
	}
	return take_with(parse, option, equals ? equals + 1 : NULL, next, span, number);
}

static int parse_short(struct parse *parse, const char *text, const char *next, int number)
{
	struct span span = argument_span(parse->arena, number, text);
	const struct option *option = parse->table;
	while (option->name && option->letter != text[1])
		option++;
	if (!option->name) {
		diag_error(parse->diag, span, "unknown option '-%c'; --help lists them", text[1]);
		return 0;
	}
	return take_with(parse, option, text[2] ? text + 2 : NULL, next, span, number);
}

bool option_parse(struct arena *arena, const struct option *table, int argc, char *const *argv,
	struct diag *diag, struct arguments *out)
{
	struct parse parse = {.arena = arena, .table = table, .diag = diag};
	size_t errors = diag_errors(diag);
	bool ended = false;
	for (int i = 0; i < argc; i++) {
		const char *text = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
		if (!ended && strcmp(text, "--") == 0) {
			ended = true;
		} else if (!ended && strncmp(text, "--", 2) == 0) {
			i += parse_long(&parse, text, next, i + 1);
		} else if (!ended && text[0] == '-' && text[1]) {
			i += parse_short(&parse, text, next, i + 1);
		} else {
			*array_add(arena, &parse.rest) = text;
			*array_add(arena, &parse.spans) = argument_span(arena, i + 1, text);
		}
	}
	*out = (struct arguments){
		.option_count = parse.options.count,
		.count = parse.rest.count,
		.options = parse.options.at,
		.at = parse.rest.at,
		.spans = parse.spans.at,
	};
	return diag_errors(diag) == errors;
}

const struct option_value *option_find(const struct arguments *arguments, const char *name)
{
	for (size_t i = arguments->option_count; i-- > 0;)
		if (text_equal(arguments->options[i].option->name, name))
			return &arguments->options[i];
	return NULL;
}

bool option_integer(const struct arguments *arguments, const char *name, int64_t most,
	struct diag *diag, int64_t *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (!value)
		return true;
	int64_t least = value->option->least;
	if (!most)
		most = value->option->most ? value->option->most : INT64_MAX;
	char *end;
	errno = 0;
	long long number = strtoll(value->text, &end, 10);
	if (end == value->text || *end || errno || number < least || number > most) {
		if (most == INT64_MAX && errno != ERANGE)
			diag_error(diag, value->span,
				"'--%s' wants a whole number from %" PRId64 " up, not '%s'", name,
				least, value->text);
		else
			diag_error(diag, value->span,
				"'--%s' wants a whole number from %" PRId64 " to %" PRId64
				", not '%s'",
				name, least, most, value->text);
		return false;
	}
	*out = number;
	return true;
}

bool option_word(const struct arguments *arguments, const char *name, struct diag *diag, int *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (!value)
		return true;
	const char *const *words = value->option->words;
	for (int i = 0; words[i]; i++)
		if (text_equal(words[i], value->text)) {
			*out = i;
			return true;
		}
	const char *near = suggest(value->text, words);
	diag_error(diag, value->span, "'--%s' cannot be '%s'%s%s%s", name, value->text,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	for (int i = 0; words[i]; i++)
		diag_note(diag, (struct span){0}, "it can be '%s'", words[i]);
	return false;
}

const char *option_usage(struct arena *arena, const struct option *option)
{
	return arena_format(arena, "%s--%s%s%s",
		option->letter ? arena_format(arena, "-%c, ", option->letter) : "    ",
		option->name, option->argument ? " " : "",
		option->argument ? option->argument : "");
}
