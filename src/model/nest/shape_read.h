#ifndef MODEL_NEST_SHAPE_READ_H
#define MODEL_NEST_SHAPE_READ_H

#include "model/nest/shape.h"
#include "spec/reader.h"

/*
 * A shape as far as it is read from a Timeloop problem (versions 0.2 to 0.4): its dimensions and
 * coefficients, by which the projections of its dataspaces are read.
 */
struct shape_coefficient {
	const char *name;
	int64_t value;
	bool given;  /* has a default */
	bool stated; /* by the instance */
	struct span span;
};

struct shape_draft {
	const struct reading *reading;
	struct shape *shape;
	int coefficient_count;
	struct shape_coefficient coefficients[SHAPE_COEFFICIENTS_MOST];
};

#define SHAPE_WRONG(draft, span, ...) diag_error((draft)->reading->diag, span, __VA_ARGS__)

struct shape_coefficient *shape_draft_coefficient(struct shape_draft *draft, const char *name);

/* The ranks of a dataspace: [[[C]], [[R], [P, stride]]], or sums in words, R + P*stride. */
void shape_projection_read(
	struct shape_draft *draft, const struct node *node, struct dataspace *space);

#endif
