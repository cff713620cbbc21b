#include "cost/transfer/broadcast.h"

#include "base/wide.h"
#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"

#include <stdlib.h>

/*
 * The chunks of a sliding: bands of rows over each of `outer` slices, each cut into columns.
 * heights[0] and widths[0] are whole, [1] the tails; counts may be 0.
 */
struct grid {
	int64_t outer;
	int64_t heights[2], bands[2];
	int64_t widths[2], columns[2];
};

/* The ends of a leg, which decide the time of its chunks: one buffer, and one or those of all ranks. */
struct leg {
	bool far; /* loaded from another rank */
	int64_t load_hops;
	int64_t stores, remote; /* to ranks, and how many of them are others */
	int64_t store_hops;     /* to all of them */
};

/*
 * The work of the root of a broadcast or a sibling, by legs: one for each rank of a gather or
 * scatter; the one of a broadcast stores to all, that of a put or get has to do with one; those of
 * a reduction load the blocks of all ranks, chunk by chunk.
 */
struct course {
	const struct broadcast *broadcast;
	struct copy_ticks ticks;
	struct grid grid;
	int64_t element; /* bytes */
	const int *hops; /* by rank: links between it and the root, the way that bytes go */
	int64_t legs;    /* one after the other; 1 of a reduction */
};

static struct grid find_grid(const struct broadcast *b, enum broadcast_path path)
{
	const int64_t *shape = broadcast_block(b);
	int64_t rows = b->tile.valid_rows, cols = b->tile.valid_cols;
	struct grid grid = {.outer = 1, .bands = {1, 0}, .columns = {1, 0}};
	if (path == PATH_EMPTY)
		return (struct grid){0};
	if (path != PATH_CHUNKED) {
		broadcast_rows(shape, &grid.heights[0]);
		grid.widths[0] = shape[4];
		return grid;
	}
	return (struct grid){
		.outer = shape[0] * shape[1] * shape[2],
		.heights = {rows, shape[3] % rows},
		.bands = {shape[3] / rows, shape[3] % rows != 0},
		.widths = {cols, shape[4] % cols},
		.columns = {shape[4] / cols, shape[4] % cols != 0},
	};
}

/* Between the root and each rank, in the direction in which the bytes go. */
static int *find_hops(const struct broadcast *b, const struct topology *topology)
{
	int *hops = malloc((size_t)topology->ranks * sizeof *hops);
	if (operation_pulls(b->operation))
		topology_distances_to(topology, (int)b->root, hops);
	else
		topology_distances(topology, (int)b->root, hops);
	return hops;
}

/* Closed by course_close, because its hops are not in an arena. */
static struct course course_open(const struct broadcast *b, const struct topology *topology)
{
	return (struct course){
		.broadcast = b,
		.ticks = copying_ticks(&b->copying),
		.grid = find_grid(b, broadcast_path(b)),
		.element = element_bytes(b->source.element),
		.hops = find_hops(b, topology),
		.legs = operation_splits(b->operation) ? b->ranks : 1,
	};
}

static void course_close(struct course *course)
{
	free((void *)course->hops);
}

/* Returns the number of chunks of one leg. */
static int64_t course_chunks(const struct course *course)
{
	const struct grid *grid = &course->grid;
	return grid->outer * (grid->bands[0] + grid->bands[1]) *
	       (grid->columns[0] + grid->columns[1]);
}

/* Bytes of a chunk of heights[h] rows and widths[w] columns. */
static int64_t course_bytes(const struct course *course, int h, int w)
{
	return course->grid.heights[h] * course->grid.widths[w] * course->element;
}

/* The i-th leg; of a reduction the loads of rank i. */
static struct leg course_leg(const struct course *course, int64_t i)
{
	const struct broadcast *b = course->broadcast;
	struct leg leg = {.stores = 1};
	int64_t rank = operation_is_pair(b->operation) ? b->peer : i;
	if (b->operation == OPERATION_BROADCAST) {
		leg.stores = b->ranks;
		leg.remote = b->ranks - 1;
		for (int64_t r = 0; r < b->ranks; r++)
			leg.store_hops += course->hops[r];
	} else if (operation_pulls(b->operation)) {
		leg.far = rank != b->root;
		leg.load_hops = course->hops[rank];
	} else {
		leg.remote = rank != b->root;
		leg.store_hops = course->hops[rank];
	}
	return leg;
}

/* A reduction of more than one rank. */
static bool course_combines(const struct broadcast *b)
{
	return b->operation == OPERATION_REDUCE && b->ranks > 1;
}

static wide transfer_wide_time(int64_t bytes, struct ratio rate)
{
	wide work = (wide)bytes * rate.den;
	return rate.num ? (work + rate.num - 1) / rate.num : 0;
}

/* Ticks that a load, the stores of a chunk, and a vector step take. */
static wide course_load(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes)
{
	bool link = leg->far && ticks->link_rate.num;
	return ticks->in_latency + (wide)leg->load_hops * ticks->link_latency +
	       transfer_wide_time(bytes, link ? ticks->link_rate : ticks->in_rate);
}

static wide course_store(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes)
{
	struct ratio far = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	return (wide)leg->stores * ticks->out_latency +
	       (wide)leg->store_hops * ticks->link_latency +
	       (leg->stores - leg->remote) * transfer_wide_time(bytes, ticks->out_rate) +
	       leg->remote * transfer_wide_time(bytes, far);
}

static wide course_combine(const struct copy_ticks *ticks, int64_t bytes)
{
	return ticks->combine_latency + transfer_wide_time(bytes, ticks->combine_rate);
}

/* Counts the other ranks in a handshake: each reads its block or writes it. */
static void count_handshake(const struct broadcast *b, int64_t bytes, struct broadcast_counts *out)
{
	bool pulls = operation_pulls(b->operation);
	int64_t others = operation_is_pair(b->operation) ? b->peer != b->root : b->ranks - 1;
	if (!b->handshake.notifies && !b->handshake.waits)
		return;
	out->loads += others * out->chunks;
	out->bytes_loaded += others * bytes;
	if (!pulls)
		return;
	out->stores += others * out->chunks;
	out->flags += 2 * others * out->chunks;
	out->bytes_stored += others * bytes;
}

static int64_t count_flags(const struct broadcast *b, const struct broadcast_counts *counts)
{
	if (course_combines(b))
		return counts->chunks * (2 * (b->ranks - 1) + 2);
	if (b->operation == OPERATION_BROADCAST && counts->path != PATH_CHUNKED)
		return counts->loads + counts->stores;
	return 2 * counts->loads;
}

bool broadcast_count(const struct broadcast *broadcast, const struct topology *topology,
	struct broadcast_counts *out)
{
	int64_t elements, bytes, most;
	if (!broadcast_elements(broadcast_block(broadcast), &elements) ||
		!number_mul(elements, element_bytes(broadcast->source.element), &bytes) ||
		!number_mul(bytes, RANKS_MOST, &most) || !number_mul(most, RANKS_MOST, &most))
		return false;
	struct course course = course_open(broadcast, topology);
	int64_t chunks = course_chunks(&course), ranks = broadcast->ranks;
	int64_t stores = broadcast->operation == OPERATION_BROADCAST ? ranks : course.legs;
	int64_t loads = course_combines(broadcast) ? ranks : course.legs, hops = 0;
	for (int64_t r = 0; r < ranks; r++)
		if (!operation_is_pair(broadcast->operation) || r == broadcast->peer)
			hops += course.hops[r];
	*out = (struct broadcast_counts){
		.path = broadcast_path(broadcast),
		.chunks = chunks,
		.loads = chunks * loads,
		.stores = chunks * stores,
		.combines = course_combines(broadcast) ? chunks * (ranks - 1) : 0,
		.bytes_loaded = bytes * loads,
		.bytes_stored = bytes * stores,
		.link_bytes = bytes * hops,
	};
	course_close(&course);
	out->flags = count_flags(broadcast, out);
	count_handshake(broadcast, bytes, out);
	return out->path == PATH_EMPTY || number_mul(broadcast_tile_bytes(broadcast),
						  broadcast_tiles(broadcast), &out->staging_bytes);
}

/* Out of a rank's alone memory into its scratchpad, and back; over one link. */
static const struct leg alone = {.stores = 1};
static const struct leg next = {.stores = 1, .remote = 1, .store_hops = 1};

static wide message_time(
	const struct send_schedule *schedule, const struct copy_ticks *ticks, int64_t bytes)
{
	wide send = course_store(ticks, &next, bytes), load = course_load(ticks, &alone, bytes);
	wide longer = load > send ? load : send;
	if (schedule->operation == OPERATION_REDUCE)
		longer += course_combine(ticks, bytes);
	return longer;
}

/* The chunks of two lengths, one after the other, into the root's alone buffer. */
static wide own_time(const struct copy_ticks *ticks, int64_t chunks, int64_t bytes, int element)
{
	int64_t elements = bytes / element, longer = elements % chunks, size = elements / chunks;
	return (wide)longer * course_store(ticks, &alone, (size + 1) * element) +
	       (wide)(chunks - longer) * course_store(ticks, &alone, size * element);
}

bool schedule_price(const struct send_schedule *schedule, const struct copy_ticks *ticks,
	int64_t bytes, int element, struct schedule_cost *out)
{
	int64_t begin_bytes = schedule_bytes(bytes, element, schedule->chunks, 1);
	wide begin = course_load(ticks, &alone, begin_bytes);
	wide end = begin, root_end = begin, sent = 0;
	int64_t largest = begin_bytes;
	bool pulls = operation_pulls(schedule->operation);
	int round = 0;
	for (size_t i = 0; i < schedule->message_count; i++) {
		const struct message *message = &schedule->messages[i];
		int64_t last = message->first + message->count;
		int64_t size = schedule_bytes(bytes, element, schedule->chunks, last) -
			       schedule_bytes(bytes, element, schedule->chunks, message->first);
		if (message->round != round)
			begin = end;
		round = message->round;
		wide through = begin + message_time(schedule, ticks, size);
		end = through > end ? through : end;
		int end_rank = pulls ? message->to : message->from;
		if (end_rank == schedule->root && through > root_end)
			root_end = through;
		sent += size;
		largest = number_max(largest, size);
	}
	root_end += operation_splits(schedule->operation)
			    ? own_time(ticks, 1, begin_bytes, element)
			    : own_time(ticks, schedule->chunks, bytes, element);
	end = root_end > end ? root_end : end;
	if (end > INT64_MAX || sent > INT64_MAX || largest > INT64_MAX / 2)
		return false;
	*out = (struct schedule_cost){schedule->rounds, (int64_t)end, (int64_t)sent, 2 * largest};
	return true;
}

/* The greatest path through both queues, chunk by chunk. */
struct pipeline {
	const struct copy_ticks *ticks;
	int64_t staging, count;
	wide loaded, stored;     /* when the last of each ended */
	wide loads, stores;      /* sums of their times */
	wide first, last;        /* of them: the first load, the last store */
	wide unlimited;          /* as with as many tiles as chunks */
	wide ends[STAGING_MOST]; /* of the last stores, by tile */
};

static void pipeline_pass(struct pipeline *pipeline, wide load, wide store)
{
	wide sync = pipeline->ticks->sync;
	wide *end = &pipeline->ends[pipeline->count % pipeline->staging];
	if (pipeline->count >= pipeline->staging && *end + sync > pipeline->loaded)
		pipeline->loaded = *end + sync;
	if (!pipeline->count)
		pipeline->first = load;
	pipeline->last = store;
	pipeline->loaded += load;
	pipeline->loads += load;
	pipeline->stores += store;
	if (pipeline->loaded + sync > pipeline->stored)
		pipeline->stored = pipeline->loaded + sync;
	if (pipeline->loads + sync > pipeline->unlimited)
		pipeline->unlimited = pipeline->loads + sync;
	pipeline->stored += store;
	pipeline->unlimited += store;
	*end = pipeline->stored;
	pipeline->count++;
}

static void pass_leg(struct pipeline *pipeline, const struct course *course, const struct leg *leg)
{
	const struct grid *grid = &course->grid;
	for (int64_t outer = 0; outer < grid->outer; outer++)
		for (int h = 0; h < 2; h++)
			for (int64_t band = 0; band < grid->bands[h]; band++)
				for (int w = 0; w < 2; w++)
					for (int64_t c = 0; c < grid->columns[w]; c++) {
						int64_t bytes = course_bytes(course, h, w);
						pipeline_pass(pipeline,
							course_load(&course->ticks, leg, bytes),
							course_store(&course->ticks, leg, bytes));
					}
}

static struct pipeline pass_all(const struct course *course, int64_t staging)
{
	struct pipeline pipeline = {.ticks = &course->ticks, .staging = staging};
	for (int64_t i = 0; i < course->legs; i++) {
		struct leg leg = course_leg(course, i);
		pass_leg(&pipeline, course, &leg);
	}
	return pipeline;
}

static wide broadcast_larger(wide a, wide b)
{
	return a > b ? a : b;
}

/* The time of a pass through two queues, without limits of its size. */
struct times {
	wide load, store, single, ping_pong, tiles, unlimited, bound;
};

static struct times time_copies(const struct course *course, int64_t staging)
{
	struct pipeline pipeline = pass_all(course, staging), two = pass_all(course, 2);
	wide sync = course->ticks.sync;
	return (struct times){
		.load = pipeline.loads,
		.store = pipeline.stores,
		.single = pipeline.loads + pipeline.stores + pipeline.count * 2 * sync,
		.ping_pong = two.stored + sync,
		.tiles = pipeline.stored + sync,
		.unlimited = pipeline.unlimited + sync,
		.bound = broadcast_larger(
				 pipeline.first + pipeline.stores, pipeline.loads + pipeline.last) +
			 2 * sync,
	};
}

/* One chunk of a reduction, from its first load until its store is known of, through this many
 * tiles beside the one that adds up. */
static wide reduce_chunk(const struct course *course, int64_t bytes, int64_t staging)
{
	const struct broadcast *b = course->broadcast;
	const struct copy_ticks *ticks = &course->ticks;
	struct pipeline pipeline = {.ticks = ticks, .staging = staging};
	const struct leg own = {.stores = 1};
	pipeline.loaded = course_load(ticks, &own, bytes);
	for (int64_t r = 0; r < b->ranks; r++) {
		struct leg leg = course_leg(course, r);
		if (r != b->root)
			pipeline_pass(&pipeline, course_load(ticks, &leg, bytes),
				course_combine(ticks, bytes));
	}
	return pipeline.stored + ticks->sync + course_store(ticks, &own, bytes) + ticks->sync;
}

/* Chunks that are alike take the same time. */
static struct times time_reduction(const struct course *course, int64_t staging)
{
	const struct grid *grid = &course->grid;
	const struct broadcast *b = course->broadcast;
	const struct leg own = {.stores = 1};
	struct times times = {0};
	for (int h = 0; h < 2; h++)
		for (int w = 0; w < 2; w++) {
			wide count = (wide)grid->outer * grid->bands[h] * grid->columns[w];
			int64_t bytes = course_bytes(course, h, w);
			if (!count)
				continue;
			for (int64_t r = 0; r < b->ranks; r++) {
				struct leg leg = course_leg(course, r);
				times.load += count * course_load(&course->ticks, &leg, bytes);
			}
			times.store += count * course_store(&course->ticks, &own, bytes);
			times.single += count * reduce_chunk(course, bytes, 1);
			times.ping_pong += count * reduce_chunk(course, bytes, 2);
			times.tiles += count * reduce_chunk(course, bytes, staging);
			times.unlimited += count * reduce_chunk(course, bytes,
							   number_min(b->ranks, STAGING_MOST));
		}
	times.bound = times.load + times.store;
	return times;
}

/* Chunks that one rank reads or writes in its own memory, one after the other or through this many
 * tiles. */
static struct course own_course(const struct course *course)
{
	static const int none[RANKS_MOST];
	struct course own = *course;
	own.hops = none;
	own.legs = 1;
	return own;
}

/* Returns the end of an operation that ends at `end` after its handshake, with this many tiles (0: as many as
 * chunks). */
static wide add_handshake(const struct course *course, int64_t staging, wide end)
{
	const struct broadcast *b = course->broadcast;
	const struct copy_ticks *ticks = &course->ticks;
	struct course own = own_course(course);
	const struct leg leg = {.stores = 1};
	bool pulls = operation_pulls(b->operation), pair = operation_is_pair(b->operation);
	if ((!b->handshake.notifies && !b->handshake.waits) || broadcast_notifiers(b) <= 0)
		return end;
	struct pipeline pipeline = {.ticks = ticks, .staging = staging ? staging : 1};
	pass_leg(&pipeline, &own, &leg);
	wide written = staging ? pipeline.stored : pipeline.unlimited, notice = 0, farthest = 0;
	for (int64_t r = 0; r < b->ranks; r++) {
		if (r == b->root || (pair && r != b->peer))
			continue;
		wide one = ticks->out_latency + (wide)course->hops[r] * ticks->link_latency;
		notice += one;
		farthest = broadcast_larger(farthest, one);
	}
	if (pulls)
		return broadcast_larger(written + farthest + end, written + ticks->sync);
	return broadcast_larger(end, end - ticks->sync + notice + pipeline.loads);
}

bool broadcast_time(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, struct broadcast_times *out)
{
	struct course course = course_open(broadcast, topology);
	int64_t chunks = course_chunks(&course);
	*out = (struct broadcast_times){.per_cycle = course.ticks.per_cycle};
	if (!chunks || chunks > CHUNKS_TIMED / course.legs) {
		course_close(&course);
		return !chunks;
	}
	struct times times = course_combines(broadcast) ? time_reduction(&course, staging)
							: time_copies(&course, staging);
	times.single = add_handshake(&course, 1, times.single);
	times.ping_pong = add_handshake(&course, 2, times.ping_pong);
	times.tiles = add_handshake(&course, staging, times.tiles);
	times.unlimited = add_handshake(&course, 0, times.unlimited);
	course_close(&course);
	if (times.single > INT64_MAX)
		return false;
	*out = (struct broadcast_times){
		.load = (int64_t)times.load,
		.store = (int64_t)times.store,
		.single = (int64_t)times.single,
		.ping_pong = (int64_t)times.ping_pong,
		.tiles = (int64_t)times.tiles,
		.unlimited = (int64_t)times.unlimited,
		.bound = (int64_t)times.bound,
		.per_cycle = course.ticks.per_cycle,
	};
	return true;
}

int64_t broadcast_time_of(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, const int64_t *sizes, int64_t count)
{
	struct course course = course_open(broadcast, topology);
	struct pipeline pipeline = {.ticks = &course.ticks, .staging = staging};
	struct leg leg = course_leg(&course, 0);
	for (int64_t i = 0; i < count; i++)
		pipeline_pass(&pipeline, course_load(&course.ticks, &leg, sizes[i]),
			course_store(&course.ticks, &leg, sizes[i]));
	wide end = add_handshake(&course, staging, pipeline.stored + course.ticks.sync);
	course_close(&course);
	return count ? (int64_t)end : 0;
}

int64_t broadcast_load_time(const struct broadcast *broadcast, int64_t bytes)
{
	struct copy_ticks ticks = copying_ticks(&broadcast->copying);
	const struct leg leg = {.stores = 1};
	return (int64_t)course_load(&ticks, &leg, bytes);
}
