#ifndef SEARCH_FIT_H
#define SEARCH_FIT_H

#include "search/nest/space.h"

/*
 * What is left to choose when the bounds of a mapping are known: along which
 * axis its spatial loops run and what its levels keep.  Found exactly: where these
 * say no, nothing fits.
 */

/* Gives every fan-out an order and a split that the domain allows and that both axes have room
 * for. */
bool fit_axes(const struct space *space, struct mapping *mapping);

/* Words of each dataspace at each level of the hierarchy that is not unlimited: of its tile, and
 * where that differs, `homes`, of all that it must hold as a home; -1: it can be none. */
struct fit_words {
	int64_t tile[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	bool homes;
	int64_t home[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
};

/* Whether some dataspace may have its home where exact counting asks for more than a tile: inside
 * a level with loops or a fan-out. */
bool fit_minds_homes(const struct domain *domain);

/* The homes of a mapping whose bounds are all set. */
void fit_homes(const struct domain *domain, const struct mapping *mapping, struct fit_words *out);

/* Gives every level a set of dataspaces, and every dataspace a level. */
bool fit_residency(
	const struct domain *domain, const struct fit_words *words, struct mapping *mapping);

/* Words of a tile with these extents; INT64_MAX if they are more. */
int64_t fit_words(const struct shape *shape, int space, const int64_t *extents);

#endif
