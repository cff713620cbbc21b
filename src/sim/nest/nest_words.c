#include "sim/nest/nest_words.h"

#include "base/number.h"

bool nest_box_finish(int ranks, struct nest_box *box)
{
	box->words = 1;
	for (int r = 0; r < ranks; r++) {
		if (box->high[r] <= box->low[r]) {
			box->words = 0;
			return true;
		}
		if (!number_mul(box->words, box->high[r] - box->low[r], &box->words))
			return false;
	}
	return true;
}

bool nest_box_equal(int ranks, const struct nest_box *a, const struct nest_box *b)
{
	if (a->words != b->words)
		return false;
	for (int r = 0; a->words && r < ranks; r++) {
		if (a->low[r] != b->low[r] || a->high[r] != b->high[r])
			return false;
	}
	return true;
}

void nest_box_meet(
	int ranks, const struct nest_box *a, const struct nest_box *b, struct nest_box *out)
{
	out->words = a->words && b->words;
	for (int r = 0; out->words && r < ranks; r++) {
		out->low[r] = number_max(a->low[r], b->low[r]);
		out->high[r] = number_min(a->high[r], b->high[r]);
		out->words *= number_max(out->high[r] - out->low[r], 0);
	}
}

/* Where the hole spans the hull in all ranks but one, it may cut an end off there. */
static void cut_end(int ranks, struct nest_words *set)
{
	struct nest_box *hull = &set->hull, *hole = &set->hole;
	int across = -1;
	for (int r = 0; r < ranks; r++) {
		if (hole->low[r] == hull->low[r] && hole->high[r] == hull->high[r])
			continue;
		if (across >= 0)
			return;
		across = r;
	}
	if (hole->low[across] == hull->low[across])
		hull->low[across] = hole->high[across];
	else if (hole->high[across] == hull->high[across])
		hull->high[across] = hole->low[across];
	else
		return;
	hull->words = set->count;
	hole->words = 0;
}

void nest_words_without(
	int ranks, const struct nest_box *box, const struct nest_box *hole, struct nest_words *out)
{
	nest_box_copy(ranks, &out->hull, box);
	out->hole.words = 0;
	if (hole)
		nest_box_meet(ranks, box, hole, &out->hole);
	out->count = out->hull.words - out->hole.words;
	if (out->count && out->hole.words)
		cut_end(ranks, out);
}

bool nest_words_equal(int ranks, const struct nest_words *a, const struct nest_words *b)
{
	return a->count == b->count && nest_box_equal(ranks, &a->hull, &b->hull) &&
	       nest_box_equal(ranks, &a->hole, &b->hole);
}

uint64_t nest_words_hash(int ranks, const struct nest_words *words)
{
	uint64_t hash = (uint64_t)words->count;
	for (int r = 0; r < ranks; r++) {
		hash = (hash ^ (uint64_t)words->hull.low[r]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

bool nest_words_inside(int ranks, const struct nest_words *words, const struct nest_box *box)
{
	if (!words->count)
		return true;
	if (!box->words)
		return false;
	for (int r = 0; r < ranks; r++) {
		if (words->hull.low[r] < box->low[r] || words->hull.high[r] > box->high[r])
			return false;
	}
	return true;
}

/* Steps over the hole, which the walk may have entered at its lowest last rank. */
static bool leave_hole(int ranks, const struct nest_words *words, struct nest_walk *walk)
{
	const struct nest_box *hole = &words->hole;
	if (!hole->words)
		return false;
	for (int r = 0; r < ranks; r++) {
		if (walk->at[r] < hole->low[r] || walk->at[r] >= hole->high[r])
			return false;
	}
	walk->at[ranks - 1] = hole->high[ranks - 1] - 1;
	return true;
}

struct nest_walk nest_walk_first(int ranks, const struct nest_words *words)
{
	struct nest_walk walk = {.any = words->count};
	for (int r = 0; r < ranks; r++)
		walk.at[r] = words->hull.low[r];
	if (walk.any && leave_hole(ranks, words, &walk))
		nest_walk_next(ranks, words, &walk);
	return walk;
}

void nest_walk_next(int ranks, const struct nest_words *words, struct nest_walk *walk)
{
	do {
		int r = ranks - 1;
		for (; r >= 0; r--) {
			if (++walk->at[r] < words->hull.high[r])
				break;
			walk->at[r] = words->hull.low[r];
		}
		walk->any = r >= 0;
	} while (walk->any && leave_hole(ranks, words, walk));
}
