#ifndef MODEL_RECURRENCE_INVENT_H
#define MODEL_RECURRENCE_INVENT_H

#include "model/recurrence/recurrence.h"

/*
 * Bodies for a recurrence of which only the dependences are known, so that it can be executed: a
 * value is a sum over the loops that differs from point to point, and a part of every value that it
 * depends on, no two parts alike.  Values stay small; a value from a wrong place is noticed.
 */
void recurrence_invent(struct arena *arena, struct recurrence *recurrence);

#endif
