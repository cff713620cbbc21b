#include "sim/nest/nest_run.h"

#include "base/arena.h"
#include "base/random.h"

#include <inttypes.h>

/* Bits of marks and tiles that are marked, at most. */
enum { BITS_MOST = 1 << 28, TILES_MOST = 1 << 26 };

/* Ranks that have dimensions in common, directly or through others, marked together. */
struct home_sheet {
	const struct shape *shape;
	const struct dataspace *space;
	const struct nest_reach *reaches;
	uint32_t ranks, dimensions;
	struct nest_box whole; /* dataspace */
	int64_t low[SHAPE_DIMENSIONS_MOST];
	uint64_t *marks;
	int64_t tiles, marked;
	bool out; /* of room */
};

static void mark_tile(struct home_sheet *sheet, int rank, int64_t place)
{
	while (rank < sheet->space->rank_count && !(sheet->ranks >> rank & 1))
		rank++;
	if (rank == sheet->space->rank_count) {
		uint64_t bit = UINT64_C(1) << place % 64;
		sheet->marked += !(sheet->marks[place / 64] & bit);
		sheet->marks[place / 64] |= bit;
		return;
	}
	int64_t from = 0, to = 0;
	for (int d = 0; d < sheet->shape->dimension_count; d++) {
		int64_t last = number_min(sheet->low[d] + sheet->reaches[d].tile,
				       sheet->reaches[d].extent) -
			       1;
		from += sheet->space->ranks[rank].coefficient[d] * sheet->low[d];
		to += sheet->space->ranks[rank].coefficient[d] * last;
	}
	for (int64_t at = from; at <= to; at++)
		mark_tile(sheet, rank + 1, place * sheet->whole.high[rank] + at);
}

/* All tuples of the loops of dimensions from d on, from loop k of it inwards. */
static void go_through(struct home_sheet *sheet, int d, int k)
{
	while (d < sheet->shape->dimension_count &&
		(!(sheet->dimensions >> d & 1) || k == sheet->reaches[d].count)) {
		d++;
		k = 0;
	}
	if (d == sheet->shape->dimension_count) {
		sheet->out |= ++sheet->tiles > TILES_MOST;
		if (!sheet->out)
			mark_tile(sheet, 0, 0);
		return;
	}
	const struct nest_reach *reach = &sheet->reaches[d];
	int64_t before = sheet->low[d];
	for (int64_t n = 0; n < reach->bound[k] && sheet->low[d] < reach->extent && !sheet->out;
		n++, sheet->low[d] += reach->stride[k])
		go_through(sheet, d, k + 1);
	sheet->low[d] = before;
}

static bool mark_ranks(struct home_sheet *sheet)
{
	int64_t bits = 1;
	for (int r = 0; r < sheet->space->rank_count; r++) {
		if (!(sheet->ranks >> r & 1))
			continue;
		if (!number_mul(bits, sheet->whole.high[r], &bits) || bits > BITS_MOST)
			return false;
	}
	struct arena *arena = arena_open();
	sheet->marks = arena_array(arena, uint64_t, bits / 64 + 1);
	go_through(sheet, 0, 0);
	arena_close(arena);
	return !sheet->out;
}

enum nest_verdict nest_homes_mark(
	const struct shape *shape, int space, const struct nest_reach *reaches, int64_t *words)
{
	uint32_t done = 0;
	*words = 1;
	for (int first = 0; first < shape->spaces[space].rank_count; first++) {
		struct home_sheet sheet = {.shape = shape,
			.space = &shape->spaces[space],
			.reaches = reaches,
			.whole = nest_whole(shape, space)};
		if (done >> first & 1)
			continue;
		sheet.ranks = 1u << first;
		sheet.dimensions = affine_loops(&sheet.space->ranks[first]);
		for (int r = first + 1; r < sheet.space->rank_count; r++) {
			uint32_t dimensions = affine_loops(&sheet.space->ranks[r]);
			if (sheet.ranks >> r & 1 || !(dimensions & sheet.dimensions))
				continue;
			sheet.ranks |= 1u << r;
			sheet.dimensions |= dimensions;
			r = first; /* it may bring others in */
		}
		done |= sheet.ranks;
		if (!mark_ranks(&sheet))
			return NEST_UNCOUNTABLE;
		if (!number_mul(*words, sheet.marked, words))
			return NEST_OVERFLOW;
	}
	return NEST_FITS;
}

/* The same for all instances that rings join. */
static int64_t joined_number(struct nest_run *run, int level, int64_t instance)
{
	int64_t number = 0, scale = 1;
	for (int i = level; i + 1 < run->hierarchy->level_count; i++) {
		int64_t block = site_of(run, i)->block;
		if (!run->hierarchy->levels[i + 1].ring)
			number += instance % block * scale;
		instance /= block;
		scale *= block;
	}
	return number;
}

/* Returns the bytes that the check of a written home of several instances needs. */
static double nest_homes_bytes(const struct nest_run *run, const struct nest_store *home)
{
	return (double)nest_whole(run->shape, home->space).words * sizeof(int64_t);
}

static bool parts_meet(struct nest_run *run, const struct nest_store *home)
{
	int64_t instances = site_of(run, home->level)->instances;
	struct nest_box whole = nest_whole(run->shape, home->space);
	struct arena *arena = arena_open();
	int64_t *owner = arena_array(arena, int64_t, whole.words); /* number + 1 */
	bool meet = true;
	for (int64_t n = 0; n < instances && meet; n++) {
		int64_t number = joined_number(run, home->level, n) + 1;
		struct nest_words all = nest_words_of(&home->held[n]);
		for (struct nest_walk walk = nest_walk_first(home->ranks, &all); walk.any;
			nest_walk_next(home->ranks, &all, &walk)) {
			int64_t place = 0;
			if (!(home->state[n][nest_store_place(home, &home->held[n], walk.at)] &
				    WORD_SUM))
				continue;
			for (int r = 0; r < home->ranks; r++)
				place = place * whole.high[r] + walk.at[r];
			meet &= !owner[place] || owner[place] == number;
			owner[place] = number;
		}
	}
	arena_close(arena);
	return meet;
}

bool nest_homes_apart(struct nest_run *run)
{
	bool apart = false;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (store->home && store->written && site_of(run, store->level)->instances > 1)
			apart |= !parts_meet(run, store);
	return apart;
}

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
		const struct mapping_row *row =
			&run->mapping->rows[hierarchy_loops_row(hierarchy, level)];
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

/* Finds the shift of the indices by each slot of the block below a level, Y before X. */
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

static void find_furthest(struct nest_run *run)
{
	const struct nest_site *site = site_of(run, MULTIPLIERS);
	int dimensions = run->shape->dimension_count;
	for (int64_t n = 0; n < site->instances; n++)
		for (int d = 0; d < dimensions; d++)
			run->furthest[d] =
				number_max(run->furthest[d], site->shift[n * dimensions + d]);
}

/* Counts the instances; false if an int64_t is too small. */
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
			store->after = run->first_store;
			run->stores[i][t] = run->first_store = store;
			lay_store(run, store);
			lay_feed(run, t, i, home, &store->feed);
		}
		lay_feed(run, t, MULTIPLIERS, home, &run->multiplier_feed[t]);
	}
}

const char *nest_run_lay_out(struct nest_run *run)
{
	lay_loops(run);
	if (!size_blocks(run))
		return "no number counts the multipliers";
	double bytes = 0;
	for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++)
		bytes += (double)site_of(run, i)->instances * run->shape->dimension_count *
			 sizeof(int64_t);
	bytes += (double)site_of(run, MULTIPLIERS)->instances * run->shape->space_count *
		 NEST_MULTIPLIER_BYTES;
	if (bytes > EXECUTION_BYTES_MOST)
		return arena_format(run->arena,
			"the instances need %.1f GiB, and at most %d are taken", bytes / (1 << 30),
			EXECUTION_BYTES_MOST >> 30);
	lay_instances(run);
	find_furthest(run);
	lay_stores(run);
	return NULL;
}

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

/* Bytes of all dataspaces, gaps included. */
static double nest_tensors_bytes(const struct shape *shape)
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

/* Sizes only; nest_tensors_draw gets the memory and draws what is read from {-2 .. 2}.  `values`
 * (NULL: drawn) are in place of that. */
static void nest_tensors_draw(struct nest_tensors *tensors, uint64_t seed)
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

static double *tensor_words_element(
	const struct tensor_words *tensor, int ranks, const int64_t at[])
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

static double nest_tensors_read_value(
	const struct nest_tensors *tensors, int space, const int64_t at[])
{
	int ranks = tensors->shape->spaces[space].rank_count;
	if (!tensors->values)
		return *tensor_words_element(&tensors->tensors[space], ranks, at);
	const float *value = find_value(&tensors->values->views[space], ranks, at);
	return value ? (double)*value : 0;
}

/* Fills the buffer of a home's instance with the words that it holds. */
static void nest_tensors_read(
	const struct nest_tensors *tensors, const struct nest_store *store, int64_t instance)
{
	struct nest_words all = nest_words_of(&store->held[instance]);
	for (struct nest_walk walk = nest_walk_first(store->ranks, &all); walk.any;
		nest_walk_next(store->ranks, &all, &walk))
		store->value[instance][nest_store_place(store, &all.hull, walk.at)] =
			nest_tensors_read_value(tensors, store->space, walk.at);
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
	nest_run_project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
}

/* Returns the bytes of a store's buffers; the largest tile is the first one. */
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

/* True if given values would have results in several instances. */
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

void nest_groups_open(struct nest_groups *groups, int64_t children, struct arena *arena)
{
	groups->slot_count = 2;
	while (groups->slot_count < 2 * children)
		groups->slot_count *= 2;
	groups->leader = arena_array(arena, int64_t, children);
	groups->behind = arena_array(arena, int64_t, children);
	groups->tail = arena_array(arena, int64_t, children);
	groups->slots = arena_array(arena, int64_t, groups->slot_count);
}

/* The leader of the group that child n joins: itself, if there is none. */
static int64_t find_leader(struct nest_groups *groups, int64_t slot_count, int ranks,
	const struct nest_words *sets, int64_t n, const int64_t *apart)
{
	uint64_t hash = nest_words_hash(ranks, &sets[n]) + (apart ? (uint64_t)apart[n] : 0);
	hash *= UINT64_C(0xd6e8feb86659fd93);
	int64_t slot = (int64_t)(hash >> 32) & (slot_count - 1);
	for (;; slot = (slot + 1) & (slot_count - 1)) {
		int64_t other = groups->slots[slot];
		if (other < 0) {
			groups->slots[slot] = n;
			return n;
		}
		if ((!apart || apart[other] == apart[n]) &&
			nest_words_equal(ranks, &sets[other], &sets[n]))
			return other;
	}
}

void nest_groups_find(struct nest_groups *groups, int ranks, const struct nest_words *sets,
	int64_t children, const int64_t *apart, const bool *without)
{
	int64_t slot_count = 2;
	while (slot_count < 2 * children)
		slot_count *= 2;
	for (int64_t i = 0; i < slot_count; i++)
		groups->slots[i] = -1;
	groups->words = 0;
	for (int64_t n = 0; n < children; n++) {
		groups->leader[n] = groups->behind[n] = -1;
		if (!sets[n].count || (without && without[n]))
			continue;
		int64_t leader = find_leader(groups, slot_count, ranks, sets, n, apart);
		groups->leader[n] = leader;
		groups->tail[n] = n;
		if (leader == n) {
			groups->words += sets[n].count;
			continue;
		}
		groups->behind[groups->tail[leader]] = n;
		groups->tail[leader] = n;
	}
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
			double *word =
				tensor_words_element(&tensors->tensors[t], space->rank_count, at);
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
				*tensor_words_element(tensor, home->ranks, walk.at) -=
					home->value[n][place];
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
		double rest = *tensor_words_element(tensor, ranks, walk.at);
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
