#ifndef SUPPORT_COMPLAINTS_H
#define SUPPORT_COMPLAINTS_H

#include "base/diag.h"

/* What diag_print prints, as a text in the arena; "" when nothing was complained about. */
struct arena;
const char *complaints_text(struct arena *arena, const struct diag *diag);

/* The first line of it, without the place: "error: level 'LX' is named twice". */
const char *complaints_first(struct arena *arena, const struct diag *diag);

#endif
