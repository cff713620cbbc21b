#ifndef SEARCH_PLAN_BUNDLES_H
#define SEARCH_PLAN_BUNDLES_H

#include "search/claim/plan_relaxed.h"

/*
 * What bundles cost beyond the parts that are counted in the costs of steps, at least: the second relaxation of
 * plan_relaxed.h, whole bundles over places.  A bundle has room for as many tensors as it may use in HBM, less those
 * that steps certainly add; it is as wide as its widest step.
 */
struct arena;

/* For paths below a limit; `reached`: by cut, then state, the least that leads there.  NULL: bundles use any
 * number of tensors, and nothing is said of them. */
const struct plan_bundles *plan_bundles_make(const struct plan_relaxed *relaxed,
	int64_t *const *reached, int64_t limit, struct arena *arena);

/* In a bundle that uses `used` tensors and is `widest` cores wide; begins: the next step begins one.  In parts of
 * a value; less than 0 if what follows has room in a bundle that is paid for. */
int64_t plan_bundles_rest(const struct plan_bundles *bundles, int cut, size_t place, int used,
	int widest, bool begins);

#endif
