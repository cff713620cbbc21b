#ifndef COST_RELAYOUT_H
#define COST_RELAYOUT_H

#include "model/graph/counts.h"

/*
 * The price of a relayout (point 13 of model/graph/plan.h), from the two views alone.  A sender and a
 * receiver have one box in common, the sticks that are in both their slices.  A sender sends it up to the
 * receivers of the same slice that are at most half of the ring away that way, itself among them, and
 * down to the others; on its way it is read once, crosses every link up to the last of them once, and is
 * written once at each.
 *
 *	cycles = max(busiest link and direction, busiest read or write port of LX) + runs x time of a run
 *
 * A run is a row of sticks that follow each other both where they come from and where they go.  Every
 * core sets up those that it sends and those that it receives, both at the same time, before anything
 * moves; the busiest core counts.  How long one takes depends on how many boxes a slice is cut
 * into, the larger of the two sides.  (R2 of the published compiler has this form, with a link that is busy
 * for split / 4 of what a core has, as in a shuffle among `split` neighbours.)
 *
 * Simulated cycles are never below these.
 */
struct relayout_price {
	struct step_count counts;  /* operand 0: LX_DRAIN; 1: LX_FILL and DATA_RING */
	int64_t cycles;            /* of the phase */
	int64_t link, port, setup; /* of its parts */
	int64_t runs;              /* of the busiest core */
	int64_t parts;
	double energy_pj;
	bool fits; /* else it cannot be done, or not be counted, and the rest has no meaning */
};

/* Answers what `fits` says: false when the machine has no data ring, when nobody holds what is asked for, or
 * when a count does not fit. */
bool relayout_price(const struct arch *arch, const struct layout *layout, const struct view *from,
	const struct view *to, struct relayout_price *out);

#endif
