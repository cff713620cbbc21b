#ifndef SUPPORT_JOINT_WALK_H
#define SUPPORT_JOINT_WALK_H

#include "base/random.h"
#include "search/joint/joint_space.h"

/*
 * A random answer of a joint space: op by op an option whose tensors are where it wants them, after evictions
 * and relays that bring them there.  It keeps all rules but those of room, of bundles with too many tensors, and
 * of bytes that are taken over twice.  Count 0: the walk came to an op that no option helps.
 */
struct arena;
struct joint_answer joint_walk(
	struct random *random, const struct joint_space *space, struct arena *arena);

#endif
