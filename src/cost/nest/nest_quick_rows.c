#include "cost/nest/nest_quick_state.h"

#include "cost/nest/nest_loops.h"

/* From the innermost level outwards, dimensions in lanes. */
NEST_PART bool read_rows(struct quick_state *state, const int vectors)
{
	const struct nest_model *model = state->model;
	int level_count = model->hierarchy->level_count;
	lanes inside[SHAPE_DIMENSIONS_MOST / LANES];
	uint32_t spread_anywhere = 0, all = model->all_dimensions;
#pragma GCC unroll 4
	for (int v = 0; v < vectors; v++)
		inside[v] = all_lanes(1);
	for (int i = 0; i < level_count; i++) {
		const struct level_price *price = &model->prices[i];
		const struct mapping_row *row = &state->mapping->rows[price->row];
		const struct mapping_row *block = &state->mapping->rows[price->block_row];
		uint32_t spread = nest_busy(block->spatial, vectors, all);
		state->looped[i] = nest_busy(row->temporal, vectors, all);
		state->spread[i] = spread;
		spread_anywhere |= spread;
		if (spread)
#pragma GCC unroll 4
			for (int v = 0; v < vectors; v++) {
				lanes bounds = lanes_of_bounds(&block->spatial[v * LANES]);
				put_lanes(&state->spatial[i][v * LANES], bounds);
				inside[v] *= bounds;
			}
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++) {
			lanes bounds = lanes_of_bounds(&row->temporal[v * LANES]);
			put_lanes(&state->inside[i][v * LANES], inside[v]);
			put_lanes(&state->temporal[i][v * LANES], bounds);
			inside[v] *= bounds;
		}
	}
	state->spread_anywhere = spread_anywhere;
	masks wrong = {0};
	for (int v = 0; v < vectors; v++)
		wrong |= (masks)(inside[v] != lanes_at(&model->extents[v * LANES])) &
			 masks_at(&model->used[v * LANES]);
	return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

/* Instances of a block, along X and Y; false if the fan-out is too small. */
NEST_PART bool fan_out(struct quick_state *state, int i, const int vectors)
{
	const struct nest_model *model = state->model;
	const struct level_price *price = &model->prices[i];
	uint32_t along_y = state->spread[i] & state->mapping->rows[price->block_row].spatial_y;
	lanes bounds = all_lanes(1);
	for (int v = 0; v < vectors; v++)
		bounds *= 1 + where(masks_at(&model->used[v * LANES]),
				      lanes_at(&state->spatial[i][v * LANES]) - 1);
	double fan = lanes_product(bounds), fan_y = 1;
	if (along_y == state->spread[i])
		fan_y = fan;
	else
		for (uint32_t left = along_y; left; left &= left - 1)
			fan_y *= state->spatial[i][__builtin_ctz(left)];
	state->fan[i] = fan;
	return fan <= price->fanout_x * fan_y && fan_y <= price->fanout_y;
}

/* From the outermost level inwards. */
NEST_PART bool fan_out_all(struct quick_state *state, const int vectors)
{
	double instances = 1;
	for (int i = state->model->hierarchy->level_count - 1; i >= 0; i--) {
		state->instances[i] = instances;
		if (!state->spread[i])
			continue;
		if (!fan_out(state, i, vectors))
			return false;
		instances *= state->fan[i];
	}
	state->multipliers = instances;
	return true;
}

NEST_WIDE bool quick_rows(struct quick_state *state)
{
	int dimension_count = state->model->shape->dimension_count;
	if (dimension_count <= LANES)
		return read_rows(state, 1) && fan_out_all(state, 1);
	if (dimension_count <= 2 * LANES)
		return read_rows(state, 2) && fan_out_all(state, 2);
	return read_rows(state, 4) && fan_out_all(state, 4);
}
