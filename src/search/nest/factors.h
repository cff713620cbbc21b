#ifndef SEARCH_NEST_FACTORS_H
#define SEARCH_NEST_FACTORS_H

#include "base/random.h"
#include "base/stopper.h"
#include "base/wide.h"
#include "model/nest/constraint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The index factorizations of one dimension: a bound for each of its loops,
 * innermost first, each within its least and most, that together make up the
 * extent.  Perfect bounds multiply to it; imperfect ones obey "Bounds fit" of
 * specs/counting.md: each leaves ceil(left / bound) rounds to the loops outside
 * it, is at most what was left, and 1 is left after the outermost.
 *
 * They are counted and numbered without being listed: the table behind this has one
 * count for each loop and each number of rounds that can be left, which are the
 * divisors of the extent, or the 2 * sqrt(extent) quotients ceil(extent / n).
 * Numbers go from 0 in the order of the bounds, the innermost one slowest.  Even
 * 48 free loops over an extent of 2^31 have fewer than 2^127 of them.
 */
enum { FACTORS_LOOPS_MOST = 48 };
#define FACTORS_EXTENT_MOST (INT64_C(1) << 31)

struct factor_bounds {
	int64_t least, most; /* least >= 1 */
};

struct factors;
struct arena;

/* Loops innermost first; 1 <= extent <= FACTORS_EXTENT_MOST.  NULL if the stopper says so: imperfect
 * ones of an extent of 2^31 may take seconds for each loop. */
const struct factors *factors_make(struct arena *arena, int64_t extent, bool imperfect,
	int loop_count, const struct factor_bounds *bounds, const struct stopper *stopper);

wide factors_count(const struct factors *factors);

/* Number `index` of them, 0 <= index < count, into bounds[loop_count]. */
void factors_at(const struct factors *factors, wide index, int64_t *bounds);

/* The same with a list of all, if they are few, so that numbers and draws need no search. */
enum { FACTORS_LISTED_MOST = 1 << 16 }; /* bounds in the list */
const struct factors *factors_listed(struct arena *arena, const struct factors *factors);

/* The first; false if there is none.  The one after `bounds`; false after the last. */
bool factors_first(const struct factors *factors, int64_t *bounds);
bool factors_next(const struct factors *factors, int64_t *bounds);

/* Each equally likely; there is at least one. */
void factors_draw(const struct factors *factors, struct random *random, int64_t *bounds);

/* For search loop by loop.  `left` is what admissible bounds inside `loop` leave of the extent.
 * Bounds first .. last of the loop all leave `left` rounds to those outside it, and these can make
 * them up. */
struct factor_step {
	int64_t first, last, left;
};

/* The next of them whose bounds are not below `from`; false if there is none. */
bool factors_step(const struct factors *factors, int loop, int64_t left, int64_t from,
	struct factor_step *out);

/* Over all factorizations, of each loop alone: its bound, and the product of the bounds up to and
 * with it.  There must be one. */
struct factor_range {
	int64_t least, most;
	int64_t least_inside, most_inside;
};
const struct factor_range *factors_ranges(const struct factors *factors);

/*
 * Factorizations that were made once: who asks many similar questions about the
 * same dimensions makes their tables once.  All of it lives in one arena and
 * belongs to one thread.
 */
struct factors_store {
	struct arena *arena;
	size_t count, capacity;
	const struct factors **at;
	struct stopper stopper;
};

/* As factors_make.  `store` NULL: made in `arena`, to the end. */
const struct factors *factors_store_get(struct factors_store *store, struct arena *arena,
	int64_t extent, bool imperfect, int loop_count, const struct factor_bounds *bounds);

/*
 * A domain on a machine that has more of something, to ask what stands against
 * it.  Levels by their index in the hierarchy.
 */
struct relaxed {
	struct domain domain; /* of the hierarchy beside it */
	struct hierarchy hierarchy;
};

struct arena;
struct relaxed *relaxed_open(struct arena *arena, const struct domain *domain);

/* Sets a size; the words that a level must be filled with stay the same. */
void relaxed_set_size(struct relaxed *relaxed, int level, int64_t words);

/* Bounds that only the fan-out limited may be as large as it is now. */
void relaxed_set_fanout(struct relaxed *relaxed, int level, int64_t x, int64_t y);

/* No limit at all: unlimited words; as many instances as any mapping asks for. */
void relaxed_lift_size(struct relaxed *relaxed, int level);
void relaxed_lift_fanout(struct relaxed *relaxed, int level);

#endif
