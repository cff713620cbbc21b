#include "cost/nest/nest_model.h"

#include "base/arena.h"

#include <math.h>

static struct level_price price_of(const struct hierarchy *hierarchy, int i, int space_count)
{
	const struct nest_level *level = &hierarchy->levels[i];
	const struct nest_level *gate = &hierarchy->levels[level->gated_at];
	int64_t all = level->mesh_x * level->mesh_y, gates = gate->mesh_x * gate->mesh_y;
	struct level_price price = {
		.pj = {level->pj[NEST_READ], level->pj[NEST_FILL], level->pj[NEST_UPDATE]},
		.leak_pj = level->leak_pj * (gates < all ? (double)all / (double)gates : 1),
		.block_size = (double)level->block_size,
		.fanout_x = (double)level->fanout_x,
		.fanout_y = (double)level->fanout_y,
		.gated_at = gates < all ? level->gated_at : i,
		.row = level->row,
		.block_row = level->block_row,
		.row_bit = (int64_t)1 << level->row,
		.storage = level->storage,
		.size = level->size || level->no_room ? (double)level->size : INFINITY,
		.least_size = level->size ? level->least_utilization * (double)level->size : 0,
	};
	int64_t clusters = all / level->cluster_size;
	price.clusters = clusters > 1 ? (double)clusters : 1;
	const struct ratio rates[] = {level->read_rate, level->write_rate, level->shared_rate};
	for (int k = 0; k < 3; k++) {
		price.rate[k] = rates[k].num ? ratio_double(rates[k]) : 0;
		price.limit[k] = rates[k].num ? price.rate[k] : INFINITY;
		price.limited |= rates[k].num != 0;
	}
	for (int t = 0; t < space_count; t++)
		price.scaled |= level->rate_scale[t] != 1;
	return price;
}

/* A rank of one or two dimensions that no rank before it has; false for others. */
static bool describe_rank(const struct shape_rank *rank, struct nest_shape_of *out)
{
	uint32_t dimensions = shape_rank_dimensions(rank);
	int terms = __builtin_popcount(dimensions);
	if (terms > 2 || out->relevant & dimensions ||
		(terms == 2 && out->sum_count == NEST_SUMS_MOST))
		return false;
	out->relevant |= dimensions;
	for (uint32_t left = dimensions; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		double coefficient = (double)rank->coefficient[d];
		out->plain &= terms == 1 && coefficient == 1;
		if (terms == 2) {
			out->step[d][out->sum_count] = coefficient;
			continue;
		}
		out->single[out->single_count] = d;
		out->coefficient[out->single_count++] = coefficient;
	}
	if (terms == 2) {
		out->sums[out->sum_count++] = dimensions;
		out->summed |= dimensions;
	}
	return true;
}

static void describe_space(const struct dataspace *space, struct nest_shape_of *out)
{
	*out = (struct nest_shape_of){.boxed = true, .plain = true, .written = space->written};
	for (int r = 0; r < space->rank_count; r++)
		out->boxed &= describe_rank(&space->ranks[r], out);
}

/* No count of the dataspace is beyond this: a tile has at most coefficient x indices in each
 * rank, and those of a dimension again in every further rank that has it. */
static double counted_at_most(const struct dataspace *space, const struct shape *shape)
{
	double most = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		most *= (double)shape->dimensions[d].extent;
	uint32_t before = 0;
	for (int r = 0; r < space->rank_count; r++) {
		double coefficient = 1;
		uint32_t left = shape_rank_dimensions(&space->ranks[r]);
		for (; left; left &= left - 1) {
			int d = __builtin_ctz(left);
			coefficient = fmax(coefficient, (double)space->ranks[r].coefficient[d]);
			if (before >> d & 1)
				most *= (double)shape->dimensions[d].extent;
		}
		before |= shape_rank_dimensions(&space->ranks[r]);
		most *= coefficient;
	}
	return most;
}

const struct nest_model *nest_model_make(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, enum counting counting)
{
	struct nest_model *model = arena_new(arena, struct nest_model);
	model->hierarchy = hierarchy;
	model->shape = shape;
	model->counting = counting;
	model->fits = shape_computes(shape, &model->computes);
	model->multipliers = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	model->peak = model->multipliers * ratio_double(hierarchy_rate(hierarchy));
	model->least_busy = hierarchy->least_parallelism * model->multipliers;
	model->all_dimensions = (1u << shape->dimension_count) - 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		model->extents[d] = (double)shape->dimensions[d].extent;
		model->used[d] = -1;
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			model->irrelevant[d][t] = 1;
	}
	uint32_t flags = 0;
	/* The quick count takes steps for cycles, and levels for rows. */
	model->quick =
		model->fits && hierarchy_rate(hierarchy).num == hierarchy_rate(hierarchy).den;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		model->least_usage |= level->least_usage > 0;
		model->prices[i] = price_of(hierarchy, i, shape->space_count);
		model->network_cycles += level->fill_cycles + level->drain_cycles;
		model->priced_hops |= level->hop_pj != 0 || level->router_pj != 0;
		model->storage_rows |= (uint32_t)level->storage << level->row;
		flags |= level->no_temporal_reuse | level->no_spatial_reuse | level->no_coalesce |
			 level->rmw_first_update;
		model->quick &= i == 0 || level->row < hierarchy->levels[i - 1].row;
		for (int t = 0; t < shape->space_count; t++)
			model->rate_scale[i][t] = level->rate_scale[t];
	}
	/* Timeloop's hops depend on where children stand, which the quick count does not see. */
	model->quick &= counting == COUNTING_EXACT || !model->priced_hops;
	for (int t = 0; t < shape->space_count; t++) {
		struct nest_shape_of *space = &model->spaces[t];
		describe_space(&shape->spaces[t], space);
		/* The share of a written dataspace is a quotient of boxes where it is not plain. */
		if ((space->written && !space->plain) || flags >> t & 1)
			model->slow_spaces |= 1u << t;
		/* Sums are read up to twice as often, and doubles are whole below 2^51. */
		model->quick &= space->boxed && counted_at_most(&shape->spaces[t], shape) < 0x1p50;
		model->written[t] = -(int64_t)space->written;
		model->words[t] = 1;
		model->odd_spaces |= (uint32_t)!space->plain << t;
		for (int d = 0; d < shape->dimension_count; d++) {
			bool relevant = space->relevant >> d & 1;
			model->relevant[d][t] = -(int64_t)relevant;
			if (relevant)
				model->irrelevant[d][t] = 0;
			model->words[t] *= relevant ? model->extents[d] : 1;
		}
	}
	return model;
}
