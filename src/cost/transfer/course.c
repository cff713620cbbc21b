#include "cost/transfer/course.h"

#include <stdlib.h>

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

int64_t course_chunks(const struct course *course)
{
	const struct grid *grid = &course->grid;
	return grid->outer * (grid->bands[0] + grid->bands[1]) *
	       (grid->columns[0] + grid->columns[1]);
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

struct course course_open(const struct broadcast *b, const struct topology *topology)
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

void course_close(struct course *course)
{
	free((void *)course->hops);
}

struct leg course_leg(const struct course *course, int64_t i)
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

static wide time_of(int64_t bytes, struct ratio rate)
{
	wide work = (wide)bytes * rate.den;
	return rate.num ? (work + rate.num - 1) / rate.num : 0;
}

wide course_load(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes)
{
	bool link = leg->far && ticks->link_rate.num;
	return ticks->in_latency + (wide)leg->load_hops * ticks->link_latency +
	       time_of(bytes, link ? ticks->link_rate : ticks->in_rate);
}

wide course_store(const struct copy_ticks *ticks, const struct leg *leg, int64_t bytes)
{
	struct ratio far = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	return (wide)leg->stores * ticks->out_latency +
	       (wide)leg->store_hops * ticks->link_latency +
	       (leg->stores - leg->remote) * time_of(bytes, ticks->out_rate) +
	       leg->remote * time_of(bytes, far);
}

wide course_combine(const struct copy_ticks *ticks, int64_t bytes)
{
	return ticks->combine_latency + time_of(bytes, ticks->combine_rate);
}

int64_t course_bytes(const struct course *course, int h, int w)
{
	return course->grid.heights[h] * course->grid.widths[w] * course->element;
}

bool course_combines(const struct broadcast *b)
{
	return b->operation == OPERATION_REDUCE && b->ranks > 1;
}
