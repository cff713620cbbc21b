#include "solvers/divide/two_pass.h"
#include "tests/support/sample.h"

#include "tests/test.h"

static const int64_t MIB = INT64_C(1) << 20;
static const int64_t LIMIT = INT64_C(256) << 20;

#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

static const struct iteration *iterate(struct arena *arena, const struct workload *workload)
{
	const char *why = NULL;
	const struct iteration *iteration = iteration_make(arena, workload, workload->ops, &why);
	if (why)
		print_message("%s\n", why);
	assert_non_null(iteration);
	return iteration;
}

static const struct iteration *sample(struct arena *arena, enum op_kind kind, const char *operands,
	const char *loops, const int64_t *extents)
{
	return iterate(arena, sample_op(arena, kind, DTYPE_FP16, operands, loops, extents));
}

static void assert_splits(const int64_t *got, const int64_t *expected, int count)
{
	for (int l = 0; l < count; l++)
		assert_int_equal(got[l], expected[l]);
}

/* [200, 300] fp16 is stored as [5 stick columns, 200 rows, 64]. */
TEST(span_is_set_by_the_outermost_dimension_that_a_core_walks)
{
	const struct iteration *i = sample(arena, OP_MAP, "mn->mn", "mn", EXTENTS(200, 320));
	assert_int_equal(iteration_span(i, 0, EXTENTS(1, 1)), 5 * 200 * 64 * 2);
	assert_int_equal(iteration_span(i, 0, EXTENTS(8, 1)), 5 * 200 * 64 * 2);
	assert_int_equal(iteration_span(i, 0, EXTENTS(1, 5)), 200 * 64 * 2);
	assert_int_equal(iteration_span(i, 0, EXTENTS(8, 5)), 25 * 64 * 2);
	assert_int_equal(iteration_span(i, 0, EXTENTS(200, 5)), 2);
}

TEST(span_counts_elements_as_the_host_stores_them)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_INT64, "mn->mn", "mn", EXTENTS(16, 64));
	sample_lay_out(workload, 1, DTYPE_BOOL, NULL);
	const struct iteration *i = iterate(arena, workload);
	assert_int_equal(iteration_span(i, 0, EXTENTS(1, 1)), 2 * 16 * 32 * 8);
	assert_int_equal(iteration_span(i, 1, EXTENTS(1, 1)), 16 * 64 * 1);
}

TEST(a_broadcast_operand_spans_what_it_has)
{
	const struct iteration *i = sample(arena, OP_MAP, "mn,.n,m.->mn", "mn", EXTENTS(100, 640));
	assert_int_equal(iteration_span(i, 1, EXTENTS(1, 1)), 10 * 64 * 2);
	assert_int_equal(iteration_span(i, 2, EXTENTS(1, 1)), 100 * 64 * 2);
	assert_int_equal(iteration_span(i, 2, EXTENTS(4, 1)), 25 * 64 * 2);
}

TEST(sticks_are_counted_by_the_most_elements_per_stick)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP32, "mn->mn", "mn", EXTENTS(5, 200));
	sample_lay_out(workload, 0, DTYPE_FP8, NULL);
	const struct iteration *i = iterate(arena, workload);
	assert_int_equal(i->stick[0], 0);
	assert_int_equal(i->stick[1], 128);
	assert_int_equal(i->size[1], 2);
}

TEST(coordinates_print_as_functions_of_the_loops)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "mn->mn", "mn", EXTENTS(192, 1000));
	sample_lay_out(workload, 1, DTYPE_FP16, (const int[]){1, 0});
	const struct iteration *i = iterate(arena, workload);
	const char *expected[2][3] = {
		{"floor(n/64)", "m", "Mod(n, 64)"}, {"floor(m/64)", "n", "Mod(m, 64)"}};
	for (int o = 0; o < 2; o++)
		for (int d = 0; d < 3; d++)
			assert_string_equal(
				coordinate_print(arena, i->op, &i->coordinates[o].dims[d]),
				expected[o][d]);
}

/* A host array of 32 x 64 elements, read whole by a loop of 2048: a flattened view. */
TEST(one_loop_can_walk_several_dimensions)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "mn->mn", "mn", EXTENTS(32, 128));
	struct op *op = (struct op *)workload->ops;
	op->loop_count = 1;
	op->loops[0] = (struct loop){.name = "v", .extent = 32 * 128};
	op->reads[0].linear = op->writes[0].linear = (struct affine){.coefficient = {1}};
	const struct coordinates c =
		coordinates_make(&workload->tensors[0].layout, op, &op->reads[0]);
	const char *expected[] = {"floor(Mod(v, 128)/64)", "floor(v/128)", "Mod(v, 64)"};
	for (int d = 0; d < 3; d++)
		assert_string_equal(coordinate_print(arena, op, &c.dims[d]), expected[d]);
	assert_int_equal(coordinate_values(&c.dims[1], EXTENTS(256)), 2);
}

/* Every second of 55 elements: the last of 28 is element 54, in the same row. */
TEST(a_stride_that_ends_in_its_row_walks_no_other)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "mn->mn", "mn", EXTENTS(192, 55));
	struct op *op = (struct op *)workload->ops;
	op->loops[1].extent = 28;
	op->reads[0].linear.coefficient[1] = 2;
	const char *expected[2][3] = {
		{"0", "m", "2*n"}, {"0", "m + floor(2*n/55)", "Mod(2*n, 55)"}};
	for (int beyond = 0; beyond < 2; beyond++) {
		op->loops[1].extent += beyond;
		const struct coordinates c =
			coordinates_make(&workload->tensors[0].layout, op, &op->reads[0]);
		for (int d = 0; d < 3; d++)
			assert_string_equal(
				coordinate_print(arena, op, &c.dims[d]), expected[beyond][d]);
	}
}

/* Element 3 * 1000 + 2 * 64 + lane of the array is its row 3, stick 2. */
TEST(an_offset_has_a_place_in_every_dimension)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "mn->mn", "mn", EXTENTS(192, 1000));
	struct op *op = (struct op *)workload->ops;
	op->reads[0].linear.offset = 3128;
	const struct coordinates c =
		coordinates_make(&workload->tensors[0].layout, op, &op->reads[0]);
	const char *expected[] = {"floor(n/64) + 2", "m + 3", "Mod(n, 64)"};
	for (int d = 0; d < 3; d++)
		assert_string_equal(coordinate_print(arena, op, &c.dims[d]), expected[d]);
	op->reads[0].linear.offset = 3129;
	const char *why = NULL;
	assert_null(iteration_make(arena, workload, op, &why));
	assert_string_equal(why, "the stick of 'a' is walked by Mod(n, 64) + 1; a device can walk "
				 "a loop, or a loop modulo 64");
}

TEST(a_stick_walked_by_two_loops_is_refused)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "mn->mn", "mn", EXTENTS(8, 64));
	struct op *op = (struct op *)workload->ops;
	op->reads[0].linear.coefficient[0] = 1;
	const char *why = NULL;
	assert_null(iteration_make(arena, workload, op, &why));
	assert_string_equal(why, "the stick of 'a' is walked by m + n; a device can walk a loop, "
				 "or a loop modulo 64");
}

/* 1024 x 8192 sticks of a: 1 GiB; four ways bring it to the limit exactly. */
TEST(least_division_takes_the_largest_span_within_the_limit)
{
	const struct iteration *i = sample(arena, OP_MAP, "mn->mn", "mn", EXTENTS(8192, 65536));
	struct span_search search = span_search(arena, i, LIMIT, 32);
	assert_splits(search.splits, EXTENTS(1, 4), 2);
	assert_int_equal(search.considered, 1 << 1);
	assert_int_equal(search.unmet, 0);
	search = span_search(arena, i, LIMIT - 1, 32);
	assert_splits(search.splits, EXTENTS(1, 8), 2);
	search = span_search(arena, i, LIMIT, 3);
	assert_splits(search.splits, EXTENTS(1, 2), 2);
	assert_int_equal(search.unmet, 3);
}

/* Rows r + s of a: 127 in all, 95 with either loop halved. */
TEST(equal_spans_leave_the_first_combination)
{
	struct workload *workload =
		sample_op(arena, OP_REDUCE, DTYPE_FP16, "rn->.n", "nrs", EXTENTS(64, 64, 64));
	struct op *op = (struct op *)workload->ops;
	op->reads[0].linear.coefficient[2] = 64;
	op->reads[0].host[0].coefficient[2] = 1;
	const struct iteration *i = iterate(arena, workload);
	assert_int_equal(iteration_span(i, 0, EXTENTS(1, 1, 1)), 127 * 128);
	struct span_search search = span_search(arena, i, 100 * 128, 32);
	assert_splits(search.splits, EXTENTS(1, 1, 2), 3);
	assert_int_equal(search.considered, 1 << 1 | 1 << 2);
}

TEST(two_reductions_for_the_span_are_refused)
{
	const struct iteration *i =
		sample(arena, OP_REDUCE, "mkn->m..", "mkn", EXTENTS(8192, 3, 65536));
	struct two_pass made = two_pass_divide(arena, i, LIMIT, 32, true);
	assert_true(made.refused);
	assert_int_equal(made.search.reductions, 1 << 1 | 1 << 2);
}

TEST(prime_stick_counts_ask_for_one_more_stick)
{
	const struct iteration *i =
		sample(arena, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(8, 769 * 64, 4096));
	int64_t least[] = {1, 1, 1};
	struct span_padding padding = padding_find(arena, i, 1, least, LIMIT, 32);
	assert_int_equal(padding.loop, 1);
	assert_int_equal(padding.size, 770);
	assert_int_equal(padding.extent, 770 * 64);
	assert_int_equal(padding.split, 22);
	assert_true(iteration_span(i, 1, least) > LIMIT);
}

TEST(padding_knows_when_it_cannot_help)
{
	const struct iteration *i = sample(arena, OP_MAP, "mn->mn", "mn", EXTENTS(65536, 65536));
	int64_t least[] = {1, 1};
	struct span_padding padding = padding_find(arena, i, 0, least, LIMIT, 4);
	assert_int_equal(padding.loop, 1);
	assert_int_equal(padding.extent, 0);
}

/* Rows that are not sticks: 67 * 1021 elements of dimension c, which comes first on the device. */
TEST(padding_of_elements_takes_the_least_size_that_divides)
{
	const struct iteration *i =
		sample(arena, OP_MAP, "bcn->bcn", "bcn", EXTENTS(64, 1021, 8192));
	int64_t least[] = {1, 1, 1};
	assert_int_equal(iteration_span(i, 0, least), 1021 * MIB);
	struct span_padding padding = padding_find(arena, i, 0, least, LIMIT, 32);
	assert_int_equal(padding.loop, 1);
	assert_int_equal(padding.extent, 1022);
	assert_int_equal(padding.split, 14);
}

static bool k_fast(struct arena *arena, int64_t m, int64_t n, int64_t k, int64_t cores,
	const int64_t *least, int64_t *splits)
{
	const struct iteration *i = sample(arena, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(m, n, k));
	return k_fast_divide(i, least, cores, splits);
}

TEST(k_fast_divides_few_rows_by_n_and_k)
{
	int64_t ones[] = {1, 1, 1}, splits[3];
	assert_true(k_fast(arena, 64, 1024, 4096, 32, ones, splits));
	assert_splits(splits, EXTENTS(1, 16, 2), 3);
	assert_true(k_fast(arena, 64, 192, 4096, 24, ones, splits)); /* 3 sticks of N */
	assert_splits(splits, EXTENTS(1, 3, 8), 3);
	assert_true(k_fast(arena, 512, 64, 2048, 32, ones, splits)); /* N is the larger */
	assert_splits(splits, EXTENTS(8, 1, 4), 3);
}

TEST(k_fast_stays_within_its_conditions)
{
	int64_t ones[] = {1, 1, 1}, splits[3];
	assert_true(k_fast(arena, 32, 1024, 4096, 32, ones, splits));
	assert_false(k_fast(arena, 31, 1024, 4096, 32, ones, splits)); /* under a row each */
	assert_true(k_fast(arena, 512, 1024, 4096, 32, ones, splits));
	assert_false(k_fast(arena, 513, 1024, 4096, 32, ones, splits)); /* above 16 */
	assert_true(k_fast(arena, 128, 2048, 4096, 32, ones, splits));
	assert_false(k_fast(arena, 129, 2048, 4096, 32, ones, splits)); /* above 4, N wide */
	assert_true(k_fast(arena, 129, 30 * 64, 4096, 32, ones, splits));
	assert_true(k_fast(arena, 64, 1024, 2048, 32, ones, splits));
	assert_false(k_fast(arena, 64, 1024, 1984, 32, ones, splits)); /* 31 sticks of K */
	assert_false(k_fast(arena, 64, 1023, 4096, 32, ones, splits)); /* broken sticks */
	assert_false(k_fast(arena, 64, 1024, 4095, 32, ones, splits));
	assert_false(k_fast(arena, 64, 1024, 4096, 31, ones, splits)); /* a prime */
	assert_false(k_fast(arena, 64, 1024, 4096, 32, EXTENTS(2, 1, 1), splits));
	assert_false(k_fast(arena, 64, 1024, 4096, 32, EXTENTS(1, 1, 2), splits));
	assert_true(k_fast(arena, 64, 1024, 4096, 32, EXTENTS(1, 2, 1), splits));
}

TEST(k_fast_knows_plain_products_only)
{
	int64_t ones[] = {1, 1, 1, 1}, splits[4];
	assert_false(k_fast_divide(
		sample(arena, OP_EINSUM, "bmk,bkn->bmn", "bmnk", EXTENTS(2, 64, 1024, 4096)), ones,
		32, splits));
	assert_false(
		k_fast_divide(sample(arena, OP_REDUCE, "mnk->mn.", "mnk", EXTENTS(64, 1024, 4096)),
			ones, 32, splits));
}

TEST(reduction_comes_first_on_the_ring_for_einsums_of_three_loops_only)
{
	const struct iteration *product =
		sample(arena, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(64, 1024, 4096));
	const struct iteration *row =
		sample(arena, OP_EINSUM, ".k,kn->.n", "nk", EXTENTS(1024, 4096));
	const struct iteration *sum = sample(arena, OP_REDUCE, "mk->m.", "mk", EXTENTS(64, 4096));
	assert_int_equal(k_fast_first(product->op, EXTENTS(4, 4, 2)), 2);
	assert_int_equal(k_fast_first(product->op, EXTENTS(4, 4, 1)), -1);
	assert_int_equal(k_fast_first(row->op, EXTENTS(4, 4)), -1);
	assert_int_equal(k_fast_first(sum->op, EXTENTS(4, 4)), -1);
}

/* 37 and 6 elements, 11 sticks: 37 is prime and above all core counts. */
TEST(odd_sizes_use_what_divides_them_on_any_number_of_cores)
{
	const struct iteration *i =
		sample(arena, OP_MAP, "abn->abn", "abn", EXTENTS(37, 6, 11 * 64 - 5));
	for (int64_t cores = 1; cores <= 32; cores++) {
		struct two_pass made = two_pass_divide(arena, i, LIMIT, cores, true);
		int64_t sticks = cores >= 11 ? 11 : 1;
		int64_t left = cores / sticks;
		int64_t b = left >= 6 ? 6 : left >= 3 ? 3 : left;
		assert_splits(made.final.splits, EXTENTS(1, b, sticks), 3);
		assert_int_equal(made.final.stored, cores > 1);
	}
}

TEST(at_most_one_reduction_gets_cores)
{
	const struct iteration *i =
		sample(arena, OP_REDUCE, "mnk->m..", "mnk", EXTENTS(2, 12, 7 * 64));
	struct two_pass made = two_pass_divide(arena, i, LIMIT, 32, true);
	assert_splits(made.final.splits, EXTENTS(2, 12, 1), 3);
}

TEST(equal_sizes_get_cores_in_the_order_of_the_loops)
{
	const struct distribution given = distribute(
		4, EXTENTS(6, 12, 6, 12), 1 << 0 | 1 << 1 | 1 << 2, EXTENTS(1, 1, 1, 1), 32);
	assert_splits(given.splits, EXTENTS(2, 12, 1, 1), 4);
	const struct priorities order =
		priorities_make(4, EXTENTS(6, 12, 6, 12), 1 << 0 | 1 << 2, EXTENTS(1, 1, 1, 1));
	assert_int_equal(order.output[0], 0);
	assert_int_equal(order.output[1], 2);
	assert_int_equal(order.reduction[0], 1);
	assert_int_equal(order.reduction[1], 3);
}

TEST(a_least_split_above_the_cores_is_dropped)
{
	const struct distribution given =
		distribute(3, EXTENTS(16, 16, 4), 1 << 0 | 1 << 1, EXTENTS(4, 16, 1), 8);
	assert_splits(given.splits, EXTENTS(4, 1, 2), 3);
	assert_int_equal(given.dropped, 1 << 1);
	assert_int_equal(given.cores, 8);
}

TEST(loops_of_one_element_take_no_split_from_their_namesake)
{
	const int64_t coefficients[] = {8, 8}, none[] = {0, 0};
	struct keyed_splits keyed = keyed_encode(2, coefficients, none, EXTENTS(1, 4));
	int64_t splits[2];
	keyed_decode(&keyed, 2, EXTENTS(1, 16), coefficients, none, splits);
	assert_splits(splits, EXTENTS(1, 4), 2);
	keyed_decode(&keyed, 2, EXTENTS(2, 16), coefficients, none, splits);
	assert_splits(splits, EXTENTS(4, 4), 2);
}

TEST(a_reduction_that_the_first_read_lacks_is_lost)
{
	const struct iteration *i = sample(arena, OP_EINSUM, "m,mk->m", "mk", EXTENTS(2, 4096));
	struct two_pass made = two_pass_divide(arena, i, LIMIT, 32, true);
	assert_splits(made.given, EXTENTS(1, 32), 2);
	assert_splits(made.final.splits, EXTENTS(1, 1), 2);
}
