#include "cost/nest/nest_quick.h"

#include "cost/nest/nest_derive.h"
#include "cost/nest/nest_quick_state.h"

/* Dataspaces at hand that a level keeps; that some level outside it keeps. */
NEST_PART masks kept_at(const struct quick_state *state, const struct level_price *price)
{
	return (state->residency & price->row_bit) == price->row_bit;
}

NEST_PART masks kept_outside(const struct quick_state *state, const struct level_price *price)
{
	return (state->residency & (price->row_bit - 1)) > 0;
}

/* A bound of dimension d for the dataspaces that it is relevant to, 1 for the others. */
NEST_PART lanes factor_of(const struct nest_model *model, int d, const int first, lanes bound)
{
	return (lanes)((masks_at(&model->relevant[d][first]) & (masks)bound) |
		       (masks)lanes_at(&model->irrelevant[d][first]));
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
	lanes unsummed = model->hierarchy->resumes ? all_lanes(0) : all; /* at the home */
	masks homeless = ~(masks){0};
	for (int i = model->hierarchy->level_count - 1; i >= 0; i--) {
		const struct level_price *price = &model->prices[i];
		if (price->storage) {
			lanes tile = all / around, filled = tile * run;
			if (exact) {
				masks kept = kept_at(state, price);
				lanes instances = all_lanes(state->instances[i]);
				lanes empty = part + filled * (instances - below);
				part = chosen(
					kept, chosen(homeless, unsummed * alike, empty), part);
				below = chosen(kept, instances, below);
				homeless &= ~kept;
			}
			state->tiles[i] = tile;
			state->filled[i] = filled;
			state->parts[i] = part;
		}
		if (state->looped[i]) {
			const uint8_t *order = state->mapping->rows[price->row].temporal_order;
			for (int k = dimension_count; k-- > 0;) {
				int d = order[k];
				lanes bound = all_lanes(state->temporal[i][d]);
				lanes factor = factor_of(model, d, first, bound);
				masks moves = factor != 1;
				steps *= bound;
				around *= factor;
				run = chosen(moves, steps, run);
			}
		}
		if (odd)
			state->runs[i] = run;
		if (state->spread[i]) {
			lanes groups = all_lanes(1);
			for (int d = 0; d < dimension_count; d++)
				groups *=
					factor_of(model, d, first, all_lanes(state->spatial[i][d]));
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

/* Counts of dataspaces, a field in each of the vectors. */
NEST_PART void put_counts(struct nest_count *at, const int count, masks capacity, masks reads,
	masks fills, masks updates, masks drains)
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
		at[k].drains = drains[k];
	}
}

/* What all dataspaces together come to at a level. */
NEST_PART void settle(const struct quick_state *state, int i, double held, double read,
	double written, struct nest_score *score, struct nest_quick *out)
{
	const struct level_price *price = &state->model->prices[i];
	if ((held > price->size || held < price->least_size) && out->verdict == NEST_FITS) {
		out->verdict = held > price->size ? NEST_CAPACITY : NEST_UTILIZATION;
		score->level = i;
		score->asked = (int64_t)held;
		score->given = state->model->hierarchy->levels[i].size;
	}
	if (price->limited)
		out->waits |= (uint32_t)nest_may_wait(
				      price, read, written, state->steps * state->instances[i])
			      << i;
}

/* From the innermost level outwards; `count` dataspaces, of which up to four are at hand.  Long, as
 * the innermost loop of every search is compiled as one piece, its values in registers. */
NEST_PART void go_outwards(struct quick_state *state, const int first, const int count,
	const bool exact, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	const struct nest_model *model = state->model;
	const bool last = count <= LANES;
	lanes served = all_lanes(state->steps), none = all_lanes(0);
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct level_price *price = &model->prices[i];
		double instances = state->instances[i], held = 0, read = 0, written = 0;
		counts->utilized[i] = (int64_t)instances;
		if (state->spread[i])
			served *= state->groups[i];
		if (!price->storage) {
			put_counts(&counts->at[i][first], count, (masks)none, (masks)none,
				(masks)none, (masks)none, (masks)none);
			put_lanes(&score->space_pj[i][first], none);
			score->level_pj[i] = 0;
		} else {
			/* Exactly, instances need not be alike, and only all together are whole. */
			double times = exact ? instances : 1, left = exact ? 1 : instances;
			masks kept = kept_at(state, price),
			      away = kept & kept_outside(state, price);
			masks sums = kept & masks_at(&model->written[first]);
			lanes tile = where(kept, state->tiles[i]);
			lanes filled = where(away, state->filled[i]);
			/* The first word of a sum comes from nowhere. */
			lanes part = where(sums, state->parts[i]);
			lanes updates = where(sums, served) * times;
			/* What drains entered, with a sum or without. */
			lanes drains = exact ? where(sums, filled) * times : none;
			lanes reads = where(kept, served) * times - part + drains;
			lanes fills = filled * times - where(away, part);
			lanes pj =
				lanes_pj(price, reads, fills, updates, times * price->block_size) *
				clusters_of(price, instances);
			put_lanes(&score->space_pj[i][first], pj);
			score->level_pj[i] = (first ? score->level_pj[i] : 0) + lanes_sum(pj);
			reads *= left;
			fills *= left;
			updates *= left;
			put_counts(&counts->at[i][first], count, whole(tile), whole(reads),
				whole(fills), whole(updates), whole(drains));
			served = chosen(kept, filled, served);
			held = lanes_sum(tile);
			if (price->limited) {
				lanes scale = lanes_at(&model->rate_scale[i][first]);
				read = lanes_sum(reads * scale);
				written = lanes_sum((fills + updates) * scale);
			}
		}
		if (first) {
			held += state->held[i];
			read += state->read[i];
			written += state->written[i];
		}
		if (last) {
			settle(state, i, held, read, written, score, out);
		} else {
			state->held[i] = held;
			state->read[i] = read;
			state->written[i] = written;
		}
	}
}

/* As Timeloop counts, multipliers with a block around them keep what stays the same, and hand it on:
 * the long way finds out. */
NEST_PART uint32_t shared_by_multipliers(const struct quick_state *state, int first, int count)
{
	uint32_t shared = 0;
	for (int k = 0; k < count && k < LANES; k++)
		shared |= (uint32_t)(state->groups[0][k] != state->fan[0]) << k;
	return (shared << first) & ~(uint32_t)state->model->hierarchy->levels[0].no_link_transfer;
}

/* Up to four of `count` dataspaces. */
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
		out->left |= shared_by_multipliers(state, first, count);
	if (odd)
		for (uint32_t left = state->model->odd_spaces >> first & ((1 << LANES) - 1); left;
			left &= left - 1) {
			int t = first + __builtin_ctz(left);
			out->left |= (uint32_t)!quick_boxes(state, t, exact) << t;
		}
	go_outwards(state, first, count, exact, counts, score, out);
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
	counts->compute_cycles = (int64_t)state.steps;
	counts->utilized_computes = (int64_t)state.multipliers;
	return true;
}
