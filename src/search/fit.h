#ifndef SEARCH_FIT_H
#define SEARCH_FIT_H

#include "search/space.h"

/*
 * What is left to choose when the bounds of a mapping are known: along which
 * axis its spatial loops run and what its levels keep.  Found exactly: where these
 * say no, nothing fits.
 */

/* Gives every fan-out an order and a split that the domain allows and that both axes have room
 * for. */
bool fit_axes(const struct space *space, struct mapping *mapping);

/* Gives every level a set of dataspaces, and every dataspace a level.  Words of the tile of each
 * dataspace at each level of the hierarchy. */
bool fit_residency(const struct domain *domain, int64_t words[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST],
	struct mapping *mapping);

/* Words of a tile with these extents; INT64_MAX if they are more. */
int64_t fit_words(const struct shape *shape, int space, const int64_t *extents);

/* Of numbers >= 0; INT64_MAX if they are more. */
int64_t fit_add(int64_t a, int64_t b);
int64_t fit_mul(int64_t a, int64_t b);

#endif
