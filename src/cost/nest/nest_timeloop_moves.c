#include "cost/nest/nest_timeloop_moves.h"

/* Words of a box that the same box, moved, does not cover. */
static int64_t uncovered(const int64_t *extent, const int64_t *step, int rank_count, int64_t words)
{
	int64_t shared = 1;
	for (int r = 0; r < rank_count; r++) {
		int64_t away = step[r] < 0 ? -step[r] : step[r];
		shared *= away < extent[r] ? extent[r] - away : 0;
	}
	return words - shared;
}

static bool equal_steps(const int64_t *a, const int64_t *b, int rank_count)
{
	int64_t apart = 0;
	for (int r = 0; r < rank_count; r++)
		apart |= a[r] ^ b[r];
	return apart == 0;
}

void nest_moves_find(const struct nest_loops *loops, const struct dataspace *space,
	int dimension_count, int block, bool whole, struct timeloop_moves *out)
{
	static const int64_t still[SHAPE_RANKS_MOST];
	int64_t extent[SHAPE_RANKS_MOST], inside[SHAPE_RANKS_MOST] = {0};
	out->tile = 1;
	for (int r = 0; r < space->rank_count; r++) {
		extent[r] = 1;
		for (int d = 0; d < dimension_count; d++)
			extent[r] += space->ranks[r].coefficient[d] * (loops->child[block][d] - 1);
		out->tile *= extent[r];
	}
	out->count = 0;
	out->iterations = 0;
	const struct timeloop_move *first = NULL;
	for (int l = loops->own[block]; l < loops->count; l++) {
		const struct nest_loop *loop = &loops->at[l];
		if (loop->spatial)
			continue;
		if (out->count == 0)
			out->iterations = (double)(loop->bound - 1);
		struct timeloop_move *move = &out->at[out->count++];
		move->times = (double)loop->bound;
		for (int r = 0; r < space->rank_count; r++) {
			int64_t step = nest_step(space, r, loop);
			move->step[r] = step - inside[r];
			inside[r] += step;
		}
		if (whole) {
			move->words = out->tile;
		} else if (equal_steps(move->step, still, space->rank_count)) {
			move->words = 0;
		} else if (!first) {
			first = move;
			move->words = uncovered(extent, move->step, space->rank_count, out->tile);
		} else {
			bool on = equal_steps(move->step, first->step, space->rank_count);
			move->words = on ? first->words : out->tile;
		}
	}
	double outside = 1;
	for (int j = out->count - 1; j >= 0; j--) {
		double bound = out->at[j].times;
		out->at[j].times = (bound - 1) * outside;
		outside *= bound;
	}
}
