#ifndef CLI_MODEL_FILE_H
#define CLI_MODEL_FILE_H

#include "base/option.h"
#include "import/import.h"

struct node;

/* `--dim NAME=N,..` and `--strict`; false after complaining. */
bool model_wishes(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct import_wishes *out);

/* A model as the tree of the workload that it is; another file as it stands.  NULL after complaining. */
const struct node *model_or_spec(struct arena *arena, const struct arguments *arguments,
	const char *path, struct diag *diag);

#endif
