#include "spec/step.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "base/utf8.h"
#include "spec/problem.h"

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
		problem_report(s);
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
