#include "cost/graph/cost.h"
#include "tests/support/plan_text.h"

#include "tests/test.h"

#define PRODUCT "{dimensions: {m: 4, n: 128, k: 128}, ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}"

/* The plan of one op costs what the op does, and the machine's overheads. */
static void check_alike(struct arena *arena, const char *mapping, const char *const *stays)
{
	const char *const mappings[] = {mapping, NULL};
	const struct plan *plan = plan_text(arena, 4, PRODUCT, mappings, stays);
	struct inner_question question = inner_nest_question(arena, plan, 0);
	struct plan_cost cost;
	struct op_price price;
	assert_true(cost_plan(plan, arena, &cost));
	assert_true(op_price(&question, arena, &price));
	struct counts counts = {1, &price.counts};
	assert_true(counts_equal(&cost.counts, &counts));
	assert_true(cost.score.energy_pj == price.energy_pj);
	assert_int_equal(cost.score.hbm_bytes, price.hbm_bytes);
	assert_true(price.bound <= cost.phases[0].cycles);
	assert_true(price.estimate >= price.bound);
	assert_null(price.why);
}

TEST(the_price_of_an_op_is_that_of_its_plan)
{
	static const char *const none[] = {NULL};
	static const char *const stays[] = {
		"c at 0 steps 0 1, cores 4: dim 0 / 2 by 1, dim 1 / 2 by 2", NULL};
	check_alike(arena, "", none);
	check_alike(arena, "core: m2 n2 | LX: k2", none);
	check_alike(arena, "core: k2 | LX: m2 n2", none);
	check_alike(arena, "core: m2 n2 | LX: k2", stays);
}

TEST(room_is_that_of_tiles_and_accumulators)
{
	static const char *const none[] = {NULL}, *const mappings[] = {"LX: k2", NULL};
	struct inner_question question =
		inner_nest_question(arena, plan_text(arena, 1, PRODUCT, mappings, none), 0);
	struct op_price price;
	assert_true(op_price(&question, arena, &price));
	assert_int_equal(price.room, 2 * 4 * 128 + 2 * 64 * 2 * 128 + 8 * 128 + 16 * 128);
}
