#include "solvers/map/exact/floor.h"

#include "base/arena.h"
#include "solvers/map/exact/options.h"

#include <string.h>

struct level_entry {
	bool fits;
	struct nest_sums sums;
};

struct nest_floors {
	struct arena *arena;
	struct nest_shelf *shelf;
	const struct nest_view *view;
	uint32_t left[SHAPE_DIMENSIONS_MOST]; /* all temporal iterations, by their places */
	int pattern_count;
	uint32_t patterns[SHAPE_DIMENSIONS_MOST]; /* dataspaces that some innermost loop closes */
	size_t ways;                              /* to enter a level */
	struct level_entry **entries[ARCH_LEVELS_MOST]; /* by way; NULL: not known yet */
};

/* A level, and who enters it. */
struct sill {
	int j;
	uint32_t kept, entering;
	size_t way;
	const struct nest_crossing *crossing[SHAPE_SPACES_MOST];
};

static const struct shape *shape_of(const struct nest_floors *floors)
{
	return floors->view->frame->search->shape;
}

struct nest_floors *nest_floors_open(struct arena *arena, const struct level_factors *options,
	struct nest_shelf *shelf, const struct nest_view *view)
{
	struct nest_floors *floors = arena_new(arena, struct nest_floors);
	const struct nest_frame *frame = view->frame;
	floors->arena = arena;
	floors->shelf = shelf;
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
	floors->ways = 1;
	for (int t = 0; t < shape_of(floors)->space_count && floors->ways; t++) {
		floors->ways *= (size_t)frame->count + 2;
		if (floors->ways > ENTRIES_REMEMBERED_MOST)
			floors->ways = 0;
	}
	for (int j = 0; j < frame->count && floors->ways; j++)
		floors->entries[j] = arena_array(arena, struct level_entry *, floors->ways);
	return floors;
}

static struct sill find_sill(const struct nest_floors *floors, int j)
{
	const struct nest_view *view = floors->view;
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	struct sill sill = {.j = j};
	int row = j < 0 ? -1 : hierarchy->levels[view->frame->level[j]].row;
	for (int t = 0; t < shape_of(floors)->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		uint32_t kept = row < 0 ? 0 : view->mapping.residency[t] >> row & 1;
		int k = chain->next[j + 1];
		bool enters =
			k < chain->crossing_count && chain->crossings[k].level == j && !chain->sags;
		sill.kept |= kept << t;
		sill.entering |= (uint32_t)enters << t;
		if (enters)
			sill.crossing[t] = &chain->crossings[k];
		size_t parent = enters ? (size_t)chain->kept[k] + 2 : kept;
		sill.way = sill.way * ((size_t)view->frame->count + 2) + parent;
	}
	return sill;
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
static bool look_outside(const struct nest_floors *floors, const struct sill *sill,
	const uint16_t *tile, double *times, bool *whole)
{
	const struct nest_view *view = floors->view;
	for (int t = 0; t < shape_of(floors)->space_count; t++)
		times[t] = 1;
	*whole = true;
	for (int d = 0; d < shape_of(floors)->dimension_count; d++) {
		const struct divisors *divisors = nest_shelf_divisors(floors->shelf, d);
		int64_t spatial = (int64_t)view->inside[sill->j][d];
		int place = tile[d];
		if (spatial > 1) {
			int64_t value = divisors->at[place] / spatial;
			if (!value)
				return false;
			place = place_below(divisors, place, value);
		}
		place = nest_shelf_part(floors->shelf, d, place, (int)floors->left[d]);
		double outside = (double)(view->temporal[d] / divisors->at[place]);
		*whole &= outside == 1;
		for (uint32_t some = sill->entering; some; some &= some - 1)
			if (!(view->frame->spaces[__builtin_ctz(some)].relevant >> d & 1))
				times[__builtin_ctz(some)] *= outside;
	}
	return true;
}

/* What all that enters costs, those that are closed this many times as much. */
static struct nest_sums weigh(const struct nest_floors *floors, const struct sill *sill,
	uint32_t closed, const double *times)
{
	struct nest_sums sums;
	memset(&sums, 0, sizeof sums);
	for (uint32_t some = sill->entering; some; some &= some - 1) {
		int t = __builtin_ctz(some);
		double x = floors->view->chains[t].words;
		nest_sums_add(floors->view->frame, &sums, &sill->crossing[t]->price,
			(closed >> t & 1) || (times && sill->crossing[t]->resets) ? x * times[t]
										  : x);
	}
	return sums;
}

static void find_least(struct nest_floors *floors, const struct sill *sill,
	const struct nest_tiles *tiles, struct level_entry *entry)
{
	size_t dimension_count = (size_t)shape_of(floors)->dimension_count;
	bool whole = false;
	entry->fits = false;
	for (size_t n = 0; n < tiles->count && !whole; n++) {
		double times[SHAPE_SPACES_MOST];
		if (!look_outside(floors, sill, tiles->at + n * dimension_count, times, &whole))
			continue;
		for (int p = 0; p < floors->pattern_count && !whole; p++) {
			struct nest_sums sums = weigh(floors, sill, floors->patterns[p], times);
			if (!entry->fits)
				entry->sums = sums;
			nest_sums_lower(floors->view->frame, &entry->sums, &sums);
			entry->fits = true;
		}
	}
	if (whole) {
		entry->fits = true;
		entry->sums = weigh(floors, sill, 0, NULL);
	}
}

/* What enters a level, all of it at least. */
static struct level_entry find_entry(
	struct nest_floors *floors, struct arena *arena, const struct sill *sill)
{
	struct level_entry entry = {true, weigh(floors, sill, 0, NULL)};
	if (sill->j < 0 || !sill->entering)
		return entry;
	struct level_entry **known = floors->ways ? &floors->entries[sill->j][sill->way] : NULL;
	if (known && *known)
		return **known;
	const struct nest_tiles *tiles = nest_shelf_find(floors->shelf, arena, sill->j, sill->kept);
	if (tiles->known && floors->pattern_count)
		find_least(floors, sill, tiles, &entry);
	if (known)
		*known = arena_copy(floors->arena, &entry, sizeof entry);
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
		struct sill sill = find_sill(floors, j);
		struct level_entry entry = find_entry(floors, tiles, &sill);
		if (!entry.fits)
			return false;
		nest_sums_add(view->frame, sums, &entry.sums, 1);
	}
	return true;
}
