#ifndef SUPPORT_NAIVE_DRAINS_H
#define SUPPORT_NAIVE_DRAINS_H

#include "tests/support/nest_case.h"

/*
 * Words of a dataspace that leave the instances of a level, over all steps and at the end: the tile
 * of each instance is a set of elements, step after step, and what the next set lacks has left.  For
 * bounds that divide; no formula, no groups, no parent.
 */
int64_t naive_drains(const struct nest_case *nest, int level, int t);

#endif
