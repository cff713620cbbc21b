#ifndef SPEC_COMPOSE_H
#define SPEC_COMPOSE_H

#include "spec/step.h"

/* The tree of a YAML text, aliases and `<<` resolved; NULL after complaining. */
const struct node *compose(struct arena *arena, const struct source *source, struct diag *diag);

#endif
