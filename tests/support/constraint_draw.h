#ifndef SUPPORT_CONSTRAINT_DRAW_H
#define SUPPORT_CONSTRAINT_DRAW_H

#include "base/random.h"
#include "base/text.h"
#include "model/graph/op_mapping.h"
#include "model/nest/shape.h"

/* Random constraints as a spec states them, for an architecture of the newer form. */
struct constraint_draw {
	struct random *random;
	const struct arch *arch;
	const struct shape *shape;
	bool flags;     /* no_reuse and its like */
	bool maximizes; /* maximize_dims */
};

/* Adds one target that `mapping` keeps (not so where dimensions are maximized) to a list. */
void constraint_draw_add(
	const struct constraint_draw *draw, const struct mapping *mapping, struct text *text);

/* Dataspaces that loops with these bounds iterate over. */
uint32_t constraint_draw_iterated(const struct shape *shape, const uint32_t *bounds);

#endif
