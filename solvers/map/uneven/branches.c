#include "solvers/map/uneven/branches.h"

#include "base/arena.h"
#include "solvers/map/uneven/bound.h"
#include "solvers/map/uneven/options.h"

bool uneven_branch_view(const struct nest_frame *frame, const struct uneven_branches *branches,
	size_t i, uint64_t residency, struct nest_view *out)
{
	const struct space *space = frame->search->space;
	struct mapping mapping;
	spatial_bounds_set(&branches->spatial, space, branches->at[i].spatial, &mapping);
	for (int b = 0; b < space->free_count; b++)
		if (residency >> b & 1)
			mapping.residency[space->free[b].space] |= 1u << space->free[b].row;
	nest_view_make(frame, &mapping, out);
	return nest_view_least_fits(out);
}

struct uneven_branches uneven_branches_make(
	struct run *run, struct arena *arena, const struct nest_frame *frame)
{
	const struct nest_search *search = frame->search;
	struct uneven_branches branches = {
		.floor = nest_floor(search, search->wishes.objectives.at[0])};
	branches.spatial = spatial_bounds_find(run, arena, frame, NULL,
		search->space->free_count <= UNEVEN_FREE_MOST ? UNEVEN_SPATIAL_MOST : 0);
	branches.at = arena_array(arena, struct spatial_choice, branches.spatial.count);
	struct arena *scratch = arena_open();
	struct nest_view *view = arena_new(scratch, struct nest_view);
	for (size_t s = 0; s < branches.spatial.count && run_go_on(run, BOUND_TICKS); s++) {
		branches.at[s].spatial = s;
		uneven_branch_view(frame, &branches, s, 0, view);
		struct score bound = uneven_bound_anywhere(view);
		branches.at[s].bound = objective_value(search->wishes.objectives.at[0], &bound);
		branches.count++;
	}
	arena_close(scratch);
	branches.complete = branches.spatial.complete && run_go_on(run, 0);
	spatial_choices_sort(branches.at, branches.count);
	return branches;
}
