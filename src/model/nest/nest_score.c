#include "model/nest/nest_score.h"

#include "base/arena.h"
#include "base/number.h"

#include <string.h>

const char *const counting_names[] = {"exact", "timeloop", NULL};

static bool are_equal(
	int levels, int spaces, const struct nest_counts *a, const struct nest_counts *b)
{
	if (a->computes != b->computes || a->compute_cycles != b->compute_cycles ||
		a->array_cycles != b->array_cycles || a->utilized_computes != b->utilized_computes)
		return false;
	for (int i = 0; i < levels; i++) {
		if (a->utilized[i] != b->utilized[i])
			return false;
		for (int t = 0; t < spaces; t++) {
			const struct nest_count *x = &a->at[i][t], *y = &b->at[i][t];
			if (x->capacity != y->capacity || x->reads != y->reads ||
				x->fills != y->fills || x->updates != y->updates ||
				x->links != y->links || x->drains != y->drains)
				return false;
		}
	}
	return true;
}

bool nest_counts_equal(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct nest_counts *a, const struct nest_counts *b)
{
	return are_equal(hierarchy->level_count, shape->space_count, a, b);
}

bool nest_totals_equal(const struct nest_counts *a, const struct nest_counts *b)
{
	return are_equal(ARCH_LEVELS_MOST, SHAPE_SPACES_MOST, a, b);
}

static bool add(int64_t *sum, int64_t one, int64_t times)
{
	int64_t product;
	return number_mul(one, times, &product) && number_add(*sum, product, sum);
}

bool nest_counts_add(struct nest_counts *sum, const struct nest_counts *one, int64_t times)
{
	bool fits = add(&sum->computes, one->computes, times);
	fits &= add(&sum->compute_cycles, one->compute_cycles, times);
	fits &= add(&sum->array_cycles, one->array_cycles, times);
	fits &= add(&sum->utilized_computes, one->utilized_computes, times);
	for (int i = 0; i < ARCH_LEVELS_MOST; i++) {
		fits &= add(&sum->utilized[i], one->utilized[i], times);
		for (int t = 0; t < SHAPE_SPACES_MOST; t++) {
			struct nest_count *to = &sum->at[i][t];
			const struct nest_count *from = &one->at[i][t];
			fits &= add(&to->capacity, from->capacity, times);
			fits &= add(&to->reads, from->reads, times);
			fits &= add(&to->fills, from->fills, times);
			fits &= add(&to->updates, from->updates, times);
			fits &= add(&to->links, from->links, times);
			fits &= add(&to->drains, from->drains, times);
		}
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
	if (level->multiple_buffering > 1)
		spare = arena_format(arena, " (%lld for %g buffers)", (long long)level->entries,
			level->multiple_buffering);
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
					 : hierarchy->levels[score->level].least_utilization);
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
