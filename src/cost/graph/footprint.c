#include "cost/graph/footprint.h"

#include "base/checked.h"
#include "cost/graph/walk.h"

/* Is there a tile of which a part is padding? */
static bool leaves(const struct loopnest *nest, const struct footprint_dim *dim)
{
	int64_t low = dim->host->offset, high = low;
	for (uint32_t rest = dim->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		int64_t length = (nest->loops[l].extent - 1) * dim->host->loop[l];
		low += number_min(length, 0);
		high += number_max(length, 0);
	}
	return dim->access->pad && (low < 0 || high >= dim->size);
}

/* Every chunk begins on a new index: moving on by one chunk moves the box by as much. */
static bool steps_evenly(const struct loopnest *nest, const struct footprint_dim *dim, int l)
{
	return dim->host->loop[l] * nest->loops[l].grain % dim->per == 0;
}

static void sort_dimensions(struct footprint *footprint)
{
	for (int d = 0; d < footprint->dim_count; d++) {
		struct footprint_dim *dim = &footprint->dims[d];
		bool alone = (dim->loops & (dim->loops - 1)) == 0;
		for (int other = 0; other < footprint->dim_count; other++)
			if (other != d && footprint->dims[other].loops & dim->loops)
				alone = false;
		int l = __builtin_ctz(dim->loops);
		if (alone && steps_evenly(footprint->nest, dim, l) &&
			!leaves(footprint->nest, dim)) {
			dim->loop = l;
			footprint->simple |= dim->loops;
		} else {
			dim->loop = -1;
			footprint->joint |= dim->loops;
		}
	}
}

struct footprint footprint_make(const struct loopnest *nest, const struct workload *workload,
	const struct op *op, int operand)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	struct footprint footprint = {.nest = nest};
	for (int d = 0; d + 1 < layout->rank; d++) {
		if (layout->part[d] == PART_SYNTHETIC)
			continue;
		struct footprint_dim dim = {
			.host = &access->host[layout->host_dim[d]],
			.access = access,
			.size = layout->host_size[layout->host_dim[d]],
			.per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1,
		};
		for (int l = 0; l < nest->loop_count; l++)
			if (dim.host->loop[l])
				dim.loops |= 1u << l;
		if (dim.loops)
			footprint.dims[footprint.dim_count++] = dim;
	}
	sort_dimensions(&footprint);
	return footprint;
}

/* Which tiles of a loop a sum runs over. */
enum part { PART_ALL, PART_FIRST, PART_REST };

static int64_t part_from(const struct loopnest_loop *loop, enum part part)
{
	return part == PART_REST ? 1 : 0;
}

static int64_t part_to(const struct loopnest_loop *loop, enum part part)
{
	return part == PART_FIRST ? 1 : loop->tiles;
}

/*
 * The sizes of a simple dimension, summed over the chunks in question: all of
 * them are as large as chunk 0, except the last one of the loop.
 */
static int64_t sum_simple(const struct loopnest *nest, const struct footprint_dim *dim,
	enum part part, const int64_t *slots, bool *fits)
{
	const struct loopnest_loop *loop = &nest->loops[dim->loop];
	int64_t chunks = loop->split * loop->tiles;
	int64_t tiles = part_to(loop, part) - part_from(loop, part);
	int64_t count = tiles * (slots ? 1 : loop->split);
	bool has_last = tiles > 0 && part_to(loop, part) == loop->tiles &&
			(!slots || slots[dim->loop] == loop->split - 1);
	int64_t chunk[OP_LOOPS_MOST];
	chunk[dim->loop] = chunks - 1;
	int64_t last = walk_interval(nest, dim, chunk).count;
	if (chunks == 1)
		return has_last ? last : 0;
	chunk[dim->loop] = 0;
	int64_t full = walk_interval(nest, dim, chunk).count;
	return checked_mul(fits, full, count - has_last) + (has_last ? last : 0);
}

int64_t footprint_sum(
	const struct footprint *footprint, uint32_t mask, const int64_t *slots, bool *fits)
{
	const struct loopnest *nest = footprint->nest;
	uint32_t idle = mask & ~(footprint->simple | footprint->joint);
	int64_t sum = loopnest_tiles(nest, idle, fits);
	if (!slots)
		sum = checked_mul(fits, sum, loopnest_splits(nest, idle));
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop >= 0)
			sum = checked_mul(fits, sum,
				sum_simple(nest, &footprint->dims[d], PART_ALL, slots, fits));
	int64_t largest;
	if (!footprint->joint)
		return sum;
	return checked_mul(fits, sum, walk_sum(footprint, slots, &largest, fits));
}

/*
 * The odometer of tile loops moves on at position m: loops inside it wrap to
 * their first tile, the loop at m goes on, those outside stay.  m == -1 is the
 * first tile.
 */
static enum part part_at(int position, int m, int loop_count)
{
	if (m < 0 || position < m)
		return PART_FIRST;
	return position == m ? PART_REST : PART_ALL;
}

/*
 * All boxes fetched when the odometer moves on at position m.  Where a simple
 * loop moved every box is new.  Otherwise only the joint dimensions can have
 * changed, and walk_fetch compares them.
 */
static struct footprint_fetch fetch_at(
	const struct footprint *footprint, int m, const int64_t *slots, bool *fits)
{
	const struct loopnest *nest = footprint->nest;
	enum part parts[OP_LOOPS_MOST];
	uint32_t moved = 0;
	for (int position = 0; position < nest->loop_count; position++) {
		int l = nest->order[position];
		parts[l] = part_at(position, m, nest->loop_count);
		if (position <= m && nest->loops[l].tiles > 1)
			moved |= 1u << l;
	}
	bool forced = m < 0 || moved & footprint->simple;
	if (!forced && !(moved & footprint->joint))
		return (struct footprint_fetch){0};

	int64_t times = 1;
	for (int l = 0; l < nest->loop_count; l++)
		if (!((footprint->simple | footprint->joint) >> l & 1))
			times = checked_mul(fits, times,
				part_to(&nest->loops[l], parts[l]) -
					part_from(&nest->loops[l], parts[l]));
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop >= 0)
			times = checked_mul(fits, times,
				sum_simple(nest, &footprint->dims[d],
					parts[footprint->dims[d].loop], slots, fits));
	struct footprint_fetch fetch = {1, 1};
	if (footprint->joint) {
		struct walk_range ranges[OP_LOOPS_MOST];
		for (int l = 0; l < nest->loop_count; l++)
			ranges[l] = (struct walk_range){part_from(&nest->loops[l], parts[l]),
				part_to(&nest->loops[l], parts[l])};
		fetch = walk_fetch(footprint, ranges, forced ? 0 : moved, slots, fits);
	}
	fetch.transfers = checked_mul(fits, fetch.transfers, times);
	fetch.fills = checked_mul(fits, fetch.fills, times);
	return fetch;
}

/*
 * Without joint dimensions a box is new at every step of the innermost loop
 * that walks it, and of every loop outside that one: each chunk is fetched
 * once for every round of the idle loops outside.
 */
static int64_t fetch_simple(const struct footprint *footprint, const int64_t *slots, bool *fits)
{
	const struct loopnest *nest = footprint->nest;
	bool inside = true;
	int64_t sum = 1;
	for (int position = 0; position < nest->loop_count; position++) {
		int l = nest->order[position];
		if (footprint->simple >> l & 1)
			inside = inside && nest->loops[l].tiles == 1;
		else if (!inside)
			sum = checked_mul(fits, sum, nest->loops[l].tiles);
	}
	for (int d = 0; d < footprint->dim_count; d++)
		sum = checked_mul(
			fits, sum, sum_simple(nest, &footprint->dims[d], PART_ALL, slots, fits));
	return sum;
}

/* Cores that differ only in idle loops, or in none, ask for the same boxes. */
static void count_copies(const struct footprint *footprint, const int64_t *slots,
	struct footprint_fetch *fetch, bool *fits)
{
	const struct loopnest *nest = footprint->nest;
	uint32_t idle = nest->all & ~(footprint->simple | footprint->joint);
	if (slots)
		return;
	fetch->fills = checked_mul(fits, fetch->fills, loopnest_splits(nest, idle));
	fetch->fills = checked_mul(fits, fetch->fills, nest->copies);
}

struct footprint_fetch footprint_fetch(
	const struct footprint *footprint, const int64_t *slots, bool *fits)
{
	struct footprint_fetch total = {0};
	if (!footprint->joint) {
		total.transfers = total.fills = fetch_simple(footprint, slots, fits);
	} else {
		for (int m = -1; m < footprint->nest->loop_count; m++) {
			struct footprint_fetch at = fetch_at(footprint, m, slots, fits);
			total.transfers = checked_add(fits, total.transfers, at.transfers);
			total.fills = checked_add(fits, total.fills, at.fills);
		}
	}
	count_copies(footprint, slots, &total, fits);
	return total;
}

struct footprint_fetch footprint_first(const struct footprint *footprint, bool *fits)
{
	struct footprint_fetch first = fetch_at(footprint, -1, NULL, fits);
	count_copies(footprint, NULL, &first, fits);
	return first;
}

int64_t footprint_largest(const struct footprint *footprint, bool *fits)
{
	static const int64_t zero[OP_LOOPS_MOST];
	int64_t size = 1;
	if (footprint->joint)
		walk_sum(footprint, NULL, &size, fits);
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop >= 0)
			size = checked_mul(fits, size,
				walk_interval(footprint->nest, &footprint->dims[d], zero).count);
	return size;
}

bool footprint_moves(const struct footprint *footprint)
{
	const struct loopnest *nest = footprint->nest;
	uint32_t walked = footprint->simple | footprint->joint;
	for (int l = 0; l < nest->loop_count; l++)
		if (walked >> l & 1 && nest->loops[l].tiles > 1)
			return true;
	return false;
}

/*
 * The sum of a simple dimension's sizes is linear in the number of its chunks:
 * every cut between two chunks saves or costs the same.  So one of the two
 * extreme tilings is least.  Joint dimensions add halos when tiled, unless they
 * have holes.
 */
int64_t footprint_least(const struct footprint *footprint, bool *fits)
{
	struct loopnest whole = *footprint->nest, fine = whole;
	for (int l = 0; l < whole.loop_count; l++) {
		loopnest_tile(&whole, l, 1);
		loopnest_tile(&fine, l, fine.loops[l].units / fine.loops[l].split);
	}
	int64_t least = 1;
	for (int d = 0; d < footprint->dim_count; d++)
		if (footprint->dims[d].loop >= 0)
			least = checked_mul(fits, least,
				number_min(sum_simple(&whole, &footprint->dims[d], PART_ALL, NULL,
						   fits),
					sum_simple(
						&fine, &footprint->dims[d], PART_ALL, NULL, fits)));
	if (!footprint->joint)
		return least;
	struct footprint joint = *footprint;
	joint.nest = &whole;
	return walk_solid(&joint) ? footprint_first(&joint, fits).transfers : 0;
}
