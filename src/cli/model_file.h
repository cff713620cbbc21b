#ifndef CLI_MODEL_FILE_H
#define CLI_MODEL_FILE_H

#include "cli/settings.h"
#include "import/import.h"

struct node;

/* `--dim NAME=N,..` and `--strict`; false after complaining. */
bool model_wishes(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct import_wishes *out);

/* Reads a model as the tree of its workload, and another file as node_read_file_within does.  NULL
 * after complaining. */
const struct node *model_or_spec(struct arena *arena, const struct arguments *arguments,
	const char *path, const char *const *folders, struct diag *diag);

#endif
