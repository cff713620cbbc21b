#include "solvers/map/exact/branches.h"

#include "base/array.h"
#include "solvers/map/exact/options.h"
#include "solvers/map/exact/skew.h"

#include <stdlib.h>
#include <string.h>

static const struct nest_search *search_of(const struct outer_branches *choices)
{
	return choices->frame->search;
}

void outer_branch_set(const struct outer_branches *branches, const struct outer_branch *branch,
	struct mapping *mapping)
{
	const struct space *space = search_of(branches)->space;
	spatial_bounds_set(&branches->spatial, space, branch->spatial, mapping);
	for (int i = 0; i < space->free_count; i++)
		if (branch->residency >> i & 1)
			mapping->residency[space->free[i].space] |= 1u << space->free[i].row;
}

/* Where one dataspace may be kept, and what it costs then at least. */
struct nest_place {
	uint64_t residency; /* bits of space->free */
	uint32_t kept;
	struct nest_sums sums;
};

struct nest_places {
	size_t count;
	struct nest_place *at;
	struct nest_sums least; /* of all places, each meter */
};

struct residencies {
	const struct outer_branches *choices;
	struct nest_view view;
	struct nest_places places[SHAPE_SPACES_MOST];
};

static void find_places(
	struct arena *arena, struct residencies *residencies, int t, const struct mapping *mapping)
{
	struct nest_view *view = &residencies->view;
	const struct space *space = search_of(residencies->choices)->space;
	struct nest_places *places = &residencies->places[t];
	int mine[FREE_MOST], free_count = 0;
	for (int i = 0; i < space->free_count; i++)
		if (space->free[i].space == t && free_count < residencies->choices->free_most)
			mine[free_count++] = i;
	places->count = 0;
	places->at = arena_array(arena, struct nest_place, (size_t)1 << free_count);
	for (uint32_t bits = 0; bits < 1u << free_count; bits++) {
		struct nest_place *place = &places->at[places->count];
		*place = (struct nest_place){.kept = mapping->residency[t]};
		for (int i = 0; i < free_count; i++) {
			if (!(bits >> i & 1))
				continue;
			place->residency |= UINT64_C(1) << mine[i];
			place->kept |= 1u << space->free[mine[i]].row;
		}
		nest_view_keep(view, t, place->kept);
		if (!view->chains[t].count)
			continue;
		nest_label_start(view, t, &place->sums);
		if (!places->count++)
			places->least = place->sums;
		nest_sums_lower(view->frame, &places->least, &place->sums);
	}
}

/* False if some dataspace has no home. */
static bool find_residencies(struct arena *arena, const struct outer_branches *choices,
	uint32_t spatial, struct residencies *out)
{
	struct mapping mapping;
	spatial_bounds_set(&choices->spatial, search_of(choices)->space, spatial, &mapping);
	out->choices = choices;
	nest_view_spread(choices->frame, &mapping, &out->view);
	bool good = true;
	for (int t = 0; t < search_of(choices)->shape->space_count; t++) {
		find_places(arena, out, t, &mapping);
		good &= out->places[t].count > 0;
	}
	return good;
}

/* What the dataspaces from t on cost at least, added to what the others do. */
static void weigh(const struct residencies *residencies, const struct nest_sums *so_far, int t,
	struct nest_cost *out)
{
	out->sums = *so_far;
	for (; t < search_of(residencies->choices)->shape->space_count; t++)
		nest_sums_add(
			residencies->view.frame, &out->sums, &residencies->places[t].least, 1);
	out->array_cycles = residencies->view.skew_cycles;
	nest_cost_finish(&residencies->view, out);
}

static struct nest_sums base_of(const struct residencies *residencies)
{
	struct nest_sums base;
	memset(&base, 0, sizeof base);
	base.at[0][0] = residencies->view.frame->macs *
			search_of(residencies->choices)->hierarchy->compute_pj;
	return base;
}

struct expansion {
	struct run *run;
	struct arena *arena;
	struct residencies residencies;
	struct nest_cut *cut;
	struct nest_floors *floors; /* NULL: there are windows */
	struct outer_branch choice;
	struct array(struct outer_branch) list;
	uint64_t weighed; /* choices for some of the dataspaces */
	bool stopped;
};

/* With all of a residency chosen: what nothing found excludes is listed. */
static void look_at(struct expansion *expansion, const struct nest_cost *so_far)
{
	struct residencies *residencies = &expansion->residencies;
	const struct outer_branches *choices = residencies->choices;
	struct nest_cost cost = *so_far;
	if (!nest_view_least_fits(&residencies->view))
		return;
	if (expansion->floors) {
		run_go_on(expansion->run, PLACES_TICKS);
		cost.sums = base_of(residencies);
		if (!nest_floors_add(expansion->floors, expansion->arena, &cost.sums))
			return;
	}
	struct nest_label first = nest_label_first(&residencies->view);
	cost.array_cycles = nest_skew_bound(&residencies->view, &first, NULL, NULL);
	nest_cost_finish(&residencies->view, &cost);
	if (nest_cut_excludes(expansion->cut, &residencies->view, &cost))
		return;
	expansion->choice.bound = nest_cost_value(
		&residencies->view, &cost, search_of(choices)->wishes.objectives.at[0]);
	*array_add(expansion->arena, &expansion->list) = expansion->choice;
}

static void expand(struct expansion *expansion, int t, const struct nest_sums *so_far)
{
	struct residencies *residencies = &expansion->residencies;
	const struct outer_branches *choices = residencies->choices;
	struct nest_cost cost;
	expansion->stopped |= !run_go_on(expansion->run, 1);
	if (++expansion->weighed % WEIGHED_PER_TICK == 0)
		expansion->stopped |= !run_spend(expansion->run, 1);
	if (expansion->stopped)
		return;
	weigh(residencies, so_far, t, &cost);
	if (nest_cut_excludes(expansion->cut, &residencies->view, &cost))
		return;
	if (t == search_of(choices)->shape->space_count) {
		look_at(expansion, &cost);
		return;
	}
	uint64_t before = expansion->choice.residency;
	for (size_t p = 0; p < residencies->places[t].count; p++) {
		const struct nest_place *place = &residencies->places[t].at[p];
		struct nest_sums sums = *so_far;
		nest_sums_add(choices->frame, &sums, &place->sums, 1);
		expansion->choice.residency = before | place->residency;
		nest_view_keep(&residencies->view, t, place->kept);
		expand(expansion, t + 1, &sums);
	}
	expansion->choice.residency = before;
}

static int by_bound(const void *a, const void *b)
{
	const struct outer_branch *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return (x->residency > y->residency) - (x->residency < y->residency);
}

struct outer_branch_list outer_branches_expand(struct run *run, struct arena *arena,
	const struct outer_branches *choices, size_t i, struct nest_cut *cut)
{
	struct arena *scratch = arena_open();
	struct expansion *expansion = choices->expansion;
	expansion->run = run;
	expansion->arena = arena;
	expansion->cut = cut;
	expansion->floors = NULL;
	expansion->choice = (struct outer_branch){.spatial = choices->at[i].spatial};
	memset(&expansion->list, 0, sizeof expansion->list);
	expansion->weighed = 0;
	expansion->stopped = false;
	if (find_residencies(scratch, choices, choices->at[i].spatial, &expansion->residencies)) {
		struct nest_sums base = base_of(&expansion->residencies);
		if (choices->shelf)
			expansion->floors = nest_floors_open(scratch, choices->options,
				choices->shelf, &expansion->residencies.view);
		expand(expansion, 0, &base);
	}
	struct outer_branch_list list = {expansion->list.count, expansion->list.at, false};
	if (expansion->stopped || !run_go_on(run, PLACES_TICKS))
		list = (struct outer_branch_list){.stopped = true};
	if (list.count)
		qsort(list.at, list.count, sizeof *list.at, by_bound);
	arena_close(scratch);
	return list;
}

/* Places that are free to keep each dataspace or not, at most: all residencies of a choice are
 * listed at once.  With more of them there is no proof, and few are looked at. */
static int find_free_most(const struct nest_search *search)
{
	if (search->space->free_count <= FREE_ALL_MOST)
		return FREE_MOST;
	return FREE_MOST / search->shape->space_count;
}

static bool has_few_free(const struct space *space, int most)
{
	int count[SHAPE_SPACES_MOST] = {0};
	bool few = true;
	for (int i = 0; i < space->free_count; i++)
		few &= ++count[space->free[i].space] <= most;
	return few;
}

/* Whether spatial bounds take as many instances of every block as they must. */
static bool uses_blocks(const struct outer_branches *choices, uint32_t s)
{
	const struct nest_search *search = search_of(choices);
	struct mapping mapping;
	bool good = true;
	spatial_bounds_set(&choices->spatial, search->space, s, &mapping);
	for (int i = 0; i < search->hierarchy->level_count; i++) {
		const struct nest_level *level = &search->hierarchy->levels[i];
		double taken = 1;
		for (int d = 0; level->least_usage > 0 && d < search->shape->dimension_count; d++)
			taken *= mapping.rows[level->block_row].spatial[d];
		good &= taken / (double)(level->fanout_x * level->fanout_y) >= level->least_usage;
	}
	return good;
}

/* Those of the spatial bounds for which every dataspace has a home. */
static void weigh_spatial(struct run *run, struct outer_branches *choices)
{
	const struct objectives *objectives = &search_of(choices)->wishes.objectives;
	struct arena *scratch = arena_open();
	struct residencies *residencies = arena_new(scratch, struct residencies);
	struct arena_mark mark = arena_mark(scratch);
	for (uint32_t s = 0; s < choices->spatial.count && run_go_on(run, PLACES_TICKS); s++) {
		if (uses_blocks(choices, s) && find_residencies(scratch, choices, s, residencies)) {
			struct nest_sums base = base_of(residencies);
			struct nest_cost cost;
			weigh(residencies, &base, 0, &cost);
			double *values = &choices->least[s * objectives->count];
			for (size_t k = 0; k < objectives->count; k++)
				values[k] = nest_cost_value(
					&residencies->view, &cost, objectives->at[k]);
			choices->at[choices->count++] = (struct spatial_choice){values[0], s};
		}
		arena_release(scratch, mark);
	}
	arena_close(scratch);
}

struct outer_branches *outer_branches_make(struct run *run, struct arena *arena,
	const struct nest_frame *frame, const struct level_factors *options)
{
	const struct nest_search *search = frame->search;
	struct outer_branches *choices = arena_new(arena, struct outer_branches);
	choices->expansion = arena_new(arena, struct expansion);
	choices->frame = frame;
	choices->options = options;
	choices->shelf = frame->plain ? nest_shelf_make(arena, frame, options) : NULL;
	choices->free_most = find_free_most(search);
	choices->spatial =
		spatial_bounds_find(run, arena, frame, options->completions, SPATIAL_MOST);
	choices->at = arena_array(arena, struct spatial_choice, choices->spatial.count);
	choices->least = arena_array(
		arena, double, choices->spatial.count * search->wishes.objectives.count);
	weigh_spatial(run, choices);
	choices->complete = choices->spatial.complete &&
			    has_few_free(search->space, choices->free_most) && run_go_on(run, 0);
	choices->floor = nest_floor(search, search->wishes.objectives.at[0]);
	spatial_choices_sort(choices->at, choices->count);
	return choices;
}
