#ifndef SUPPORT_SHELL_H
#define SUPPORT_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs the program under test (environment LXPLORE, default
 * build/release/lxplore) as a user would.
 */
struct arena;

struct ended {
	int status; /* exit status; 128 + signal */
	const char *out, *err;
};

/* `words` are the shell's: redirections and variables in front are fine; $LXPLORE is set. */
struct ended shell(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A new folder under the system's temporary one. */
const char *shell_folder(struct arena *arena);
void shell_remove(const char *folder);

#endif
