#ifndef CLI_PLACE_CAPTURES_H
#define CLI_PLACE_CAPTURES_H

#include "base/option.h"

/*
 * `lxplore place CAPTURE.json`: divisions, residency and addresses of captured graphs.
 */
struct arena;

/* True if the argument names a file of captures: its name ends in .json. */
bool place_is_capture(const struct arguments *arguments);

/* An exit status. */
int place_captures(struct arena *arena, const struct arguments *arguments, struct diag *diag);

#endif
