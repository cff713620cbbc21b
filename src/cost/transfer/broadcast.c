#include "cost/transfer/broadcast.h"

#include "cost/transfer/course.h"

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

static void pass(struct pipeline *pipeline, wide load, wide store)
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
						pass(pipeline,
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

static wide larger(wide a, wide b)
{
	return a > b ? a : b;
}

/* What a pass through two queues takes, without limits of its size. */
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
		.bound = larger(pipeline.first + pipeline.stores, pipeline.loads + pipeline.last) +
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
			pass(&pipeline, course_load(ticks, &leg, bytes),
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

/* What a handshake adds to the end of an operation, which is known of at `end`, with this many tiles
 * (0: as many as chunks). */
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
		farthest = larger(farthest, one);
	}
	if (pulls)
		return larger(written + farthest + end, written + ticks->sync);
	return larger(end, end - ticks->sync + notice + pipeline.loads);
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
		pass(&pipeline, course_load(&course.ticks, &leg, sizes[i]),
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
