#include "search/nest/fit.h"

#include "base/number.h"
#include "cost/nest/nest_home.h"
#include "cost/nest/nest_loops.h"

int64_t fit_words(const struct shape *shape, int space, const int64_t *extents)
{
	int64_t words;
	bool fits = nest_words(&shape->spaces[space], shape->dimension_count, extents, &words);
	return fits ? words : INT64_MAX;
}

/* --- axes */

static int64_t along(const uint32_t *bounds, uint32_t loops)
{
	int64_t product = 1;
	for (; loops; loops &= loops - 1)
		product = number_times(product, bounds[__builtin_ctz(loops)]);
	return product;
}

static bool fit_block(
	const struct space *space, const struct tiling_level *level, struct mapping *mapping)
{
	const struct nest_level *block = &space->domain->hierarchy->levels[level->level];
	const uint32_t *bounds = mapping->rows[level->row].spatial;
	uint32_t busy = 0;
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	if (along(bounds, busy) > number_times(block->fanout_x, block->fanout_y))
		return false;
	for (uint32_t x = busy;; x = (x - 1) & busy) { /* all subsets, all of them first */
		if (along(bounds, x) <= block->fanout_x &&
			along(bounds, busy & ~x) <= block->fanout_y &&
			space_set_axes(space, level, x, mapping))
			return true;
		if (!x)
			return false;
	}
}

bool fit_axes(const struct space *space, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++)
		if (space->levels[i].spatial && !fit_block(space, &space->levels[i], mapping))
			return false;
	return true;
}

/* --- residency */

enum { SETS = 1 << SHAPE_SPACES_MOST };

bool fit_minds_homes(const struct domain *domain)
{
	const struct nest_level *outermost =
		&domain->hierarchy->levels[domain->hierarchy->level_count - 1];
	uint32_t all = (1u << domain->shape->space_count) - 1;
	return domain->whole_homes &&
	       !(outermost->storage && domain->rows[outermost->row].keep == all);
}

void fit_homes(const struct domain *domain, const struct mapping *mapping, struct fit_words *out)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	const struct shape *shape = domain->shape;
	out->homes = true;
	for (int i = 0; i < hierarchy->level_count; i++)
		for (int t = 0; hierarchy->levels[i].storage && t < shape->space_count; t++) {
			int64_t *words = &out->home[i][t];
			bool apart = nest_home_parts(hierarchy, shape, mapping, t, i) > 1;
			if (apart || nest_home_words(hierarchy, shape, mapping, t, i, words) !=
					     NEST_FITS)
				*words = -1;
		}
}

/* `outside`: what has a home outside. */
static bool level_holds(const struct nest_level *level, int i, const struct fit_words *words,
	uint32_t set, uint32_t outside)
{
	int64_t sum = 0;
	for (uint32_t left = set; left; left &= left - 1) {
		int t = __builtin_ctz(left);
		int64_t own =
			words->homes && !(outside >> t & 1) ? words->home[i][t] : words->tile[i][t];
		if (own < 0)
			return false;
		sum = number_plus(sum, own);
	}
	return !level->size || (sum <= level->size && (double)sum >= level->least_utilization *
									     (double)level->size);
}

/* For each set of dataspaces: whether the levels so far can give a home to just these, what the
 * last of them keeps then, and which set had one before. */
struct fit_home {
	bool met;
	uint16_t kept, before;
};

static void pass_level(const struct domain *domain, int level, const struct fit_words *words,
	const struct fit_home *before, struct fit_home *out)
{
	const struct nest_level *at = &domain->hierarchy->levels[level];
	const struct row_domain *row = &domain->rows[at->row];
	uint32_t all = (1u << domain->shape->space_count) - 1;
	uint32_t most = at->storage ? all & ~row->bypass : 0;
	for (uint32_t set = 0; set <= all; set++)
		out[set] = (struct fit_home){0};
	for (uint32_t kept = most;; kept = (kept - 1) & most) { /* all subsets */
		bool holds = (row->keep & ~kept) == 0 &&
			     (words->homes || level_holds(at, level, words, kept, all));
		for (uint32_t set = 0; holds && set <= all; set++)
			if (before[set].met && !out[set | kept].met &&
				(!words->homes || level_holds(at, level, words, kept, set)))
				out[set | kept] =
					(struct fit_home){true, (uint16_t)kept, (uint16_t)set};
		if (!kept)
			return;
	}
}

/* From the innermost level outwards; where homes are not like other levels, from the outermost
 * one inwards. */
bool fit_residency(
	const struct domain *domain, const struct fit_words *words, struct mapping *mapping)
{
	struct fit_home homes[ARCH_LEVELS_MOST + 1][SETS];
	int count = domain->hierarchy->level_count, spaces = domain->shape->space_count;
	for (uint32_t set = 0; set < 1u << spaces; set++)
		homes[0][set] = (struct fit_home){.met = set == 0};
	for (int k = 0; k < count; k++)
		pass_level(domain, words->homes ? count - 1 - k : k, words, homes[k], homes[k + 1]);
	uint32_t set = (1u << spaces) - 1;
	if (!homes[count][set].met)
		return false;
	for (int t = 0; t < spaces; t++)
		mapping->residency[t] = 0;
	for (int k = count - 1; k >= 0; k--) {
		const struct fit_home *home = &homes[k + 1][set];
		int level = words->homes ? count - 1 - k : k;
		for (int t = 0; t < spaces; t++)
			if (home->kept >> t & 1)
				mapping->residency[t] |= 1u << domain->hierarchy->levels[level].row;
		set = home->before;
	}
	return true;
}
