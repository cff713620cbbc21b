#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/orders.h"
#include "tests/support/draws.h"
#include "tests/support/place_instances.h"

#include "tests/test.h"

/*
 * First fit as the tree of sections finds it, against trying every multiple of the step: random
 * packings, in random order, below random limits.
 */
static bool is_free(const struct items *items, const int64_t *addresses, size_t item, int64_t at)
{
	const struct packing *packing = &items->packing;
	for (size_t i = 0; i < packing->count; i++)
		for (size_t j = 0; j < packing->count; j++) {
			const struct buffer *a = &packing->buffers[i], *b = &packing->buffers[j];
			if (items->of[i] != (int)item || items->of[j] == (int)item ||
				items->of[j] < 0 || addresses[items->of[j]] == UNPLACED)
				continue;
			int64_t other = addresses[items->of[j]];
			if (a->start < b->end && b->start < a->end && at < other + b->size &&
				other < at + a->size)
				return false;
		}
	return true;
}

static int64_t first(
	const struct items *items, const int64_t *addresses, size_t item, int64_t limit)
{
	const struct item *it = &items->at[item];
	int64_t most = number_min(it->most, limit - it->size);
	for (int64_t at = number_align_up(it->least, it->step); at <= most; at += it->step)
		if (is_free(items, addresses, item, at))
			return at;
	return UNPLACED;
}

BARE_TEST(first_fit_is_the_lowest_free_address)
{
	struct tight_options options = {
		.least = 2, .most = 25, .in_place = true, .alignment = true, .fixed = true};
	long count = draws(150), placed = 0, refused = 0;
	uint64_t seed = draws_seed(111);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &options);
		const struct items *items = items_make(&packing, arena);
		struct fit_tree *tree = fit_tree_make(items, arena);
		for (size_t k = 0; k < 2 * items->count; k++) {
			size_t item = random_below(&random, items->count);
			int64_t limit =
				1 + (int64_t)random_below(&random, 2 * (uint64_t)packing.capacity);
			if (fit_tree_addresses(tree)[item] != UNPLACED)
				continue;
			int64_t expected = first(items, fit_tree_addresses(tree), item, limit);
			assert_int_equal(fit_tree_put(tree, item, FIT_TREE_FIRST, limit), expected);
			placed += expected != UNPLACED;
			refused += expected == UNPLACED;
		}
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || (placed > count && refused > count / 10));
}
