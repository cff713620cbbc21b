#ifndef CLI_SPEC_FILES_H
#define CLI_SPEC_FILES_H

#include "cli/settings.h"
#include "import/import.h"

/*
 * Arguments as files.  A folder stands for its *.yaml files, a pattern that the shell has not replaced
 * ("specs/arch/e*.yaml") for the files that it matches, both in the order of names.  If a path "specs/.." does not exist,
 * it is that of the specs that are installed with this program or library, or of the checkout that it was built in.  A
 * name alone ("spyre32") is the one file of that name in a folder of specs.
 */
struct arena;

/* Replaces the arguments; complains of a folder and a pattern that mean no file. */
void spec_files(struct arena *arena, struct arguments *arguments, struct diag *diag);

/* The path of one file, which need not be there. */
const char *spec_path(struct arena *arena, const char *path);

struct node;

/* `--dim NAME=N,..` and `--strict`; false after complaining. */
bool model_wishes(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct import_wishes *out);

/* Reads a model as the tree of its workload, and another file as node_read_file_within does.  NULL
 * after complaining. */
const struct node *model_or_spec(struct arena *arena, const struct arguments *arguments,
	const char *path, const char *const *folders, struct diag *diag);

#endif
