#ifndef CLI_SPEC_FILES_H
#define CLI_SPEC_FILES_H

#include "cli/settings.h"

/*
 * The files that the arguments of a command mean: a folder stands for its *.yaml files, a pattern
 * that no shell has replaced ("specs/arch/e*.yaml") for what it matches, both in the order of names.  A path "specs/..", where there is no such file, is that of the specs
 * that are installed with this program or library, or of the checkout that it was built in.  A name alone ("spyre32")
 * is the one file of that name in a folder of specs.
 */
struct arena;

/* Replaces the arguments; complains of a folder and a pattern that mean no file. */
void spec_files(struct arena *arena, struct arguments *arguments, struct diag *diag);

/* The path of one file, which need not be there. */
const char *spec_path(struct arena *arena, const char *path);

#endif
