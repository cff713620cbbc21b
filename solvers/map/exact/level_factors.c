#include "solvers/map/exact/level_factors.h"

#include "base/arena.h"

static struct level_factor_list list_options(struct arena *arena,
	const struct completions *completions, const struct factor_domain *factor, int j, int d,
	int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	struct level_factor *at = arena_array(arena, struct level_factor, divisors->count);
	struct level_factor_list list = {0, at};
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= product; k++) {
		int64_t bound = divisors->at[k];
		if (product % bound || bound < factor->least || bound > factor->most)
			continue;
		int64_t rest = product / bound;
		if (!completions_make_up(completions, j - 1, d, rest))
			continue;
		int place = 0;
		while (divisors->at[place] < rest)
			place++;
		at[list.count++] = (struct level_factor){bound, rest, place};
	}
	return list;
}

struct level_factors *level_factors_make(struct arena *arena, const struct nest_frame *frame)
{
	const struct space *space = frame->search->space;
	struct level_factors *options = arena_new(arena, struct level_factors);
	const struct completions *completions = completions_make(arena, space);
	options->completions = completions;
	for (int j = 0; j < frame->count; j++)
		for (int d = 0; d < frame->search->shape->dimension_count; d++) {
			const struct divisors *divisors = &completions->divisors[d];
			const struct factor_domain *factor =
				&space->domain->rows[space->levels[frame->tiling[j]].row]
					 .temporal[d];
			struct level_factor_list *lists =
				arena_array(arena, struct level_factor_list, divisors->count);
			for (size_t k = 0; k < divisors->count; k++)
				lists[k] = list_options(
					arena, completions, factor, j, d, divisors->at[k]);
			options->lists[j][d] = lists;
		}
	return options;
}

int level_factors_place(const struct level_factors *options, int dimension, int64_t divisor)
{
	const struct divisors *divisors = &options->completions->divisors[dimension];
	int place = 0;
	while (divisors->at[place] < divisor)
		place++;
	return place;
}
