#include "cost/graph/footprint.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/wide.h"
#include "cost/graph/cost.h"
#include "cost/graph/latency.h"
#include "cost/graph/traffic.h"
#include "cost/transfer/broadcast.h"
#include "model/graph/run.h"
#include "model/machine/topology.h"

#include <string.h>

struct loopnest loopnest_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping)
{
	const struct mapping_row *cores = &mapping->rows[arch->core];
	const struct mapping_row *tiles = &mapping->rows[arch->lx];
	struct loopnest nest = {.loop_count = op->loop_count, .cores = 1, .copies = 1};
	for (int l = 0; l < op->loop_count; l++) {
		struct loopnest_loop *loop = &nest.loops[l];
		loop->extent = op->loops[l].extent;
		loop->grain = op_grain(workload, op, l);
		loop->units = op_units(workload, op, l);
		loop->split = cores->spatial[l];
		loop->reduction = op->loops[l].reduction;
		if (loop->split < 1 || loop->units % loop->split)
			BUG("op '%s': %d units of loop '%s' in %d parts", op->name,
				(int)loop->units, op->loops[l].name, (int)loop->split);
		loopnest_tile(&nest, l, tiles->temporal[l]);
		nest.order[l] = tiles->temporal_order[l];
		nest.all |= 1u << l;
		if (loop->reduction)
			nest.reductions |= 1u << l;
	}
	for (int i = 0; i < op->loop_count; i++) {
		struct loopnest_loop *loop = &nest.loops[cores->spatial_order[i]];
		loop->divisor = nest.cores;
		nest.cores *= loop->split;
		if (nest.cores > LOOPNEST_CORES_MOST)
			BUG("op '%s' on %d cores", op->name, (int)nest.cores);
	}
	return nest;
}

void loopnest_move(struct loopnest *nest, const struct move *move)
{
	nest->cores = move->cores;
	nest->copies = move->copies;
	for (int l = 0; l < nest->loop_count; l++)
		nest->loops[l].divisor = move->divisor[l];
	if (nest->cores > LOOPNEST_CORES_MOST)
		BUG("a move to %d cores", (int)nest->cores);
}

void loopnest_tile(struct loopnest *nest, int l, int64_t tiles)
{
	struct loopnest_loop *loop = &nest->loops[l];
	int64_t units = loop->units / loop->split;
	if (tiles < 1 || units % tiles)
		BUG("%d units of loop %d in %d tiles", (int)units, l, (int)tiles);
	loop->tiles = tiles;
	loop->chunk = units / tiles * loop->grain;
}

void loopnest_slots(const struct loopnest *nest, int64_t core, int64_t *slots)
{
	for (int l = 0; l < nest->loop_count; l++)
		slots[l] = core / nest->loops[l].divisor % nest->loops[l].split;
}

int64_t loopnest_tiles(const struct loopnest *nest, uint32_t mask, bool *fits)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++)
		if (mask >> l & 1)
			product = checked_mul(fits, product, nest->loops[l].tiles);
	return product;
}

int64_t loopnest_splits(const struct loopnest *nest, uint32_t mask)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++)
		if (mask >> l & 1)
			product *= nest->loops[l].split;
	return product;
}

int64_t loopnest_computes(const struct loopnest *nest, const int64_t *slots, bool *fits)
{
	int64_t product = 1;
	for (int l = 0; l < nest->loop_count; l++) {
		const struct loopnest_loop *loop = &nest->loops[l];
		int64_t part = loop->chunk * loop->tiles, count = loop->extent;
		if (slots)
			count = number_min(count, (slots[l] + 1) * part) - slots[l] * part;
		product = checked_mul(fits, product, count);
	}
	return product;
}

static int64_t tiles_of(const struct inner_question *question)
{
	int64_t tiles = 1;
	bool fits = arch_moves_boxes(question->arch);
	for (int l = 0; fits && l < question->op->loop_count; l++)
		tiles = checked_mul(
			&fits, tiles, question->mapping->rows[question->arch->lx].temporal[l]);
	return tiles;
}

static void inner_cost_evaluate(struct inner_cost *inner, struct arena *arena)
{
	const struct hierarchy *hierarchy = inner->nest.hierarchy;
	inner->model = nest_model_make(arena, hierarchy, inner->nest.shape, COUNTING_EXACT);
	enum nest_verdict verdict =
		nest_evaluate(inner->model, &inner->nest.mapping, &inner->counts, &inner->score);
	inner->why = nest_verdict_text(arena, hierarchy, inner->nest.shape, &inner->score);
	if (!nest_verdict_counts(verdict))
		inner->counts = (struct nest_counts){0};
}

const struct inner_cost *inner_cost_make(const struct inner_question *question, struct arena *arena)
{
	const struct arch *arch = question->arch;
	if (!op_has_inner_nest(arch, question->op))
		return NULL;
	struct inner_cost *inner = arena_new(arena, struct inner_cost);
	int64_t cores = arch_moves_boxes(arch) ? mapping_cores(arch, question->mapping) : 1, times;
	inner->home = inner->scratchpad = -1;
	inner->tiles = tiles_of(question);
	inner->nest = inner_nest_make(question, arena, &inner->why);
	if (!inner->nest.hierarchy)
		return inner;
	inner->home = hierarchy_level(inner->nest.hierarchy, arch->hbm);
	inner->scratchpad = arch->lx < 0 ? -1 : hierarchy_level(inner->nest.hierarchy, arch->lx);
	inner_cost_evaluate(inner, arena);
	if (!number_mul(inner->tiles, cores, &times) ||
		!nest_counts_add(&inner->all, &inner->counts, times))
		inner->why = "a count is larger than 2^63 - 1";
	return inner;
}

struct inner_sums inner_cost_sums(const struct inner_cost *inner)
{
	int output = inner->nest.shape ? inner->nest.shape->space_count - 1 : 0;
	if (inner->scratchpad < 0)
		return (struct inner_sums){0};
	const struct nest_count *count = &inner->counts.at[inner->scratchpad][output];
	return (struct inner_sums){count->capacity, count->updates, count->reads};
}

/* Is there a tile of which a part is padding? */
static bool tile_leaves_extent(const struct loopnest *nest, const struct footprint_dim *dim)
{
	int64_t low = dim->host->offset, high = low;
	for (uint32_t rest = dim->loops; rest; rest &= rest - 1) {
		int l = __builtin_ctz(rest);
		int64_t length = (nest->loops[l].extent - 1) * dim->host->coefficient[l];
		low += number_min(length, 0);
		high += number_max(length, 0);
	}
	return dim->access->pad && (low < 0 || high >= dim->size);
}

/* Every chunk begins on a new index: moving on by one chunk moves the box by as much. */
static bool steps_evenly(const struct loopnest *nest, const struct footprint_dim *dim, int l)
{
	return dim->host->coefficient[l] * nest->loops[l].grain % dim->per == 0;
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
			!tile_leaves_extent(footprint->nest, dim)) {
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
			if (dim.host->coefficient[l])
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
	if (m >= 0 && nest->loops[nest->order[m]].tiles == 1) /* it never goes on there */
		return (struct footprint_fetch){0};
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

int64_t staging_hops(const struct arch *arch, int root)
{
	struct arena *arena = arena_open();
	const struct topology *topology = arch_topology(arena, arch, root);
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t hops = 0;
	topology_distances(topology, root, distances);
	for (int r = 0; r < topology->ranks; r++)
		hops += distances[r];
	arena_close(arena);
	return hops;
}

/* The slower of two; 0: unlimited. */
static struct ratio ratio_slower(struct ratio a, struct ratio b)
{
	if (!a.num || !b.num)
		return a.num ? a : b;
	return (wide)a.num * b.den < (wide)b.num * a.den ? a : b;
}

static struct copying find_copying(const struct arch *arch)
{
	const struct storage_level *lx = arch_lx(arch);
	struct copying copying = arch->copying;
	struct storage_ports ports = storage_ports(&arch_hbm(arch)->store);
	struct ratio link = copying.link.rate.num ? copying.link.rate : copying.out.rate;
	struct ratio write = ratio_slower(ports.write, lx->fill_rate);
	copying.in.rate = ratio_slower(copying.in.rate, ratio_slower(ports.read, lx->fill_rate));
	copying.out.rate = ratio_slower(copying.out.rate, write);
	copying.link.rate = ratio_slower(link, write);
	return copying;
}

bool staging_cycles(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct staging *staging, struct arena *arena, int64_t *cycles)
{
	const struct layout *layout = &workload->tensors[op->reads[0].tensor].layout;
	struct sliding sliding = sliding_make(layout);
	struct broadcast_times times;
	struct broadcast broadcast = {
		.ranks = arch->ranks,
		.root = op->root,
		.source = {.element = ELEMENT_UINT8,
			.shape = {1, 1, sliding.outer, sliding.rows, sliding.sticks * STICK_BYTES}},
		.tile = {.element = ELEMENT_UINT8,
			.valid_rows = staging->rows,
			.valid_cols = staging->sticks * STICK_BYTES},
		.copying = find_copying(arch),
	};
	struct arena_mark mark = arena_mark(arena);
	bool fits = broadcast_time(
		&broadcast, arch_topology(arena, arch, op->root), staging->count, &times);
	arena_release(arena, mark);
	if (fits)
		*cycles = number_ceil_div(times.tiles, times.per_cycle);
	return fits;
}

enum { CORES_MOST = ARCH_CORES_MOST, FAR_NONE = -1 };

/* The slices of the cores under a view. */
struct holding {
	int64_t size[LAYOUT_RANK_MOST];
	int64_t first[CORES_MOST][LAYOUT_RANK_MOST];
	int leader[CORES_MOST]; /* the least core with the same slice; -1: it holds nothing */
	int copies[CORES_MOST]; /* by leader: cores with its slice */
};

struct relaying {
	const struct layout *layout;
	int cores; /* of the ring */
	struct holding from, to;
	/* by sender and leader of the receivers: how far the box goes each way; FAR_NONE: not that way */
	int8_t up[CORES_MOST][CORES_MOST], down[CORES_MOST][CORES_MOST];
	/* by core, in sticks; of link i, from core i to i + 1 and back */
	int64_t link_up[CORES_MOST + 1], link_down[CORES_MOST + 1];
	int64_t read[CORES_MOST], written[CORES_MOST];
	int64_t sent[CORES_MOST], received[CORES_MOST]; /* runs */
	int cut[CORES_MOST]; /* by leader of senders: boxes that its slice is cut into */
	int64_t parts, drain, fill, crossed;
	bool fits;
};

static bool same_slice(const struct layout *layout, const struct holding *holding, int a, int b)
{
	for (int d = 0; d + 1 < layout->rank; d++)
		if (holding->first[a][d] != holding->first[b][d])
			return false;
	return true;
}

static void footprint_hold(
	struct holding *holding, const struct layout *layout, const struct view *view, int cores)
{
	for (int d = 0; d + 1 < layout->rank; d++)
		holding->size[d] = view_size(layout, view, d);
	for (int c = 0; c < cores; c++) {
		holding->leader[c] = -1;
		if (!view_holds(view, c))
			continue;
		for (int d = 0; d + 1 < layout->rank; d++)
			holding->first[c][d] = view_first(layout, view, d, c);
		for (int k = 0; holding->leader[c] < 0; k++)
			if (k == c ||
				(holding->leader[k] == k && same_slice(layout, holding, k, c)))
				holding->leader[c] = k;
		holding->copies[holding->leader[c]]++;
	}
}

/* The box that is in the slices of both, in sticks, and its runs; 0: there is none. */
static int64_t relaying_overlap(
	const struct relaying *relaying, int sender, int receiver, int64_t *runs)
{
	const struct holding *from = &relaying->from, *to = &relaying->to;
	int64_t sticks = 1;
	bool whole = true; /* in all dimensions further in: rows follow each other */
	*runs = 1;
	for (int d = relaying->layout->rank - 2; d >= 0; d--) {
		int64_t low = number_max(from->first[sender][d], to->first[receiver][d]);
		int64_t high = number_min(from->first[sender][d] + from->size[d],
			to->first[receiver][d] + to->size[d]);
		if (low >= high)
			return 0;
		sticks *= high - low; /* of one slice */
		if (!whole)
			*runs *= high - low;
		whole = whole && high - low == from->size[d] && high - low == to->size[d];
	}
	return sticks;
}

static int way_up(const struct relaying *relaying, int sender, int receiver)
{
	int up = receiver - sender;
	return up < 0 ? up + relaying->cores : up;
}

/* The nearest of those with the same slice as `leader`, the least of those. */
static int find_sender(const struct relaying *relaying, int leader, int receiver)
{
	int best = leader, least = relaying->cores;
	if (relaying->from.copies[leader] == 1)
		return leader;
	for (int c = leader; c < relaying->cores; c++) {
		int up = way_up(relaying, c, receiver);
		int distance = up <= relaying->cores - up ? up : relaying->cores - up;
		if (relaying->from.leader[c] == leader && distance < least) {
			best = c;
			least = distance;
		}
	}
	return best;
}

/* Boxes of a receiver: who sends them, and how far they go.  False: it does not get all of its slice. */
static bool relaying_receive(struct relaying *relaying, int receiver)
{
	int leader = relaying->to.leader[receiver], boxes = 0;
	int64_t missing = 1;
	for (int d = 0; d + 1 < relaying->layout->rank; d++)
		missing *= relaying->to.size[d];
	for (int p = 0; p < relaying->cores; p++) {
		int64_t runs, sticks;
		if (relaying->from.leader[p] != p)
			continue;
		sticks = relaying_overlap(relaying, p, receiver, &runs);
		if (sticks == 0)
			continue;
		missing -= sticks;
		boxes++;
		relaying->cut[p] += leader == receiver;
		relaying->received[receiver] += runs;
		relaying->written[receiver] += sticks;
		relaying->fill += sticks;
		int sender = find_sender(relaying, p, receiver);
		int up = way_up(relaying, sender, receiver), down = relaying->cores - up;
		int8_t *far = up <= down ? &relaying->up[sender][leader]
					 : &relaying->down[sender][leader];
		*far = (int8_t)number_max(*far, up <= down ? up : down);
	}
	relaying->parts = number_max(relaying->parts, boxes);
	return missing == 0;
}

/* One box goes one way, to the furthest of its receivers, over `far` links from the first on: where it begins to
 * be on links counts, and where it ends to be. */
static void relaying_send(
	struct relaying *relaying, int sender, int64_t sticks, int64_t runs, int far, bool up)
{
	if (far == FAR_NONE)
		return;
	relaying->drain += sticks;
	relaying->read[sender] += sticks;
	relaying->sent[sender] += runs;
	relaying->crossed = checked_add(
		&relaying->fits, relaying->crossed, checked_mul(&relaying->fits, sticks, far));
	int64_t *link = up ? relaying->link_up : relaying->link_down;
	int first = up ? sender : sender - far, end = first + far;
	if (first < 0) {
		link[first + relaying->cores] += sticks;
		link[relaying->cores] -= sticks;
		first = 0;
	}
	if (end > relaying->cores) {
		link[0] += sticks;
		link[end - relaying->cores] -= sticks;
		end = relaying->cores;
	}
	link[first] += sticks;
	link[end] -= sticks;
}

/* From where boxes begin and end to what is on each link. */
static void footprint_add_up(int64_t *link, int cores)
{
	for (int c = 1; c < cores; c++)
		link[c] += link[c - 1];
}

static void send_all(struct relaying *relaying)
{
	for (int s = 0; s < relaying->cores; s++) {
		for (int q = 0; q < relaying->cores; q++) {
			int64_t runs, sticks;
			int up = relaying->up[s][q], down = relaying->down[s][q];
			if (up == FAR_NONE && down == FAR_NONE)
				continue;
			sticks = relaying_overlap(relaying, s, q, &runs);
			relaying_send(relaying, s, sticks, runs, up, true);
			relaying_send(relaying, s, sticks, runs, down, false);
		}
	}
	footprint_add_up(relaying->link_up, relaying->cores);
	footprint_add_up(relaying->link_down, relaying->cores);
}

static int64_t footprint_most(const int64_t *values, int count)
{
	int64_t found = 0;
	for (int i = 0; i < count; i++)
		found = number_max(found, values[i]);
	return found;
}

static int64_t footprint_cycles(int64_t sticks, struct ratio rate, bool *fits)
{
	int64_t cycles = 0, bytes = checked_mul(fits, sticks, STICK_BYTES);
	if (rate.num > 0 && !ratio_time(bytes, rate, &cycles))
		*fits = false;
	return cycles;
}

static bool find_price(
	struct relaying *relaying, const struct arch *arch, struct relayout_price *out)
{
	bool fits = relaying->fits;
	struct ratio per_run = ring_run(&arch->data_ring, relaying->parts), rate;
	int64_t *drained = out->counts.bytes[0], *filled = out->counts.bytes[1];
	out->parts = relaying->parts;
	out->runs = number_max(footprint_most(relaying->sent, relaying->cores),
		footprint_most(relaying->received, relaying->cores));
	out->link = footprint_cycles(number_max(footprint_most(relaying->link_up, relaying->cores),
					     footprint_most(relaying->link_down, relaying->cores)),
		arch->data_ring.rate, &fits);
	for (int c = 0; c < relaying->cores; c++)
		out->port = number_max(out->port,
			latency_lx(arch, checked_mul(&fits, relaying->read[c], STICK_BYTES),
				checked_mul(&fits, relaying->written[c], STICK_BYTES), &fits));
	if (per_run.num > 0 && (!ratio_div((struct ratio){1, 1}, per_run, &rate) ||
				       !ratio_time(out->runs, rate, &out->setup)))
		fits = false;
	out->cycles = checked_add(&fits, number_max(out->link, out->port), out->setup);
	drained[TRAFFIC_LX_DRAIN] = checked_mul(&fits, relaying->drain, STICK_BYTES);
	filled[TRAFFIC_LX_FILL] = checked_mul(&fits, relaying->fill, STICK_BYTES);
	filled[TRAFFIC_DATA_RING] = checked_mul(&fits, relaying->crossed, STICK_BYTES);
	out->energy_pj = energy_of_traffic(arch, drained) + energy_of_traffic(arch, filled);
	return out->fits = fits;
}

bool relayout_price(const struct arch *arch, const struct layout *layout, const struct view *from,
	const struct view *to, struct relayout_price *out)
{
	struct relaying relaying = {.layout = layout, .cores = (int)arch_cores(arch), .fits = true};
	*out = (struct relayout_price){0};
	if (!arch->data_ring.present || arch->lx < 0 || relaying.cores > CORES_MOST)
		return false;
	memset(relaying.up, FAR_NONE, sizeof relaying.up);
	memset(relaying.down, FAR_NONE, sizeof relaying.down);
	footprint_hold(&relaying.from, layout, from, relaying.cores);
	footprint_hold(&relaying.to, layout, to, relaying.cores);
	for (int c = 0; c < relaying.cores; c++)
		if (relaying.to.leader[c] >= 0 && !relaying_receive(&relaying, c))
			return false;
	send_all(&relaying);
	for (int c = 0; c < relaying.cores; c++)
		relaying.parts = number_max(relaying.parts, relaying.cut[c]);
	return find_price(&relaying, arch, out);
}
