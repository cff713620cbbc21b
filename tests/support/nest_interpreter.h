#ifndef SUPPORT_NEST_INTERPRETER_H
#define SUPPORT_NEST_INTERPRETER_H

#include "model/nest_score.h"

/*
 * The oracle of exact counting: specs/counting.md word by word, one element at a time, sets of
 * elements instead of boxes, no formula anywhere.  Slow on purpose.
 */
void nest_interpret(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *out);

#endif
