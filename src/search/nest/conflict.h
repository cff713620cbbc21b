#ifndef SEARCH_CONFLICT_H
#define SEARCH_CONFLICT_H

#include "search/nest/feasible.h"

/*
 * Which constraints stand against each other when no mapping fits: a set of them
 * that cannot be met on this machine, of which none can be left out (remove any
 * one, and a mapping fits).  Found by a deletion filter (Chinneck and Dravnieks,
 * "Locating minimal infeasible constraint sets in linear programs", ORSA Journal
 * on Computing, 1991): one constraint after the other is left out for good if what
 * remains still cannot be met.
 *
 * What of the machine and the problem takes part is found in the same way
 * afterwards: sizes of levels, how full they must be, fan-outs, extents.
 */
struct infeasible_set {
	bool found;
	bool open; /* a question was too hard: the set may be larger than it must be */
	struct constraints members;     /* as given, factors and kept dataspaces one by one */
	bool *chosen;                   /* by member: it takes part */
	uint32_t sizes, fills, fanouts; /* bit i: level i of the hierarchy */
	/* bit d: dimension d; where something must be full or busy, those that members bound */
	uint32_t extents;
};

/* `machine`: a domain that no constraint has narrowed.  Constraints that contradict each other alone are not for this: constraints_narrow tells them.
 * found is false if a mapping fits, or if that could not be decided.  `stopper` NULL: to the end. */
struct arena;
struct infeasible_set conflict_find(const struct domain *machine,
	const struct constraints *constraints, uint64_t work_most, const struct stopper *stopper,
	struct arena *arena);

#endif
