#include "model/machine/score.h"

#include <stddef.h>

const char *const price_names[] = {"bound", "estimate", NULL};
