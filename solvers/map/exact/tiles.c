#include "solvers/map/exact/tiles.h"

#include "base/array.h"
#include "solvers/map/exact/options.h"

#include <stdatomic.h>

struct nest_shelf {
	const struct nest_frame *frame;
	const struct completions *completions;
	_Atomic(const struct nest_tiles *) *found[ARCH_LEVELS_MOST]; /* by dataspaces */
};

/* Tiles of one level, dimension by dimension. */
struct level_tile_search {
	const struct nest_shelf *shelf;
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

struct nest_shelf *nest_shelf_make(
	struct arena *arena, const struct nest_frame *frame, const struct level_factors *options)
{
	const struct shape *shape = frame->search->shape;
	struct nest_shelf *shelf = arena_new(arena, struct nest_shelf);
	shelf->frame = frame;
	shelf->completions = options->completions;
	for (int j = 0; j < frame->count; j++)
		shelf->found[j] = arena_alloc_array(
			arena, (size_t)1 << shape->space_count, sizeof *shelf->found[j]);
	return shelf;
}

const struct divisors *nest_shelf_divisors(const struct nest_shelf *shelf, int dimension)
{
	return &shelf->completions->divisors[dimension];
}

int nest_shelf_part(const struct nest_shelf *shelf, int dimension, int place, int whole)
{
	const int64_t *divisors = shelf->completions->divisors[dimension].at;
	while (divisors[whole] % divisors[place])
		place--;
	return place;
}

static bool fits(const struct level_tile_search *filling)
{
	const struct nest_frame *frame = filling->shelf->frame;
	double words = 0;
	for (uint32_t left = filling->kept; left; left &= left - 1)
		words += nest_frame_words(frame, __builtin_ctz(left), filling->extent);
	return words <= filling->size;
}

static void place(struct level_tile_search *filling, int d, size_t at)
{
	filling->place[d] = (uint16_t)at;
	filling->extent[d] = (double)filling->shelf->completions->divisors[d].at[at];
}

/* Whether no extent can be the next larger one. */
static bool is_largest(struct level_tile_search *filling)
{
	bool largest = true;
	for (int n = 0; n < filling->count && largest; n++) {
		int d = filling->dimensions[n];
		size_t at = filling->place[d];
		if (at + 1 == filling->shelf->completions->divisors[d].count)
			continue;
		place(filling, d, at + 1);
		largest = !fits(filling);
		place(filling, d, at);
	}
	return largest;
}

static void keep(struct level_tile_search *filling)
{
	filling->tiles++;
	for (int d = 0; d < filling->shelf->frame->search->shape->dimension_count; d++)
		*array_add(filling->arena, &filling->all) = filling->place[d];
}

/* Dimensions from n on; what they have now fits. */
static void fill(struct level_tile_search *filling, int n)
{
	if (n == filling->count) {
		if (is_largest(filling))
			keep(filling);
		return;
	}
	int d = filling->dimensions[n];
	size_t count = filling->shelf->completions->divisors[d].count, at = 0;
	for (; at < count && filling->tried <= TILES_TRIED_MOST; at++) {
		filling->tried++;
		place(filling, d, at);
		if (!fits(filling))
			break;
		if (n + 1 < filling->count)
			fill(filling, n + 1);
	}
	if (n + 1 == filling->count && at > 0) {
		place(filling, d, at - 1);
		fill(filling, n + 1);
	}
	place(filling, d, 0);
}

static const struct nest_tiles *find_tiles(
	const struct nest_shelf *shelf, struct arena *arena, int j, uint32_t kept)
{
	const struct nest_frame *frame = shelf->frame;
	const struct shape *shape = frame->search->shape;
	const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
	struct nest_tiles *tiles = arena_new(arena, struct nest_tiles);
	struct level_tile_search filling = {
		.shelf = shelf, .arena = arena, .kept = kept, .size = (double)level->size};
	uint32_t relevant = 0;
	size_t most = 0;
	if (!level->size)
		return tiles;
	for (uint32_t left = kept; left; left &= left - 1)
		relevant |= frame->spaces[__builtin_ctz(left)].relevant;
	for (int d = 0; d < shape->dimension_count; d++) {
		size_t count = shelf->completions->divisors[d].count;
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
	if (fits(&filling))
		fill(&filling, 0);
	tiles->known = filling.tried <= TILES_TRIED_MOST;
	tiles->count = filling.tiles;
	tiles->at = filling.all.at;
	return tiles;
}

/* Two threads may find the same; the first to say so is heard. */
const struct nest_tiles *nest_shelf_find(
	struct nest_shelf *shelf, struct arena *arena, int j, uint32_t kept)
{
	_Atomic(const struct nest_tiles *) *at = &shelf->found[j][kept];
	const struct nest_tiles *there = atomic_load(at);
	if (there)
		return there;
	const struct nest_tiles *found = find_tiles(shelf, arena, j, kept);
	return atomic_compare_exchange_strong(at, &there, found) ? found : there;
}
