#ifndef SUPPORT_SHAPE_RECURRENCE_H
#define SUPPORT_SHAPE_RECURRENCE_H

#include "model/nest/shape.h"
#include "model/recurrence/recurrence.h"

/* The recurrence of a problem; `streams` by dataspace.  False and *why if there is none. */
bool shape_recurrence(struct arena *arena, const struct shape *shape, struct recurrence *out,
	int *streams, const char **why);

#endif
