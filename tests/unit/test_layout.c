#include "model/machine/layout.h"
#include "tests/support/lookups.h"

#include <string.h>

#include "tests/test.h"

/* The rule's own words, as a table: host size and order in, device layout out. */
static const struct {
	enum dtype dtype;
	int host_rank;
	int64_t host[LAYOUT_HOST_RANK_MOST];
	int order_count; /* 0: the default */
	int order[LAYOUT_HOST_RANK_MOST + 1];
	int rank;
	int64_t size[LAYOUT_RANK_MOST], map[LAYOUT_RANK_MOST];
} table[] = {
	{DTYPE_FP32, 0, {0}, 0, {0}, 2, {1, 32}, {-1, -1}},
	{DTYPE_FP16, 1, {65}, 0, {0}, 2, {2, 64}, {64, 1}},
	{DTYPE_FP16, 1, {1}, 0, {0}, 2, {1, 64}, {-1, -1}},
	{DTYPE_FP8, 1, {129}, 0, {0}, 2, {2, 128}, {128, 1}},
	{DTYPE_FP16, 2, {7, 130}, 0, {0}, 3, {3, 7, 64}, {64, 130, 1}},
	{DTYPE_FP16, 2, {130, 7}, 2, {1, 0}, 3, {3, 7, 64}, {448, 1, 7}},
	{DTYPE_FP16, 2, {9, 1}, 0, {0}, 3, {1, 9, 64}, {-1, 1, -1}},
	{DTYPE_FP16, 2, {1, 9}, 0, {0}, 3, {1, 1, 64}, {64, -1, 1}},
	{DTYPE_INT64, 3, {5, 3, 40}, 0, {0}, 4, {3, 2, 5, 32}, {40, 32, 120, 1}},
	{DTYPE_INT32, 4, {2, 3, 5, 40}, 0, {0}, 5, {3, 5, 2, 2, 32}, {200, 40, 32, 600, 1}},
	{DTYPE_FP16, 1, {9}, 2, {0, -1}, 3, {1, 9, 64}, {-1, 1, -1}},
	{DTYPE_BF16, 2, {4, 6}, 3, {0, 1, -1}, 4, {6, 1, 4, 64}, {1, -1, 6, -1}},
	{DTYPE_BF16, 2, {4, 6}, 3, {1, 0, -1}, 4, {4, 1, 6, 64}, {6, -1, 1, -1}},
};

TEST(layouts_follow_the_rule)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct layout layout;
		int64_t sticks = 1;
		assert_true(layout_make(table[i].dtype, table[i].host, table[i].host_rank,
			table[i].order_count ? table[i].order : NULL, table[i].order_count,
			&layout));
		assert_int_equal(layout.rank, table[i].rank);
		for (int d = 0; d < layout.rank; d++) {
			assert_int_equal(layout.size[d], table[i].size[d]);
			assert_int_equal(layout.stride_map[d], table[i].map[d]);
			if (d + 1 < layout.rank)
				sticks *= layout.size[d];
		}
		assert_int_equal(layout.sticks, sticks);
		assert_int_equal(layout.bytes, sticks * STICK_BYTES);
	}
}

TEST(only_a_stick_of_single_elements_is_sparse)
{
	static const int64_t column[] = {9, 1}, row[] = {1, 9}, vector[] = {9}, one[] = {1};
	static const int single[] = {0, -1};
	struct layout layout;
	layout_make(DTYPE_FP16, column, 2, NULL, 0, &layout);
	assert_true(layout.sparse);
	assert_int_equal(layout.stick_dim, -1);
	layout_make(DTYPE_FP16, row, 2, NULL, 0, &layout);
	assert_false(layout.sparse);
	assert_int_equal(layout.stick_dim, 1);
	layout_make(DTYPE_FP16, vector, 1, single, 2, &layout);
	assert_true(layout.sparse);
	layout_make(DTYPE_FP16, one, 1, NULL, 0, &layout);
	assert_false(layout.sparse);
}

TEST(every_element_has_a_place_of_its_own)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct layout layout;
		layout_make(table[i].dtype, table[i].host, table[i].host_rank,
			table[i].order_count ? table[i].order : NULL, table[i].order_count,
			&layout);
		static bool taken[1000][STICK_BYTES];
		memset(taken, 0, sizeof taken);
		int64_t host[LAYOUT_HOST_RANK_MOST] = {0};
		for (;;) {
			int lane;
			int64_t stick = layout_stick(&layout, host, &lane);
			assert_in_range(stick, 0, layout.sticks - 1);
			assert_in_range(lane, 0, layout.per_stick - 1);
			assert_true(!layout.sparse || lane == 0);
			assert_false(taken[stick][lane]);
			taken[stick][lane] = true;
			int h = layout.host_rank - 1;
			while (h >= 0 && ++host[h] == layout.host_size[h])
				host[h--] = 0;
			if (h < 0)
				break;
		}
	}
}

TEST(sticks_are_counted_in_row_major_order)
{
	static const int64_t size[] = {512, 8, 240}, at[] = {500, 7, 200};
	struct layout layout;
	int lane;
	layout_make(DTYPE_FP16, size, 3, NULL, 0, &layout); /* [8, 4, 512, 64] */
	assert_int_equal(layout_stick(&layout, at, &lane), (7 * 4 + 3) * 512 + 500);
	assert_int_equal(lane, 200 % 64);
}

TEST(impossible_layouts_are_refused)
{
	static const int64_t size[] = {4, 6}, huge[] = {INT64_MAX / 2, 4}, empty[] = {4, 0};
	static const int64_t wide[] = {2, INT64_MAX / 4};
	static const int twice[] = {0, 0}, strange[] = {0, 2}, few[] = {1}, back[] = {1, 0};
	static const int inner[] = {-1, 0};
	struct layout layout;
	assert_false(layout_make(DTYPE_FP16, size, 2, twice, 2, &layout));
	assert_false(layout_make(DTYPE_FP16, size, 2, strange, 2, &layout));
	assert_false(layout_make(DTYPE_FP16, size, 2, few, 1, &layout));
	assert_false(layout_make(DTYPE_FP16, size, 2, inner, 2, &layout));
	assert_false(layout_make(DTYPE_FP16, huge, 2, NULL, 0, &layout));
	assert_false(layout_make(DTYPE_FP16, wide, 2, back, 2, &layout));
	assert_false(layout_make(DTYPE_FP16, empty, 2, NULL, 0, &layout));
}

TEST(equal_layouts_store_equal_places)
{
	static const int64_t a[] = {4, 70}, b[] = {4, 71};
	struct layout first, second;
	layout_make(DTYPE_FP16, a, 2, NULL, 0, &first);
	layout_make(DTYPE_BOOL, a, 2, NULL, 0, &second); /* kept as fp16 */
	assert_true(layout_equal(&first, &second));
	layout_make(DTYPE_BF16, a, 2, NULL, 0, &second);
	assert_false(layout_equal(&first, &second));
	layout_make(DTYPE_FP16, b, 2, NULL, 0, &second);
	assert_false(layout_equal(&first, &second));
}

TEST(dtypes_have_names_and_sizes)
{
	enum dtype dtype;
	for (int d = 0; d < DTYPE_COUNT; d++) {
		assert_true(dtype_parse(dtype_names[d], &dtype));
		assert_int_equal(dtype, d);
		assert_int_equal(dtype_per_stick(dtype) * dtype_stored_bytes(dtype), STICK_BYTES);
	}
	assert_null(dtype_names[DTYPE_COUNT]);
	assert_false(dtype_parse("fp17", &dtype));
	assert_int_equal(dtype_host_bytes(DTYPE_BOOL), 1);
	assert_int_equal(dtype_stored_bytes(DTYPE_BOOL), 2);
	assert_int_equal(dtype_host_bytes(DTYPE_INT64), 8);
	assert_int_equal(dtype_stored_bytes(DTYPE_INT64), 4);
}
