#include "sim/nest/nest_buffers.h"

#include "base/arena.h"
#include "sim/nest/nest_homes.h"
#include "sim/nest/nest_tensors.h"

/* All that an instance of the home ever holds: the loops outside run through. */
static void find_hull(struct nest_run *run, const struct nest_store *store, int64_t instance,
	struct nest_box *out)
{
	out->words = 0;
	const struct shape *shape = run->shape;
	struct nest_site *site = site_of(run, store->level);
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		low[d] = site->shift[instance * shape->dimension_count + d];
		if (low[d] >= shape->dimensions[d].extent)
			return;
		high[d] = low[d] + site->span[d] - 1;
		for (int k = 0; k < site->outside; k++) {
			if (run->rounds[k].dimension == d)
				high[d] += (run->rounds[k].bound - 1) * run->rounds[k].stride;
		}
		high[d] = number_min(high[d], shape->dimensions[d].extent - 1);
	}
	nest_run_project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
}

/* What a store's buffers need; the largest tile is the first one. */
static double size_store(struct nest_run *run, struct nest_store *store)
{
	int64_t instances = site_of(run, store->level)->instances;
	struct nest_box most = {0};
	if (store->home)
		find_hull(run, store, 0, &most);
	else
		nest_run_tile(run, store, 0, &most);
	store->room = most.words;
	int64_t stride = 1;
	for (int r = store->ranks - 1; r >= 0; r--) {
		store->stride[r] = stride;
		stride *= most.high[r] - most.low[r];
	}
	double bytes = (run->options->data ? 8 : 0) + (store->written ? 1 : 0);
	double per_instance = 2 * sizeof(struct nest_box) + sizeof(struct nest_words);
	double owners =
		store->home && store->written && instances > 1 ? nest_homes_bytes(run, store) : 0;
	return owners + (double)instances * ((double)store->room * bytes * (store->home ? 1 : 2) +
						    per_instance);
}

static const char *size_run(struct nest_run *run)
{
	bool drawn = run->tensors && !run->options->values;
	double bytes = drawn ? nest_tensors_bytes(run->shape) : 0;
	for (struct nest_store *store = run->first_store; store; store = store->after)
		bytes += size_store(run, store);
	if (bytes <= EXECUTION_BYTES_MOST)
		return NULL;
	return arena_format(run->arena, "the buffers need %.1f GiB, and at most %d are taken",
		bytes / (1 << 30), EXECUTION_BYTES_MOST >> 30);
}

static void buy_store(struct nest_run *run, struct nest_store *store)
{
	int64_t instances = site_of(run, store->level)->instances;
	store->held = arena_array(run->arena, struct nest_box, instances);
	store->next = arena_array(run->arena, struct nest_box, instances);
	if (store->refetch)
		store->stays = arena_array(run->arena, bool, instances);
	if (store->links)
		store->entered = arena_array(run->arena, struct nest_words, instances);
	for (int side = 0; side < (store->home ? 1 : 2); side++) {
		double **value = arena_array(run->arena, double *, instances);
		uint8_t **state = arena_array(run->arena, uint8_t *, instances);
		for (int64_t n = 0; n < instances; n++) {
			if (run->options->data)
				value[n] = arena_array(run->arena, double, store->room);
			if (store->written)
				state[n] = arena_array(run->arena, uint8_t, store->room);
		}
		*(side ? &store->spare_value : &store->value) = value;
		*(side ? &store->spare_state : &store->state) = state;
	}
}

/* The home holds what it needs from the start; written words wait for their first update, unless
 * sums are there. */
static void fill_home(struct nest_run *run, struct nest_store *store)
{
	const struct nest_values *values = run->options->values;
	bool resumes = run->hierarchy->resumes || (values && values->resumes);
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		find_hull(run, store, n, &store->held[n]);
		for (int64_t w = 0; store->written && w < store->room; w++)
			store->state[n][w] = resumes ? WORD_SUM : WORD_FRESH;
		if (run->tensors && (!store->written || resumes))
			nest_tensors_read(run->tensors, store, n);
	}
}

/* Whether somebody's results would be in several instances. */
static bool is_apart(struct nest_run *run)
{
	bool apart = false;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		apart |= store->home && store->written && site_of(run, store->level)->instances > 1;
	return apart && run->options->values;
}

const char *nest_buffers_open(struct nest_run *run)
{
	const char *why = is_apart(run) ? "its results end in several places" : size_run(run);
	if (why)
		return why;
	if (run->tensors && !run->options->values)
		nest_tensors_draw(run->tensors, run->options->seed);
	for (struct nest_store *store = run->first_store; store; store = store->after) {
		buy_store(run, store);
		if (store->home)
			fill_home(run, store);
	}
	return NULL;
}
