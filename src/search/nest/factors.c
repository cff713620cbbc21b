#include "search/nest/factors.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"

/* Rounds between two calls of the stopper: fewer take no time. */
enum { WAITED_FOR = 1000 };

struct factors {
	int64_t extent;
	bool imperfect;
	int loop_count;
	struct factor_bounds bounds[FACTORS_LOOPS_MOST];
	size_t left_count;
	const int64_t *left; /* numbers of rounds, ascending */
	struct factor_range ranges[FACTORS_LOOPS_MOST];
	const uint32_t *list; /* all of them, loop_count bounds each; NULL: not listed */
	wide *ways;           /* [loop * left_count + state]: of the loops from `loop` outwards */
};

/* The numbers that ceil(extent / n) takes are 1 + floor((extent - 1) / n), and 1. */
static const int64_t *factors_quotients(struct arena *arena, int64_t extent, size_t *count)
{
	int64_t m = extent - 1;
	*count = 1;
	for (int64_t n = 1; n <= m; n = m / (m / n) + 1)
		++*count;
	int64_t *left = arena_array(arena, int64_t, *count);
	size_t i = *count;
	for (int64_t n = 1; n <= m; n = m / (m / n) + 1)
		left[--i] = m / n + 1;
	left[0] = 1;
	return left;
}

/* All numbers up to the root of extent - 1 are quotients; those above it stand at the end, in the
 * order of what they divide by. */
static size_t quotient_state(const struct factors *factors, int64_t left)
{
	int64_t m = factors->extent - 1, k = left - 1;
	if (k == 0 || k <= m / k)
		return (size_t)k;
	return factors->left_count - (size_t)(m / k);
}

/* The index of the first divisor that is not below `least`; left_count if all are. */
static size_t divisor_state(const struct factors *factors, int64_t least)
{
	size_t at;
	bisect(at, 0, factors->left_count, factors->left[at] < least);
	return at;
}

static size_t state_of(const struct factors *factors, int64_t left)
{
	return factors->imperfect ? quotient_state(factors, left) : divisor_state(factors, left);
}

/* Ways of the loops from `loop` outwards to make up what is left. */
static wide ways_of(const struct factors *factors, int loop, int64_t left)
{
	if (loop == factors->loop_count)
		return left == 1;
	return factors->ways[(size_t)loop * factors->left_count + state_of(factors, left)];
}

/* The first divisor of both the extent and `left` that is not below `from`; above `left` if there
 * is none. */
static int64_t next_divisor(const struct factors *factors, int64_t left, int64_t from)
{
	for (size_t i = divisor_state(factors, from); i < factors->left_count; i++)
		if (left % factors->left[i] == 0)
			return factors->left[i];
	return left + 1;
}

/* The next bounds of `loop`, from `from` on, that can stand when `left` rounds are left. */
static bool factors_find_step(const struct factors *factors, int loop, int64_t left, int64_t from,
	struct factor_step *out)
{
	int64_t most = number_min(left, factors->bounds[loop].most);
	from = number_max(from, factors->bounds[loop].least);
	if (!factors->imperfect)
		from = next_divisor(factors, left, from);
	if (from > most)
		return false;
	int64_t rest = number_ceil_div(left, from), last = from;
	if (factors->imperfect)
		last = rest == 1 ? left : (left - 1) / (rest - 1);
	*out = (struct factor_step){from, number_min(last, most), rest};
	return true;
}

static wide sum_ways(const struct factors *factors, int loop, int64_t left)
{
	wide sum = 0;
	struct factor_step step = {0};
	while (factors_find_step(factors, loop, left, step.last + 1, &step)) {
		wide ways = ways_of(factors, loop + 1, step.left);
		if (__builtin_mul_overflow(ways, (wide)(step.last - step.first + 1), &ways) ||
			__builtin_add_overflow(sum, ways, &sum))
			BUG("more factorizations than 48 loops over 2^31 have");
	}
	return sum;
}

bool factors_step(const struct factors *factors, int loop, int64_t left, int64_t from,
	struct factor_step *out)
{
	while (factors_find_step(factors, loop, left, from, out)) {
		if (ways_of(factors, loop + 1, out->left))
			return true;
		from = out->last + 1;
	}
	return false;
}

/* Products of the bounds inside a loop, by what they leave; least 0: nothing leaves that. */
struct inside {
	int64_t least, most;
};

static void inside_widen(struct inside *inside, int64_t least, int64_t most)
{
	inside->least = inside->least ? number_min(inside->least, least) : least;
	inside->most = number_max(inside->most, most);
}

/* One loop further out: its range, and the products with its bounds.  False if stopped. */
static bool pass_loop(const struct factors *factors, int loop, const struct inside *inner,
	struct inside *outer, struct factor_range *range, const struct stopper *stopper)
{
	struct inside bounds = {0}, products = {0};
	for (size_t i = 0; i < factors->left_count; i++) {
		struct factor_step step = {0};
		if (!inner[i].least)
			continue;
		if (stopper_stops(stopper))
			return false;
		while (factors_step(factors, loop, factors->left[i], step.last + 1, &step)) {
			int64_t least = inner[i].least * step.first,
				most = inner[i].most * step.last;
			inside_widen(&bounds, step.first, step.last);
			inside_widen(&products, least, most);
			inside_widen(&outer[state_of(factors, step.left)], least, most);
		}
	}
	*range = (struct factor_range){bounds.least, bounds.most, products.least, products.most};
	return true;
}

static bool find_ranges(struct factors *factors, struct arena *arena, const struct stopper *stopper)
{
	struct arena_mark mark = arena_mark(arena);
	struct inside *inner = arena_array(arena, struct inside, factors->left_count);
	inner[factors->left_count - 1] = (struct inside){1, 1};
	bool good = true;
	for (int loop = 0; loop < factors->loop_count && good; loop++) {
		struct inside *outer = arena_array(arena, struct inside, factors->left_count);
		good = pass_loop(factors, loop, inner, outer, &factors->ranges[loop], stopper);
		inner = outer;
	}
	arena_release(arena, mark);
	return good;
}

static bool find_ways(struct factors *factors, const struct stopper *stopper)
{
	for (int loop = factors->loop_count - 1; loop >= 0; loop--)
		for (size_t i = loop ? 0 : factors->left_count - 1; i < factors->left_count; i++) {
			if (stopper_stops(stopper))
				return false;
			factors->ways[(size_t)loop * factors->left_count + i] =
				sum_ways(factors, loop, factors->left[i]);
		}
	return true;
}

const struct factor_range *factors_ranges(const struct factors *factors)
{
	return factors->ranges;
}

const struct factors *factors_make(struct arena *arena, int64_t extent, bool imperfect,
	int loop_count, const struct factor_bounds *bounds, const struct stopper *stopper)
{
	if (extent < 1 || extent > FACTORS_EXTENT_MOST || loop_count > FACTORS_LOOPS_MOST)
		BUG("%d loops over an extent of %lld", loop_count, (long long)extent);
	struct factors *factors = arena_new(arena, struct factors);
	*factors = (struct factors){
		.extent = extent, .imperfect = imperfect, .loop_count = loop_count};
	for (int i = 0; i < loop_count; i++)
		factors->bounds[i] = bounds[i];
	if (imperfect) {
		factors->left = factors_quotients(arena, extent, &factors->left_count);
	} else {
		struct divisors divisors = number_divisors(arena, extent);
		factors->left = divisors.at;
		factors->left_count = divisors.count;
	}
	factors->ways = arena_array(arena, wide, (size_t)loop_count * factors->left_count);
	if (factors->left_count < WAITED_FOR)
		stopper = NULL;
	bool good = find_ways(factors, stopper) && find_ranges(factors, arena, stopper);
	return good ? factors : NULL;
}

static bool factors_are(const struct factors *factors, int64_t extent, bool imperfect,
	int loop_count, const struct factor_bounds *bounds)
{
	bool same = factors->extent == extent && factors->imperfect == imperfect &&
		    factors->loop_count == loop_count;
	for (int i = 0; same && i < loop_count; i++)
		same = factors->bounds[i].least == bounds[i].least &&
		       factors->bounds[i].most == bounds[i].most;
	return same;
}

wide factors_count(const struct factors *factors)
{
	return ways_of(factors, 0, factors->extent);
}

void factors_at(const struct factors *factors, wide index, int64_t *bounds)
{
	if (factors->list) {
		const uint32_t *listed =
			&factors->list[(size_t)index * (size_t)factors->loop_count];
		for (int loop = 0; loop < factors->loop_count; loop++)
			bounds[loop] = listed[loop];
		return;
	}
	int64_t left = factors->extent;
	for (int loop = 0; loop < factors->loop_count; loop++) {
		struct factor_step step = {0};
		wide ways = 0;
		for (;;) {
			if (!factors_find_step(factors, loop, left, step.last + 1, &step))
				BUG("there are not that many factorizations");
			ways = ways_of(factors, loop + 1, step.left);
			wide all = ways * (step.last - step.first + 1);
			if (index < all)
				break;
			index -= all;
		}
		bounds[loop] = step.first + (int64_t)(index / ways);
		index %= ways;
		left = step.left;
	}
}

/* The least bounds of the loops from `loop` outwards, that of `loop` at least `from`. */
static bool fill_factors(
	const struct factors *factors, int loop, int64_t left, int64_t from, int64_t *bounds)
{
	struct factor_step step;
	if (!factors_step(factors, loop, left, from, &step))
		return false;
	bounds[loop] = step.first;
	return loop + 1 == factors->loop_count ||
	       fill_factors(factors, loop + 1, step.left, 1, bounds);
}

bool factors_first(const struct factors *factors, int64_t *bounds)
{
	return factors->loop_count == 0 ? factors->extent == 1
					: fill_factors(factors, 0, factors->extent, 1, bounds);
}

bool factors_next(const struct factors *factors, int64_t *bounds)
{
	int64_t left[FACTORS_LOOPS_MOST + 1] = {factors->extent};
	for (int loop = 0; loop < factors->loop_count; loop++)
		left[loop + 1] = number_ceil_div(left[loop], bounds[loop]);
	for (int loop = factors->loop_count - 1; loop >= 0; loop--)
		if (fill_factors(factors, loop, left[loop], bounds[loop] + 1, bounds))
			return true;
	return false;
}

const struct factors *factors_listed(struct arena *arena, const struct factors *factors)
{
	wide count = factors_count(factors);
	size_t loops = (size_t)factors->loop_count;
	if (count == 0 || loops == 0 || count > FACTORS_LISTED_MOST / (wide)loops)
		return factors;
	uint32_t *list = arena_array(arena, uint32_t, (size_t)count * loops), *out = list;
	int64_t bounds[FACTORS_LOOPS_MOST];
	for (bool more = factors_first(factors, bounds); more; more = factors_next(factors, bounds))
		for (size_t loop = 0; loop < loops; loop++)
			*out++ = (uint32_t)bounds[loop];
	struct factors *listed = arena_copy(arena, factors, sizeof *factors);
	listed->list = list;
	return listed;
}

static wide wide_below(struct random *random, wide bound)
{
	if (bound <= (wide)UINT64_MAX)
		return random_below(random, (uint64_t)bound);
	uint64_t mask = (uint64_t)(bound >> 64);
	for (int shift = 1; shift < 64; shift *= 2)
		mask |= mask >> shift;
	for (;;) {
		wide high = random_next(random) & mask;
		wide value = high << 64 | (wide)random_next(random);
		if (value < bound)
			return value;
	}
}

void factors_draw(const struct factors *factors, struct random *random, int64_t *bounds)
{
	factors_at(factors, wide_below(random, factors_count(factors)), bounds);
}

const struct factors *factors_store_get(struct factors_store *store, struct arena *arena,
	int64_t extent, bool imperfect, int loop_count, const struct factor_bounds *bounds)
{
	if (!store)
		return factors_make(arena, extent, imperfect, loop_count, bounds, NULL);
	for (size_t i = 0; i < store->count; i++)
		if (factors_are(store->at[i], extent, imperfect, loop_count, bounds))
			return store->at[i];
	const struct factors *made =
		factors_make(store->arena, extent, imperfect, loop_count, bounds, &store->stopper);
	if (!made)
		return NULL;
	*array_add(store->arena, store) = made;
	return made;
}

#define FANOUT_LIFTED (INT64_C(1) << 31)

struct relaxed *relaxed_open(struct arena *arena, const struct domain *domain)
{
	struct relaxed *relaxed = arena_new(arena, struct relaxed);
	relaxed->domain = *domain;
	relaxed->hierarchy = *domain->hierarchy;
	relaxed->domain.hierarchy = &relaxed->hierarchy;
	return relaxed;
}

void relaxed_set_size(struct relaxed *relaxed, int level, int64_t words)
{
	struct nest_level *at = &relaxed->hierarchy.levels[level];
	at->store.least_utilization *= (double)at->size / (double)words;
	at->size = words;
}

void relaxed_set_fanout(struct relaxed *relaxed, int level, int64_t x, int64_t y)
{
	struct nest_level *block = &relaxed->hierarchy.levels[level];
	block->fanout.x = x;
	block->fanout.y = y;
	struct row_domain *row = &relaxed->domain.rows[block->block_row];
	for (int d = 0; d < relaxed->domain.shape->dimension_count; d++)
		if (row->spatial[d].most_by < 0)
			row->spatial[d].most = number_min(
				number_max(x, y), relaxed->domain.shape->dimensions[d].extent);
}

void relaxed_lift_size(struct relaxed *relaxed, int level)
{
	relaxed->hierarchy.levels[level].size = 0;
}

void relaxed_lift_fanout(struct relaxed *relaxed, int level)
{
	relaxed_set_fanout(relaxed, level, FANOUT_LIFTED, FANOUT_LIFTED);
}
