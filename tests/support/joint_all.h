#ifndef SUPPORT_JOINT_ALL_H
#define SUPPORT_JOINT_ALL_H

#include "search/joint/joint_space.h"

#include <stdbool.h>

/*
 * The best answer of a joint space, from all states that it can be in, one by one, in the order of what
 * they cost: where every tensor is, the tensors of the bundle, its width.  Nothing is left out, no state
 * is called worse than another.  For small spaces: up to 32 tensors.
 */
enum { JOINT_ALL_TENSORS = 32 };

struct joint_all {
	bool known,
		found; /* known: it did not give up after `most` states; found: there is an answer */
	struct joint_answer answer;
	size_t states;
};

struct arena;
struct joint_all joint_all(const struct joint_space *space, size_t most, struct arena *arena);

/* The least that these steps cost in the same states, whenever tensors are dropped; JOINT_NEVER: a rule is
 * broken. */
int64_t joint_all_value(const struct joint_space *space, const struct joint_answer *answer);

#endif
