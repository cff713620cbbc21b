#include "search/nest/completions.h"

#include "base/arena.h"
#include "base/bisect.h"

static size_t find(const struct divisors *divisors, int64_t value)
{
	size_t at;
	bisect(at, 0, divisors->count, divisors->at[at] < value);
	return at;
}

bool completions_make_up(const struct completions *completions, int j, int d, int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	if (j < 0)
		return product == 1;
	return completions->makes[d][(size_t)j * divisors->count + find(divisors, product)];
}

static bool find_makes(const struct completions *completions, const struct factor_domain *factor,
	int j, int d, int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= product; k++) {
		int64_t bound = divisors->at[k];
		if (product % bound == 0 && bound >= factor->least && bound <= factor->most &&
			completions_make_up(completions, j - 1, d, product / bound))
			return true;
	}
	return false;
}

struct completions *completions_make(struct arena *arena, const struct space *space)
{
	struct completions *completions = arena_new(arena, struct completions);
	const struct shape *shape = space->domain->shape;
	for (int i = 0; i < space->level_count; i++)
		if (!space->levels[i].spatial) {
			completions->level[completions->count] = space->levels[i].level;
			completions->tiling[completions->count++] = i;
		}
	for (int d = 0; d < shape->dimension_count; d++) {
		struct divisors *divisors = &completions->divisors[d];
		*divisors = number_divisors(arena, shape->dimensions[d].extent);
		bool *makes =
			arena_array(arena, bool, (size_t)completions->count * divisors->count);
		completions->makes[d] = makes;
		for (int j = 0; j < completions->count; j++) {
			int row = space->levels[completions->tiling[j]].row;
			const struct factor_domain *factor = &space->domain->rows[row].temporal[d];
			for (size_t k = 0; k < divisors->count; k++)
				makes[(size_t)j * divisors->count + k] =
					find_makes(completions, factor, j, d, divisors->at[k]);
		}
	}
	return completions;
}
