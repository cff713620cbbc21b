#include "model/nest/nest_score.h"

#include "base/arena.h"
#include "base/number.h"

#include <stddef.h>
#include <string.h>

const char *const counting_names[] = {"exact", "timeloop", NULL};

bool nest_counts_equal(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct nest_counts *a, const struct nest_counts *b)
{
	size_t spaces = (size_t)shape->space_count;
	bool equal = a->computes == b->computes && a->compute_cycles == b->compute_cycles &&
		     a->array_cycles == b->array_cycles &&
		     a->utilized_computes == b->utilized_computes;
	for (int i = 0; i < hierarchy->level_count; i++)
		equal &= a->utilized[i] == b->utilized[i] && a->rounds[i] == b->rounds[i] &&
			 a->rows[i] == b->rows[i] &&
			 memcmp(a->at[i], b->at[i], spaces * sizeof a->at[i][0]) == 0;
	return equal;
}

bool nest_totals_equal(const struct nest_counts *a, const struct nest_counts *b)
{
	return memcmp(a, b, NEST_INTEGERS * sizeof(int64_t)) == 0;
}

bool nest_counts_add(struct nest_counts *sum, const struct nest_counts *one, int64_t times)
{
	int64_t *to = (int64_t *)sum;
	const int64_t *from = (const int64_t *)one;
	bool fits = true;
	for (size_t i = 0; i < NEST_INTEGERS; i++) {
		int64_t product;
		fits &= number_mul(from[i], times, &product) && number_add(to[i], product, &to[i]);
	}
	return fits;
}

const char *nest_share_text(struct arena *arena, int64_t total, int64_t instances)
{
	int64_t common = number_gcd(total, instances);
	if (common == instances)
		return arena_format(arena, "%lld", (long long)(total / instances));
	return arena_format(
		arena, "%lld/%lld", (long long)(total / common), (long long)(instances / common));
}

static const char *level_name(const struct hierarchy *hierarchy, const struct nest_score *score)
{
	return score->level < 0 ? hierarchy->compute_name : hierarchy->levels[score->level].name;
}

/* The outermost storage outside a level; NULL if there is none. */
static const char *outer_storage(const struct hierarchy *hierarchy, int level)
{
	for (int i = hierarchy->level_count - 1; i > level; i--)
		if (hierarchy->levels[i].storage)
			return hierarchy->levels[i].name;
	return NULL;
}

/* ": keep it at 'DRAM', or ..." */
static const char *mend_text(struct arena *arena, const struct hierarchy *hierarchy,
	const struct nest_score *score, const char *otherwise)
{
	const char *outer = outer_storage(hierarchy, score->level);
	return outer ? arena_format(arena, ": keep it at '%s', or %s", outer, otherwise)
		     : arena_format(arena, ": %s", otherwise);
}

/* A home is too small for what comes into its tile. */
static const char *home_text(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct nest_score *score)
{
	const char *space = shape->spaces[score->space].name;
	const char *level = hierarchy->levels[score->level].name;
	return arena_format(arena,
		"'%s' has to hold %lld words and has room for %lld; no level outside keeps '%s', so "
		"it holds all words of '%s' that its loops and those outside touch%s",
		level, (long long)score->asked, (long long)score->given, space, space,
		mend_text(arena, hierarchy, score, "give it more words"));
}

static const char *sums_text(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct nest_score *score)
{
	const char *space = shape->spaces[score->space].name;
	const char *level = hierarchy->levels[score->level].name;
	return arena_format(arena,
		"%lld instances of '%s' end with a part of the same sum of '%s' each, and no level, "
		"network or ring outside adds them%s",
		(long long)score->asked, level, space,
		mend_text(arena, hierarchy, score,
			"put no loop that sums it into the fan-outs outside of that level"));
}

static const char *capacity_text(
	struct arena *arena, const struct hierarchy *hierarchy, const struct nest_score *score)
{
	const struct nest_level *level = &hierarchy->levels[score->level];
	const char *spare = "";
	if (level->store.multiple_buffering > 1)
		spare = arena_format(arena, " (%lld for %g buffers)",
			(long long)level->store.entries, level->store.multiple_buffering);
	return arena_format(arena, "the tiles at '%s' take %lld words; it holds %lld%s",
		level->name, (long long)score->asked, (long long)score->given, spare);
}

const char *nest_verdict_text(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct nest_score *score)
{
	long long asked = score->asked, given = score->given;
	const char *level = level_name(hierarchy, score);
	const char *space = score->space < 0 ? "a dataspace" : shape->spaces[score->space].name;
	switch (score->verdict) {
	case NEST_FITS:
		return NULL;
	case NEST_FACTORS:
		return arena_format(arena,
			"the factors of dimension '%s' multiply to %lld, not to its extent %lld",
			score->dimension < 0 ? "?" : shape->dimensions[score->dimension].name,
			asked, given);
	case NEST_FANOUT:
		return arena_format(arena,
			"the spatial loops below '%s' take %lld instances along an axis; there are "
			"%lld",
			level, asked, given);
	case NEST_CAPACITY:
		return score->space < 0 ? capacity_text(arena, hierarchy, score)
					: home_text(arena, hierarchy, shape, score);
	case NEST_SUMS_APART:
		return sums_text(arena, hierarchy, shape, score);
	case NEST_UTILIZATION:
		return arena_format(arena,
			score->level < 0
				? "%lld of %lld multipliers '%s' are busy; %g of them must be"
				: "the tiles take %lld of %lld words of '%s'; %g of them "
				  "must be used",
			asked, given, level,
			score->level < 0 ? hierarchy->least_parallelism
					 : hierarchy->levels[score->level].store.least_utilization);
	case NEST_IDLE:
		return arena_format(arena,
			"the spatial loops below '%s' take %lld of %lld instances; %g of them must "
			"be in use",
			level, asked, given, hierarchy->levels[score->level].least_usage);
	case NEST_HOMELESS:
		return arena_format(arena, "'%s' is kept nowhere", space);
	case NEST_OVERFLOW:
		return "a count is larger than 2^63 - 1";
	case NEST_MEANINGLESS:
		return arena_format(arena,
			"by Timeloop's rules a count of '%s' is below zero or larger than 2^53",
			space);
	case NEST_UNCOUNTABLE:
		if (score->level >= 0)
			return arena_format(arena,
				"rows of '%s' that %s serves have no length of their own: factors "
				"do not divide, or the dimension under 'rows_along' shares a rank",
				space, level_name(hierarchy, score));
		return arena_format(arena,
			shape_writes_overlap(shape)
				? "exact counting does not cover '%s': it is written, and a rank "
				  "of it adds two dimensions"
				: "exact counting does not cover '%s' under this mapping: too many "
				  "instances with windows that overlap, or factors that do not "
				  "divide together with no_reuse, rmw_first_update or no_coalesce",
			space);
	}
	return NULL;
}

const char *const nest_channel_names[] = {"stationary", "systolic", "direct", NULL};
