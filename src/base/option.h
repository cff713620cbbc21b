#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Command-line options as a table: parsing, --help and messages come from it.
 *
 *	static const struct option options[] = {
 *		{"output", 'o', "DIR", "the results folder", false},
 *		{0},
 *	};
 *
 * Options and other arguments may mix; `--` ends options.  What is wrong is
 * told to `diag` with the argument as the place.
 */
struct option {
	const char *name;     /* NULL ends the table */
	char letter;          /* 0: none */
	const char *argument; /* NULL: a flag */
	const char *help;
	bool many; /* may be given more than once; else the last counts */
};

struct option_value {
	const struct option *option;
	const char *text; /* "" for a flag */
	struct span span;
};

struct arguments {
	size_t option_count, count;
	const struct option_value *options; /* as given */
	const char *const *at;              /* the rest */
	const struct span *spans;           /* of the rest */
};

struct arena;
/* False after complaining.  Everything in *out lives in the arena, except the
 * texts of `argv`. */
bool option_parse(struct arena *arena, const struct option *table, int argc, char *const *argv,
	struct diag *diag, struct arguments *out);

/* The last value of an option by name; NULL when it was not given. */
const struct option_value *option_find(const struct arguments *arguments, const char *name);

/* A whole number in [least, most].  False after complaining if it is none.
 * *out stays when the option was not given. */
bool option_integer(const struct arguments *arguments, const char *name, int64_t least,
	int64_t most, struct diag *diag, int64_t *out);

/* One of the words (NULL ends them), as its index.  False after complaining;
 * *out stays when the option was not given. */
bool option_word(const struct arguments *arguments, const char *name, const char *const *words,
	struct diag *diag, int *out);

/* The lines of --help for a table. */
const char *option_help(struct arena *arena, const struct option *table);

#endif
