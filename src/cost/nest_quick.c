#include "cost/nest_quick.h"

#include "cost/nest_derive.h"
#include "cost/nest_quick_boxes.h"
#include "cost/nest_quick_rows.h"

/* Dataspaces at hand whose residency has one of the rows. */
NEST_PART masks kept_in(const struct quick_state *state, int64_t rows)
{
	return (state->residency & rows) != 0;
}

/* From the outermost loop inwards. */
NEST_PART void go_inwards(
	struct quick_state *state, const int first, const bool odd, const bool exact)
{
	const struct nest_model *model = state->model;
	int dimension_count = model->shape->dimension_count;
	lanes all = lanes_at(&model->words[first]), part = all;
	lanes steps = all_lanes(1), run = steps, around = steps;
	lanes below = steps; /* groups below all instances of the parent */
	lanes alike = steps; /* instances that have the same indices of a dataspace */
	masks homeless = ~(masks){0}, slides = {0};
	for (int i = model->hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_price *price = &model->prices[i];
		if (price->storage) {
			lanes tile = all / around;
			if (exact) {
				masks kept = kept_in(state, price->row_bit);
				lanes instances = all_lanes(state->instances[i]);
				lanes empty = part + tile * run * (instances - below);
				part = chosen(kept, chosen(homeless, all * alike, empty), part);
				below = chosen(kept, instances, below);
				homeless &= ~kept;
			}
			state->tiles[i] = tile;
			state->parts[i] = part;
		}
		if (state->looped[i]) {
			const uint8_t *order = state->mapping->rows[price->row].temporal_order;
			for (int k = dimension_count; k-- > 0;) {
				int d = order[k];
				lanes bound = all_lanes(state->temporal[i][d]);
				lanes factor =
					1 + where(masks_at(&model->relevant[d][first]), bound - 1);
				masks moves = factor != 1;
				if (odd) {
					state->outside[i][k] = steps[0];
					masks summed = masks_at(&model->summed[d][first]);
					slides = (moves & summed) | (~moves & slides);
				}
				steps *= bound;
				around *= factor;
				run = chosen(moves, steps, run);
			}
		}
		state->runs[i] = run;
		state->slides[i] = slides;
		if (state->spread[i]) {
			lanes groups = all_lanes(1);
			for (int d = 0; d < dimension_count; d++)
				groups *= 1 + where(masks_at(&model->relevant[d][first]),
						      all_lanes(state->spatial[i][d] - 1));
			state->groups[i] = groups;
			around *= groups;
			below *= groups;
			if (exact)
				alike *= state->fan[i] / groups;
			else
				part = part / groups;
		}
	}
	state->steps = steps[0];
}

/* Corrects what level i has of the dataspaces at hand that are not plain. */
NEST_PART void look_at_boxes(const struct quick_state *state, int i, const int first,
	const bool exact, lanes *tile, lanes *served, lanes *filled, struct nest_quick *out)
{
	for (uint32_t odd = state->model->odd_spaces >> first & ((1 << LANES) - 1); odd;
		odd &= odd - 1) {
		int k = __builtin_ctz(odd), t = first + k;
		bool right = true;
		if (quick_keeps(state, i, t)) {
			struct quick_box box = {(*tile)[k], (*served)[k], (*filled)[k]};
			right = quick_box_find(state, i, t, exact, &box);
			(*tile)[k] = box.tile;
			(*served)[k] = box.served;
			(*filled)[k] = box.filled;
		} else if (!exact && quick_enters(state, i, t) &&
			   state->spread[i + 1] & state->model->spaces[t].summed) {
			right = quick_box_passes(state, i, t);
		}
		out->left |= (uint32_t)!right << t;
	}
}

/* Counts of dataspaces, a field in each of the vectors. */
NEST_PART void put_counts(struct nest_count *at, const int count, masks capacity, masks reads,
	masks fills, masks updates)
{
	masks even = __builtin_shufflevector(capacity, reads, 0, 4, 2, 6);
	masks odd = __builtin_shufflevector(capacity, reads, 1, 5, 3, 7);
	masks more_even = __builtin_shufflevector(fills, updates, 0, 4, 2, 6);
	masks more_odd = __builtin_shufflevector(fills, updates, 1, 5, 3, 7);
	masks rows[] = {__builtin_shufflevector(even, more_even, 0, 1, 4, 5),
		__builtin_shufflevector(odd, more_odd, 0, 1, 4, 5),
		__builtin_shufflevector(even, more_even, 2, 3, 6, 7),
		__builtin_shufflevector(odd, more_odd, 2, 3, 6, 7)};
#pragma GCC unroll 4
	for (int k = 0; k < count && k < LANES; k++) {
		memcpy(&at[k].capacity, &rows[k], sizeof rows[k]);
		at[k].links = 0;
	}
}

/* A level that only fans out. */
NEST_PART void pass_by(const struct quick_state *state, int i, const int first, const int count,
	const bool look, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	lanes none = all_lanes(0), tile = none, served = none, filled = none;
	if (look)
		look_at_boxes(state, i, first, false, &tile, &served, &filled, out);
	put_counts(
		&counts->at[i][first], count, (masks)none, (masks)none, (masks)none, (masks)none);
	memcpy(&score->space_pj[i][first], &none, sizeof none);
}

/* From the innermost level outwards; `count` dataspaces at hand. */
NEST_PART void go_outwards(struct quick_state *state, const int first, const int count,
	const bool odd, const bool exact, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	const struct nest_model *model = state->model;
	int level_count = model->hierarchy->level_count;
	lanes served = all_lanes(state->steps);
	for (int i = 0; i < level_count; i++) {
		const struct nest_price *price = &model->prices[i];
		if (state->spread[i])
			served *= state->groups[i];
		if (!price->storage) {
			pass_by(state, i, first, count, odd && !exact, counts, score, out);
			continue;
		}
		/* Exactly, instances need not be alike, and only all together are whole. */
		double instances = state->instances[i];
		double times = exact ? instances : 1, left = exact ? 1 : instances;
		masks kept = kept_in(state, price->row_bit);
		masks away = kept & kept_in(state, price->row_bit - 1);
		masks written = kept & masks_at(&model->written[first]);
		lanes tile = where(kept, state->tiles[i]);
		lanes filled = where(away, tile * state->runs[i + 1 < level_count ? i + 1 : i]);
		if (odd)
			look_at_boxes(state, i, first, exact, &tile, &served, &filled, out);
		/* The first word of a sum comes from nowhere. */
		lanes part = where(written, state->parts[i]);
		lanes updates = where(written, served) * times;
		lanes reads = where(kept, served) * times - part;
		lanes fills = filled * times - where(away, part);
		lanes pj = lanes_pj(price, reads, fills, updates, times * price->block_size) *
			   clusters_of(price, instances);
		memcpy(&score->space_pj[i][first], &pj, sizeof pj);
		reads *= left;
		fills *= left;
		updates *= left;
		put_counts(&counts->at[i][first], count, whole(tile), whole(reads), whole(fills),
			whole(updates));
		state->held[i] = lanes_sum(tile) + (first ? state->held[i] : 0);
		if (price->limited) {
			lanes scale = lanes_at(&model->rate_scale[i][first]);
			state->read[i] = lanes_sum(reads * scale) + (first ? state->read[i] : 0);
			state->written[i] = lanes_sum((fills + updates) * scale) +
					    (first ? state->written[i] : 0);
		}
		served = chosen(kept, filled, served);
	}
}

/* What all dataspaces together come to, level by level. */
NEST_PART void settle(const struct quick_state *state, struct nest_counts *counts,
	struct nest_score *score, struct nest_quick *out)
{
	const struct nest_model *model = state->model;
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct nest_price *price = &model->prices[i];
		double instances = state->instances[i];
		counts->utilized[i] = (int64_t)instances;
		double held = price->storage ? state->held[i] : 0;
		if ((held > price->size || held < price->least_size) && out->verdict == NEST_FITS) {
			out->verdict = held > price->size ? NEST_CAPACITY : NEST_UTILIZATION;
			score->level = i;
			score->asked = (int64_t)held;
			score->given = model->hierarchy->levels[i].size;
		}
		if (price->storage && price->limited)
			out->waits |= (uint32_t)nest_may_wait(price, state->read[i],
					      state->written[i], state->steps * instances)
				      << i;
	}
	counts->compute_cycles = (int64_t)state->steps;
	counts->utilized_computes = (int64_t)state->multipliers;
}

/* Up to four dataspaces. */
NEST_PART void count_some(struct quick_state *state, const int first, const int count,
	const bool odd, const bool exact, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	state->residency = (masks){0};
	for (int k = 0; k < count && k < LANES; k++)
		state->residency[k] = state->mapping->residency[first + k];
	state->residency &= (int64_t)state->model->storage_rows;
	go_inwards(state, first, odd, exact);
	if (!exact && state->spread[0])
		for (int t = first; t < first + count && t < first + LANES; t++)
			out->left |= (uint32_t)quick_multipliers_meet(state, t) << t;
	go_outwards(state, first, count, odd, exact, counts, score, out);
}

NEST_PART bool all_have_homes(const struct nest_model *model, const struct mapping *mapping)
{
	bool homes = true;
	for (int t = 0; t < model->shape->space_count; t++)
		homes &= (mapping->residency[t] & model->storage_rows) != 0;
	return homes;
}

/* Once with the wide registers of newer machines; the results are the same bits. */
NEST_WIDE bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out)
{
	struct quick_state state;
	int count = model->shape->space_count;
	bool exact = model->counting == COUNTING_EXACT, odd = model->odd_spaces != 0;
	state.model = model;
	state.mapping = mapping;
	out->verdict = NEST_FITS;
	out->left = model->slow_spaces;
	out->waits = 0;
	if (!model->quick || !all_have_homes(model, mapping) || !quick_rows(&state))
		return false;
	if (count != 3)
		for (int first = 0; first < count; first += LANES)
			count_some(&state, first, count - first, true, exact, counts, score, out);
	else if (exact && odd)
		count_some(&state, 0, 3, true, true, counts, score, out);
	else if (exact)
		count_some(&state, 0, 3, false, true, counts, score, out);
	else if (odd)
		count_some(&state, 0, 3, true, false, counts, score, out);
	else
		count_some(&state, 0, 3, false, false, counts, score, out);
	settle(&state, counts, score, out);
	return true;
}
