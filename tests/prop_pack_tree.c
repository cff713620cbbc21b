/* Trees of orders against a list of all orders: which are left once sets must lie together, how many
 * those are, and what comes of it when one leaf or some take the place of a set. */
#include "base/arena.h"
#include "base/random.h"
#include "solvers/place/pack_tree.h"
#include "tests/support/draws.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

enum { LEAVES_MOST = 7, SETS = 5 };

/* Orders of leaves 0 .. count - 1, all or those that a test lets through. */
struct orders {
	int count, leaves;
	int at[5040][LEAVES_MOST];
};

static void list_orders(struct orders *orders, int *order, int depth, unsigned used)
{
	if (depth == orders->leaves) {
		memcpy(orders->at[orders->count++], order, sizeof orders->at[0]);
		return;
	}
	for (int i = 0; i < orders->leaves; i++)
		if (!(used >> i & 1)) {
			order[depth] = i;
			list_orders(orders, order, depth + 1, used | 1U << i);
		}
}

static bool lies_together(const int *order, int leaves, unsigned set)
{
	int turns = 0;
	for (int k = 1; k < leaves; k++)
		turns += (set >> order[k] & 1) != (set >> order[k - 1] & 1);
	return turns + (set >> order[0] & 1) + (set >> order[leaves - 1] & 1) <= 2;
}

static void keep_together(struct orders *orders, unsigned set)
{
	int kept = 0;
	for (int k = 0; k < orders->count; k++)
		if (lies_together(orders->at[k], orders->leaves, set))
			memmove(orders->at[kept++], orders->at[k], sizeof orders->at[0]);
	orders->count = kept;
}

static bool is_listed(const struct orders *orders, const int *order)
{
	for (int k = 0; k < orders->count; k++)
		if (!memcmp(orders->at[k], order, (size_t)orders->leaves * sizeof *order))
			return true;
	return false;
}

/* How many orders of the rest there are, with a new leaf in place of the set. */
static int count_replaced(const struct orders *orders, unsigned set)
{
	static int seen[5040][LEAVES_MOST + 1];
	int count = 0;
	for (int k = 0; k < orders->count; k++) {
		int order[LEAVES_MOST + 1], length = 0;
		memset(order, 0xff, sizeof order);
		for (int i = 0; i < orders->leaves; i++) {
			bool is_in = set >> orders->at[k][i] & 1;
			if (!is_in)
				order[length++] = orders->at[k][i];
			else if (!length || order[length - 1] != orders->leaves)
				order[length++] = orders->leaves;
		}
		bool is_new = true;
		for (int s = 0; s < count && is_new; s++)
			is_new = memcmp(seen[s], order, sizeof order) != 0;
		if (is_new)
			memcpy(seen[count++], order, sizeof order);
	}
	return count;
}

static struct tree_set as_set(bool *has, int leaves, unsigned set)
{
	for (int i = 0; i < leaves; i++)
		has[i] = set >> i & 1;
	return (struct tree_set){has, set, __builtin_popcount(set)};
}

static void trees_are_the_orders_left(void **state)
{
	static struct orders orders;
	uint64_t seed = draws_seed(1);
	long count = draws(400), empty = 0, turned = 0;
	for (long n = 0; n < count; n++) {
		struct random random = random_open(seed, (uint64_t)n);
		struct arena *arena = arena_open();
		int leaves = 2 + (int)random_below(&random, LEAVES_MOST - 1);
		int order[LEAVES_MOST] = {0}, ranks[LEAVES_MOST] = {0};
		const struct tree *children[LEAVES_MOST];
		bool has[LEAVES_MOST];
		for (int i = 0; i < leaves; i++)
			children[i] = tree_leaf(arena, i, (uint64_t)i);
		const struct tree *tree = tree_any(arena, children, leaves);
		orders.count = 0;
		orders.leaves = leaves;
		list_orders(&orders, order, 0, 0);
		for (int s = 0; s < SETS; s++) {
			unsigned set = 1 + (unsigned)random_below(&random, (1U << leaves) - 1);
			double inside;
			struct tree_set tree_set = as_set(has, leaves, set);
			const struct tree *instead = tree_together(
				arena, tree, &tree_set, tree_leaf(arena, leaves, 99), &inside);
			tree = tree_together(arena, tree, &tree_set, NULL, &inside);
			keep_together(&orders, set);
			if ((tree == NULL) != (orders.count == 0) || !tree != !instead)
				fail_msg(
					"draw %ld, set %d: %d orders are left", n, s, orders.count);
			empty += !tree;
			if (!tree)
				break;
			int replaced = count_replaced(&orders, set);
			if (lround(exp(tree->freedom)) != orders.count ||
				lround(exp(instead->freedom)) != replaced)
				fail_msg("draw %ld, set %d: %.1f of %d orders, %.1f of %d", n, s,
					exp(tree->freedom), orders.count, exp(instead->freedom),
					replaced);
			assert_int_equal(tree_order(tree, ranks, order), leaves);
			if (!is_listed(&orders, order))
				fail_msg("draw %ld, set %d: not one of the orders", n, s);
			const int *wanted =
				orders.at[random_below(&random, (uint64_t)orders.count)];
			int wanted_ranks[LEAVES_MOST];
			for (int k = 0; k < leaves; k++)
				wanted_ranks[wanted[k]] = k;
			tree_order(tree_copy(arena, tree), wanted_ranks, order);
			if (memcmp(order, wanted, (size_t)leaves * sizeof *order))
				fail_msg("draw %ld, set %d: an order was not found", n, s);
			turned += tree->kind == TREE_ROW;
		}
		arena_close(arena);
	}
	if (draws_are_many(count))
		assert_true(empty > count / 10 && turned > count / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_the_orders_left)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
