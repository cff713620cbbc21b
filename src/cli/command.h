#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/settings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The command line: the only code that prints to stdout or ends the program.
 * stdout is data, stable byte for byte; stderr is for people.
 */
enum exit_status {
	EXIT_FOUND = 0,
	EXIT_IMPOSSIBLE =
		1,        /* proven infeasible, an illegal plan, or simulator and model disagree */
	EXIT_INPUT = 2,   /* the input is wrong */
	EXIT_NOTHING = 3, /* budget ended with nothing found */
	EXIT_WORLD = 4,   /* disk, memory */
	EXIT_INTERRUPTED = 130,
};

struct arena;

struct command {
	const char *name;
	const char *usage;   /* "SPEC... -o DIR" */
	const char *summary; /* one line */
	const char *manual;  /* further lines of --help and of the man page */
	bool reads_specs;    /* its arguments are spec files, folders of them, or patterns */
	unsigned bit;        /* of the settings that are its options (cli/settings.h); 0: none */
	int (*run)(struct arena *arena, const struct arguments *arguments, struct diag *diag);
};

extern const struct command command_explore, command_score, command_simulate, command_check,
	command_calibrate, command_diff, command_campaign, command_report, command_init,
	command_list, command_manual, command_import;

/* The commands one after the other, those of one kind of input last; NULL after the last. */
const struct command *command_at(size_t i);
const struct command *command_find(const char *name);

/* The text of --help. */
const char *command_help(struct arena *arena, const struct command *command);

/* Sends the data and the messages of commands of this thread to other streams than stdout and stderr. */
void command_redirect(FILE *data, FILE *people);
FILE *command_people(void);

/* Prints what was collected; answers EXIT_INPUT, or EXIT_IMPOSSIBLE if every
 * error is about a legible plan that breaks a rule. */
int command_refuse(const struct diag *diag);

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_YAML, FORMAT_TIMELOOP };
extern const char *const format_names[];       /* those of all results */
extern const char *const score_format_names[]; /* and those of scores */

/* stdout, checked: a full disk is an error, a closed pipe an end.  After command_format said that the format is
 * text, lines are fitted into the terminal (base/text.h). */
void command_print(const char *text);

/* A value as `--format` asks for it, in lines or as JSON; takes the value over. */
const char *command_value(struct arena *arena, enum format format, json_t *value);

/* A part of what command_print ends. */
void command_add(const char *text);

/* Into a file; what cannot be written ends the program. */
void command_write(struct arena *arena, const char *path, const char *text);

/* The default format of results: text for a terminal, JSON for files and pipes. */
enum format command_usual_format(void);

/* `--format`, if it is given; false after complaining.  FORMAT_YAML becomes FORMAT_JSON: JSON is YAML as it stands. */
bool command_format(const struct arguments *arguments, struct diag *diag, enum format *out);

#endif
