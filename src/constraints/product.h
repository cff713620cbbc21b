#ifndef CONSTRAINTS_PRODUCT_H
#define CONSTRAINTS_PRODUCT_H

#include "constraints/kind.h"

/*
 * What bounds ask of each other: whether the loops of a dimension, in all rows
 * together, can make up its extent, and whether the spatial loops of a row fit
 * its fan-out.  Adds a clash for every dimension and row that cannot.  With
 * perfect factors the answer is exact: every set of divisors is tried.  Where a
 * dimension may be imperfect it is a necessary condition.
 */
void product_check(const struct domain *domain, struct clashes *clashes);

#endif
