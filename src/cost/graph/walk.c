#include "cost/graph/walk.h"

#include "base/checked.h"

#include <string.h>

/* Rounds down, also below zero. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -number_ceil_div(-a, b);
}

struct walk_interval walk_interval(
	const struct loopnest *nest, const struct footprint_dim *dim, const int64_t *chunks)
{
	int64_t low = dim->host->offset, high = low;
	for (uint32_t rest = dim->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		int64_t step = dim->host->loop[l];
		int64_t first = step * loopnest_first(&nest->loops[l], chunks[l]);
		int64_t last = step * loopnest_last(&nest->loops[l], chunks[l]);
		low += number_min(first, last);
		high += number_max(first, last);
	}
	access_clip(dim->access, dim->size, &low, &high);
	int64_t from = floor_div(low, dim->per);
	return (struct walk_interval){from, floor_div(high, dim->per) - from + 1};
}

/* Several loops counting through their ranges, like the digits of an odometer. */
struct odometer {
	uint32_t loops;
	struct walk_range ranges[OP_LOOPS_MOST];
	int64_t at[OP_LOOPS_MOST];
};

/* False when there is nothing to visit. */
static bool odometer_start(struct odometer *odometer)
{
	bool any = true;
	for (uint32_t rest = odometer->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		odometer->at[l] = odometer->ranges[l].from;
		any = any && odometer->ranges[l].from < odometer->ranges[l].to;
	}
	return any;
}

static bool odometer_next(struct odometer *odometer)
{
	for (uint32_t rest = odometer->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		if (++odometer->at[l] < odometer->ranges[l].to)
			return true;
		odometer->at[l] = odometer->ranges[l].from;
	}
	return false;
}

static struct odometer slot_odometer(const struct footprint *footprint, const int64_t *slots)
{
	struct odometer odometer = {.loops = footprint->joint};
	for (int l = 0; l < footprint->nest->loop_count; l++)
		odometer.ranges[l] =
			slots ? (struct walk_range){slots[l], slots[l] + 1}
			      : (struct walk_range){0, footprint->nest->loops[l].split};
	return odometer;
}

static struct odometer tile_odometer(const struct footprint *footprint)
{
	struct odometer odometer = {.loops = footprint->joint};
	for (int l = 0; l < footprint->nest->loop_count; l++)
		odometer.ranges[l] = (struct walk_range){0, footprint->nest->loops[l].tiles};
	return odometer;
}

struct walk_box {
	struct walk_interval sides[LAYOUT_RANK_MOST]; /* of the joint dimensions */
	int side_count;
};

static struct walk_box find_box(
	const struct footprint *footprint, const int64_t *slots, const int64_t *tiles)
{
	int64_t chunks[OP_LOOPS_MOST];
	for (uint32_t rest = footprint->joint; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		chunks[l] = slots[l] * footprint->nest->loops[l].tiles + tiles[l];
	}
	struct walk_box box = {.side_count = 0};
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop < 0)
			box.sides[box.side_count++] =
				walk_interval(footprint->nest, &footprint->dims[d], chunks);
	return box;
}

static bool boxes_equal(const struct walk_box *a, const struct walk_box *b)
{
	for (int i = 0; i < a->side_count; i++)
		if (a->sides[i].first != b->sides[i].first ||
			a->sides[i].count != b->sides[i].count)
			return false;
	return true;
}

static int64_t box_sticks(const struct walk_box *box, bool *fits)
{
	int64_t sticks = 1;
	for (int i = 0; i < box->side_count; i++)
		sticks = checked_mul(fits, sticks, box->sides[i].count);
	return sticks;
}

/*
 * Walks of a group that this thread has done: searches try thousands of tilings of one op, of which few differ
 * in the loops of the group.  A walk is told by all that it reads; of two at one place the later one stays.
 */
enum { KNOWN_WALKS = 1 << 12, KNOWN_WORDS = 56 };

struct known_walk {
	int count;
	int64_t key[KNOWN_WORDS];
	int64_t results[4];
};

static _Thread_local struct known_walk known_walks[KNOWN_WALKS];

static void put(struct known_walk *walk, int64_t word)
{
	if (walk->count < KNOWN_WORDS)
		walk->key[walk->count] = word;
	walk->count++;
}

/* The key of a walk; `ranges`: NULL for a sum. */
static void put_walk(struct known_walk *walk, const struct footprint *group,
	const struct walk_range *ranges, uint32_t moved, const int64_t *slots)
{
	walk->count = 0;
	put(walk, group->dim_count << 3 | (slots != NULL) << 2 | (ranges != NULL) << 1 | !moved);
	for (uint32_t rest = group->joint; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		const struct loopnest_loop *loop = &group->nest->loops[l];
		put(walk, loop->extent << 2 | (moved >> l & 1) << 1 | ((rest & (rest - 1)) != 0));
		put(walk, loop->chunk);
		put(walk, loop->split << 32 | loop->tiles);
		if (slots)
			put(walk, slots[l]);
		if (ranges)
			put(walk, ranges[l].from << 32 | ranges[l].to);
		for (int d = 0; d < group->dim_count; d++)
			put(walk, group->dims[d].host->loop[l]);
	}
	for (int d = 0; d < group->dim_count; d++) {
		const struct footprint_dim *dim = &group->dims[d];
		put(walk, dim->host->offset);
		put(walk, dim->size << 1 | dim->access->pad);
		put(walk, dim->per);
	}
}

/* Where a walk is, or goes if it has another key, and then *known is false; NULL: its key is too long. */
static struct known_walk *find_walk(const struct known_walk *walk, bool *known)
{
	uint64_t hash = 0xcbf29ce484222325u;
	size_t size = (size_t)walk->count * sizeof *walk->key;
	if (walk->count > KNOWN_WORDS)
		return NULL;
	for (int i = 0; i < walk->count; i++) {
		hash = (hash ^ (uint64_t)walk->key[i]) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
	}
	struct known_walk *at = &known_walks[hash % KNOWN_WALKS];
	*known = at->count == walk->count && !memcmp(at->key, walk->key, size);
	return at;
}

static void keep_walk(struct known_walk *at, const struct known_walk *walk, const int64_t *results)
{
	if (!at)
		return;
	at->count = walk->count;
	memcpy(at->key, walk->key, (size_t)walk->count * sizeof *walk->key);
	memcpy(at->results, results, sizeof at->results);
}

static int64_t walk_boxes(
	const struct footprint *footprint, const int64_t *slots, int64_t *largest, bool *fits)
{
	struct odometer slot = slot_odometer(footprint, slots);
	struct odometer tile = tile_odometer(footprint);
	int64_t sum = 0;
	*largest = 0;
	odometer_start(&tile);
	do {
		odometer_start(&slot);
		do {
			struct walk_box box = find_box(footprint, slot.at, tile.at);
			int64_t sticks = box_sticks(&box, fits);
			sum = checked_add(fits, sum, sticks);
			*largest = number_max(*largest, sticks);
		} while (odometer_next(&slot));
	} while (odometer_next(&tile));
	return sum;
}

static int64_t sum_group(
	const struct footprint *group, const int64_t *slots, int64_t *largest, bool *fits)
{
	struct known_walk walk;
	bool known = false, own_fits = true;
	put_walk(&walk, group, NULL, 0, slots);
	struct known_walk *at = find_walk(&walk, &known);
	if (known) {
		*largest = at->results[1];
		return at->results[0];
	}
	int64_t sum = walk_boxes(group, slots, largest, &own_fits);
	if (own_fits)
		keep_walk(at, &walk, (int64_t[4]){sum, *largest});
	*fits &= own_fits;
	return sum;
}

/* The tile before this one, see walk_fetch. */
static void step_back(
	const struct footprint *footprint, uint32_t moved, const int64_t *tiles, int64_t *before)
{
	for (uint32_t rest = footprint->joint; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		before[l] = tiles[l];
		if (moved >> l & 1)
			before[l] =
				tiles[l] > 0 ? tiles[l] - 1 : footprint->nest->loops[l].tiles - 1;
	}
}

/*
 * Joint dimensions that share no loop, one group after the other: tiles and slots of a group go with all of
 * the others, so sums over boxes are products of sums.
 */
static bool next_group(const struct footprint *footprint, uint32_t *left, struct footprint *out)
{
	uint32_t group = *left & (~*left + 1), before = 0;
	if (!group)
		return false;
	while (group != before) {
		before = group;
		for (int d = 0; d < footprint->dim_count; d++)
			if (footprint->dims[d].loop < 0 && footprint->dims[d].loops & group)
				group |= footprint->dims[d].loops;
	}
	*out = *footprint;
	out->dim_count = 0;
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop < 0 && footprint->dims[d].loops & group)
			out->dims[out->dim_count++] = footprint->dims[d];
	out->joint = group;
	*left &= ~group;
	return true;
}

int64_t walk_sum(
	const struct footprint *footprint, const int64_t *slots, int64_t *largest, bool *fits)
{
	struct footprint group;
	int64_t sum = 1, most = 1;
	for (uint32_t left = footprint->joint; next_group(footprint, &left, &group);) {
		int64_t one;
		sum = checked_mul(fits, sum, sum_group(&group, slots, &one, fits));
		most = checked_mul(fits, most, one);
	}
	*largest = most;
	return sum;
}

/* Sticks of a group in the tiles of some ranges: of distinct boxes and of all slots' boxes, and of
 * both those that stay as they were, in all slots that have them. */
struct group_fetch {
	struct footprint_fetch all, still;
};

/* A box among those of one tile, and whether a slot that has it comes to it anew. */
struct seen_box {
	struct walk_box box;
	int64_t sticks;
	bool moved;
};

static struct seen_box *find_seen(struct seen_box *seen, int *count, const struct walk_box *box)
{
	for (int i = 0; i < *count; i++)
		if (boxes_equal(&seen[i].box, box))
			return &seen[i];
	seen[*count] = (struct seen_box){.box = *box};
	return &seen[(*count)++];
}

static void fetch_tile(const struct footprint *group, uint32_t moved, const int64_t *tiles,
	const int64_t *slots, struct group_fetch *fetch, bool *fits)
{
	struct seen_box seen[LOOPNEST_CORES_MOST];
	int count = 0;
	int64_t before[OP_LOOPS_MOST];
	struct odometer slot = slot_odometer(group, slots);
	step_back(group, moved, tiles, before);
	odometer_start(&slot);
	do {
		struct walk_box box = find_box(group, slot.at, tiles);
		struct seen_box *found = find_seen(seen, &count, &box);
		struct walk_box old = moved ? find_box(group, slot.at, before) : box;
		bool still = moved && boxes_equal(&old, &box);
		found->sticks = box_sticks(&box, fits);
		found->moved |= !still;
		fetch->all.fills = checked_add(fits, fetch->all.fills, found->sticks);
		if (still)
			fetch->still.fills = checked_add(fits, fetch->still.fills, found->sticks);
	} while (odometer_next(&slot));
	for (int i = 0; i < count; i++) {
		fetch->all.transfers = checked_add(fits, fetch->all.transfers, seen[i].sticks);
		if (!seen[i].moved)
			fetch->still.transfers =
				checked_add(fits, fetch->still.transfers, seen[i].sticks);
	}
}

static struct group_fetch walk_tiles(const struct footprint *group, const struct walk_range *ranges,
	uint32_t moved, const int64_t *slots, bool *fits)
{
	struct group_fetch fetch = {0};
	struct odometer tile = {.loops = group->joint};
	for (int l = 0; l < group->nest->loop_count; l++)
		tile.ranges[l] = ranges[l];
	if (!odometer_start(&tile))
		return fetch;
	do
		fetch_tile(group, moved, tile.at, slots, &fetch, fits);
	while (odometer_next(&tile));
	return fetch;
}

static struct group_fetch fetch_group(const struct footprint *group,
	const struct walk_range *ranges, uint32_t moved, const int64_t *slots, bool *fits)
{
	struct known_walk walk;
	bool known = false, own_fits = true;
	put_walk(&walk, group, ranges, moved, slots);
	struct known_walk *at = find_walk(&walk, &known);
	if (known)
		return (struct group_fetch){
			{at->results[0], at->results[1]}, {at->results[2], at->results[3]}};
	struct group_fetch fetch = walk_tiles(group, ranges, moved, slots, &own_fits);
	if (own_fits)
		keep_walk(at, &walk,
			(int64_t[4]){fetch.all.transfers, fetch.all.fills, fetch.still.transfers,
				fetch.still.fills});
	*fits &= own_fits;
	return fetch;
}

/* A box is new unless it stays in every group: all boxes less the product of those that stay. */
struct footprint_fetch walk_fetch(const struct footprint *footprint,
	const struct walk_range *ranges, uint32_t moved, const int64_t *slots, bool *fits)
{
	struct footprint_fetch all = {1, 1}, still = {1, 1};
	struct footprint group;
	for (uint32_t left = footprint->joint; next_group(footprint, &left, &group);) {
		struct group_fetch one = fetch_group(&group, ranges, moved, slots, fits);
		all.transfers = checked_mul(fits, all.transfers, one.all.transfers);
		all.fills = checked_mul(fits, all.fills, one.all.fills);
		still.transfers = checked_mul(fits, still.transfers, one.still.transfers);
		still.fills = checked_mul(fits, still.fills, one.still.fills);
	}
	return (struct footprint_fetch){all.transfers - still.transfers, all.fills - still.fills};
}

/*
 * Indices a*x + b*y + .. over whole ranges are without holes when, taken by
 * ascending step, each step is at most one more than what the smaller ones reach.
 */
static bool dimension_is_solid(const struct loopnest *nest, const struct footprint_dim *dim)
{
	int64_t reach = 0;
	for (uint32_t rest = dim->loops; rest;) {
		int next = __builtin_ctz(rest);
		for (uint32_t other = rest; other; other &= other - 1) {
			int l = __builtin_ctz(other);
			if (dim->host->loop[l] < dim->host->loop[next])
				next = l;
		}
		const struct loopnest_loop *loop = &nest->loops[next];
		int64_t step = dim->host->loop[next];
		if (step < 0 || step > reach + 1 || loop->extent % loop->grain)
			return false;
		reach += step * (loop->chunk - 1);
		rest &= ~(1u << next);
	}
	return dim->per == 1;
}

bool walk_solid(const struct footprint *footprint)
{
	uint32_t seen = 0;
	for (int d = 0; d < footprint->dim_count; d++) {
		const struct footprint_dim *dim = &footprint->dims[d];
		if (dim->loop >= 0)
			continue;
		if (seen & dim->loops || !dimension_is_solid(footprint->nest, dim))
			return false;
		seen |= dim->loops;
	}
	return true;
}
