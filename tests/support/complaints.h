#ifndef SUPPORT_COMPLAINTS_H
#define SUPPORT_COMPLAINTS_H

#include "base/diag.h"

/* Returns the output of diag_print, as a text in the arena; "" without complaints. */
struct arena;
const char *complaints_text(struct arena *arena, const struct diag *diag);

/* The first line of it, without the place: "error: level 'LX' is named twice". */
const char *complaints_first(struct arena *arena, const struct diag *diag);

#endif
