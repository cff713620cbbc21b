#include "spec/problem.h"

#include "base/fatal.h"
#include "spec/step.h"

#include <string.h>

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

void problem_report(const struct stepper *stepper)
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
