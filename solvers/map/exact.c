#include "base/arena.h"
#include "search/cells.h"
#include "solvers/map/nest_choices.h"
#include "solvers/map/nest_descent.h"
#include "solvers/map/uneven.h"

/*
 * Branch and bound over the whole mapspace of perfect factors.  First residency and
 * spatial bounds (nest_choices.h), the most promising ones first; then all the rest of
 * a choice (nest_descent.h).  Whatever a lower bound (nest_label.h) does not exclude is
 * looked into down to mappings, which the model evaluates.  So the answer is exact for the
 * model and its counting, however weak a bound is.
 */
static bool is_perfect(const struct nest_search *search)
{
	for (int d = 0; d < search->shape->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && search->shape->dimensions[d].extent > 1)
			return false;
	return true;
}

static void run_exact(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	if (!is_perfect(search)) {
		uneven_run(run, problem);
		return;
	}
	struct arena *arena = arena_open();
	struct nest_frame frame = nest_frame_make(search);
	const struct nest_options *options = nest_options_make(arena, &frame);
	const struct nest_choices *choices = nest_choices_make(arena, &frame, options);
	struct nest_descent *descent = arena_new(arena, struct nest_descent);
	descent->run = run;
	descent->scratch = arena_open();
	descent->options = options;
	descent->offers = nest_offers_open(run, search);
	descent->slack = 1;
	double bound = 0;
	for (size_t s = 0; s < choices->count && !descent->stopped; s++) {
		struct nest_cut cut = nest_cut_make(
			arena, &descent->offers.kept, &search->objectives, descent->slack);
		bound = choices->at[s].bound;
		if (cut.count && search->objectives.count == 1 && cut.values[0] <= bound)
			break;
		struct nest_choice_list list = nest_choices_expand(arena, choices, s, &cut);
		for (size_t c = 0; c < list.count && !descent->stopped; c++) {
			struct mapping mapping;
			nest_choice_set(choices, &list.at[c], &mapping);
			nest_view_make(&frame, &mapping, &descent->view);
			if (!descent->book || !order_book_serves(descent->book, &descent->view))
				descent->book = order_book_make(arena, &descent->view);
			nest_descend(descent);
			if (!descent->stopped)
				run_cell(run, cell_of(run_arena(run), search->space, &mapping));
		}
	}
	nest_offers_close(&descent->offers);
	if (!choices->complete || descent->offers.uncounted)
		run_prove(run, PROOF_NONE, 0);
	else if (!descent->stopped)
		run_prove(run, PROOF_OPTIMAL, 0);
	else if (search->objectives.count == 1)
		run_prove(run, PROOF_BOUND, bound);
	arena_close(descent->scratch);
	arena_close(arena);
}

const struct solver map_exact_solver = {
	.stage = STAGE_MAP,
	.name = "exact",
	.summary = "branch and bound over the whole mapspace, with a proof",
	.run = run_exact,
};
