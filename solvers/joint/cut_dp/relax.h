#ifndef JOINT_CUT_DP_RELAX_H
#define JOINT_CUT_DP_RELAX_H

#include "solvers/joint/cut_dp/gate.h"

#include <stddef.h>

/*
 * Lower bounds of what is still to come, from shortest paths over the states of a blurred space, first forward, then
 * backward.  What they know of a bundle is in tolls (toll.h).  A coarser relaxation, if there is one, says
 * which states need not be looked at.
 */
struct run;

/* What is the same each time that a relaxation is made anew. */
struct ground;
struct ground *ground_open(const struct blur *blur, struct arena *arena);
void ground_close(struct ground *ground);

struct relaxation;

/* `coarser`: NULL: it is the first.  It ends, and is of no more use, where its limit falls below the floor. */
struct relaxation *relax_open(struct run *run, const struct ground *ground,
	struct relaxation *coarser, int64_t floor, struct arena *arena);

/*
 * Only from one cut to another: it begins in each state of a gate, after these costs, and at the end
 * what the other gate says is still to come.  NULL: the gate of a whole answer.
 */
void relax_between(struct relaxation *relaxation, int from, int to, const struct gate *costs,
	const struct gate *tolls);

/*
 * Goes on from at most `width` states that options lead to at each cut, and from none that is sure to end above the
 * limit; where there are more, the limit falls.  False: the budget is spent.
 */
bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit, bool is_free);
int64_t relax_limit(const struct relaxation *relaxation);

/* The least that any path costs, or the least above the limit. */
int64_t relax_least(const struct relaxation *relaxation);

/*
 * The tolls of a state of the space, or of a finer one: what goes on from it costs no less, or ends above the limit.
 * NULL: it does that in any case.
 */
size_t relax_toll_count(const struct relaxation *relaxation);
const int64_t *relax_tolls(struct relaxation *relaxation, int cut, const uint16_t *codes);

#endif
