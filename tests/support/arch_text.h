#ifndef SUPPORT_ARCH_TEXT_H
#define SUPPORT_ARCH_TEXT_H

#include "model/machine/arch.h"

/* The architecture of a YAML file, or of its text; NULL when it is refused. */
struct arena;
const struct arch *arch_of_file(struct arena *arena, const char *path, struct diag *diag);
const struct arch *arch_of_text(struct arena *arena, const char *yaml, struct diag *diag);

#endif
