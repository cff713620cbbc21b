#ifndef SUPPORT_NEST_INTERPRETER_H
#define SUPPORT_NEST_INTERPRETER_H

#include "model/nest/nest_score.h"

/*
 * The oracle of exact counting: specs/counting.md word by word, one element at a time, sets of
 * elements instead of boxes, no formula anywhere.  Slow on purpose.
 */

/* Fills the counts; true when the multiply-adds found their operands where they should be, the
 * sums that came home are the einsum's, and each of them is in one instance of the home, or in
 * several that a ring joins. */
bool nest_interpret(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *out);

/* Rules that can be broken, to see whether a comparison would notice. */
enum nest_rule {
	RULE_NONE,
	RULE_MULTICAST,      /* every child is a group of its own */
	RULE_OVERLAP,        /* sets that merely overlap are read once */
	RULE_GROUP_PARENT,   /* groups span instances of the parent */
	RULE_BYPASS,         /* groups end at a level that is passed by */
	RULE_HALO,           /* what a tile shares with the one before is fetched again */
	RULE_STATIONARY,     /* moves at every iteration of the innermost loop */
	RULE_WORKLESS,       /* instances without work hold tiles, too */
	RULE_TAIL,           /* the last tile is as large as the others */
	RULE_GAP,            /* only elements that are used belong to a tile */
	RULE_EVERY_STEP,     /* multipliers without work read */
	RULE_LINK,           /* no links */
	RULE_LINK_PREVIOUS,  /* a neighbour's set of this move step will do */
	RULE_LINK_WRAP,      /* the last in a row has the first as its neighbour */
	RULE_LINK_MESH,      /* neighbours are those with the next number */
	RULE_LINK_FEWER,     /* links even if nothing is saved */
	RULE_LINK_PACE,      /* at any pace */
	RULE_LINK_SERVED,    /* what was handed on is read at the parent as well */
	RULE_FIRST_VISIT,    /* first visits read zeros */
	RULE_RETURN_ALL,     /* a returning sum goes to every instance of the group */
	RULE_RETURN_STAYS,   /* and stays at the parent */
	RULE_FIRST_UPDATE,   /* multipliers read before their first update */
	RULE_MULTIPLIERS,    /* multipliers update one by one */
	RULE_DRAIN_READ,     /* a drain reads nothing */
	RULE_DRAIN_ZERO,     /* who holds no sum reads one, too */
	RULE_DRAIN_MEETS,    /* what drains onto a sum does not read that one */
	RULE_DRAIN_PASS,     /* where a sum passes, it is not read */
	RULE_DRAIN_ALONE,    /* instances drain one by one */
	RULE_DRAIN_EMPTY,    /* who holds no sum does not drain */
	RULE_DRAIN_END,      /* nothing drains at the end */
	RULE_TEMPORAL_REUSE, /* flags that are ignored */
	RULE_SPATIAL_REUSE,
	RULE_LINK_TRANSFER,
	RULE_RMW,
	RULE_RMW_HOME,
	RULE_COALESCE,
	RULE_COALESCE_HOME, /* no_coalesce has an effect at the home */
	RULE_HOME,          /* a home holds no more than a tile at a time */
	RULE_APART,         /* sums may end in parts */
	RULE_RING,          /* no ring joins anything */
	NEST_RULES
};
extern const char *const nest_rule_names[NEST_RULES];

/* *apart: sums ended in several instances of a home; they are added up then before they are
 * compared with the einsum's. */
bool nest_interpret_without(enum nest_rule rule, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct mapping *mapping, struct nest_counts *out,
	bool *apart);

#endif
