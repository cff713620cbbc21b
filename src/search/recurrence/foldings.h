#ifndef SEARCH_FOLDINGS_H
#define SEARCH_FOLDINGS_H

#include "cost/recurrence/projection.h"
#include "model/recurrence/recurrence.h"

/*
 * An einsum on an array of a fixed size: which loops run along its rows and columns, how loops that
 * are longer are folded onto it, and in which order the rest runs.
 *
 * A row of space is a loop.  In tiles (locally parallel, globally sequential) as much of it as there
 * are PEs runs at once, and the tiles follow each other; in blocks (locally sequential, globally
 * parallel) each PE has neighbouring steps for itself.  The last loop of time runs innermost, and
 * operands are carried along it and along the array; along all others they are read again.
 * What is read comes in at an edge of the array, unless no two points share it: it is handed on along a row, or it stays in its PEs
 * and is shifted in along the first row of space, which takes as many steps as that has PEs.  PEs start one after the other along a row, or, where wires carry what they
 * have in common, together.
 *
 * Either every round of a loop waits until the array has drained, as simulators of systolic arrays
 * count (Samajdar and others, SCALE-Sim, ISPASS 2020), or it follows at the first step at which each PE is free and
 * every value has been made.
 */
struct folding {
	int rows;
	int loops[RECURRENCE_LOOPS_MOST]; /* by row of space */
	enum fold_order orders[RECURRENCE_LOOPS_MOST];
	bool wired[RECURRENCE_LOOPS_MOST]; /* PEs along it start together */
	/* All other loops, tiles included, outermost first; split loops count after all others, in
	 * the order of rows. */
	int time_count, time[RECURRENCE_LOOPS_MOST];
	bool drained;
	bool whole; /* tiles are as large as the array, even of loops that are shorter */
};

/* What comes of one. */
struct folded {
	struct space_time spec; /* its recurrence, projection and limits */
	const char *name;       /* "Weights stationary": operands that stay in their PEs */
	int64_t folds;          /* rounds of all tiles and blocks */
};

/* False if there is no such thing: too many loops, an operand that cannot be shifted in, values that
 * come too late. */
bool folding_make(const struct space_time *spec, const struct folding *folding, struct arena *arena,
	struct folded *out);

/* Calls visit(user, folding) for all of them, those that drain first; ends when it says false. */
bool foldings_visit(const struct space_time *spec,
	bool (*visit)(void *user, const struct folding *folding), void *user);

/*
 * The dataflow in which an operand stays (output-, weight- or input-stationary), drained after each
 * tile of the whole array: a reduced loop of it runs along the first row, else its loops in the order of its indices.
 * False if it does not see as many loops as the array has rows.
 */
bool folding_classical(const struct space_time *spec, int operand, struct folding *out);

#endif
