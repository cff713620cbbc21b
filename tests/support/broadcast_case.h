#ifndef SUPPORT_BROADCAST_CASE_H
#define SUPPORT_BROADCAST_CASE_H

#include "model/transfer/broadcast.h"

/* A `broadcast:` as text, read without an architecture or with the text of one; NULL with all
 * complaints in *why. */
struct arch;
struct arena;
const struct broadcast *broadcast_of_text(
	struct arena *arena, const char *text, const struct arch *arch, const char **why);

#endif
