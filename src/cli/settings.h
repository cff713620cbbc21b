#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "base/option.h"

/*
 * The settings of the program, each in one row of one table: its option on the command line, its
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
