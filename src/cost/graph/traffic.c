#include "cost/graph/traffic.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "cost/graph/footprint.h"
#include "cost/graph/latency.h"
#include "model/graph/run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Rounds down, also below zero.  Sticks have a power of two elements. */
static int64_t floor_div(int64_t a, int64_t b)
{
	if (!(b & (b - 1)))
		return a >> __builtin_ctzll((uint64_t)b);
	return a >= 0 ? a / b : -number_ceil_div(-a, b);
}

struct walk_interval walk_interval(
	const struct loopnest *nest, const struct footprint_dim *dim, const int64_t *chunks)
{
	int64_t low = dim->host->offset, high = low;
	for (uint32_t rest = dim->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		int64_t step = dim->host->coefficient[l];
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
 * in the loops of the group.  The key of a walk is all that it reads; of two at one place the later one stays.
 */
enum {
	KNOWN_WALKS = 1 << 15,
	KNOWN_WORDS = 40
}; /* 12 MB at most: an op of 540 x 960 has 57,000 walks */

struct known_walk {
	int count;
	int64_t key[KNOWN_WORDS];
	int64_t results[4];
};

static _Thread_local struct known_walk *known_walks;
static pthread_key_t known_walks_key; /* frees them when their thread ends */
static pthread_once_t known_walks_once = PTHREAD_ONCE_INIT;

static void make_known_walks_key(void)
{
	if (pthread_key_create(&known_walks_key, free))
		BUG("no key for what a thread keeps");
}

/* The table of this thread.  Not in its static storage, which a small stack has no room for. */
static struct known_walk *known_walks_of_thread(void)
{
	if (known_walks)
		return known_walks;
	pthread_once(&known_walks_once, make_known_walks_key);
	known_walks = calloc(KNOWN_WALKS, sizeof *known_walks);
	if (!known_walks)
		fatal("out of memory");
	pthread_setspecific(known_walks_key, known_walks);
	return known_walks;
}

static void walk_put(struct known_walk *walk, int64_t word)
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
	walk_put(walk,
		group->dim_count << 3 | (slots != NULL) << 2 | (ranges != NULL) << 1 | !moved);
	for (uint32_t rest = group->joint; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		const struct loopnest_loop *loop = &group->nest->loops[l];
		walk_put(walk,
			loop->extent << 2 | (moved >> l & 1) << 1 | ((rest & (rest - 1)) != 0));
		walk_put(walk, loop->chunk);
		walk_put(walk, loop->split << 32 | loop->tiles);
		if (slots)
			walk_put(walk, slots[l]);
		if (ranges)
			walk_put(walk, ranges[l].from << 32 | ranges[l].to);
		for (int d = 0; d < group->dim_count; d++)
			walk_put(walk, group->dims[d].host->coefficient[l]);
	}
	for (int d = 0; d < group->dim_count; d++) {
		const struct footprint_dim *dim = &group->dims[d];
		walk_put(walk, dim->host->offset);
		walk_put(walk, dim->size << 1 | dim->access->pad);
		walk_put(walk, dim->per);
	}
}

/* Finds the place of a walk; *known is false if another key is there.  NULL: its key is too long. */
static struct known_walk *find_walk(const struct known_walk *walk, bool *known)
{
	uint64_t hash = 0xcbf29ce484222325u, other = hash;
	size_t size = (size_t)walk->count * sizeof *walk->key;
	if (walk->count > KNOWN_WORDS)
		return NULL;
	for (int i = 0; i + 1 < walk->count; i += 2) { /* the two do not wait for each other */
		hash = (hash ^ (uint64_t)walk->key[i]) * UINT64_C(0xd6e8feb86659fd93);
		other = (other ^ (uint64_t)walk->key[i + 1]) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
		other ^= other >> 32;
	}
	if (walk->count % 2)
		other ^= (uint64_t)walk->key[walk->count - 1];
	hash = (hash ^ other) * UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	struct known_walk *at = &known_walks_of_thread()[hash % KNOWN_WALKS];
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
	out->nest = footprint->nest;
	out->simple = 0;
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

/* A box among those of one tile, and whether a slot that has it gets it again. */
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
			if (dim->host->coefficient[l] < dim->host->coefficient[next])
				next = l;
		}
		const struct loopnest_loop *loop = &nest->loops[next];
		int64_t step = dim->host->coefficient[next];
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

static void open_footprints(struct traffic_op *traffic)
{
	for (int i = 0; i < op_operands(traffic->op); i++)
		traffic->operands[i] =
			footprint_make(&traffic->nest, traffic->workload, traffic->op, i);
}

/* Windows overlap, and the sticks of a slice depend on its tiles then: its lanes have equal parts. */
static struct lane_shares share_lanes(const struct traffic_op *traffic, int operand)
{
	const struct loopnest *nest = &traffic->nest;
	const struct footprint *footprint = &traffic->operands[operand];
	struct lane_shares shares = {0};
	int64_t sticks[LOOPNEST_CORES_MOST] = {0};
	uint64_t lanes[LOOPNEST_CORES_MOST] = {0}; /* of each slice */
	bool fits = true;
	for (int64_t core = 0; core < nest->cores; core++) {
		int64_t slots[OP_LOOPS_MOST], slice = 0;
		loopnest_slots(nest, core, slots);
		for (int l = 0; l < nest->loop_count; l++)
			if (footprint->simple >> l & 1)
				slice = slice * nest->loops[l].split + slots[l];
		if (!lanes[slice] && !footprint->joint)
			sticks[slice] = footprint_sum(footprint, footprint->simple, slots, &fits);
		slice = footprint->joint ? 0 : slice;
		lanes[slice] |= UINT64_C(1) << core / traffic->arch->lane_cores;
	}
	if (footprint->joint)
		sticks[0] = 1;
	for (int slice = 0; slice < LOOPNEST_CORES_MOST && lanes[slice]; slice++) {
		int64_t part = checked_mul(
			&fits, sticks[slice], LANE_PARTS / __builtin_popcountll(lanes[slice]));
		for (uint64_t left = lanes[slice]; left; left &= left - 1) {
			int64_t *of = &shares.of[__builtin_ctzll(left)];
			*of = checked_add(&fits, *of, part);
		}
		shares.all = checked_add(&fits, shares.all, sticks[slice]);
	}
	return fits ? shares : (struct lane_shares){0};
}

struct lane_part traffic_lane_part(const struct traffic_op *traffic, int operand)
{
	const struct lane_shares *shares = &traffic->lanes[operand];
	bool fits = true;
	struct lane_part part = {.all = checked_mul(&fits, shares->all, LANE_PARTS)};
	for (int i = 0; i < LANES_MOST; i++)
		part.of = number_max(part.of, shares->of[i]);
	return fits ? part : (struct lane_part){0};
}

static void open_lanes(struct traffic_op *traffic)
{
	for (int i = 0; traffic->arch->lane_cores && i < traffic->op->read_count; i++)
		traffic->lanes[i] = share_lanes(traffic, i);
}

void traffic_open(struct traffic_op *traffic, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx)
{
	*traffic =
		(struct traffic_op){.arch = arch, .workload = workload, .op = op, .in_lx = in_lx};
	if (op->primitive->kind == OP_BROADCAST) {
		traffic->ranks = arch->ranks;
		traffic->hops = staging_hops(arch, op->root);
	}
	if (!op_is_tiled(op))
		return;
	traffic->rate = latency_rate(arch, workload, op);
	traffic->nest = loopnest_make(arch, workload, op, mapping);
	traffic->moves = op_copies_sticks(workload, op) && in_lx == 2;
	traffic->evicts = op->move == MOVE_EVICT && op_copies_sticks(workload, op) && in_lx == 1;
	open_footprints(traffic);
	open_lanes(traffic);
}

void traffic_open_nest(
	struct traffic_op *traffic, const struct inner_question *question, struct arena *arena)
{
	if (arch_moves_boxes(question->arch) || !op_is_tiled(question->op))
		traffic_open(traffic, question->arch, question->workload, question->op,
			question->mapping, question->in_lx);
	else
		*traffic = (struct traffic_op){.arch = question->arch,
			.workload = question->workload,
			.op = question->op,
			.rate = latency_rate(question->arch, question->workload, question->op),
			.in_lx = question->in_lx};
	if (!traffic->moves && !traffic->evicts && question->op->move != MOVE_RELAYOUT)
		traffic->inner = inner_cost_make(question, arena);
}

static const struct relayout_price *price_relayout(
	const struct plan *plan, int step, struct arena *arena)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	int from = op->reads[0].tensor, to = op->writes[0].tensor;
	struct relayout_price *price = arena_new(arena, struct relayout_price);
	relayout_price(plan->arch, &plan->workload->tensors[to].layout,
		&plan_lx(plan, from, step)->view, &plan_lx(plan, to, step)->view, price);
	return price;
}

void traffic_open_iteration(struct traffic_op *traffic, const struct plan *plan, int step,
	int64_t iteration, struct arena *arena)
{
	struct inner_question question = inner_nest_question(arena, plan, step);
	question.op = run_op(arena, plan->workload, &plan->workload->ops[plan->steps[step].op],
		plan_run(plan, step), iteration);
	question.resumes = run_resumes(question.op, plan_run(plan, step), iteration);
	traffic_open_nest(traffic, &question, arena);
	if (plan_is_relayout(plan, step))
		traffic->relayout = price_relayout(plan, step, arena);
	if (traffic->moves || traffic->evicts) {
		struct move move = move_find(plan, step);
		loopnest_move(&traffic->nest, &move);
		open_lanes(traffic);
	}
}

void traffic_open_step(
	struct traffic_op *traffic, const struct plan *plan, int step, struct arena *arena)
{
	traffic_open_iteration(traffic, plan, step, 0, arena);
}

int64_t traffic_passes(const struct traffic_op *traffic, bool *fits)
{
	return loopnest_tiles(&traffic->nest, traffic->nest.reductions, fits);
}

int64_t traffic_output_tiles(const struct traffic_op *traffic, bool *fits)
{
	return loopnest_tiles(&traffic->nest, traffic->nest.all & ~traffic->nest.reductions, fits);
}

static int64_t region_traffic(int64_t sticks, bool *fits)
{
	return checked_mul(fits, sticks, STICK_BYTES);
}

int64_t traffic_accumulator(const struct traffic_op *traffic, int64_t sticks, bool *fits)
{
	const struct access *write = op_operand(traffic->op, traffic->op->read_count);
	int stored = dtype_stored_bytes(traffic->workload->tensors[write->tensor].layout.dtype);
	return checked_mul(fits, region_traffic(sticks, fits), ACCUMULATOR_BYTES / stored);
}

static void count_fetches(const struct footprint *footprint, const int64_t *slots,
	int64_t bytes[TRAFFIC_COUNT], bool *fits)
{
	struct footprint_fetch fetch = footprint_fetch(footprint, slots, fits);
	bytes[TRAFFIC_HBM_READ] = region_traffic(fetch.transfers, fits);
	bytes[TRAFFIC_LX_FILL] = region_traffic(fetch.fills, fits);
}

static int stored_bytes(const struct traffic_op *traffic, int operand)
{
	int tensor = op_operand(traffic->op, operand)->tensor;
	return dtype_stored_bytes(traffic->workload->tensors[tensor].layout.dtype);
}

/* Tiles of all cores, or of one; of all passes, or of one. */
static int64_t traffic_op_count_tiles(
	const struct traffic_op *traffic, const int64_t *slots, bool all_passes, bool *fits)
{
	int64_t tiles = traffic_output_tiles(traffic, fits);
	if (all_passes)
		tiles = checked_mul(fits, tiles, traffic_passes(traffic, fits));
	return checked_mul(fits, tiles, slots ? 1 : traffic->nest.cores);
}

/* Counts the reads of an operand by the computes: its box once a tile, or the reads of the nests. */
static int64_t count_computed(
	const struct traffic_op *traffic, int operand, const int64_t *slots, bool *fits)
{
	const struct inner_cost *inner = traffic->inner;
	const struct footprint *footprint = &traffic->operands[operand];
	if (!inner)
		return region_traffic(
			footprint_sum(footprint, traffic->nest.all, slots, fits), fits);
	if (inner->scratchpad < 0)
		return 0;
	int64_t reads = checked_mul(fits, inner->counts.at[inner->scratchpad][operand].reads,
		traffic_op_count_tiles(traffic, slots, true, fits));
	return checked_mul(fits, reads, stored_bytes(traffic, operand));
}

static void count_reads(const struct traffic_op *traffic, const int64_t *slots, bool fetches,
	struct step_count *out, bool *fits)
{
	for (int i = 0; i < traffic->op->read_count; i++) {
		if (fetches && !(traffic->in_lx >> i & 1))
			count_fetches(&traffic->operands[i], slots, out->bytes[i], fits);
		out->bytes[i][TRAFFIC_LX_READ] = count_computed(traffic, i, slots, fits);
	}
}

/* Bytes of the output that computes read and write in LX, the ring apart. */
struct output_bytes {
	int64_t read, written;
};

static struct output_bytes output_of_boxes(
	int64_t written, int64_t partials, int64_t passes, bool ring, bool *fits)
{
	int64_t again = checked_mul(fits, partials, passes - 1);
	return (struct output_bytes){
		.read = again,
		.written = checked_add(fits, again, ring ? partials : written),
	};
}

/*
 * A nest that comes back to a word of its tile finds it as an accumulator, and only its last update
 * of a tile that no other pass and no ring goes on with writes an element.
 */
static struct output_bytes output_of_nests(
	const struct traffic_op *traffic, const int64_t *slots, bool ring, bool *fits)
{
	struct inner_sums sums = inner_cost_sums(traffic->inner);
	int64_t tiles = traffic_op_count_tiles(traffic, slots, true, fits);
	int64_t first = traffic_op_count_tiles(traffic, slots, false, fits),
		finished = ring ? 0 : first;
	int64_t read = checked_add(fits, checked_mul(fits, sums.reads, tiles),
		checked_mul(fits, sums.words, tiles - first));
	int64_t partial = checked_add(fits, checked_mul(fits, sums.updates - sums.words, tiles),
		checked_mul(fits, sums.words, tiles - finished));
	int64_t whole = checked_mul(fits, checked_mul(fits, sums.words, finished),
		stored_bytes(traffic, traffic->op->read_count));
	return (struct output_bytes){
		.read = checked_mul(fits, read, ACCUMULATOR_BYTES),
		.written = checked_add(fits, checked_mul(fits, partial, ACCUMULATOR_BYTES), whole),
	};
}

/*
 * `finished` sticks are what the output tiles take, each once: of all slices,
 * or of one core's.  As many as `split` cores work on the same slice; one of
 * them owns it.
 */
static void count_output(
	const struct traffic_op *traffic, const int64_t *slots, struct step_count *out, bool *fits)
{
	const struct loopnest *nest = &traffic->nest;
	int operand = traffic->op->read_count;
	int64_t *bytes = out->bytes[operand];
	int64_t finished = footprint_sum(
		&traffic->operands[operand], nest->all & ~nest->reductions, slots, fits);
	int64_t split = loopnest_splits(nest, nest->reductions),
		passes = traffic_passes(traffic, fits);
	bool owned = true;
	for (int l = 0; slots && l < nest->loop_count; l++)
		if (nest->reductions >> l & 1 && slots[l] != 0)
			owned = false;

	int64_t written = owned ? region_traffic(finished, fits) : 0;
	int64_t partial = traffic_accumulator(traffic, finished, fits);
	int64_t partials = checked_mul(fits, partial, slots ? 1 : split);
	bool ring = split > 1;
	struct output_bytes computed =
		traffic->inner ? output_of_nests(traffic, slots, ring, fits)
			       : output_of_boxes(written, partials, passes, ring, fits);
	bytes[TRAFFIC_LX_READ] = computed.read;
	bytes[TRAFFIC_LX_WRITE] = computed.written;
	if (ring) {
		bytes[TRAFFIC_LX_READ] = checked_add(fits, bytes[TRAFFIC_LX_READ], partials);
		bytes[TRAFFIC_LX_WRITE] = checked_add(fits, bytes[TRAFFIC_LX_WRITE], written);
		bytes[TRAFFIC_RING] = checked_mul(fits, partial, split - 1);
	}
	if (!(traffic->in_lx >> operand & 1))
		bytes[TRAFFIC_HBM_WRITE] = bytes[TRAFFIC_LX_DRAIN] = written;
}

/* The whole op is one nest: words at the home and at the scratchpad, in bytes. */
static void count_whole(const struct traffic_op *traffic, struct step_count *out, bool *fits)
{
	const struct inner_cost *inner = traffic->inner;
	out->computes = traffic->op->primitive->work;
	for (int l = 0; l < traffic->op->loop_count; l++)
		out->computes = checked_mul(fits, out->computes, traffic->op->loops[l].extent);
	for (int i = 0; inner && i < op_operands(traffic->op); i++) {
		int bytes = stored_bytes(traffic, i);
		if (inner->home >= 0) {
			const struct nest_count *home = &inner->counts.at[inner->home][i];
			int64_t written = checked_add(fits, home->fills, home->updates);
			out->bytes[i][TRAFFIC_HBM_READ] = checked_mul(fits, home->reads, bytes);
			out->bytes[i][TRAFFIC_HBM_WRITE] = checked_mul(fits, written, bytes);
		}
		if (inner->scratchpad >= 0) {
			const struct nest_count *lx = &inner->counts.at[inner->scratchpad][i];
			out->bytes[i][TRAFFIC_LX_FILL] = checked_mul(fits, lx->fills, bytes);
			out->bytes[i][TRAFFIC_LX_READ] = checked_mul(fits, lx->reads, bytes);
			out->bytes[i][TRAFFIC_LX_WRITE] = checked_mul(fits, lx->updates, bytes);
		}
	}
}

static void count_opaque(const struct traffic_op *traffic, struct step_count *out)
{
	for (int i = 0; i < op_operands(traffic->op); i++) {
		const struct access *access = op_operand(traffic->op, i);
		int64_t bytes = traffic->workload->tensors[access->tensor].layout.bytes;
		bool read = i < traffic->op->read_count;
		out->bytes[i][read ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE] = bytes;
	}
}

/* One load, a store for each rank. */
static void count_broadcast(const struct traffic_op *traffic, struct step_count *out, bool *fits)
{
	const struct access *read = &traffic->op->reads[0];
	int64_t bytes = traffic->workload->tensors[read->tensor].layout.bytes;
	out->bytes[0][TRAFFIC_HBM_READ] = out->bytes[0][TRAFFIC_LX_FILL] = bytes;
	out->bytes[1][TRAFFIC_HBM_WRITE] = bytes;
	out->bytes[1][TRAFFIC_LX_DRAIN] = checked_mul(fits, bytes, traffic->ranks);
	out->bytes[1][TRAFFIC_LINK] = checked_mul(fits, bytes, traffic->hops);
}

/* Every slice once: `sends` is false on a core that has another's slice. */
static void count_eviction(const struct traffic_op *traffic, const int64_t *slots, bool sends,
	struct step_count *out, bool *fits)
{
	int to = traffic->op->writes[0].tensor;
	int64_t *bytes = out->bytes[1];
	if (!sends || traffic->workload->tensors[to].copy_of)
		return;
	bytes[TRAFFIC_LX_DRAIN] = bytes[TRAFFIC_HBM_WRITE] = region_traffic(
		footprint_sum(&traffic->operands[1], traffic->nest.all, slots, fits), fits);
}

/* Is it the least of the cores with the same slots? */
static bool is_least(const struct loopnest *nest, const int64_t *slots, int64_t core)
{
	int64_t least = 0;
	for (int l = 0; l < nest->loop_count; l++)
		least += slots[l] * nest->loops[l].divisor;
	return core == least;
}

/* Bytes of all cores, or of those with the slots of one core; `fetches`: the boxes that an op reads from HBM, too. */
static bool traffic_op_count(const struct traffic_op *traffic, const int64_t *slots, int64_t core,
	bool fetches, struct step_count *out)
{
	bool fits = true;
	*out = (struct step_count){0};
	if (traffic->op->primitive->kind == OP_OPAQUE) {
		count_opaque(traffic, out);
	} else if (traffic->op->primitive->kind == OP_BROADCAST) {
		count_broadcast(traffic, out, &fits);
	} else if (traffic->relayout) {
		*out = slots ? (struct step_count){0} : traffic->relayout->counts;
		fits = traffic->relayout->fits;
	} else if (!arch_moves_boxes(traffic->arch)) {
		count_whole(traffic, out, &fits);
	} else if (traffic->moves) {
		count_fetches(&traffic->operands[0], slots, out->bytes[0], &fits);
	} else if (traffic->evicts) {
		bool sends = !slots || is_least(&traffic->nest, slots, core);
		count_eviction(traffic, slots, sends, out, &fits);
	} else {
		count_reads(traffic, slots, fetches, out, &fits);
		count_output(traffic, slots, out, &fits);
		out->computes = checked_mul(&fits, loopnest_computes(&traffic->nest, slots, &fits),
			traffic->op->primitive->work);
	}
	return fits;
}

bool traffic_count(const struct traffic_op *traffic, struct step_count *out)
{
	bool fits = traffic_op_count(traffic, NULL, 0, true, out);
	if (traffic->inner && traffic->inner->model)
		out->nests = &traffic->inner->all;
	return fits;
}

static bool count_core(
	const struct traffic_op *traffic, int64_t core, bool fetches, struct step_count *out)
{
	int64_t slots[OP_LOOPS_MOST] = {0};
	if (traffic->op->primitive->kind == OP_BROADCAST && core == 0)
		return traffic_op_count(traffic, slots, core, fetches, out);
	if (core < traffic->nest.cores) {
		loopnest_slots(&traffic->nest, core, slots);
		return traffic_op_count(traffic, slots, core, fetches, out);
	}
	*out = (struct step_count){0};
	return true;
}

bool traffic_count_core(const struct traffic_op *traffic, int64_t core, struct step_count *out)
{
	return count_core(traffic, core, true, out);
}

bool traffic_count_inside(const struct traffic_op *traffic, int64_t core, struct step_count *out)
{
	return count_core(traffic, core, false, out);
}

bool traffic_is_even(const struct traffic_op *traffic)
{
	for (int i = 0; i < op_operands(traffic->op); i++)
		if (traffic->operands[i].joint)
			return false;
	return true;
}

/* --- reads that clones of the same phase bring */

/* The loop of an op that alone walks host dimension h of an access, by steps of one from 0; -1 if none does. */
static int find_walking_loop(const struct op *op, const struct access *access, int h)
{
	const struct affine *index = &access->host[h];
	return access->pad || index->offset ? NO_LOOP : affine_walker(index, op->loop_count);
}

struct arrival_share arrival_share(const struct arch *arch, const struct workload *workload,
	const struct op *move, const struct mapping *mapping)
{
	const struct access *made = &move->writes[0];
	const struct layout *layout = &workload->tensors[made->tensor].layout;
	struct arrival_share share = {0};
	for (int h = 0; h < layout->host_rank; h++) {
		int loop = find_walking_loop(move, made, h);
		if (loop < 0)
			continue;
		share.loops[h] = loop;
		share.units[h] =
			op_units(workload, move, loop) / mapping_split(arch, mapping, loop);
		share.elements[h] = share.units[h] * op_grain(workload, move, loop);
		share.tiles[h] = mapping->rows[arch->lx].temporal[loop];
	}
	return share;
}

int arrival_partner(const struct arrival_share *share, int h, const struct arch *arch,
	const struct workload *workload, const struct op *op, int read,
	const struct mapping *mapping)
{
	int loop = find_walking_loop(op, &op->reads[read], h);
	if (loop < 0 || !share->units[h])
		return -1;
	int64_t units = op_units(workload, op, loop) / mapping_split(arch, mapping, loop);
	int64_t elements = units * op_grain(workload, op, loop);
	return units == share->units[h] && elements == share->elements[h] ? loop : -1;
}

void arrivals_add(struct arrivals *arrivals, int tensor, const struct arrival_share *share,
	const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, bool as_tiled)
{
	const struct layout *layout = &workload->tensors[tensor].layout;
	bool again = false;
	for (int i = 0; i < op->read_count; i++) {
		if (op->reads[i].tensor != tensor)
			continue;
		arrivals->operands |= 1u << i;
		arrivals->again |= (uint32_t)again << i;
		again = true;
		arrivals->lanes[i] = share->lanes;
		for (int h = 0; h < layout->host_rank; h++) {
			int loop = arrival_partner(share, h, arch, workload, op, i, mapping);
			if (loop >= 0 && (!as_tiled || mapping->rows[arch->lx].temporal[loop] ==
							       share->tiles[h]))
				arrivals->follows[i] |= UINT32_C(1) << loop;
		}
	}
}
