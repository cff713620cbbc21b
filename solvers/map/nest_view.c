#include "solvers/map/nest_view.h"

#include <math.h>

static bool has_flags(const struct hierarchy *hierarchy)
{
	unsigned flags = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		flags |= level->no_temporal_reuse | level->rmw_first_update | level->no_coalesce |
			 level->no_spatial_reuse | level->no_link_transfer;
	}
	return flags;
}

static struct nest_space describe(const struct dataspace *dataspace, int dimension_count)
{
	struct nest_space space = {.plain = true, .relevant = dataspace->relevant};
	uint32_t seen = 0;
	for (int r = 0; r < dataspace->rank_count; r++) {
		uint32_t rank = 0;
		for (int d = 0; d < dimension_count; d++) {
			int64_t coefficient = dataspace->ranks[r].coefficient[d];
			rank |= (uint32_t)(coefficient != 0) << d;
			space.plain &= coefficient <= 1;
		}
		bool sum = rank & (rank - 1);
		space.plain &= !sum && !(rank & seen);
		*(sum ? &space.paired : &space.alone) |= rank;
		space.own[r] = rank & ~seen;
		seen |= rank;
	}
	return space;
}

struct nest_frame nest_frame_make(const struct nest_search *search)
{
	const struct hierarchy *hierarchy = search->hierarchy;
	struct nest_frame frame = {.search = search,
		.timeloop = search->counting == COUNTING_TIMELOOP,
		.flagged = has_flags(hierarchy)};
	for (int i = 0; i < search->space->level_count; i++)
		if (!search->space->levels[i].spatial) {
			frame.level[frame.count] = search->space->levels[i].level;
			frame.tiling[frame.count++] = i;
		}
	for (int t = 0; t < search->shape->space_count; t++)
		frame.spaces[t] =
			describe(&search->shape->spaces[t], search->shape->dimension_count);
	return frame;
}

/* Walks the blocks from the multipliers outwards. */
static void find_spatial(struct nest_view *view)
{
	const struct nest_search *search = view->frame->search;
	const struct hierarchy *hierarchy = search->hierarchy;
	int dimension_count = search->shape->dimension_count, j = 0;
	double inside[SHAPE_DIMENSIONS_MOST], fan = 1, block = 1;
	for (int d = 0; d < dimension_count; d++)
		inside[d] = 1;
	double within[ARCH_LEVELS_MOST];
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		for (int d = 0; d < dimension_count; d++) {
			uint32_t bound = view->mapping.rows[level->block_row].spatial[d];
			inside[d] *= bound;
			fan *= bound;
		}
		if (i == 0)
			block = fan;
		within[i] = fan;
		if (j < view->frame->count && view->frame->level[j] == i) {
			for (int d = 0; d < dimension_count; d++)
				view->inside[j][d] = inside[d];
			j++;
		}
	}
	view->multipliers = fan;
	view->cycles = 1;
	for (int d = 0; d < dimension_count; d++) {
		view->temporal[d] = search->shape->dimensions[d].extent / (int64_t)inside[d];
		view->cycles *= (double)view->temporal[d];
	}
	for (int i = 0; i < hierarchy->level_count; i++)
		view->utilized[i] = fan / within[i];
	view->direct = !view->frame->timeloop || block == 1;
}

static void find_prices(struct nest_view *view)
{
	for (int j = 0; j < view->frame->count; j++) {
		int i = view->frame->level[j];
		const struct nest_level *level = &view->frame->search->hierarchy->levels[i];
		double instances = view->utilized[i];
		double clusters =
			fmax(1, (double)(level->mesh_x * level->mesh_y / level->cluster_size));
		double share = instances < clusters ? 1 : clusters / instances;
		view->instances[j] = instances;
		for (int a = 0; a < NEST_ACTIONS; a++)
			view->pj[j][a] = level->pj[a] * share / (double)level->block_size;
	}
}

static void find_served(struct nest_view *view, int t)
{
	const struct nest_frame *frame = view->frame;
	const struct shape *shape = frame->search->shape;
	const struct nest_space *space = &frame->spaces[t];
	uint32_t free = frame->timeloop ? space->paired : 0;
	double words = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (space->relevant >> d & 1)
			words *= (double)shape->dimensions[d].extent;
	for (int j = 0; j < frame->count; j++) {
		double instances = view->instances[j], relevant = 1;
		for (int d = 0; d < shape->dimension_count; d++) {
			double outside = (double)(shape->dimensions[d].extent / view->temporal[d]) /
					 view->inside[j][d];
			bool left_out = free >> d & 1;
			view->served_inside[t][j][d] = left_out ? 1 : view->inside[j][d];
			if (left_out)
				instances /= outside;
			if (space->relevant >> d & 1)
				relevant *= outside;
		}
		view->served_instances[t][j] = instances;
		view->first[t][j] = words * view->instances[j] / relevant;
	}
}

void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out)
{
	const struct nest_search *search = frame->search;
	out->frame = frame;
	out->mapping = *mapping;
	find_spatial(out);
	find_prices(out);
	for (int t = 0; t < search->shape->space_count; t++) {
		find_served(out, t);
		out->chain_count[t] = 0;
		for (int j = frame->count - 1; j >= 0; j--) {
			int row = search->hierarchy->levels[frame->level[j]].row;
			if (mapping->residency[t] >> row & 1)
				out->chain[t][out->chain_count[t]++] = j;
		}
	}
}

bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left)
{
	const struct nest_search *search = view->frame->search;
	const struct nest_level *level = &search->hierarchy->levels[view->frame->level[j]];
	if (!level->size)
		return true;
	double sum = 0;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (!(view->mapping.residency[t] >> level->row & 1))
			continue;
		const struct dataspace *space = &search->shape->spaces[t];
		double words = 1;
		for (int r = 0; r < space->rank_count; r++) {
			double reach = 1;
			for (int d = 0; d < search->shape->dimension_count; d++)
				if (space->ranks[r].coefficient[d])
					reach += (double)space->ranks[r].coefficient[d] *
						 ((double)left[d] * view->inside[j][d] - 1);
			words *= reach;
		}
		sum += words;
	}
	return sum <= (double)level->size;
}
