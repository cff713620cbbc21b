#include "sim/nest_run.h"

#include "base/arena.h"
#include "base/text.h"
#include "sim/nest_clock.h"
#include "sim/nest_tensors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Temporal loops, outermost first, with their strides; and the spans of the levels. */
static void lay_loops(struct nest_run *run)
{
	const struct hierarchy *hierarchy = run->hierarchy;
	int dimensions = run->shape->dimension_count;
	int64_t inside[SHAPE_DIMENSIONS_MOST];
	struct nest_round reversed[ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];
	int count = 0;
	for (int d = 0; d < dimensions; d++)
		site_of(run, MULTIPLIERS)->span[d] = inside[d] = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		for (int d = 0; level->block_row >= 0 && d < dimensions; d++)
			inside[d] *= run->mapping->rows[level->block_row].spatial[d];
		const struct mapping_row *row = &run->mapping->rows[level->row];
		for (int k = 0; k < dimensions; k++) {
			int d = row->temporal_order[k];
			if (row->temporal[d] > 1)
				reversed[count++] =
					(struct nest_round){i, d, row->temporal[d], inside[d]};
			inside[d] *= row->temporal[d];
		}
		for (int d = 0; d < dimensions; d++)
			site_of(run, i)->span[d] = inside[d];
	}
	run->round_count = count;
	for (int k = 0; k < count; k++)
		run->rounds[k] = reversed[count - 1 - k];
	for (int i = MULTIPLIERS; i < hierarchy->level_count; i++) {
		struct nest_site *site = site_of(run, i);
		while (site->outside < count && run->rounds[site->outside].level > i)
			site->outside++;
	}
}

/* What each slot of the block below a level adds to the indices, Y before X. */
static void shift_slots(struct nest_run *run, int level, int64_t *shifts)
{
	struct nest_site *below = site_of(run, level - 1);
	int dimensions = run->shape->dimension_count;
	int block_row = run->hierarchy->levels[level].block_row;
	if (block_row < 0)
		return;
	const struct mapping_row *row = &run->mapping->rows[block_row];
	for (int64_t slot = 0; slot < below->block; slot++) {
		int64_t rest[2] = {slot % below->block_x, slot / below->block_x};
		for (int k = 0; k < dimensions; k++) {
			int d = row->spatial_order[k];
			int64_t *place = &rest[row->spatial_y >> d & 1];
			shifts[slot * dimensions + d] = *place % row->spatial[d] * below->span[d];
			*place /= row->spatial[d];
		}
	}
}

static void lay_instances(struct nest_run *run)
{
	int dimensions = run->shape->dimension_count;
	int top = run->hierarchy->level_count - 1;
	struct nest_site *site = site_of(run, top);
	site->instances = site->block = site->block_x = 1;
	site->shift = arena_array(run->arena, int64_t, dimensions);
	for (int i = top; i >= 0; i--, site--) {
		struct nest_site *below = site - 1;
		below->shift = arena_array(run->arena, int64_t, below->instances * dimensions);
		int64_t *slots = arena_array(run->arena, int64_t, below->block * dimensions);
		shift_slots(run, i, slots);
		for (int64_t n = 0; n < below->instances; n++) {
			for (int d = 0; d < dimensions; d++)
				below->shift[n * dimensions + d] =
					site->shift[n / below->block * dimensions + d] +
					slots[n % below->block * dimensions + d];
		}
	}
}

/* How many instances there are; false if no int64_t counts them. */
static bool size_blocks(struct nest_run *run)
{
	struct nest_site *site = site_of(run, run->hierarchy->level_count - 1);
	site->instances = 1;
	for (int i = run->hierarchy->level_count - 1; i >= 0; i--, site--) {
		int block_row = run->hierarchy->levels[i].block_row;
		struct nest_site *below = site - 1;
		below->block = below->block_x = 1;
		for (int d = 0; block_row >= 0 && d < run->shape->dimension_count; d++) {
			const struct mapping_row *row = &run->mapping->rows[block_row];
			if (!number_mul(below->block, row->spatial[d], &below->block))
				return false;
			if (!(row->spatial_y >> d & 1))
				below->block_x *= row->spatial[d];
		}
		if (!number_mul(site->instances, below->block, &below->instances))
			return false;
	}
	return true;
}

/* Numbers that differ where no_reuse keeps children apart. */
static int64_t *keep_apart(struct nest_run *run, int space, int level, int parent, int64_t children)
{
	bool any = false;
	for (int i = level + 1; i <= parent; i++)
		any |= run->hierarchy->levels[i].no_spatial_reuse >> space & 1;
	if (!any)
		return NULL;
	int64_t *apart = arena_array(run->arena, int64_t, children);
	for (int64_t n = 0; n < children; n++) {
		int64_t rest = n, scale = 1;
		for (int i = level; i < parent; i++) {
			int64_t block = site_of(run, i)->block;
			if (run->hierarchy->levels[i + 1].no_spatial_reuse >> space & 1)
				apart[n] += rest % block * scale;
			scale *= block;
			rest /= block;
		}
	}
	return apart;
}

/* Finds the parent of a dataspace at a level, through what is bypassed or only counts. */
static void lay_feed(struct nest_run *run, int space, int level, int home, struct nest_feed *feed)
{
	feed->children = 1;
	for (int i = level + 1; i < run->hierarchy->level_count; i++) {
		const struct nest_level *above = &run->hierarchy->levels[i];
		feed->children *= site_of(run, i - 1)->block;
		if (run->stores[i][space]) {
			feed->parent = run->stores[i][space];
			feed->apart = keep_apart(run, space, level, i, feed->children);
			return;
		}
		if (above->storage && i < home &&
			run->mapping->residency[space] >> above->row & 1) {
			feed->below[feed->pass_count] = feed->children;
			feed->pass[feed->pass_count++] = i;
		}
	}
	feed->pass_count = 0;
}

static int find_tile_pace(struct nest_run *run, const struct nest_store *store)
{
	uint32_t relevant = run->shape->spaces[store->space].relevant;
	int pace = site_of(run, store->level)->outside - 1;
	while (pace >= 0 && !(relevant >> run->rounds[pace].dimension & 1))
		pace--;
	return pace;
}

static void lay_store(struct nest_run *run, struct nest_store *store)
{
	int space = store->space;
	const struct nest_level *level = &run->hierarchy->levels[store->level];
	store->ranks = run->shape->spaces[space].rank_count;
	store->written = run->shape->spaces[space].written;
	store->refetch = level->no_temporal_reuse >> space & 1;
	store->reads_first = level->rmw_first_update >> space & 1;
	store->tile_pace = find_tile_pace(run, store);
	store->pace = store->refetch ? site_of(run, store->level)->outside - 1 : store->tile_pace;
	if (store->home || store->written || store->refetch ||
		store->pace != site_of(run, store->level)->outside - 1)
		return;
	const struct nest_level *above = &level[1];
	store->links = !((above->no_link_transfer | above->no_spatial_reuse) >> space & 1) &&
		       site_of(run, store->level)->block > 1;
}

static void lay_stores(struct nest_run *run)
{
	for (int t = 0; t < run->shape->space_count; t++) {
		int home = -1;
		for (int i = run->hierarchy->level_count - 1; i >= 0; i--) {
			const struct nest_level *level = &run->hierarchy->levels[i];
			if (!level->storage || !(run->mapping->residency[t] >> level->row & 1))
				continue;
			if (home >= 0 && level->no_coalesce >> t & 1)
				continue;
			struct nest_store *store = arena_new(run->arena, struct nest_store);
			store->space = t;
			store->level = i;
			store->home = home < 0;
			home = home < 0 ? i : home;
			run->stores[i][t] = store;
			lay_store(run, store);
			lay_feed(run, t, i, home, &store->feed);
		}
		lay_feed(run, t, MULTIPLIERS, home, &run->multiplier_feed[t]);
	}
}

static void project(const struct dataspace *space, int dimensions, const int64_t *low,
	const int64_t *high, struct nest_box *out)
{
	for (int r = 0; r < space->rank_count; r++) {
		out->low[r] = 0;
		out->high[r] = 1;
		for (int d = 0; d < dimensions; d++) {
			out->low[r] += space->ranks[r].coefficient[d] * low[d];
			out->high[r] += space->ranks[r].coefficient[d] * high[d];
		}
	}
	nest_box_finish(space->rank_count, out); /* fits: the whole dataspace does */
}

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
	project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
}

bool nest_run_works(struct nest_run *run, int level, int64_t instance)
{
	const struct shape *shape = run->shape;
	const int64_t *shift = &site_of(run, level)->shift[instance * shape->dimension_count];
	for (int d = 0; d < shape->dimension_count; d++) {
		if (run->base[d] + shift[d] >= shape->dimensions[d].extent)
			return false;
	}
	return true;
}

void nest_run_tile(struct nest_run *run, const struct nest_store *store, int64_t instance,
	struct nest_box *out)
{
	out->words = 0;
	if (!nest_run_works(run, store->level, instance))
		return;
	const struct shape *shape = run->shape;
	struct nest_site *site = site_of(run, store->level);
	const int64_t *shift = &site->shift[instance * shape->dimension_count];
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		low[d] = run->base[d] + shift[d];
		high[d] = number_min(low[d] + site->span[d], shape->dimensions[d].extent) - 1;
	}
	project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
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
	return (double)instances *
	       ((double)store->room * bytes * (store->home ? 1 : 2) + per_instance);
}

static const char *size_run(struct nest_run *run)
{
	double bytes = run->tensors ? nest_tensors_bytes(run->shape) : 0;
	for (int i = 0; i < run->hierarchy->level_count; i++) {
		for (int t = 0; t < run->shape->space_count; t++) {
			if (run->stores[i][t])
				bytes += size_store(run, run->stores[i][t]);
		}
	}
	if (bytes <= NEST_SIM_BYTES_MOST)
		return NULL;
	return arena_format(run->arena, "the buffers need %.1f GiB, and at most %d are taken",
		bytes / (1 << 30), NEST_SIM_BYTES_MOST >> 30);
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

/* The home holds what it needs from the start; written words wait for their first update. */
static void fill_home(struct nest_run *run, struct nest_store *store)
{
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		find_hull(run, store, n, &store->held[n]);
		for (int64_t w = 0; store->written && w < store->room; w++)
			store->state[n][w] = WORD_FRESH;
		if (run->tensors && !store->written)
			nest_tensors_read(run->tensors, store, n);
	}
}

const char *nest_run_open(struct nest_run *run)
{
	lay_loops(run);
	if (!size_blocks(run))
		return "no number counts the multipliers";
	double places = 0;
	for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++)
		places += (double)site_of(run, i)->instances;
	if (places * run->shape->dimension_count * sizeof(int64_t) > NEST_SIM_BYTES_MOST)
		return arena_format(run->arena, "%.0f instances are too many to execute", places);
	lay_instances(run);
	lay_stores(run);
	if (run->options->data)
		run->tensors = nest_tensors_name(run->shape, run->arena);
	const char *why = size_run(run);
	if (why)
		return why;
	if (run->tensors)
		nest_tensors_draw(run->tensors, run->options->seed);
	for (int i = 0; i < run->hierarchy->level_count; i++) {
		for (int t = 0; t < run->shape->space_count; t++) {
			struct nest_store *store = run->stores[i][t];
			if (!store)
				continue;
			buy_store(run, store);
			if (store->home)
				fill_home(run, store);
		}
	}
	return NULL;
}

void nest_run_count(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action action, int64_t words)
{
	struct nest_count *count = &run->counts.at[level][space];
	int64_t *to = action == NEST_READ   ? &count->reads
		      : action == NEST_FILL ? &count->fills
					    : &count->updates;
	run->overflow |= !number_add(*to, words, to);
	run->events++;
	if (run->clock)
		nest_clock_charge(run->clock, level, instance, space, action, words);
}

void nest_store_add(struct nest_run *run, struct nest_store *store, int64_t instance, int64_t place,
	double value)
{
	uint8_t *state = &store->state[instance][place];
	if (*state & WORD_FRESH && store->reads_first)
		nest_run_count(run, store->level, instance, store->space, NEST_READ, 1);
	if (run->tensors)
		store->value[instance][place] =
			(*state & WORD_SUM ? store->value[instance][place] : 0) + value;
	*state = WORD_SUM;
}

void nest_run_wrong(struct nest_run *run, const char *format, ...)
{
	if (run->wrong)
		return;
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	run->wrong = arena_format(run->arena, "step %" PRId64 ": %s", run->step, text);
}

bool nest_run_fault(struct nest_run *run, enum nest_sim_fault fault)
{
	return run->options->fault == fault && run->faults++ == run->options->fault_at;
}

const char *nest_run_word(struct nest_run *run, int space, const struct nest_words *words)
{
	struct text text = text_open(run->arena);
	text_add(&text, "%s[", run->shape->spaces[space].name);
	struct nest_walk walk = {0};
	nest_walk_first(run->shape->spaces[space].rank_count, words, &walk);
	for (int r = 0; r < run->shape->spaces[space].rank_count; r++)
		text_add(&text, "%s%" PRId64, r ? ", " : "", walk.at[r]);
	text_add(&text, "]");
	return text_read(&text);
}
