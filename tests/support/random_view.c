#include "tests/support/random_view.h"

#include "tests/support/draws.h"

/* A divisor of n that is at most `most`. */
static int64_t draw_split(struct random *random, int64_t n, int64_t most)
{
	int64_t split = 1 + draw_below(random, number_min(n, most));
	while (n % split)
		split--;
	return split;
}

struct view random_view(struct random *random, const struct layout *layout, int64_t cores)
{
	struct view view = {.cores = 1};
	uint8_t order[LAYOUT_RANK_MOST + 1];
	int count = layout->rank; /* the dimensions outside the stick, and one that is none */
	int64_t split[LAYOUT_RANK_MOST + 1] = {0}, divisor[LAYOUT_RANK_MOST + 1];
	for (int i = 0; i < count; i++)
		order[i] = (uint8_t)i;
	draw_shuffle(random, order, count);
	for (int i = 0; i < count; i++) {
		int d = order[i];
		int64_t left = cores / view.cores;
		bool none = d + 1 == layout->rank;
		split[d] = draw_split(
			random, none ? (draw_chance(random, 3) ? left : 1) : layout->size[d], left);
		divisor[d] = view.cores;
		view.cores *= split[d];
		if (!none || split[d] < 2 || draw_chance(random, 2))
			continue;
		view.only = split[d];
		view.only_divisor = divisor[d];
	}
	for (int d = 0; d + 1 < layout->rank; d++)
		if (split[d] > 1)
			view.parts[view.part_count++] = (struct view_part){d, split[d], divisor[d]};
	return view;
}
