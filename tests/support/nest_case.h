#ifndef SUPPORT_NEST_CASE_H
#define SUPPORT_NEST_CASE_H

#include "base/random.h"
#include "model/nest/hierarchy.h"

/*
 * A random small nest: shape, hierarchy and a mapping whose bounds fit, for tests that compare
 * two ways of counting it.  Rows of the mapping: the hierarchy's levels outermost first, then the
 * multipliers (row = level_count - 1 - level; compute_row = level_count).  The block below a level
 * is the row inside it, as a fan-out belongs to what it fans out into.
 */
struct nest_case {
	struct shape shape;
	struct hierarchy hierarchy;
	struct mapping mapping;
};

struct nest_case_options {
	bool imperfect; /* bounds need not divide */
	bool sliding;   /* ranks that add two dimensions, strides, dilations */
	bool bypass, spatial;
	bool flags;         /* no_reuse and its like */
	bool systolic;      /* some block is a systolic array, or two of them are */
	int64_t steps_most; /* product of the bounds at most */
};

/* Everything that a case can have, small enough for an interpreter. */
extern const struct nest_case_options nest_case_all;

void nest_case_draw(
	struct random *random, const struct nest_case_options *options, struct nest_case *out);

/* Gives some levels a time for rows and for rounds; `countable`: rows only if perfect factors make them countable. */
void nest_case_paces(struct random *random, bool countable, struct nest_case *nest);

/* The shape alone: one of the known einsums with random extents. */
void nest_case_shape(
	struct random *random, const struct nest_case_options *options, struct shape *shape);

/* Gives a shape a random machine and a random mapping on it. */
void nest_case_map(
	struct random *random, const struct nest_case_options *options, struct nest_case *nest);

/*
 * The same nest with longer loops, extents up to `extent_most` (at most 2^31); blocks grow a
 * little.  Bounds that divide go on doing so, and the last rounds of others stay as they are.
 */
void nest_case_grow(struct random *random, int64_t extent_most, struct nest_case *nest);

/* The bounds of every dimension make its extent, and no block has more instances than there are. */
bool nest_case_fits(const struct nest_case *nest);

/* Everything about it in a few lines, for the message of a failing test. */
const char *nest_case_text(struct arena *arena, const struct nest_case *nest);

/* Bounds by level: of the temporal loops there, of the block below it. */
struct mapping_row *nest_case_temporal(struct nest_case *nest, int level);
struct mapping_row *nest_case_spatial(struct nest_case *nest, int level);

/*
 * Makes a failing case smaller, one thing after another, while `fails` says that it still fails:
 * flags, bypasses, bounds, extents, dimensions, dataspaces, levels, orders.
 */
void nest_case_shrink(struct nest_case *nest,
	bool (*fails)(const struct nest_case *nest, void *user), void *user);

#endif
