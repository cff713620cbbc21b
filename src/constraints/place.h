#ifndef CONSTRAINTS_PLACE_H
#define CONSTRAINTS_PLACE_H

#include "constraints/kind.h"

/* Where a constraint applies: the row's name and its loops, in mappings and in domains. */
struct arena;

/* "'GLB' (temporal)", "'PE' (spatial)", "'GLB'" for what it keeps, "!Nothing",
 * "the machine". */
const char *place_text(
	struct arena *arena, const struct domain *domain, const struct constraint *constraint);

/* The bounds of its row: of loop d. */
struct factor_domain *place_factor(
	struct domain *domain, const struct constraint *constraint, int d);
int64_t place_bound(const struct mapping *mapping, const struct constraint *constraint, int d);

/* "fans out", "computes": what a row without words is for. */
const char *place_use(const struct level *level);

/* "M, N": the dimensions or dataspaces of a mask. */
const char *place_dimensions(struct arena *arena, const struct shape *shape, uint32_t mask);
const char *place_spaces(struct arena *arena, const struct shape *shape, uint32_t mask);

#endif
