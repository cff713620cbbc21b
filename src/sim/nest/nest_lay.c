#include "sim/nest/nest_lay.h"

#include "base/arena.h"

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

static void find_furthest(struct nest_run *run)
{
	const struct nest_site *site = site_of(run, MULTIPLIERS);
	int dimensions = run->shape->dimension_count;
	for (int64_t n = 0; n < site->instances; n++)
		for (int d = 0; d < dimensions; d++)
			run->furthest[d] =
				number_max(run->furthest[d], site->shift[n * dimensions + d]);
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
