#ifndef SPEC_PARSER_H
#define SPEC_PARSER_H

#include "spec/expr.h"

/*
 * What the parts of expr.c share: a parser stands in one text and
 * stops at the first thing that is wrong.  Its functions answer false after
 * complaining.
 */
enum { WORD_MOST = 64 };

struct parser {
	struct diag *diag;
	struct variables *variables;
	const struct node *scalar;
	const char *text, *what;
	size_t at; /* bytes of the text read so far */
	int depth;
};

struct span parser_place(const struct parser *parser, size_t from, size_t to);

/* Complains about bytes `from` up to `to`, after what the value is for. */
bool parser_fail(const struct parser *parser, size_t from, size_t to, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* True if `why` is NULL; else complains about all that was read since `from`. */
bool parser_check(const struct parser *parser, size_t from, const char *why);

/* The first WORD_MOST - 1 bytes of the word at `from`; *end is where all of it ends. */
void parser_word(const struct parser *parser, size_t from, size_t *end, char word[WORD_MOST]);
bool parser_at_word(const struct parser *parser, size_t at);

/* The whole text. */
bool parse_text(struct parser *parser, struct value *out);

/* A number with its unit; a unit behind something else, if there is one. */
bool parse_number(struct parser *parser, struct value *out);
bool parse_unit(struct parser *parser, struct value *value);

bool variables_have(const struct variables *variables, const char *name);
const char *variables_suggest(const struct variables *variables, const char *name);

/* The value of a variable that exists, whose name begins at byte `from`.  False
 * after complaining, once for each variable. */
bool variables_find(const struct parser *parser, const char *name, size_t from, struct value *out);

#endif
