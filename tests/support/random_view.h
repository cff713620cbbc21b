#ifndef SUPPORT_RANDOM_VIEW_H
#define SUPPORT_RANDOM_VIEW_H

#include "base/random.h"
#include "model/graph/view.h"

/* A view of a tensor on at most `cores` cores, in which every slice lies somewhere: parts in any core order,
 * several cores for one slice now and then, or some that hold nothing. */
struct view random_view(struct random *random, const struct layout *layout, int64_t cores);

#endif
