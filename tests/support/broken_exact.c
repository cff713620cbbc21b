#include "tests/support/broken_exact.h"

#include "base/arena.h"
#include "solvers/map/exact/exact.h"
#include "solvers/map/uneven/uneven.h"

#include <math.h>

const char *const exact_fault_names[] = {
	"it is right", "bounds are a tenth too high", "one order will do", "a choice is forgotten"};

enum exact_fault exact_fault;

static struct outer_branch_list broken_expand(struct run *run, struct arena *arena,
	const struct outer_branches *choices, size_t i, struct nest_cut *cut)
{
	struct outer_branch_list list = outer_branches_expand(run, arena, choices, i, cut);
	if (exact_fault == EXACT_CHOICE && i == 0 && list.count) {
		list.count--;
		list.at++;
	}
	return list;
}

/* With the last class alone of each set of loops of each level. */
static void break_book(struct run *run, struct order_book *book, const struct nest_view *view)
{
	const struct nest_search *search = view->frame->search;
	uint32_t sets = 1u << search->shape->dimension_count;
	for (int j = 1; exact_fault == EXACT_ORDER && j < view->frame->count; j++)
		for (uint32_t busy = 0; busy < sets; busy++) {
			const struct tiling_level *level =
				&search->space->levels[view->frame->tiling[j]];
			struct mapping mapping = search->space->blank;
			for (int d = 0; d < search->shape->dimension_count; d++)
				mapping.rows[level->row].temporal[d] = busy >> d & 1 ? 2 : 1;
			struct order_classes *classes = (struct order_classes *)order_book_find(
				book, run, j, busy, &mapping);
			if (classes->count)
				classes->at += classes->count - 1;
			classes->count = classes->count > 0;
		}
}

/* Runs the search; with the fault, the mappings that the slack excludes are not reported. */
static void broken_descend(struct nest_descent *descent, double bound)
{
	if (exact_fault == EXACT_BOUND)
		descent->slack = 1.1;
	break_book(descent->run, descent->book, &descent->view);
	nest_descend(descent, bound);
	if (exact_fault == EXACT_BOUND)
		descent->cut.excluded = INFINITY;
}

static struct score broken_bound(const struct nest_view *view, const struct uneven_part *part)
{
	struct score score = uneven_bound(view, part);
	if (exact_fault != EXACT_BOUND)
		return score;
	score.cycles += score.cycles / 10;
	score.energy_pj *= 1.1;
	score.hbm_bytes += score.hbm_bytes / 10;
	for (int i = 0; i < ARCH_LEVELS_MOST; i++)
		score.accesses[i] += score.accesses[i] / 10;
	return score;
}

static bool broken_view(const struct nest_frame *frame, const struct uneven_branches *branches,
	size_t i, uint64_t residency, struct nest_view *out)
{
	bool fits = uneven_branch_view(frame, branches, i, residency, out);
	return fits && !(exact_fault == EXACT_CHOICE && i == 0);
}

static uint64_t broken_count(
	const struct space *space, const struct tiling_level *level, const struct mapping *mapping)
{
	uint64_t count = space_level_count(space, level, mapping);
	return count > 1 && exact_fault == EXACT_ORDER ? 1 : count;
}

/* The search as it is, calling these instead. */
void broken_uneven_run(struct run *run, const struct problem *problem);
void broken_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound);
int64_t broken_padded_extent(int64_t extent);
#define uneven_run broken_uneven_run
#define uneven_padded broken_padded
#define uneven_padded_extent broken_padded_extent
#define uneven_bound broken_bound
#define uneven_branch_view broken_view
#define space_level_count broken_count
#include "solvers/map/uneven/search.c"
#undef space_level_count
#define map_exact_solver broken_exact_solver
#define outer_branches_expand broken_expand
#define nest_descend broken_descend
#include "solvers/map/exact.c"
