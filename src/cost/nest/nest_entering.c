#include "cost/nest/nest_entering.h"

#include "base/checked.h"

/* Everything of the tile but what is held of it. */
static struct nest_entering without(
	int ranks, const struct tile_box *tile, const struct tile_box *held)
{
	struct nest_entering entering = {.any = true};
	int partial = 0, rank = 0;
	for (int r = 0; r < ranks; r++) {
		entering.low[r] = tile->low[r];
		entering.width[r] = tile->width[r];
		if (held->width[r] < tile->width[r]) {
			partial++;
			rank = r;
		}
	}
	if (partial == 0)
		entering.any = false;
	if (partial != 1) {
		entering.hole = partial > 1;
	} else if (held->low[rank] == tile->low[rank]) {
		entering.low[rank] += held->width[rank];
		entering.width[rank] -= held->width[rank];
	} else if (held->low[rank] + held->width[rank] == tile->low[rank] + tile->width[rank]) {
		entering.width[rank] -= held->width[rank];
	} else {
		entering.hole = true;
	}
	for (int r = 0; r < ranks && entering.hole; r++) {
		entering.hole_low[r] = held->low[r];
		entering.hole_width[r] = held->width[r];
	}
	return entering;
}

struct nest_entering nest_entering_of(
	int ranks, const struct tile_box *tile, const struct tile_box *old)
{
	struct nest_entering entering = {.any = true};
	struct tile_box held;
	bool meets = old != NULL;
	for (int r = 0; r < ranks; r++) {
		entering.low[r] = tile->low[r];
		entering.width[r] = tile->width[r];
		if (!meets)
			continue;
		held.low[r] = number_max(tile->low[r], old->low[r]);
		held.width[r] =
			number_min(tile->low[r] + tile->width[r], old->low[r] + old->width[r]) -
			held.low[r];
		meets = held.width[r] > 0;
	}
	return meets ? without(ranks, tile, &held) : entering;
}

int64_t nest_entering_words(int ranks, const struct nest_entering *entering, bool *fits)
{
	int64_t words = entering->any, hole = entering->hole;
	for (int r = 0; r < ranks; r++) {
		words = checked_mul(fits, words, entering->width[r]);
		if (entering->hole)
			hole = checked_mul(fits, hole, entering->hole_width[r]);
	}
	return words - hole;
}

bool nest_entering_shift(
	int ranks, const struct nest_entering *a, const struct nest_entering *b, int64_t *shift)
{
	if (!a->any || !b->any || a->hole != b->hole)
		return false;
	for (int r = 0; r < ranks; r++) {
		shift[r] = b->low[r] - a->low[r];
		if (a->width[r] != b->width[r])
			return false;
		if (a->hole && (b->hole_low[r] - a->hole_low[r] != shift[r] ||
				       a->hole_width[r] != b->hole_width[r]))
			return false;
	}
	return true;
}

bool nest_entering_equal(int ranks, const struct nest_entering *a, const struct nest_entering *b)
{
	int64_t shift[SHAPE_RANKS_MOST];
	bool equal = nest_entering_shift(ranks, a, b, shift);
	for (int r = 0; equal && r < ranks; r++)
		equal = shift[r] == 0;
	return equal;
}

void nest_entering_move(int ranks, struct nest_entering *entering, const int64_t *by, int sign)
{
	for (int r = 0; r < ranks; r++) {
		entering->low[r] += sign * by[r];
		entering->hole_low[r] += sign * by[r];
	}
}
