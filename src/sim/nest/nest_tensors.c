#include "sim/nest/nest_tensors.h"

#include "base/arena.h"
#include "base/random.h"

#include <inttypes.h>

struct tensor_words {
	struct nest_box box;
	int64_t stride[SHAPE_RANKS_MOST];
	double *at;
};

struct nest_tensors {
	const struct shape *shape;
	const struct nest_values *values; /* NULL: drawn */
	struct arena *arena;
	struct tensor_words tensors[SHAPE_SPACES_MOST];
};

double nest_tensors_bytes(const struct shape *shape)
{
	double bytes = 0;
	for (int t = 0; t < shape->space_count; t++)
		bytes += (double)nest_whole(shape, t).words * sizeof(double);
	return bytes;
}

struct nest_tensors *nest_tensors_name(
	const struct shape *shape, const struct nest_values *values, struct arena *arena)
{
	struct nest_tensors *tensors = arena_new(arena, struct nest_tensors);
	tensors->values = values;
	tensors->shape = shape;
	tensors->arena = arena;
	for (int t = 0; t < shape->space_count; t++) {
		struct tensor_words *tensor = &tensors->tensors[t];
		tensor->box = nest_whole(shape, t);
		int64_t stride = 1;
		for (int r = shape->spaces[t].rank_count - 1; r >= 0; r--) {
			tensor->stride[r] = stride;
			stride *= tensor->box.high[r];
		}
	}
	return tensors;
}

void nest_tensors_draw(struct nest_tensors *tensors, uint64_t seed)
{
	for (int t = 0; t < tensors->shape->space_count; t++) {
		struct tensor_words *tensor = &tensors->tensors[t];
		tensor->at = arena_array(tensors->arena, double, tensor->box.words);
		if (tensors->shape->spaces[t].written)
			continue;
		struct random random = random_open(seed, (uint64_t)t);
		for (int64_t w = 0; w < tensor->box.words; w++)
			tensor->at[w] = (double)random_below(&random, 5) - 2;
	}
}

static double *element(const struct tensor_words *tensor, int ranks, const int64_t at[])
{
	int64_t place = 0;
	for (int r = 0; r < ranks; r++)
		place += at[r] * tensor->stride[r];
	return &tensor->at[place];
}

/* The element of an array; NULL: it is padding. */
static float *find_value(const struct nest_array_view *view, int ranks, const int64_t at[])
{
	int64_t place = 0;
	for (int r = 0; r < ranks; r++) {
		if (at[r] >= view->size[r])
			return NULL;
		place += at[r] * view->stride[r];
	}
	return &view->at[place];
}

static double read_value(const struct nest_tensors *tensors, int space, const int64_t at[])
{
	int ranks = tensors->shape->spaces[space].rank_count;
	if (!tensors->values)
		return *element(&tensors->tensors[space], ranks, at);
	const float *value = find_value(&tensors->values->views[space], ranks, at);
	return value ? (double)*value : 0;
}

void nest_tensors_read(
	const struct nest_tensors *tensors, const struct nest_store *store, int64_t instance)
{
	struct nest_words all = nest_words_of(&store->held[instance]);
	for (struct nest_walk walk = nest_walk_first(store->ranks, &all); walk.any;
		nest_walk_next(store->ranks, &all, &walk))
		store->value[instance][nest_store_place(store, &all.hull, walk.at)] =
			read_value(tensors, store->space, walk.at);
}

/* One point of the iteration space. */
static void multiply_add(const struct nest_tensors *tensors, const int64_t index[])
{
	const struct shape *shape = tensors->shape;
	double product = 1;
	for (int pass = 0; pass < 2; pass++) {
		for (int t = 0; t < shape->space_count; t++) {
			const struct dataspace *space = &shape->spaces[t];
			if (space->written != (pass == 1))
				continue;
			int64_t at[SHAPE_RANKS_MOST];
			dataspace_word(space, shape->dimension_count, index, at);
			double *word = element(&tensors->tensors[t], space->rank_count, at);
			if (pass == 0)
				product *= *word;
			else
				*word += product;
		}
	}
}

static void compute_einsum(const struct nest_tensors *tensors)
{
	const struct shape *shape = tensors->shape;
	int64_t index[SHAPE_DIMENSIONS_MOST] = {0};
	int d;
	do {
		multiply_add(tensors, index);
		for (d = shape->dimension_count - 1; d >= 0; d--) {
			if (++index[d] < shape->dimensions[d].extent)
				break;
			index[d] = 0;
		}
	} while (d >= 0);
}

/* Takes what the home's instances have away from the einsum: nothing must remain. */
static void take_away(struct nest_run *run, const struct nest_store *home)
{
	const struct tensor_words *tensor = &run->tensors->tensors[home->space];
	for (int64_t n = 0; n < site_of(run, home->level)->instances; n++) {
		struct nest_words all = nest_words_of(&home->held[n]);
		for (struct nest_walk walk = nest_walk_first(home->ranks, &all); walk.any;
			nest_walk_next(home->ranks, &all, &walk)) {
			int64_t place = nest_store_place(home, &home->held[n], walk.at);
			if (home->state[n][place] & WORD_SUM)
				*element(tensor, home->ranks, walk.at) -= home->value[n][place];
		}
	}
}

static void find_rest(struct nest_run *run, int t)
{
	const struct tensor_words *tensor = &run->tensors->tensors[t];
	struct nest_words all = nest_words_of(&tensor->box);
	int ranks = run->shape->spaces[t].rank_count;
	for (struct nest_walk walk = nest_walk_first(ranks, &all); walk.any;
		nest_walk_next(ranks, &all, &walk)) {
		double rest = *element(tensor, ranks, walk.at);
		if (rest == 0)
			continue;
		for (int r = 0; r < ranks; r++) {
			all.hull.low[r] = walk.at[r];
			all.hull.high[r] = walk.at[r] + 1;
		}
		nest_run_wrong(run, "%s comes out %g too %s", nest_run_word(run, t, &all),
			rest < 0 ? -rest : rest, rest < 0 ? "high" : "low");
		return;
	}
}

/* A word without a sum is one that nothing was ever added to. */
static void give_back(const struct nest_run *run, const struct nest_store *home)
{
	const struct nest_array_view *view = &run->options->values->views[home->space];
	struct nest_words all = nest_words_of(&home->held[0]);
	for (struct nest_walk walk = nest_walk_first(home->ranks, &all); walk.any;
		nest_walk_next(home->ranks, &all, &walk)) {
		int64_t place = nest_store_place(home, &home->held[0], walk.at);
		bool sum = home->state[0][place] & WORD_SUM;
		float *value = find_value(view, home->ranks, walk.at);
		if (value)
			*value = (float)(sum ? home->value[0][place] : run->arithmetic.neutral);
	}
}

void nest_tensors_end(struct nest_run *run)
{
	if (!run->options->values)
		compute_einsum(run->tensors);
	for (const struct nest_store *store = run->first_store; store; store = store->after) {
		if (!store->home || !store->written)
			continue;
		if (run->options->values) {
			give_back(run, store);
		} else {
			take_away(run, store);
			find_rest(run, store->space);
		}
	}
}
