#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Settings as a table: options of a command line, keys of a spec, or both.  Parsing, --help and
 * messages come from it.
 *
 *	static const struct option options[] = {
 *		{"output", 'o', "DIR", "the results folder"},
 *		{"seed", 's', "S", "random seed", .key = "seed", .type = OPTION_COUNT},
 *		{0},
 *	};
 *
 * Options and other arguments may mix; `--` ends options.  What is wrong is
 * told to `diag` with the argument as the place.
 */
enum option_type { OPTION_TEXT, OPTION_COUNT, OPTION_WORD, OPTION_FILE, OPTION_FOLDER };

struct option {
	const char *name;     /* NULL ends the table */
	char letter;          /* 0: none */
	const char *argument; /* NULL: a flag */
	const char *help;
	bool many;         /* may be given more than once; else the last counts */
	const char *key;   /* of the map `search:` in a spec; NULL: of the command line alone */
	const char *kinds; /* names of the kinds of input that it is for; NULL: all */
	unsigned commands; /* a bit for each command that takes it; 0: a key alone */
	enum option_type type;
	int64_t least, most;      /* of OPTION_COUNT; most 0: no limit */
	const char *const *words; /* what it can be, or be made of; NULL: there is no list */
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

/* A whole number in the range of its option, at most `most` where that is not 0.  False after
 * complaining if it is none.  *out stays when the option was not given. */
bool option_integer(const struct arguments *arguments, const char *name, int64_t most,
	struct diag *diag, int64_t *out);

/* One of the words of its option, as its index.  False after complaining;
 * *out stays when the option was not given. */
bool option_word(const struct arguments *arguments, const char *name, struct diag *diag, int *out);

/* "-o, --output DIR" */
const char *option_usage(struct arena *arena, const struct option *option);

#endif
