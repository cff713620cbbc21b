#ifndef PLACE_SPILL_SET_H
#define PLACE_SPILL_SET_H

#include "solvers/place/spill/model.h"

/*
 * A set of items to be kept, with what it gains and how full each row is.  If a child has several
 * parents, each counts as sharing: the rows hold for more sets than they should, never for less.
 */
struct spill_set {
	const struct spill_model *model;
	bool *kept;    /* by item */
	int *missing;  /* by version: how many of its items are not */
	int64_t *load; /* by row */
	int64_t gain;
	int64_t room; /* of each row: the model's, or less; not copied */
};

struct spill_set spill_set_make(struct arena *arena, const struct spill_model *model);
void spill_set_copy(struct spill_set *to, const struct spill_set *from);

void spill_set_clear(struct spill_set *set);

/* Keeps an item, or no longer. */
void spill_set_turn(struct spill_set *set, int item);

/* Keeps these items and no others. */
void spill_set_become(struct spill_set *set, const bool *kept);

/* What turning it would change the gain by. */
int64_t spill_set_change(const struct spill_set *set, int item);

/* Would the rows hold with it, is no rival kept, and is there a parent if it needs one? */
bool spill_set_has_room(const struct spill_set *set, int item);

#endif
