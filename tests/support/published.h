#ifndef SUPPORT_PUBLISHED_H
#define SUPPORT_PUBLISHED_H

#include "search/graph/lx.h"

#include <jansson.h>

/*
 * Errors of the published planner that the cases do not mark.
 */

/*
 * The per-core views of one tensor's uses in the JSON of the cases.  Ours, unless
 * that is not expected and the published look-up leads where it is: it takes a
 * loop's coefficient for a stride, 1 for the elements of a stick, and of equal
 * strides the last.  So it may find another dimension, or a slice that no core
 * has, or stop at an assertion, where nothing was recorded.
 */
json_t *views_json(
	const struct lx_layout *layout, const struct lx_uses *uses, const json_t *expected);

/* Is some buffer shared out over more cores than have written it? */
bool published_overshares(const struct lx_layout *ours, const json_t *solver_input);

/* Do buffers share bytes while both live, other than by hand-over? */
bool published_overlaps(const struct lx_layout *ours, const json_t *pinned);

#endif
