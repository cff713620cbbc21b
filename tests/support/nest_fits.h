#ifndef SUPPORT_NEST_FITS_H
#define SUPPORT_NEST_FITS_H

#include "search/nest/space.h"

/* True if a mapping of a domain is one that its machine can carry out: the naive way. */
bool nest_mapping_fits(const struct domain *domain, const struct mapping *mapping);

/* True if any of a space is, all of them tried; and whether that is worth while: fewer than
 * `most`. */
bool nest_any_fits(const struct space *space);
bool nest_space_is_small(const struct space *space, uint64_t most);

#endif
