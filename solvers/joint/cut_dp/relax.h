#ifndef CUT_DP_RELAX_H
#define CUT_DP_RELAX_H

#include "solvers/joint/cut_dp/frame.h"

#include <stddef.h>

/*
 * Lower bounds, one for each condition that a bundle can be in: how wide it is, by rank, and how many tensors it
 * has.  The relaxation counts only tensors that no step before can have used in HBM (frame_is_fresh).  The last
 * condition is that of a bundle that has ended.
 *
 * Completion bounds are lower bounds of the steps that follow; costs are those of the steps before.  A bundle may
 * be paid for before it is as wide, so a step as wide as `cores` is taken in bundles of at least that width.
 */
#define BOUND_NEVER (INT64_MAX / 4)

size_t condition_count(const struct frame *frame);

/* Which of them is that of a bundle with this number of tensors. */
size_t condition_index(const struct frame *frame, int args, int widest);

/*
 * A coarse space: the views of some tensors are joined (state-space relaxation, Christofides, Mingozzi and Toth
 * 1981).  Such a tensor has one view, which serves every use of any of them, takes no room, and is as cheap and
 * narrow as the best of them.  Each answer of the space is one of the coarse space, and costs no more there.
 */
struct coarse_space {
	const struct frame *frame; /* its tensors have the same slots */
	const bool *is_coarse;     /* by tensor; NULL: none is */
	int distinct;              /* tensors that are not */
};

/*
 * A potential: a number for each state that a cut can have and each condition that a bundle can be in.
 */
struct potential {
	const struct frame *frame;
	int cut;
	struct cut_layer *states;
	int64_t *bounds; /* [state * condition_count + condition] */
};

/* All are BOUND_NEVER.  NULL: there are more than `most` states. */
struct potential *potential_open(
	const struct frame *frame, int cut, size_t most, struct arena *arena);

size_t potential_count(const struct potential *potential); /* states */
size_t potential_size(const struct potential *potential);  /* numbers */
const uint16_t *potential_codes(const struct potential *potential, size_t state);
int64_t *potential_row(const struct potential *potential, size_t state);

/*
 * A relaxation: lower bounds of the rest of an answer, from shortest paths over the states of a coarse space, first
 * forward, then backward.  A coarser relaxation, if there is one, excludes states.
 */
struct run;

/* State space of relaxations, shared by all of one coarse space. */
struct state_space;

struct relaxation;

/* `coarser`: NULL: it is the first.  It ends, and is of no more use, where its limit falls below the floor. */
struct relaxation *relax_open(struct run *run, const struct state_space *states,
	struct relaxation *coarser, int64_t floor, struct arena *arena);

/*
 * Only from one cut to another: it begins in each state of a potential, after these costs, and at the end
 * what the other potential says is still to come.  NULL: the potential of a whole answer.
 */
void relax_between(struct relaxation *relaxation, int from, int to, const struct potential *costs,
	const struct potential *bounds);

/*
 * Goes on from at most `width` states that options lead to at each cut, and from none that is sure to end above the
 * limit; where there are more, the limit falls.  False: the budget is spent.
 */
bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit, bool is_free);
int64_t relax_limit(const struct relaxation *relaxation);

/* The least that any path costs, or the least above the limit. */
int64_t relax_least(const struct relaxation *relaxation);

/*
 * The bounds of a state of the space, or of a finer one: what goes on from it costs no less, or ends above the limit.
 * NULL: it does that in any case.
 */
size_t relax_condition_count(const struct relaxation *relaxation);
const int64_t *relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes);

enum { RELAXATIONS_MOST = 8 };

/* State spaces of relaxations, from coarse to fine: the first joins
 * all views, the last one none. Each is made at its first use. */
struct relaxations {
	struct arena *arena;
	const struct frame *relaxed;
	struct coarse_space before;
	double states;
	int count;
	bool is_whole; /* the last one is made */
	struct state_space *spaces[RELAXATIONS_MOST];
};

struct relaxations relaxations_open(const struct frame *frame, struct arena *arena);
void relaxations_close(struct relaxations *relaxations);

/* The levels are asked for in order. */
const struct state_space *relaxations_space(struct relaxations *relaxations, int level);
bool relaxations_ends(
	const struct relaxations *relaxations, int level); /* of one that is made: it is the last */

#endif
