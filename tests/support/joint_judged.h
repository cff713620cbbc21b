#ifndef SUPPORT_JOINT_JUDGED_H
#define SUPPORT_JOINT_JUDGED_H

#include "base/random.h"
#include "model/graph/plan.h"
#include "search/joint/joint_graph.h"

/* Questions about random small graphs, and plans that must be what the answers say. */
struct arena;

/* Few cores, little room or much, one of the objectives. */
struct joint_question joint_question_draw(
	struct random *random, const int *cores, int core_counts, struct arena *arena);

/* A plan of a random answer, and what the answer is worth; NULL: the walk found none that keeps all rules and has
 * addresses. */
const struct plan *joint_walked_plan(struct random *random, const struct joint_space *space,
	struct arena *arena, int64_t *value);

/* joint_judge without executing it. */
const char *joint_judge_value(const struct joint_question *question, const struct plan *plan,
	int64_t value, struct arena *arena);

/* NULL, or what is wrong: the plan must keep all rules, count what the model counts, be worth what the
 * answer is, and end with the right results. */
const char *joint_judge(const struct joint_question *question, const struct plan *plan,
	int64_t value, uint64_t seed, struct arena *arena);

#endif
