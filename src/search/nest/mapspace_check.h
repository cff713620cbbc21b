#ifndef SEARCH_NEST_MAPSPACE_CHECK_H
#define SEARCH_NEST_MAPSPACE_CHECK_H

#include "search/nest/feasible.h"

/*
 * A minimal infeasible set of constraints, if no mapping fits: they cannot be met together on this machine, but
 * without any one of them a mapping fits.  Found by a deletion filter (Chinneck and Dravnieks, "Locating minimal
 * infeasible constraint sets in linear programs", ORSA Journal on Computing, 1991): one constraint after the other
 * is left out for good if what remains still cannot be met.
 *
 * The facts of the machine and the problem that take part are found in the same way
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

/* `machine`: a domain that no constraint has narrowed.  Constraints that contradict each other alone are reported
 * by constraints_narrow. found is false if a mapping fits, or if that could not be decided.  `stopper` NULL: to the
 * end. */
struct arena;
struct infeasible_set conflict_find(const struct domain *machine,
	const struct constraints *constraints, uint64_t work_most, const struct stopper *stopper,
	struct arena *arena);

/*
 * Why no mapping of a domain fits: one limit after the other, what it would have
 * to be.  `alone` is what a limit would have to be if there were no other limit of
 * the machine: where it exceeds what is given, nothing helps but more of it.
 * `enough` is what it would have to be while all others stay as they are.
 */
enum shortage_kind {
	SHORTAGE_FACTORS,     /* no bounds make up the extent of `dimension` */
	SHORTAGE_HOME,        /* every level bypasses dataspace `space` */
	SHORTAGE_CAPACITY,    /* words of `level` */
	SHORTAGE_FANOUT_X,    /* instances in the block below `level`, along X */
	SHORTAGE_FANOUT_Y,    /* along Y */
	SHORTAGE_UTILIZATION, /* words that `level` can be filled with, at most */
	SHORTAGE_PARALLELISM, /* multipliers that can be busy, at most */
};

struct shortage {
	enum shortage_kind kind;
	int level, dimension, space; /* -1: none */
	int64_t given;               /* what there is; of the last two kinds: what is asked for */

	/* The least that would do, of the last two kinds the most that can be had.  -1: alone, what
	 * is given would do; together with the others, no number is enough. */
	int64_t alone, enough;

	/* SHORTAGE_CAPACITY: the smallest tile, as `enough`, else `alone`, asks for it. */
	int64_t tile[SHAPE_DIMENSIONS_MOST], words[SHAPE_SPACES_MOST];
};

struct shortages {
	size_t count;
	const struct shortage *at;
	bool open; /* a question was too hard: one may be missing, or its `enough` */
};

/* Shortages of a domain without a mapping that fits.  Empty where only two or more limits together would
 * have to be larger.  `stopper` NULL: to the end. */
struct arena;
struct shortages shortages_find(const struct domain *domain, uint64_t work_most,
	const struct stopper *stopper, struct arena *arena);

/*
 * Everything that is known of a problem's mapspace before any search: whether the
 * constraints go together, whether any mapping fits, why not, and how many
 * mappings there are.
 */
struct mapspace_check {
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct domain *domain; /* as the constraints narrow it */
	bool contradictory;          /* they contradict each other; nothing else is known then */
	struct feasible feasible;
	struct shortages shortages;     /* of VERDICT_NO */
	struct infeasible_set conflict; /* the same */
	const char **explained;         /* by member of the conflict: what it asks, in a sentence */

	/* Sizes of the space: by the machine's levels alone, with the constraints, and with
	 * loops no longer than their fan-out, too. NULL if that was not counted to the end. */
	struct space_sizes machine, constrained, narrowed;
};

/* The verdict if any mapping meets the constraints and fits. */
static inline enum verdict mapspace_verdict(const struct mapspace_check *check)
{
	return check->contradictory ? VERDICT_NO : check->feasible.verdict;
}

/* Contradictions are complained about.  `machine`: as domain_make made it.  `stopper` NULL: to the
 * end. */
struct mapspace_check mapspace_check(const struct domain *machine,
	const struct constraints *constraints, const struct stopper *stopper, struct diag *diag,
	struct arena *arena);

#endif
