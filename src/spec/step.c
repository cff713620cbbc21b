#include "spec/step.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <string.h>

void stepper_open(
	struct stepper *s, struct arena *arena, const struct source *source, struct diag *diag)
{
	s->source = source;
	s->end = source_span(source, source->length, source->length);
	s->arena = arena;
	s->diag = diag;
	if (!yaml_parser_initialize(&s->parser))
		fatal("out of memory in the YAML parser");
	yaml_parser_set_encoding(&s->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&s->parser, (const unsigned char *)source->bytes, source->length);
}

void stepper_close(struct stepper *s)
{
	yaml_parser_delete(&s->parser);
}

static void place(const struct stepper *s, yaml_mark_t mark, int *line, int *column)
{
	bool behind = mark.line >= (size_t)s->end.line;
	*line = behind ? s->end.line : (int)mark.line + 1;
	*column = behind ? s->end.column : (int)mark.column + 1;
}

struct span stepper_span(const struct stepper *s, yaml_mark_t from, yaml_mark_t to)
{
	struct span span = {.source = s->source};
	place(s, from, &span.line, &span.column);
	place(s, to, &span.end_line, &span.end_column);
	return span;
}

static struct span span_at(const struct stepper *stepper, yaml_mark_t mark)
{
	struct span at = stepper_span(stepper, mark, mark);
	at.end_column++;
	return at;
}

/* What libyaml says, what we say, and what the place where it began is called. */
struct wording {
	const char *problem, *context;
	const char *error, *note;
	bool at_context; /* the beginning is the better place for the error */
};

static const struct wording wordings[] = {
	{"found unexpected end of stream", "quoted scalar",
		"the quotes that open here are never closed", NULL, true},
	{"found unexpected document indicator", "quoted scalar",
		"the quotes that open here are not closed before the document ends", NULL, true},
	{"found unknown escape character", "quoted scalar",
		"this '\\' begins no escape; write '\\\\' or use single quotes", NULL, false},
	{"did not find expected hexdecimal number", "quoted scalar",
		"an escape needs hexadecimal digits: \\xNN, \\uNNNN", NULL, false},
	{"did not find expected key", "block mapping",
		"a key is expected here; the indentation differs from the map's",
		"the map begins here", false},
	{"did not find expected '-' indicator", "block collection",
		"'-' is expected here; the indentation differs from the list's",
		"the list begins here", false},
	{"did not find expected ',' or '}'", "flow mapping", "',' or '}' is expected here",
		"for the '{' that opens here", false},
	{"did not find expected ',' or ']'", "flow sequence", "',' or ']' is expected here",
		"for the '[' that opens here", false},
	{"could not find expected ':'", "simple key", "this line has no ':' that ends its key",
		NULL, true},
	{"mapping values are not allowed in this context", "",
		"a second ': ' cannot stand here; check the indentation, or quote the text", NULL,
		false},
	{"block sequence entries are not allowed in this context", "",
		"'- ' cannot stand here; begin the list on a line of its own", NULL, false},
	{"mapping keys are not allowed in this context", "", "a key cannot stand here", NULL,
		false},
	{"did not find expected <document start>", "",
		"this cannot follow what stands before it; check the indentation", NULL, false},
	{"did not find expected node content", "", "a value is expected here", NULL, false},
	{"did not find expected alphabetic or numeric character", "anchor",
		"'&' needs the name of an anchor", NULL, true},
	{"did not find expected alphabetic or numeric character", "alias",
		"'*' at the beginning names an anchor; quote the text if it is none", NULL, true},
	{"found a tab character that violates indentation", "",
		"a tab in the indentation; YAML indents with spaces", NULL, false},
	{"found a tab character where an indentation space is expected", "",
		"a tab in the indentation; YAML indents with spaces", NULL, false},
	{"found undefined tag handle", "", "this tag has an undefined handle", NULL, false},
	{"found duplicate %YAML directive", "", "a second %YAML directive", NULL, false},
	{"found incompatible YAML document", "", "only YAML 1.1 and 1.2 are read", NULL, false},
};

static bool has(const char *text, const char *part)
{
	return strstr(text ? text : "", part) != NULL;
}

static char character_at(const struct source *source, struct span at)
{
	size_t offset = source_offset(source, at.line, at.column);
	return offset < source->length ? source->bytes[offset] : ' ';
}

/* What the character at the place tells better than the parser. */
static bool report_character(
	const struct source *source, struct span at, const char *problem, struct diag *diag)
{
	char c = character_at(source, at);
	bool no_token = has(problem, "found character that cannot start any token");
	if (no_token && c == '\t')
		diag_error(diag, at, "a tab in the indentation; YAML indents with spaces");
	else if (no_token)
		diag_error(diag, at, "'%c' cannot begin a value; put the text in quotes", c);
	else if ((c == '[' || c == '{') && has(problem, "did not find expected ',' or"))
		diag_error(diag, at, "'%c' cannot stand in a text inside [ ] or { }; quote it", c);
	else if (c == ':' && (has(problem, "expected key") || has(problem, "node content")))
		diag_error(diag, at, "a key is expected before ':'");
	else
		return false;
	return true;
}

/* Complains about what stopped the YAML parser, in words for its users. */
static void report_problem(const struct stepper *stepper)
{
	const yaml_parser_t *parser = &stepper->parser;
	struct diag *diag = stepper->diag;
	if (parser->error == YAML_MEMORY_ERROR)
		fatal("out of memory in the YAML parser");
	const char *problem = parser->problem ? parser->problem : "not YAML";
	struct span at = span_at(stepper, parser->problem_mark);
	struct span from = span_at(stepper, parser->context_mark);
	if (report_character(stepper->source, at, problem, diag))
		return;
	for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
		const struct wording *w = &wordings[i];
		if (!has(problem, w->problem) || !has(parser->context, w->context))
			continue;
		diag_error(diag, w->at_context ? from : at, "%s", w->error);
		if (w->note)
			diag_note(diag, from, "%s", w->note);
		return;
	}
	diag_error(diag, at, "%s%s%s", parser->context ? parser->context : "",
		parser->context ? ": " : "", problem);
}

static const char *copied(struct arena *arena, const yaml_char_t *text)
{
	return text ? arena_text(arena, (const char *)text) : NULL;
}

static void simplify_tag(struct yaml_step *step)
{
	static const char standard[] = "tag:yaml.org,2002:";
	if (!step->tag)
		return;
	bool ours = strncmp(step->tag, standard, sizeof standard - 1) != 0;
	const char *name = ours ? step->tag : step->tag + sizeof standard - 1;
	static const char *const dropped[] = {"int", "float", "bool", "null", "seq", "map"};
	if (text_equal(name, ours ? "!" : "str")) {
		step->quoted = true;
		step->tag = NULL;
		return;
	}
	for (size_t i = 0; !ours && i < sizeof dropped / sizeof *dropped; i++)
		if (text_equal(name, dropped[i]))
			step->tag = NULL;
}

/* An anchor or tag stands before the text of a scalar; its span is that of the text. */
static void take_scalar(struct stepper *s, const yaml_event_t *event, struct yaml_step *step)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	step->anchor = copied(s->arena, event->data.scalar.anchor);
	step->tag = copied(s->arena, event->data.scalar.tag);
	step->text = arena_text(s->arena, value);
	step->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (strlen(step->text) != length)
		diag_error(s->diag, step->span, "a text with a NUL character");
	bool decorated = step->anchor || step->tag;
	if (decorated && !step->quoted && length && step->span.line == step->span.end_line)
		step->span.column = step->span.end_column - (int)utf8_count(value, length);
}

bool stepper_next(struct stepper *s, struct yaml_step *step)
{
	yaml_event_t event;
	*step = (struct yaml_step){0};
	if (!yaml_parser_parse(&s->parser, &event)) {
		report_problem(s);
		return false;
	}
	step->type = event.type;
	step->span = stepper_span(s, event.start_mark, event.end_mark);
	if (event.type == YAML_SCALAR_EVENT) {
		take_scalar(s, &event, step);
	} else if (event.type == YAML_ALIAS_EVENT) {
		step->anchor = copied(s->arena, event.data.alias.anchor);
	} else if (event.type == YAML_SEQUENCE_START_EVENT) {
		step->anchor = copied(s->arena, event.data.sequence_start.anchor);
		step->tag = copied(s->arena, event.data.sequence_start.tag);
		step->flow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	} else if (event.type == YAML_MAPPING_START_EVENT) {
		step->anchor = copied(s->arena, event.data.mapping_start.anchor);
		step->tag = copied(s->arena, event.data.mapping_start.tag);
		step->flow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
	}
	yaml_event_delete(&event);
	simplify_tag(step);
	return true;
}
