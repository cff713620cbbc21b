#ifndef SPEC_CFG_H
#define SPEC_CFG_H

#include "spec/step.h"

/*
 * Timeloop's older files: libconfig syntax (`arch: { storage = ( {...} ); };`) as the
 * same tree that YAML gives, groups as maps, lists and arrays as lists, numbers with
 * the digits that are written.  Read by libconfig itself; `@include` is refused, for
 * it would read files that nobody named.
 */
enum {
	CFG_BYTES_MOST = 1 << 16,
	CFG_SETTINGS_MOST = 5000, /* libconfig compares every name with those before it */
};

/* True if a text is libconfig: by the end of its name, or where its first setting cannot be YAML. */
bool cfg_is(const struct source *source);

/* The tree; NULL after complaining. */
const struct node *cfg_compose(struct arena *arena, const struct source *source, struct diag *diag);

#endif
