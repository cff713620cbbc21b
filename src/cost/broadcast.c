#include "cost/broadcast.h"

#include "base/wide.h"

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

static struct grid find_grid(const struct broadcast *b, enum broadcast_path path)
{
	const int64_t *shape = b->source.shape;
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

static int64_t total_chunks(const struct grid *grid)
{
	return grid->outer * (grid->bands[0] + grid->bands[1]) *
	       (grid->columns[0] + grid->columns[1]);
}

static int64_t total_hops(const struct broadcast *b, const struct topology *topology)
{
	int *distances = malloc((size_t)topology->ranks * sizeof *distances);
	int64_t hops = 0;
	topology_distances(topology, (int)b->root, distances);
	for (int r = 0; r < topology->ranks; r++)
		hops += distances[r];
	free(distances);
	return hops;
}

bool broadcast_count(const struct broadcast *broadcast, const struct topology *topology,
	struct broadcast_counts *out)
{
	int64_t elements, bytes, most;
	if (!broadcast_elements(broadcast->source.shape, &elements) ||
		!number_mul(elements, element_bytes(broadcast->source.element), &bytes) ||
		!number_mul(bytes, RANKS_MOST, &most) || !number_mul(most, RANKS_MOST, &most))
		return false;
	enum broadcast_path path = broadcast_path(broadcast);
	struct grid grid = find_grid(broadcast, path);
	int64_t chunks = total_chunks(&grid), tile = broadcast_tile_bytes(broadcast);
	*out = (struct broadcast_counts){
		.path = path,
		.chunks = chunks,
		.loads = chunks,
		.stores = chunks * broadcast->ranks,
		.flags = path == PATH_CHUNKED ? 2 * chunks : chunks * (1 + broadcast->ranks),
		.bytes_loaded = bytes,
		.bytes_stored = bytes * broadcast->ranks,
		.link_bytes = bytes * total_hops(broadcast, topology),
	};
	return path == PATH_EMPTY || number_mul(tile, broadcast->staging, &out->staging_bytes);
}

/* What decides how long chunks take. */
struct clock {
	struct copy_ticks ticks;
	int64_t element, ranks, hops;
};

static wide time_of(int64_t bytes, struct ratio rate)
{
	wide work = (wide)bytes * rate.den;
	return rate.num ? (work + rate.num - 1) / rate.num : 0;
}

static wide load_time(const struct clock *clock, int64_t bytes)
{
	return clock->ticks.in_latency + time_of(bytes, clock->ticks.in_rate);
}

static wide store_time(const struct clock *clock, int64_t bytes)
{
	const struct copy_ticks *ticks = &clock->ticks;
	struct ratio far = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	return (wide)clock->ranks * ticks->out_latency + (wide)clock->hops * ticks->link_latency +
	       time_of(bytes, ticks->out_rate) + (clock->ranks - 1) * time_of(bytes, far);
}

static struct clock find_clock(const struct broadcast *b, const struct topology *topology)
{
	return (struct clock){
		.ticks = copying_ticks(&b->copying),
		.element = element_bytes(b->source.element),
		.ranks = b->ranks,
		.hops = total_hops(b, topology),
	};
}

/* The greatest path through both queues, chunk by chunk. */
struct pipeline {
	const struct clock *clock;
	int64_t staging, count;
	wide loaded, stored;     /* when the last of each ended */
	wide loads;              /* sum of their times */
	wide unlimited;          /* as with as many tiles as chunks */
	wide ends[STAGING_MOST]; /* of the last stores, by tile */
};

static void pass(struct pipeline *pipeline, int64_t bytes)
{
	wide load = load_time(pipeline->clock, bytes), store = store_time(pipeline->clock, bytes);
	wide sync = pipeline->clock->ticks.sync;
	wide *end = &pipeline->ends[pipeline->count % pipeline->staging];
	if (pipeline->count >= pipeline->staging && *end + sync > pipeline->loaded)
		pipeline->loaded = *end + sync;
	pipeline->loaded += load;
	pipeline->loads += load;
	if (pipeline->loaded + sync > pipeline->stored)
		pipeline->stored = pipeline->loaded + sync;
	if (pipeline->loads + sync > pipeline->unlimited)
		pipeline->unlimited = pipeline->loads + sync;
	pipeline->stored += store;
	pipeline->unlimited += store;
	*end = pipeline->stored;
	pipeline->count++;
}

static void pass_all(struct pipeline *pipeline, const struct grid *grid)
{
	for (int64_t outer = 0; outer < grid->outer; outer++)
		for (int h = 0; h < 2; h++)
			for (int64_t band = 0; band < grid->bands[h]; band++)
				for (int w = 0; w < 2; w++)
					for (int64_t c = 0; c < grid->columns[w]; c++)
						pass(pipeline, grid->heights[h] * grid->widths[w] *
								       pipeline->clock->element);
}

/* Sums over whole and tail chunks. */
struct sums {
	const struct clock *clock;
	const struct grid *grid;
	wide load, store;
	wide pairs; /* max(L of the next, S) over neighbours */
};

static int64_t bytes_of(const struct sums *sums, int h, int w)
{
	return sums->grid->heights[h] * sums->grid->widths[w] * sums->clock->element;
}

/* So many times chunk (h, w) is followed by chunk (next_h, next_w). */
static void follow(struct sums *sums, int64_t times, int h, int w, int next_h, int next_w)
{
	if (times <= 0)
		return;
	wide load = load_time(sums->clock, bytes_of(sums, next_h, next_w));
	wide store = store_time(sums->clock, bytes_of(sums, h, w));
	sums->pairs += times * (load > store ? load : store);
}

static struct sums add_up(const struct clock *clock, const struct grid *grid)
{
	struct sums sums = {.clock = clock, .grid = grid};
	const int64_t *bands = grid->bands, *columns = grid->columns;
	int left = columns[0] ? 0 : 1, right = columns[1] ? 1 : 0;
	int top = bands[0] ? 0 : 1, bottom = bands[1] ? 1 : 0;
	for (int h = 0; h < 2; h++) {
		int64_t rows = grid->outer * bands[h];
		for (int w = 0; w < 2; w++) {
			wide times = (wide)rows * columns[w];
			sums.load += times * load_time(clock, bytes_of(&sums, h, w));
			sums.store += times * store_time(clock, bytes_of(&sums, h, w));
		}
		follow(&sums, rows * (columns[0] - 1), h, 0, h, 0);
		follow(&sums, columns[0] ? rows * columns[1] : 0, h, 0, h, 1);
		follow(&sums, grid->outer * (bands[h] - 1), h, right, h, left);
	}
	follow(&sums, bands[0] ? grid->outer * bands[1] : 0, 0, right, 1, left);
	follow(&sums, grid->outer - 1, bottom, right, top, left);
	return sums;
}

bool broadcast_time(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, struct broadcast_times *out)
{
	enum broadcast_path path = broadcast_path(broadcast);
	struct grid grid = find_grid(broadcast, path);
	struct clock clock = find_clock(broadcast, topology);
	int64_t chunks = total_chunks(&grid);
	*out = (struct broadcast_times){.per_cycle = clock.ticks.per_cycle};
	if (!chunks || chunks > CHUNKS_TIMED)
		return !chunks;
	struct sums sums = add_up(&clock, &grid);
	struct pipeline pipeline = {.clock = &clock, .staging = staging};
	pass_all(&pipeline, &grid);
	wide sync = clock.ticks.sync, twice = 2 * sync;
	int top = grid.bands[0] ? 0 : 1, left = grid.columns[0] ? 0 : 1;
	int bottom = grid.bands[1] ? 1 : 0, right = grid.columns[1] ? 1 : 0;
	wide first = load_time(&clock, bytes_of(&sums, top, left));
	wide last = store_time(&clock, bytes_of(&sums, bottom, right));
	wide single = sums.load + sums.store + chunks * twice;
	wide double_buffered = first + sums.pairs + last;
	if (sync) {
		struct pipeline two = {.clock = &clock, .staging = 2};
		pass_all(&two, &grid);
		double_buffered = two.stored + sync;
	}
	wide bound = first + sums.store > sums.load + last ? first + sums.store : sums.load + last;
	if (single > INT64_MAX)
		return false;
	out->load = (int64_t)sums.load;
	out->store = (int64_t)sums.store;
	out->single = (int64_t)single;
	out->ping_pong = (int64_t)double_buffered;
	out->tiles = (int64_t)(pipeline.stored + sync);
	out->unlimited = (int64_t)(pipeline.unlimited + sync);
	out->bound = (int64_t)(bound + twice);
	return true;
}

int64_t broadcast_time_of(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, const int64_t *sizes, int64_t count)
{
	struct clock clock = find_clock(broadcast, topology);
	struct pipeline pipeline = {.clock = &clock, .staging = staging};
	for (int64_t i = 0; i < count; i++)
		pass(&pipeline, sizes[i]);
	return count ? (int64_t)(pipeline.stored + clock.ticks.sync) : 0;
}

int64_t broadcast_load_time(const struct broadcast *broadcast, int64_t bytes)
{
	struct clock clock = {.ticks = copying_ticks(&broadcast->copying)};
	return (int64_t)load_time(&clock, bytes);
}
