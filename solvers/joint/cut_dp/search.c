#include "solvers/joint/cut_dp/search.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/cut_dp/beam.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/options.h"
#include "solvers/joint/cut_dp/stack_bound.h"
#include "solvers/joint/cut_dp/step.h"

#include <math.h>

/* States, labels and the relaxation are made anew for each beam. */
static void open_pass(struct search *search)
{
	const struct frame *frame = search->frame;
	search->arena = arena_open();
	search->layers = arena_array(search->arena, struct cut_layer *, frame->cut_count);
	for (int c = 0; c < frame->cut_count; c++)
		search->layers[c] = layer_open(frame, c, search->arena);
	uint16_t codes[CUT_SLOTS_MOST];
	frame_start(frame, codes);
	layer_state(search->layers[0], codes);
	search->relaxation = NULL;
}

static void close_pass(struct search *search)
{
	for (int c = 0; c < search->frame->cut_count; c++)
		search->effort.states += layer_state_count(search->layers[c]);
	arena_close(search->arena);
}

/* A beam, lazy or not. */
static bool run_lazy(struct search *search, bool lazy, size_t width)
{
	search->lazy = lazy;
	search->goes_on = true;
	search->width = width;
	steps_be_lazy(search->steps, lazy, false);
	bool done = beam_run(search);
	run_report(search->run, search->best ? (double)search->best->value : INFINITY,
		(double)search->bound);
	return done;
}

/* Where tensors can be relayed, a beam is lazy until it drops nothing. */
static bool run_beams(struct search *search, size_t width)
{
	bool relays = frame_relays(search->frame);
	bool done = run_lazy(search, relays, width);
	if (done && relays && search->dropped == JOINT_NEVER)
		done = run_lazy(search, false, width);
	return done;
}

static bool is_through(const struct search *search)
{
	return (search->best && search->bound >= search->best->value) ||
	       (!search->lazy && search->dropped == JOINT_NEVER);
}

/* The next finer relaxation. */
static bool relax(struct search *search, int ground, size_t width)
{
	int64_t limit = beam_limit(search);
	if (search->relaxation)
		limit = number_min(limit, relax_limit(search->relaxation));
	search->relaxation = relax_open(search->run, ladder_ground(&search->ladder, ground),
		search->relaxation, search->bound, search->arena);
	return relax_run(search->relaxation, ground ? width : SIZE_MAX, limit, search->is_free);
}

/* Relaxations with a narrow beam behind each but the last.  One below a known bound is of no use. */
static bool run_pass(struct search *search, size_t width, bool is_first)
{
	bool done = true;
	open_pass(search);
	for (int g = 0, is_last = false; done && !is_last; g++) {
		search->is_free = (is_first && !g) || !(search->found || search->best);
		done = relax(search, g, width);
		is_last = ladder_ends(&search->ladder, g);
		if (!done || relax_limit(search->relaxation) < search->bound)
			break;
		if (g || is_first)
			done = run_beams(search, is_last ? width : CUT_BEAM_FIRST);
		if (done && is_through(search))
			break;
		if (done && !g && search->best)
			stack_bound(
				search->run, search->frame, &search->ladder, width, &search->bound);
	}
	close_pass(search);
	return done;
}

/* Wider and wider, until nothing is dropped; false: the budget is spent. */
static bool widen(struct search *search)
{
	for (size_t width = CUT_WIDTH_FIRST;; width *= CUT_WIDTH_TIMES) {
		if (!run_pass(search, width, width == CUT_WIDTH_FIRST))
			return false;
		if (is_through(search))
			return true;
	}
}

static void prove(struct search *search, bool done)
{
	int64_t bound = number_min(search->bound, search->unpacked);
	run_looked(search->run, &search->effort);
	run_evaluated(search->run, search->effort.labels);
	if (done && !search->best && search->unpacked == JOINT_NEVER)
		run_prove(search->run, PROOF_INFEASIBLE, 0);
	else if (search->best && (bound >= search->best->value ||
					 (done && search->unpacked >= search->best->value)))
		joint_plan_prove(search->run, search->frame->space, PROOF_OPTIMAL,
			(double)search->best->value);
	else if (search->best ||
		 (bound > 0 && bound < JOINT_NEVER)) /* a bound stands without a plan, too */
		joint_plan_prove(search->run, search->frame->space, PROOF_BOUND, (double)bound);
}

/* Where nothing that was found has addresses, something with less in LX may have. */
static void leave_room(struct search *search)
{
	int64_t bound = search->bound;
	for (int part = CUT_ROOM_PARTS - 1; part >= 0 && !search->best; part--) {
		steps_leave_room(
			search->steps, search->frame->space->capacity / CUT_ROOM_PARTS * part);
		search->found = false;
		widen(search);
	}
	search->bound = bound;
}

/* What a first pass finds without relays: what is searched must be better. */
static void find_first(struct search *search, struct arena *arena)
{
	struct search lesser = {.run = search->run,
		.frame = frame_without_relays(search->frame, arena),
		.unpacked = JOINT_NEVER};
	lesser.steps = steps_open(lesser.frame, arena);
	lesser.ladder = ladder_open(lesser.frame, arena);
	run_pass(&lesser, CUT_WIDTH_FIRST, true);
	search->best = lesser.best;
	search->effort = lesser.effort;
	ladder_close(&lesser.ladder);
	steps_close(lesser.steps);
}

void search(struct run *run, const struct frame *frame)
{
	struct arena *arena = arena_open();
	struct search search = {.run = run, .frame = frame, .unpacked = JOINT_NEVER};
	search.steps = steps_open(frame, arena);
	search.ladder = ladder_open(frame, arena);
	if (frame_relays(frame))
		find_first(&search, arena);
	bool done = widen(&search);
	if (!search.best && search.unpacked != JOINT_NEVER)
		leave_room(&search);
	prove(&search, done);
	steps_close(search.steps);
	ladder_close(&search.ladder);
	arena_close(arena);
}
