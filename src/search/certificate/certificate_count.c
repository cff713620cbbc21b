#include "search/certificate/certificate_floor.h"

/* Used words leave no gaps in the tiles of level j. */
static bool is_solid(const struct floor_cell *cell, int t, int j, const int64_t *left)
{
	const struct shape *shape = cell->frame->search->shape;
	uint32_t seen = 0; /* a loop over two ranks runs along a diagonal */
	for (int r = 0; r < shape->spaces[t].rank_count; r++) {
		const int64_t *coefficient = shape->spaces[t].ranks[r].coefficient;
		double reach = 0; /* words 0 .. reach are used */
		uint32_t rest = 0;
		for (int d = 0; d < shape->dimension_count; d++)
			if (coefficient[d] && (double)left[d] * cell->inside[j][d] > 1)
				rest |= 1u << d;
		if (rest & seen)
			return false;
		seen |= rest;
		while (rest) {
			int least = __builtin_ctz(rest);
			for (uint32_t other = rest; other; other &= other - 1)
				if (coefficient[__builtin_ctz(other)] < coefficient[least])
					least = __builtin_ctz(other);
			if ((double)coefficient[least] > reach + 1)
				return false;
			reach += (double)coefficient[least] *
				 ((double)left[least] * cell->inside[j][least] - 1);
			rest &= ~(1u << least);
		}
	}
	return true;
}

static void set_bounds(
	const struct floor_frame *frame, struct mapping *mapping, int j, const int64_t *left)
{
	const struct space *space = frame->search->space;
	for (int i = 0; i <= j; i++) {
		struct mapping_row *row =
			&mapping->rows[space->levels[frame->completions->tiling[i]].row];
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			row->temporal[d] = i ? 1 : (uint32_t)left[d];
	}
}

void floor_count(const struct floor_cell *cell, struct mapping *mapping, int j, const int64_t *left,
	struct floor_known *known)
{
	const struct floor_frame *frame = cell->frame;
	const struct nest_search *search = frame->search;
	const struct completions *completions = frame->completions;
	struct nest_counts counts;
	struct nest_score score;
	set_bounds(frame, mapping, j, left);
	enum nest_verdict verdict = nest_evaluate(search->model, mapping, &counts, &score);
	if (!nest_verdict_counts(verdict))
		return;
	int row = search->hierarchy->levels[completions->level[j]].row;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (frame->plain[t] || search->shape->spaces[t].written ||
			!(mapping->residency[t] >> row & 1))
			continue;
		known->from[t] = j;
		known->solid[t] = is_solid(cell, t, j, left);
		for (int i = j; i < completions->count; i++) {
			const struct nest_count *count = &counts.at[completions->level[i]][t];
			known->reads[t][i] = (double)count->reads;
			known->fills[t][i] = (double)count->fills;
		}
	}
}
