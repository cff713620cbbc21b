#include "solvers/map/exact/exact.h"
#include "base/arena.h"
#include "base/array.h"
#include "search/certificate/certificate.h"
#include "solvers/map/uneven/uneven.h"

#include <assert.h>
#include <math.h>

/*
 * Branch and bound over the whole mapspace of perfect factors.  First residency and
 * spatial bounds (outer_branches.h), the most promising ones first; then all the rest of
 * a choice (exact/descent.c).  Whatever a lower bound (exact/label.c) does not exclude is
 * looked into down to mappings, which the model evaluates.  So the answer is exact for the
 * model and its counting, however weak a bound is.
 *
 * Choices are searched in rounds, a round in parts that know of each other's mappings only
 * when it ends; the size of rounds and parts depends on nothing but their number.
 */
struct round_task {
	struct outer_branch choice;
	struct order_book *book; /* of orders, for its residency */
};

struct round_part {
	struct array(struct round_task) tasks;
	struct frontier kept;
	double open; /* of the first objective: nothing that is left undone is below */
	double each[OBJECTIVE_COUNT]; /* and of each */
	double cut;                   /* nothing that the slack alone excluded is below */
	bool uncounted;
};

struct exact_search {
	const struct nest_search *search;
	struct arena *arena;
	struct nest_frame frame;
	const struct level_factors *options;
	const struct outer_branches *choices;
	struct order_books *books;
	struct nest_view *view; /* of the choice that was looked at last */
	double slack;
	struct nest_offers offers;
	double open, cut, each[OBJECTIVE_COUNT]; /* as of a part */
	size_t spread;                           /* the next spatial bounds */
	struct outer_branch_list list;           /* of the last ones */
	size_t listed;                           /* choices taken of these */
	bool stopped;                            /* before it knew the next ones */
	struct round_part parts[PARTS_MOST];
};

static double exact_least(double a, double b)
{
	return a < b ? a : b;
}

static void exact_lower_bound(double *each, const struct exact_search *exact, uint32_t spatial)
{
	size_t count = exact->search->wishes.objectives.count;
	for (size_t k = 0; k < count; k++)
		each[k] = exact_least(each[k], exact->choices->least[spatial * count + k]);
}

static void search_choice(const struct exact_search *exact, struct nest_descent *descent,
	const struct round_task *task, struct round_part *part)
{
	struct mapping mapping;
	outer_branch_set(exact->choices, &task->choice, &mapping);
	nest_view_make(&exact->frame, &mapping, &descent->view);
	descent->book = task->book;
	descent->open = INFINITY;
	nest_descend(descent, task->choice.bound);
	assert(descent->stopped || descent->open == INFINITY);
	part->open = exact_least(part->open, descent->open);
	if (descent->stopped)
		exact_lower_bound(part->each, exact, task->choice.spatial);
}

static void search_part(struct run *run, void *context, size_t i)
{
	struct exact_search *exact = context;
	struct round_part *part = &exact->parts[i];
	struct arena *scratch = arena_open();
	struct nest_descent *descent = arena_new(scratch, struct nest_descent);
	descent->run = run;
	descent->scratch = scratch;
	descent->options = exact->options;
	descent->slack = exact->slack;
	descent->cut.excluded = INFINITY;
	descent->offers = nest_offers_resume(run, exact->search, &exact->offers.kept);
	for (size_t c = 0; c < part->tasks.count; c++) {
		const struct outer_branch *choice = &part->tasks.at[c].choice;
		if (!descent->stopped) {
			search_choice(exact, descent, &part->tasks.at[c], part);
			continue;
		}
		part->open = exact_least(part->open, choice->bound);
		exact_lower_bound(part->each, exact, choice->spatial);
	}
	part->kept = descent->offers.kept;
	part->cut = descent->cut.excluded;
	part->uncounted = descent->offers.uncounted;
	run_looked(run, &(struct effort){.states = part->tasks.count,
				.edges = descent->edges,
				.labels = descent->labels});
	arena_close(scratch);
}

static struct order_book *find_book(struct exact_search *exact, const struct outer_branch *choice)
{
	struct mapping mapping;
	outer_branch_set(exact->choices, choice, &mapping);
	nest_view_make(&exact->frame, &mapping, exact->view);
	return order_books_find(exact->books, exact->view);
}

/* The next choice that nothing found excludes; false if there is none, or when it is to stop. */
static bool next_choice(
	struct exact_search *exact, struct run *run, struct nest_cut *cut, struct round_task *out)
{
	const struct outer_branches *choices = exact->choices;
	bool single = exact->search->wishes.objectives.count == 1;
	while (exact->listed == exact->list.count) {
		if (exact->spread == choices->count || exact->stopped)
			return false;
		double bound = choices->at[exact->spread].bound;
		assert(!exact->spread || choices->at[exact->spread - 1].bound <= bound);
		if (single && nest_cut_excludes_values(cut, &bound)) {
			exact->spread = choices->count;
			return false;
		}
		exact->list = outer_branches_expand(run, exact->arena, choices, exact->spread, cut);
		exact->listed = 0;
		exact->stopped = exact->list.stopped;
		exact->spread += !exact->stopped;
	}
	out->choice = exact->list.at[exact->listed++];
	out->book = find_book(exact, &out->choice);
	return true;
}

/* Returns the lower bound of the open part, of the first objective. */
static double find_open(const struct exact_search *exact)
{
	double open = exact->open;
	if (exact->listed < exact->list.count)
		open = exact_least(open, exact->list.at[exact->listed].bound);
	if (exact->spread < exact->choices->count)
		open = exact_least(open, exact->choices->at[exact->spread].bound);
	return open;
}

static void set_all(double *each, double value)
{
	for (int k = 0; k < OBJECTIVE_COUNT; k++)
		each[k] = value;
}

static size_t fill_round(struct exact_search *exact, struct run *run, size_t parts, size_t choices)
{
	struct nest_cut cut = nest_cut_make(
		exact->arena, &exact->offers.kept, &exact->search->wishes.objectives, exact->slack);
	struct round_task task;
	size_t count = 0;
	for (size_t i = 0; i < parts; i++)
		exact->parts[i] = (struct round_part){.open = INFINITY, .cut = INFINITY};
	for (size_t i = 0; i < parts; i++)
		set_all(exact->parts[i].each, INFINITY);
	for (; count < parts * choices && next_choice(exact, run, &cut, &task); count++)
		*array_add(exact->arena, &exact->parts[count % parts].tasks) = task;
	exact->cut = exact_least(exact->cut, cut.excluded);
	return count < parts ? count : parts;
}

static void merge_round(struct exact_search *exact, struct run *run, size_t parts)
{
	for (size_t i = 0; i < parts; i++) {
		const struct round_part *part = &exact->parts[i];
		for (size_t p = 0; p < part->kept.count; p++)
			frontier_add(&exact->offers.kept, run_arena(run), part->kept.points[p]);
		exact->open = exact_least(exact->open, part->open);
		exact->cut = exact_least(exact->cut, part->cut);
		for (int k = 0; k < OBJECTIVE_COUNT; k++)
			exact->each[k] = exact_least(exact->each[k], part->each[k]);
		exact->offers.uncounted |= part->uncounted;
	}
}

/* True if all has been searched. */
static bool search_rounds(struct exact_search *exact, struct run *run)
{
	size_t parts = 1, choices = 1;
	for (;;) {
		size_t filled = fill_round(exact, run, parts, choices);
		if (!filled)
			return !exact->stopped;
		bool go_on = run_parts(run, filled, search_part, exact);
		merge_round(exact, run, filled);
		run_report(run, nest_offers_best(&exact->offers),
			exact_least(nest_offers_best(&exact->offers), find_open(exact)));
		if (!go_on)
			return false;
		if (parts < PARTS_MOST)
			parts *= 2;
		else if (choices < PART_BRANCHES_MOST)
			choices *= 2;
	}
}

/* The best value of one chain of annealing; what it found is kept. */
static double exact_search_anneal(
	struct exact_search *exact, struct run *run, uint64_t chain, uint64_t ticks)
{
	double best = INFINITY;
	struct answer answer =
		nest_ask(run, "anneal", exact->search, chain, WARM_CHAINS, ticks, exact->arena);
	for (size_t i = 0; i < answer.candidate_count; i++) {
		nest_offers_adopt(&exact->offers, answer.candidates[i].mappings);
		best = exact_least(best, answer.values[i]);
	}
	return best;
}

/* Good mappings exclude much from the beginning: chains of annealing find some, until as many of
 * them as matter agree on the best. */
static void warm_up(struct exact_search *exact, struct run *run)
{
	uint64_t budget = exact->search->wishes.budget, ticks = WARM_TICKS;
	int agreed = 0,
	    enough = exact->search->wishes.objectives.count == 1 ? WARM_AGREED : WARM_CHAINS;
	if (budget && budget / WARM_PART < ticks * WARM_CHAINS)
		ticks = budget / WARM_PART / WARM_CHAINS;
	bool none = exact->choices->complete && !exact->choices->count;
	if (!ticks || none || space_factors_count(exact->search->space) < WARM_FACTORS)
		return;
	for (uint64_t c = 0; c < WARM_CHAINS && agreed < enough; c++) {
		double before = nest_offers_best(&exact->offers),
		       found = exact_search_anneal(exact, run, c, ticks);
		agreed = found == before ? agreed + 1 : found < before ? 1 : agreed;
	}
}

/* Each objective alone: what was found is not below the least of it, what it excluded no more than
 * the slack below, and what is open is not below its choices; of the first more is known. */
static void prove_each(struct exact_search *exact, struct run *run, double first)
{
	const struct objectives *objectives = &exact->search->wishes.objectives;
	const struct frontier *kept = &exact->offers.kept;
	if (exact->listed < exact->list.count)
		exact_lower_bound(exact->each, exact, exact->list.at[exact->listed].spatial);
	for (size_t s = exact->spread; s < exact->choices->count; s++)
		exact_lower_bound(exact->each, exact, exact->choices->at[s].spatial);
	for (size_t k = 0; k < objectives->count; k++) {
		enum objective objective = objectives->at[k];
		for (size_t i = 0; i < kept->count; i++)
			exact->each[k] = exact_least(exact->each[k],
				objective_value(objective, &kept->points[i].score) / exact->slack);
		if (!exact->choices->complete)
			exact->each[k] =
				exact_least(exact->each[k], nest_floor(exact->search, objective));
	}
	exact->each[0] = first;
	run_prove_each(run, exact->each, objectives->count);
}

static void prove_rest(struct exact_search *exact, struct run *run, bool complete)
{
	double best = nest_offers_best(&exact->offers);
	double bound =
		exact_least(exact_least(best, exact->cut), complete ? INFINITY : find_open(exact));
	bool single = exact->search->wishes.objectives.count == 1;
	complete &= exact->choices->complete;
	if (!exact->choices->complete)
		bound = exact_least(bound, exact->choices->floor);
	if (exact->offers.uncounted || exact->frame.ways)
		run_prove(run, PROOF_NONE, 0);
	else if (complete && (exact->slack == 1 || (single && bound == best)))
		run_prove(run, PROOF_OPTIMAL, 0);
	else if (single)
		run_prove(run, PROOF_BOUND, bound);
	else if (complete)
		run_prove_within(run, exact->slack);
	else
		prove_each(exact, run, bound);
}

static void run_exact(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	if (!certificate_covers(search)) {
		uneven_run(run, problem);
		return;
	}
	struct arena *arena = arena_open();
	struct exact_search *exact = arena_new(arena, struct exact_search);
	exact->search = search;
	exact->arena = arena;
	exact->frame = nest_frame_make(search);
	exact->books = order_books_make(arena);
	exact->view = arena_new(arena, struct nest_view);
	exact->options = level_factors_make(arena, &exact->frame);
	exact->choices = outer_branches_make(run, arena, &exact->frame, exact->options);
	exact->slack = 1 + search->epsilon;
	exact->offers = nest_offers_open(run, search);
	exact->open = INFINITY;
	exact->cut = INFINITY;
	set_all(exact->each, INFINITY);
	warm_up(exact, run);
	bool complete = search_rounds(exact, run);
	nest_offers_close(&exact->offers);
	prove_rest(exact, run, complete);
	arena_close(arena);
}

const struct solver map_exact_solver = {
	.stage = STAGE_MAP,
	.name = "exact",
	.summary = "branch and bound over all mappings, with a proof",
	.purposes = FOR_PROBLEMS,
	.proves = true,
	.run = run_exact,
};
