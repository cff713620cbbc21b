#ifndef SUPPORT_LOOKUPS_H
#define SUPPORT_LOOKUPS_H

#include "cost/graph/cost.h"
#include "model/machine/layout.h"
#include "model/machine/mapping.h"

/* Questions that tests ask of a model and the program does not. */

bool dtype_parse(const char *name, enum dtype *out);

/* Stick number [0, sticks) and lane of the element at host coordinates. */
int64_t layout_stick(const struct layout *layout, const int64_t *host, int *lane);

/* Slot of loop l on a core, as model/machine/mapping.h says. */
int64_t mapping_slot(const struct arch *arch, const struct mapping *mapping, int l, int64_t core);

/* The score of a plan alone; false when a count does not fit an int64_t. */
bool cost_score(const struct plan *plan, struct arena *arena, struct score *out);

#endif
