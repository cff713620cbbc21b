#include "solvers/map/exact/exact.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tile_cache {
	const struct nest_frame *frame;
	const struct completions *completions;
	_Atomic(const struct nest_tiles *) *found[ARCH_LEVELS_MOST]; /* by dataspaces */
};

/* Tiles of one level, dimension by dimension. */
struct level_tile_search {
	const struct tile_cache *cache;
	struct arena *arena;
	uint32_t kept;
	double size;
	int count, dimensions[SHAPE_DIMENSIONS_MOST]; /* those that matter, the longest list last */
	double extent[SHAPE_DIMENSIONS_MOST];
	uint16_t place[SHAPE_DIMENSIONS_MOST];
	long tried;
	size_t tiles;
	struct array(uint16_t) all;
};

struct tile_cache *tile_cache_make(
	struct arena *arena, const struct nest_frame *frame, const struct level_factors *options)
{
	const struct shape *shape = frame->search->shape;
	struct tile_cache *cache = arena_new(arena, struct tile_cache);
	cache->frame = frame;
	cache->completions = options->completions;
	for (int j = 0; j < frame->count; j++)
		cache->found[j] = arena_alloc_array(
			arena, (size_t)1 << shape->space_count, sizeof *cache->found[j]);
	return cache;
}

const struct divisors *tile_cache_divisors(const struct tile_cache *cache, int dimension)
{
	return &cache->completions->divisors[dimension];
}

int tile_cache_part(const struct tile_cache *cache, int dimension, int place, int whole)
{
	const int64_t *divisors = cache->completions->divisors[dimension].at;
	while (divisors[whole] % divisors[place])
		place--;
	return place;
}

static bool level_tile_fits(const struct level_tile_search *filling)
{
	const struct nest_frame *frame = filling->cache->frame;
	double words = 0;
	for (uint32_t left = filling->kept; left; left &= left - 1)
		words += nest_frame_words(frame, __builtin_ctz(left), filling->extent);
	return words <= filling->size;
}

static void place(struct level_tile_search *filling, int d, size_t at)
{
	filling->place[d] = (uint16_t)at;
	filling->extent[d] = (double)filling->cache->completions->divisors[d].at[at];
}

/* True if no extent can be the next larger one. */
static bool is_largest(struct level_tile_search *filling)
{
	bool largest = true;
	for (int n = 0; n < filling->count && largest; n++) {
		int d = filling->dimensions[n];
		size_t at = filling->place[d];
		if (at + 1 == filling->cache->completions->divisors[d].count)
			continue;
		place(filling, d, at + 1);
		largest = !level_tile_fits(filling);
		place(filling, d, at);
	}
	return largest;
}

static void keep_tile(struct level_tile_search *filling)
{
	filling->tiles++;
	for (int d = 0; d < filling->cache->frame->search->shape->dimension_count; d++)
		*array_add(filling->arena, &filling->all) = filling->place[d];
}

/* Dimensions from n on; what they have now fits. */
static void fill_tile(struct level_tile_search *filling, int n)
{
	if (n == filling->count) {
		if (is_largest(filling))
			keep_tile(filling);
		return;
	}
	int d = filling->dimensions[n];
	size_t count = filling->cache->completions->divisors[d].count, at = 0;
	for (; at < count && filling->tried <= TILES_TRIED_MOST; at++) {
		filling->tried++;
		place(filling, d, at);
		if (!level_tile_fits(filling))
			break;
		if (n + 1 < filling->count)
			fill_tile(filling, n + 1);
	}
	if (n + 1 == filling->count && at > 0) {
		place(filling, d, at - 1);
		fill_tile(filling, n + 1);
	}
	place(filling, d, 0);
}

static const struct nest_tiles *find_tiles(
	const struct tile_cache *cache, struct arena *arena, int j, uint32_t kept)
{
	const struct nest_frame *frame = cache->frame;
	const struct shape *shape = frame->search->shape;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
	struct nest_tiles *tiles = arena_new(arena, struct nest_tiles);
	struct level_tile_search filling = {
		.cache = cache, .arena = arena, .kept = kept, .size = (double)level->size};
	uint32_t relevant = 0;
	size_t most = 0;
	if (!level->size)
		return tiles;
	for (uint32_t left = kept; left; left &= left - 1)
		relevant |= frame->spaces[__builtin_ctz(left)].relevant;
	for (int d = 0; d < shape->dimension_count; d++) {
		size_t count = cache->completions->divisors[d].count;
		place(&filling, d, relevant >> d & 1 ? 0 : count - 1);
		if (!(relevant >> d & 1))
			continue;
		filling.dimensions[filling.count++] = d;
		if (count > most) {
			most = count;
			continue;
		}
		int longest = filling.dimensions[filling.count - 2];
		filling.dimensions[filling.count - 2] = d;
		filling.dimensions[filling.count - 1] = longest;
	}
	if (level_tile_fits(&filling))
		fill_tile(&filling, 0);
	tiles->known = filling.tried <= TILES_TRIED_MOST;
	tiles->count = filling.tiles;
	tiles->at = filling.all.at;
	return tiles;
}

/* Threads may find the same answer; the first one stored wins. */
const struct nest_tiles *tile_cache_find(
	struct tile_cache *cache, struct arena *arena, int j, uint32_t kept)
{
	_Atomic(const struct nest_tiles *) *at = &cache->found[j][kept];
	const struct nest_tiles *there = atomic_load(at);
	if (there)
		return there;
	const struct nest_tiles *found = find_tiles(cache, arena, j, kept);
	return atomic_compare_exchange_strong(at, &there, found) ? found : there;
}

struct level_entry {
	bool fits;
	struct nest_sums sums;
};

struct nest_floors {
	struct tile_cache *cache;
	const struct nest_view *view;
	uint32_t left[SHAPE_DIMENSIONS_MOST]; /* all temporal iterations, by their places */
	int pattern_count;
	uint32_t patterns[SHAPE_DIMENSIONS_MOST]; /* dataspaces that some innermost loop closes */
};

/* A level, and who enters it. */
struct entrants {
	int j;
	uint32_t kept, entering;
	const struct nest_crossing *crossing[SHAPE_SPACES_MOST];
};

static const struct shape *shape_of(const struct nest_floors *floors)
{
	return floors->view->frame->search->shape;
}

struct nest_floors *nest_floors_open(struct arena *arena, const struct level_factors *options,
	struct tile_cache *cache, const struct nest_view *view)
{
	struct nest_floors *floors = arena_new(arena, struct nest_floors);
	const struct nest_frame *frame = view->frame;
	floors->cache = cache;
	floors->view = view;
	for (int d = 0; d < shape_of(floors)->dimension_count; d++) {
		floors->left[d] = (uint32_t)level_factors_place(options, d, view->temporal[d]);
		if (view->temporal[d] == 1)
			continue;
		uint32_t closed = 0;
		for (int t = 0; t < shape_of(floors)->space_count; t++)
			closed |= (frame->spaces[t].relevant >> d & 1) << t;
		bool known = false;
		for (int p = 0; p < floors->pattern_count && !known; p++)
			known = floors->patterns[p] == closed;
		if (!known)
			floors->patterns[floors->pattern_count++] = closed;
	}
	return floors;
}

static struct entrants find_entrants(const struct nest_floors *floors, int j)
{
	const struct nest_view *view = floors->view;
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	struct entrants entrants = {.j = j};
	int row = j < 0 ? -1 : hierarchy->levels[view->frame->level[j]].row;
	for (int t = 0; t < shape_of(floors)->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		uint32_t kept = row < 0 ? 0 : view->mapping.residency[t] >> row & 1;
		int k = chain->next[j + 1];
		bool enters =
			k < chain->crossing_count && chain->crossings[k].level == j && !chain->sags;
		entrants.kept |= kept << t;
		entrants.entering |= (uint32_t)enters << t;
		if (enters)
			entrants.crossing[t] = &chain->crossings[k];
	}
	return entrants;
}

/* The place of the largest divisor up to a value, which is at least 1. */
static int place_below(const struct divisors *divisors, int place, int64_t value)
{
	while (divisors->at[place] > value)
		place--;
	return place;
}

/* Products of the irrelevant loops outside a tile; false if it has no room for the spatial
 * loops.  *whole: it leaves none outside. */
static bool look_outside(const struct nest_floors *floors, const struct entrants *entrants,
	const uint16_t *tile, double *times, bool *whole)
{
	const struct nest_view *view = floors->view;
	for (int t = 0; t < shape_of(floors)->space_count; t++)
		times[t] = 1;
	*whole = true;
	for (int d = 0; d < shape_of(floors)->dimension_count; d++) {
		const struct divisors *divisors = tile_cache_divisors(floors->cache, d);
		int64_t spatial = (int64_t)view->inside[entrants->j][d];
		int place = tile[d];
		if (spatial > 1) {
			int64_t value = divisors->at[place] / spatial;
			if (!value)
				return false;
			place = place_below(divisors, place, value);
		}
		place = tile_cache_part(floors->cache, d, place, (int)floors->left[d]);
		double outside = (double)(view->temporal[d] / divisors->at[place]);
		*whole &= outside == 1;
		for (uint32_t some = entrants->entering; some; some &= some - 1)
			if (!(view->frame->spaces[__builtin_ctz(some)].relevant >> d & 1))
				times[__builtin_ctz(some)] *= outside;
	}
	return true;
}

/* Returns the cost of all words that enter, those that are closed this many times as much. */
static struct nest_sums entrants_weigh(const struct nest_floors *floors,
	const struct entrants *entrants, uint32_t closed, const double *times)
{
	struct nest_sums sums;
	memset(&sums, 0, sizeof sums);
	for (uint32_t some = entrants->entering; some; some &= some - 1) {
		int t = __builtin_ctz(some);
		double x = floors->view->chains[t].words;
		nest_sums_add(floors->view->frame, &sums, &entrants->crossing[t]->price,
			(closed >> t & 1) || (times && entrants->crossing[t]->resets) ? x * times[t]
										      : x);
	}
	return sums;
}

static void find_least(struct nest_floors *floors, const struct entrants *entrants,
	const struct nest_tiles *tiles, struct level_entry *entry)
{
	size_t dimension_count = (size_t)shape_of(floors)->dimension_count;
	bool whole = false;
	entry->fits = false;
	for (size_t n = 0; n < tiles->count && !whole; n++) {
		double times[SHAPE_SPACES_MOST];
		if (!look_outside(floors, entrants, tiles->at + n * dimension_count, times, &whole))
			continue;
		for (int p = 0; p < floors->pattern_count && !whole; p++) {
			struct nest_sums sums =
				entrants_weigh(floors, entrants, floors->patterns[p], times);
			if (!entry->fits)
				entry->sums = sums;
			nest_sums_lower(floors->view->frame, &entry->sums, &sums);
			entry->fits = true;
		}
	}
	if (whole) {
		entry->fits = true;
		entry->sums = entrants_weigh(floors, entrants, 0, NULL);
	}
}

/* Returns a lower bound of the words that enter a level. */
static struct level_entry find_entry(
	struct nest_floors *floors, struct arena *arena, const struct entrants *entrants)
{
	struct level_entry entry = {true, entrants_weigh(floors, entrants, 0, NULL)};
	if (entrants->j < 0 || !entrants->entering)
		return entry;
	const struct nest_tiles *tiles =
		tile_cache_find(floors->cache, arena, entrants->j, entrants->kept);
	if (tiles->known && floors->pattern_count)
		find_least(floors, entrants, tiles, &entry);
	return entry;
}

bool nest_floors_add(struct nest_floors *floors, struct arena *tiles, struct nest_sums *sums)
{
	const struct nest_view *view = floors->view;
	for (int t = 0; t < shape_of(floors)->space_count; t++) {
		if (view->chains[t].sags)
			nest_label_start(view, t, sums);
		else
			nest_sums_add(view->frame, sums, &view->chains[t].base, 1);
	}
	for (int j = -1; j < view->frame->count; j++) {
		struct entrants entrants = find_entrants(floors, j);
		struct level_entry entry = find_entry(floors, tiles, &entrants);
		if (!entry.fits)
			return false;
		nest_sums_add(view->frame, sums, &entry.sums, 1);
	}
	return true;
}

static const struct nest_search *outer_branches_search(const struct outer_branches *choices)
{
	return choices->frame->search;
}

void outer_branch_set(const struct outer_branches *branches, const struct outer_branch *branch,
	struct mapping *mapping)
{
	const struct space *space = outer_branches_search(branches)->space;
	spatial_bounds_set(&branches->spatial, space, branch->spatial, mapping);
	for (int i = 0; i < space->free_count; i++)
		if (branch->residency >> i & 1)
			mapping->residency[space->free[i].space] |= 1u << space->free[i].row;
}

/* One set of levels that may keep a dataspace, with the lower bound of its cost. */
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

static void residencies_find_places(
	struct arena *arena, struct residencies *residencies, int t, const struct mapping *mapping)
{
	struct nest_view *view = &residencies->view;
	const struct space *space = outer_branches_search(residencies->choices)->space;
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
	spatial_bounds_set(
		&choices->spatial, outer_branches_search(choices)->space, spatial, &mapping);
	out->choices = choices;
	nest_view_spread(choices->frame, &mapping, &out->view);
	bool good = true;
	for (int t = 0; t < outer_branches_search(choices)->shape->space_count; t++) {
		residencies_find_places(arena, out, t, &mapping);
		good &= out->places[t].count > 0;
	}
	return good;
}

/* Adds the lower bound of the dataspaces from t on to the cost of the others. */
static void weigh_rest(const struct residencies *residencies, const struct nest_sums *so_far, int t,
	struct nest_cost *out)
{
	out->sums = *so_far;
	for (; t < outer_branches_search(residencies->choices)->shape->space_count; t++)
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
			outer_branches_search(residencies->choices)->hierarchy->compute_pj;
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
		&residencies->view, &cost, outer_branches_search(choices)->wishes.objectives.at[0]);
	*array_add(expansion->arena, &expansion->list) = expansion->choice;
}

static void expansion_expand(struct expansion *expansion, int t, const struct nest_sums *so_far)
{
	struct residencies *residencies = &expansion->residencies;
	const struct outer_branches *choices = residencies->choices;
	struct nest_cost cost;
	expansion->stopped |= !run_go_on(expansion->run, 1);
	if (++expansion->weighed % WEIGHED_PER_TICK == 0)
		expansion->stopped |= !run_spend(expansion->run, 1);
	if (expansion->stopped)
		return;
	weigh_rest(residencies, so_far, t, &cost);
	if (nest_cut_excludes(expansion->cut, &residencies->view, &cost))
		return;
	if (t == outer_branches_search(choices)->shape->space_count) {
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
		expansion_expand(expansion, t + 1, &sums);
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
		if (choices->cache)
			expansion->floors = nest_floors_open(scratch, choices->options,
				choices->cache, &expansion->residencies.view);
		expansion_expand(expansion, 0, &base);
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
 * listed at once.  With more of them nothing is proven, and few are enumerated. */
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

/* True if spatial bounds take as many instances of every block as they must. */
static bool uses_blocks(const struct outer_branches *choices, uint32_t s)
{
	const struct nest_search *search = outer_branches_search(choices);
	struct mapping mapping;
	bool good = true;
	spatial_bounds_set(&choices->spatial, search->space, s, &mapping);
	for (int i = 0; i < search->hierarchy->level_count; i++) {
		const struct nest_level *level = &search->hierarchy->levels[i];
		double taken = 1;
		for (int d = 0; level->least_usage > 0 && d < search->shape->dimension_count; d++)
			taken *= mapping.rows[level->block_row].spatial[d];
		good &= taken / (double)(fanout_count(&level->fanout)) >= level->least_usage;
	}
	return good;
}

/* Those of the spatial bounds for which every dataspace has a home. */
static void weigh_spatial(struct run *run, struct outer_branches *choices)
{
	const struct objectives *objectives = &outer_branches_search(choices)->wishes.objectives;
	struct arena *scratch = arena_open();
	struct residencies *residencies = arena_new(scratch, struct residencies);
	struct arena_mark mark = arena_mark(scratch);
	for (uint32_t s = 0; s < choices->spatial.count && run_go_on(run, PLACES_TICKS); s++) {
		if (uses_blocks(choices, s) && find_residencies(scratch, choices, s, residencies)) {
			struct nest_sums base = base_of(residencies);
			struct nest_cost cost;
			weigh_rest(residencies, &base, 0, &cost);
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
	choices->cache = frame->plain ? tile_cache_make(arena, frame, options) : NULL;
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
