#ifndef CERTIFICATE_CERTIFICATE_CHECK_H
#define CERTIFICATE_CERTIFICATE_CHECK_H

#include "base/stopper.h"
#include "search/certificate/certificate.h"
#include "search/nest/feasible.h"
#include "search/nest/nest_search.h"

#include <stddef.h>

/*
 * Lower bounds of the cost of every mapping of a cell, once the temporal loops of its outer storage levels are
 * known: the bounds by which certificates are checked.  They are derived from specs/counting.md alone and share
 * nothing with any solver.  Factors divide.
 *
 * In the order of the text: the facts that a cell fixes, the words that enter a level at least (words_*), the
 * cycles that a systolic array adds (floor_array), counts that do not depend on open loops (floor_count), and the
 * score that follows (floor_score).
 */
struct floor_frame {
	const struct nest_search *search;
	const struct completions *completions;
	bool timeloop;
	unsigned
		update_flags; /* bit t: in Timeloop's counting some flag changes how sums of dataspace t
				  are joined; exactly, cells know what flags do */
	bool flagged;         /* some flag changes who serves whom: windows then bound no cost */
	bool plain
		[SHAPE_SPACES_MOST]; /* ranks of one dimension, coefficient 1, none in two ranks */
	uint32_t alone[SHAPE_SPACES_MOST], paired[SHAPE_SPACES_MOST]; /* dimensions of such ranks */
	uint32_t own[SHAPE_SPACES_MOST][SHAPE_RANKS_MOST]; /* dimensions that no earlier rank has */
};

struct floor_frame floor_frame_make(
	const struct nest_search *search, const struct completions *completions);

/* Residency and spatial bounds of a mapping: what a cell fixes.  Levels are storage levels, 0 the
 * innermost. */
struct floor_cell {
	const struct floor_frame *frame;
	bool homeless; /* some dataspace is kept nowhere */
	bool apart;    /* exact counting: some sum ends in parts in several instances of its home */
	double steps, multipliers;
	int64_t temporal[SHAPE_DIMENSIONS_MOST]; /* iterations that temporal loops have to make */
	double spatial[ARCH_LEVELS_MOST]
		      [SHAPE_DIMENSIONS_MOST]; /* of blocks, by level of the hierarchy */
	double used[ARCH_LEVELS_MOST];         /* busy instances, by level of the hierarchy */
	double instances[ARCH_LEVELS_MOST];    /* the same by storage level */
	double inside[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST]; /* spatial bounds inside */
	double pj[ARCH_LEVELS_MOST][NEST_ACTIONS];              /* of a word */
	bool keep_nothing; /* multipliers read their operands again at every step */
	int kept_count[SHAPE_SPACES_MOST];
	int kept[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST]; /* levels that keep it, outermost first */
	/* For exact counting, by dataspace, bits of levels: those whose tiles leave and enter again at every
	 * step of the loops outside (temporal no_reuse); those that only count what passes (no_coalesce), which are not
	 * among the ones above; and all that give room to its tiles. */
	uint32_t renews[SHAPE_SPACES_MOST], passes[SHAPE_SPACES_MOST], holds[SHAPE_SPACES_MOST];
};

void floor_cell_make(
	const struct floor_frame *frame, const struct mapping *mapping, struct floor_cell *out);

/* True if a level's tiles fit when `left` iterations are inside it; exactly counted, plain
 * dataspaces at their homes with all the words that an instance has of them. */
bool floor_fits(const struct floor_cell *cell, int j, const int64_t *left);

/* The loops outside the boundary above a level. */
struct floor_loops {
	bool loose;     /* the order of the innermost level's among them is not all known */
	double outside; /* product of their bounds */
	int64_t left[SHAPE_DIMENSIONS_MOST]; /* iterations inside */
	/* By dataspace: iterations of the innermost disjoint move, the loops around counted; X of the
	 * temporal loops inside it. */
	double times[SHAPE_SPACES_MOST];
	double touched[SHAPE_SPACES_MOST][SHAPE_DIMENSIONS_MOST];
};

struct floor_loops floor_loops_none(const struct floor_cell *cell);

/* Adds the loops of one more level, of which `left` iterations stay inside; `order` innermost
 * first, of which this many loops with bounds above 1 are known: around them each dataspace has the
 * order that is best for it. */
void floor_loops_add(const struct floor_cell *cell, const struct floor_loops *outer,
	const uint32_t *bounds, const int64_t *left, const uint8_t *order, int known,
	struct floor_loops *out);

/*
 * Counts of read-only dataspaces that do not depend on loops not known yet: where level j keeps
 * one, its fills there and further out and its reads further out.  The model counts them with all
 * loops inside level j at the innermost level.
 */
struct floor_known {
	int from[SHAPE_SPACES_MOST]; /* level j; -1: nothing is known */
	double reads[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
	double fills[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
	bool solid[SHAPE_SPACES_MOST]; /* the tiles of level j have no gaps between used words */
};

/* Finds them for level j with `left` iterations inside.  The loops outside are in the mapping, those
 * of levels 0 .. j are overwritten. */
void floor_count(const struct floor_cell *cell, struct mapping *mapping, int j, const int64_t *left,
	struct floor_known *known);

/* With loops[i] outside level i for all levels i >= j: cycles, energy, bytes of the outermost storage,
 * accesses of levels. */
struct score floor_score(const struct floor_cell *cell, const struct floor_loops *loops, int j,
	const struct floor_known *known);

/*
 * Words that enter levels at least, from what is known of the loops outside.
 *
 * A dimension that has a rank of a dataspace to itself moves its tiles to disjoint places, at
 * every level inside its loop.  So take the innermost known loop over such a dimension: in each of
 * its iterations, `times` of them counting the loops around it, for any loops inside enters
 * every level inside again.
 *
 * The words that a rank has for a set of indices, X of each dimension d, are at least 1 + sum
 * (X(d) - 1), for all coefficients: sums of two sets of integers are at least as many as both
 * together, less one.
 *
 * All of it is exact where ranks are of one dimension and all loops outside a level are known.  For
 * windows a sharper bound is possible, by what a turn of the loops over them touches; on the 3x3
 * layer of specs/proofs.md it left 0.2 to 3 % fewer bounds to find and took a quarter longer.
 */

/*
 * Checks a certificate from the specs alone:
 *
 *  1. every point is a mapping of the space, keeps the constraints, fits, and has the
 * stated values; no point is beaten by another, and their order is the frontier's;
 *  2. of every cell of the space no mapping is better than claimed.
 *
 * Nothing of a solver is used, and nothing of how it came to its claim.
 */
struct certificate_checking {
	const struct certificate *certificate;
	const struct nest_search
		*search; /* space of the narrowed domain, model, constraints; of the
					     certificate's counting and objectives */
	uint64_t budget; /* steps: floors and evaluations; 0: any number */
	struct stopper stopper;
	void (*progress)(void *listener, uint64_t done, uint64_t choices); /* NULL: none */
};

struct certificate_result {
	enum verdict answer;
	const char *why; /* of what does not hold; NULL */
	struct span span;
	uint64_t choices, done; /* cells of the space, and how many of them were decided */
	uint64_t excluded;      /* by the floor of the whole cell */
	uint64_t steps, evaluated;
};

struct certificate_result certificate_check(
	const struct certificate_checking *checking, struct arena *arena);

#endif
