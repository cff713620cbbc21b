#include "base/arena.h"
#include "search/evaluate.h"
#include "tests/support/set_up.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include "tests/test.h"

/* A matrix product of three extents: how would a plan of it be run? */
static enum sim_mode mode_of(int64_t m, int64_t k, int64_t n)
{
	const struct workload *workload =
		workload_given(test_arena, arena_format(test_arena,
						   "workload:\n"
						   "  name: product\n"
						   "  dimensions: {m: %lld, k: %lld, n: %lld}\n"
						   "  ops:\n"
						   "    - c[m,n] = sum(k) a[m,k] * b[k,n]\n",
						   (long long)m, (long long)k, (long long)n));
	struct score score = {.computes = op_computes(&workload->ops[0])};
	return evaluate_mode(workload, spyre_arch(test_arena, 1), &score);
}

static void few_numbers_are_computed(void **state)
{
	assert_int_equal(mode_of(512, 512, 512), SIM_DATA);
}

static void many_operations_get_identities(void **state)
{
	assert_int_equal(mode_of(1024, 1024, 1024), SIM_IDENTITY);
}

/* 64 Mi elements of `a` and few operations: the memory is what counts. */
static void large_tensors_get_identities(void **state)
{
	assert_int_equal(mode_of(1 << 20, 64, 1), SIM_IDENTITY);
}

static void huge_tensors_are_only_counted(void **state)
{
	assert_int_equal(mode_of(1 << 20, 1 << 10, 64), SIM_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_numbers_are_computed),
		cmocka_unit_test(many_operations_get_identities),
		cmocka_unit_test(large_tensors_get_identities),
		cmocka_unit_test(huge_tensors_are_only_counted),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
