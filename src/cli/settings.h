#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Settings: options of a command line, keys of a spec, or both.  First what one is and how a command line is parsed,
 * then the table of all of them.
 *
 *	static const struct option options[] = {
 *		{"output", 'o', "DIR", "the results folder"},
 *		{"seed", 's', "S", "random seed", .key = "seed", .type = OPTION_COUNT},
 *		{0},
 *	};
 *
 * Options and other arguments may mix; `--` ends options.  What is wrong is
 * reported to `diag` with the argument as the place.
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
	const char *const *words; /* what it can be, or be made of; NULL: any word */
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

/*
 * The table of all settings, a row for each: its option on the command line, its
 * key in `search:`, its range, the kinds of input that it is for, and its help.  The parser, the
 * refusals, --help, the man page and the completions of shells come from it.  A setting whose
 * option means something else in another command has a row for each meaning.  A kind of input may
 * bring rows of its own (cli/kind.h).
 */

/* Bits of struct option's `commands`. */
enum {
	OF_EXPLORE = 1 << 0,
	OF_SCORE = 1 << 1,
	OF_SIMULATE = 1 << 2,
	OF_CHECK = 1 << 3,
	OF_DIFF = 1 << 4,
	OF_PLACE = 1 << 5,
	OF_REPORT = 1 << 6,
	OF_CAMPAIGN = 1 << 7,
	OF_LIST = 1 << 8,
	OF_IMPORT = 1 << 9,
	OF_CALIBRATE = 1 << 10,
	OF_SPECS = OF_EXPLORE | OF_SCORE | OF_SIMULATE | OF_CHECK | OF_DIFF | OF_CAMPAIGN,
	OF_EXPLORATIONS = OF_EXPLORE | OF_CAMPAIGN,
};

/* Rows of the table one after the other, those of kinds last; NULL after the last. */
const struct option *settings_at(size_t i);

/* The row of an option of these commands, or with a key; NULL: there is none. */
const struct option *settings_find(const char *name, unsigned commands);
const struct option *settings_find_key(const char *key);

/* The options of one command, for the parser. */
const struct option *settings_of(struct arena *arena, unsigned command);

/* Their lines of --help, at most 80 columns wide. */
const char *settings_help(struct arena *arena, unsigned command);

/* "problems and networks": the kinds that a setting is for; NULL: all. */
const char *settings_kinds(struct arena *arena, const struct option *setting);

#endif
