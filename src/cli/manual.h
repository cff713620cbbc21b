#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "cli/command.h"

/*
 * The man page and the completions of shells, made of the commands and of the table of settings.
 */
const char *manual_page(struct arena *arena);
const char *manual_bash(struct arena *arena);
const char *manual_zsh(struct arena *arena);

#endif
