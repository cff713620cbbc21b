#ifndef SUPPORT_FUZZ_COMMAND_H
#define SUPPORT_FUZZ_COMMAND_H

#include "cli/command.h"
#include "tests/support/fuzz_run.h"

/*
 * Commands of the program, run inside a fuzzed input as main would run them.  Whatever the files
 * say, a command ends with status 0 to 3, and what is refused is refused with a reason.
 */
enum { WORDS_MOST = 40 };

struct words {
	int count;
	char *at[WORDS_MOST];
};

struct did {
	int status;
	const char *out, *err;
	const char *line; /* the command line, for messages */
};

/* Text split at spaces, behind what is there. */
void words_add(struct arena *arena, struct words *words, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct did do_command(
	const struct fuzz_input *input, const struct command *command, const struct words *words);

/* The integer behind `"key": ` in JSON, or -1. */
int64_t integer_in(const char *json, const char *key);

#endif
