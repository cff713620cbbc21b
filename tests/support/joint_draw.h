#ifndef SUPPORT_JOINT_DRAW_H
#define SUPPORT_JOINT_DRAW_H

#include "base/random.h"
#include "search/joint/joint_space.h"

/*
 * Random joint spaces of a few ops, made of nothing: every op makes a tensor and reads one or two; options in all
 * modes, runs of ops, opaque ops, relays, evictions, outs in place and in two places, further arguments,
 * views that serve others, limits of bundles and capacities that bind.  Prices are small numbers, so that
 * many answers are equally good.  Most spaces have an answer, some have none.
 */
struct arena;
struct joint_draw {
	int ops;    /* of one block: at least 1 */
	int blocks; /* equal ones, each of which reads what the one before made; at least 1 */
	int views;  /* of a tensor, at most 4 */
	bool without_relays;
	int options; /* of one op, and of all runs that begin with it, besides the one all in HBM */
};

const struct joint_space *joint_draw(
	struct random *random, const struct joint_draw *draw, struct arena *arena);

#endif
