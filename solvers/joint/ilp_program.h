#ifndef JOINT_ILP_PROGRAM_H
#define JOINT_ILP_PROGRAM_H

#include "search/joint/joint_space.h"

/*
 * The integer program of a joint space without relays.  Columns are 0 or 1: x(o), option o is taken; h(t, v, c)
 * and k(t, v, c), tensor t is in LX under view v at the cut before op c, before and after what is evicted
 * there; z(t, c), t is valid in HBM behind the cut; e(t, v, s), t is evicted in slot s of a cut; b(s), a bundle
 * begins in slot s.  The slots are in the order of time, some for evictions at each cut, one for each op.
 *
 *	sum of x(o), o ends at cut c = sum of x(o), o begins at c       (one begins at cut 0)
 *	h(t, v, c) <= k(t, v, c - 1) + sum of x(o), o ends at c and leaves t in v
 *	k(t, v, c) <= h(t, v, c),  sum over s at c of e(t, v, s) <= h(t, v, c)
 *	z(t, c) <= z(t, c - 1) + sum of x(o), o ends at c and writes t + sum of e(t, v, s) at c
 *	sum of x(o), o reads t at c from HBM <= z(t, c)
 *	sum of x(o), o reads t at c as w <= sum of k(t, v, c), v serves w
 *	sum over v of k(t, v, c) + sum of x(o), o moves t or needs LX empty <= 1
 *	sum of bytes k(t, v, c) + sum of (its bytes) x(o) - saved bytes <= capacity
 *	n(t, s) >= what slot s uses, n(t, s) >= n(t, s - 1) - b(s), sum over t of n(t, s) <= bundle_most
 *	w(l, s), the bundle is as wide as width l: likewise; paid where it rises or b(s) is 1
 *
 * An eviction takes no room that the step before it did not take.  So evictions at one cut differ only in
 * their bundles: the one before, the one behind, and bundles between them, of which as many as it takes to
 * hold all are enough, because a bundle can be filled up from narrower ones at no cost.  That is what the
 * slots are for.  Only x, e and b have to be whole: the rows then leave each other column a whole value that
 * is no worse.
 */
struct arena;
struct milp;

struct ilp_tensor {
	int from, to;     /* cuts at which it can be in LX */
	int *held, *kept; /* columns: [(cut - from) * views + view] */
	int *valid;       /* columns: [cut]; NULL: an input */
};

struct ilp_slot {
	int op, cut; /* one of them; -1 */
	int begins;  /* column */
	int *evicts; /* columns, by first_view of a tensor + view; -1: none. NULL: of an op */
	int *used;   /* columns by tensor; NULL: any number may be used */
	int *wide;   /* columns by width */
};

struct ilp_program {
	const struct joint_space *space;
	struct milp *milp;
	int *options; /* columns */
	struct ilp_tensor *tensors;
	int slot_count;
	struct ilp_slot *slots;
	int *first_view; /* by tensor: its views in lists of all */
	int width_count;
	int *widths; /* of steps, ascending */
	double mass; /* the columns of a point add up to no more */
};

/* Columns of a tensor at a cut; -1: it cannot be there. */
int ilp_held(const struct ilp_program *program, int tensor, int view, int cut);
int ilp_kept(const struct ilp_program *program, int tensor, int view, int cut);

/* Adds the columns that evict a tensor at a cut, from one view or all (-1), to the last row: one of them is 1, or none. */
void ilp_add_evicts(
	const struct ilp_program *program, int tensor, int view, int cut, double factor);

struct ilp_program *ilp_program_make(const struct joint_space *space, struct arena *arena);

/* All rows, in ilp_rows.c. */
void ilp_rows_make(const struct ilp_program *program, struct arena *arena);

/* The steps that a point stands for. */
struct joint_answer ilp_program_read(
	const struct ilp_program *program, const double *values, struct arena *arena);

/* Excludes these options with these evictions at these cuts, in any bundles. */
void ilp_program_forbid(const struct ilp_program *program, const struct joint_answer *answer);

/* In the LP format. */
const char *ilp_program_text(const struct ilp_program *program, struct arena *arena);

#endif
