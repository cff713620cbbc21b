#include "spec/step.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/text.h"
#include "spec/cfg.h"
#include "spec/compose.h"
#include "spec/file.h"
#include "spec/loop_nest.h"

#include <string.h>
#include <strings.h>

const struct node *node_read_source(
	struct arena *arena, const struct source *source, struct diag *diag)
{
	if (cfg_is(source))
		return file_check_characters(source, diag) ? cfg_compose(arena, source, diag)
							   : NULL;
	if (!file_check(source, diag))
		return NULL;
	if (file_says_nothing(source)) {
		struct node *map = arena_new(arena, struct node);
		diag_warning(diag, (struct span){.source = source},
			source->length ? "is empty but for comments and blank lines" : "is empty");
		*map = (struct node){.kind = NODE_MAP,
			.text = "",
			.span = source_span(source, 0, 0),
			.weight = 1};
		return map;
	}
	return loop_nest_is(source) ? loop_nest_read(arena, source, diag)
				    : compose(arena, source, diag);
}

const struct node *node_read_file_within(
	struct arena *arena, const char *path, const char *const *folders, struct diag *diag)
{
	const struct source *source = file_read(arena, path, diag);
	source = source ? file_include(arena, source, folders, diag) : NULL;
	return source ? node_read_source(arena, source, diag) : NULL;
}

const struct node *node_read_file(struct arena *arena, const char *path, struct diag *diag)
{
	return node_read_file_within(arena, path, NULL, diag);
}

const struct node *node_read_text(
	struct arena *arena, const char *name, const char *text, size_t length, struct diag *diag)
{
	const struct source *source = file_of_text(arena, name, text, length, diag);
	return source ? node_read_source(arena, source, diag) : NULL;
}

const struct node *node_scalar(struct arena *arena, const char *text, struct span span)
{
	struct node *node = arena_new(arena, struct node);
	*node = (struct node){.kind = NODE_SCALAR, .text = text, .span = span};
	return node;
}

bool node_is_empty(const struct node *node)
{
	return !node || (node->kind == NODE_MAP && !node->count) ||
	       (node->kind == NODE_SCALAR && !node->quoted &&
		       (!*node->text || text_equal(node->text, "~") ||
			       text_equal(node->text, "null")));
}

int node_index(const struct node *map, const char *key)
{
	if (!map || map->kind != NODE_MAP)
		return -1;
	if (map->index)
		return names_find(map->index, key);
	for (size_t i = 0; i < map->count; i++)
		if (text_equal(map->entries[i].key, key))
			return (int)i;
	return -1;
}

const struct node *node_find(const struct node *map, const char *key)
{
	int i = node_index(map, key);
	return i < 0 ? NULL : map->entries[i].value;
}

const struct node *node_item(const struct node *node, size_t i)
{
	return node->kind == NODE_LIST ? node->items[i] : node;
}

const char *node_kind_name(const struct node *node)
{
	static const char *const names[] = {"a word", "a list", "a map"};
	return node->kind == NODE_SCALAR && !*node->text ? "empty" : names[node->kind];
}

/* Where the text's line that holds byte `from` begins in the source.  A text of
 * several lines is a block, whose lines follow its header; what escapes or
 * folding changed is not found. */
static const char *find_line(
	const struct node *scalar, const char *line, size_t length, size_t lines_before)
{
	const struct source *source = scalar->span.source;
	size_t at = source_offset(source, scalar->span.line, scalar->span.column);
	size_t end = source_offset(source, scalar->span.end_line, scalar->span.end_column);
	size_t skip = strchr(scalar->text, '\n') ? lines_before + 1 : 0;
	while (skip > 0 && at < end)
		skip -= source->bytes[at++] == '\n';
	return memmem(source->bytes + at, end - at, line, length);
}

struct span node_part(const struct node *scalar, size_t from, size_t to)
{
	const struct source *source = scalar->span.source;
	if (scalar->kind != NODE_SCALAR || !source || !scalar->span.line)
		return scalar->span;
	const char *text = scalar->text;
	size_t begin = from, lines = 0;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	for (size_t i = 0; i < begin; i++)
		lines += text[i] == '\n';
	size_t length = strcspn(text + begin, "\n");
	const char *found = find_line(scalar, text + begin, length, lines);
	if (!found || to < from || to > begin + length)
		return scalar->span;
	size_t start = (size_t)(found - source->bytes);
	return source_span(source, start + from - begin, start + to - begin);
}

/* Letters, digits, '_', '.', '-' and '/' in words that begin with a letter or '_'. */
static bool is_plain(const char *word)
{
	static const char *const reserved[] = {"null", "true", "false", "yes", "no", "on", "off"};
	static const char first[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/.-0123456789";
	if (!*word || strspn(word, first) != strlen(word) || strspn(word, "/.-0123456789") > 0)
		return false;
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		if (strcasecmp(word, reserved[i]) == 0)
			return false;
	}
	return true;
}

void quote_yaml(struct text *text, const char *word)
{
	if (is_plain(word)) {
		text_add(text, "%s", word);
		return;
	}
	const char *at = word;
	text_add(text, "\"");
	while (*at) {
		unsigned number;
		size_t length = utf8_special(at, &number);
		if (length)
			text_add(text, "\\u%04x", number);
		else if (*at == '"' || *at == '\\')
			text_add(text, "\\%c", *at);
		else
			text_bytes(text, at, 1);
		at += length ? length : 1;
	}
	text_add(text, "\"");
}

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
