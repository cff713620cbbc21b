#include "model/graph/view.h"

#include <string.h>

#include "tests/test.h"

/* [512, 1024] fp16 is stored as [16, 512, 64]. */
static struct layout matrix(void)
{
	struct layout layout;
	const int64_t size[] = {512, 1024};
	assert_true(layout_make(DTYPE_FP16, size, 2, NULL, 0, &layout));
	return layout;
}

static struct view view(const char *text)
{
	struct view parsed;
	const char *why = view_parse(text, &parsed);
	if (why)
		fail_msg("'%s': %s", text, why);
	return parsed;
}

TEST(an_undivided_view_is_the_whole_tensor)
{
	struct layout layout = matrix();
	struct view whole = view("cores 1");
	assert_int_equal(view_bytes(&layout, &whole), 512 * 1024 * 2);
	assert_int_equal(view_first(&layout, &whole, 1, 0), 0);
	assert_int_equal(view_size(&layout, &whole, 1), 512);
}

TEST(cores_hold_equal_parts)
{
	struct layout layout = matrix();
	struct view cut = view("cores 32: dim 0 / 4 by 1, dim 1 / 8 by 4");
	assert_int_equal(view_bytes(&layout, &cut), 512 * 1024 * 2 / 32);
	for (int core = 0; core < 32; core++) {
		assert_int_equal(view_first(&layout, &cut, 0, core), core % 4 * 4);
		assert_int_equal(view_first(&layout, &cut, 1, core), core / 4 * 64);
		assert_int_equal(view_first(&layout, &cut, 2, core), 0);
	}
	assert_int_equal(view_size(&layout, &cut, 0), 4);
	assert_int_equal(view_size(&layout, &cut, 1), 64);
	assert_int_equal(view_size(&layout, &cut, 2), 64);
}

TEST(a_broadcast_wraps_around)
{
	struct layout layout = matrix();
	struct view cut = view("cores 8: dim 1 / 2 by 2");
	static const int64_t first[] = {0, 0, 256, 256, 0, 0, 256, 256};
	for (int core = 0; core < 8; core++)
		assert_int_equal(view_first(&layout, &cut, 1, core), first[core]);
	assert_int_equal(view_bytes(&layout, &cut), 512 * 1024);
}

/* Views are compared as functions of the core: against that very definition. */
static bool same_function(const struct view *a, const struct view *b)
{
	struct layout layout = matrix();
	if (a->cores != b->cores)
		return false;
	for (int d = 0; d < 3; d++) {
		if (view_size(&layout, a, d) != view_size(&layout, b, d))
			return false;
		for (int64_t core = 0; core < a->cores; core++) {
			if (view_holds(a, core) != view_holds(b, core) ||
				view_first(&layout, a, d, core) != view_first(&layout, b, d, core))
				return false;
		}
	}
	return true;
}

TEST(equality_is_that_of_functions)
{
	static const char *const texts[] = {
		"cores 1",
		"cores 8",
		"cores 8: dim 0 / 1 by 1",
		"cores 8: dim 0 / 1 by 4",
		"cores 8: dim 0 / 2 by 1",
		"cores 8: dim 0 / 2 by 2",
		"cores 8: dim 0 / 2 by 4",
		"cores 8: dim 0 / 4 by 4",
		"cores 8: dim 0 / 2 by 8",
		"cores 8: dim 0 / 2 by 16",
		"cores 8: dim 1 / 2 by 1",
		"cores 4: dim 0 / 2 by 1",
		"cores 8: dim 0 / 2 by 1, dim 1 / 4 by 2",
		"cores 8: dim 0 / 2 by 1, dim 1 / 4 by 1",
		"cores 8 only / 2 by 4: dim 0 / 2 by 1",
		"cores 8 only / 4 by 4: dim 0 / 2 by 1",
		"cores 8 only / 2 by 2: dim 0 / 2 by 1",
		"cores 8 only / 2 by 8: dim 0 / 2 by 1",
		"cores 8 only / 3 by 9: dim 0 / 2 by 1",
	};
	int count = sizeof texts / sizeof *texts, equal = 0;
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < count; j++) {
			struct view a = view(texts[i]), b = view(texts[j]);
			if (view_equal(&a, &b) != same_function(&a, &b))
				fail_msg("'%s' and '%s'", texts[i], texts[j]);
			equal += i != j && view_equal(&a, &b);
		}
	}
	assert_int_equal(equal, 16);
}

TEST(text_comes_back_the_same)
{
	static const char *const texts[] = {"cores 1", "cores 32: dim 0 / 4 by 1, dim 1 / 8 by 4",
		"cores 32 only / 8 by 4", "cores 32 only / 8 by 4: dim 1 / 4 by 1"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct view parsed = view(texts[i]);
		assert_string_equal(view_print(arena, &parsed), texts[i]);
	}
}

TEST(other_text_is_refused)
{
	static const char *const texts[] = {"", "cores", "cores -1", "core 3", "cores 3 4",
		"cores 4:", "cores 4: dim", "cores 4: dim 0 / 2", "cores 4: dim 0 / 2 by 1,",
		"cores 4: dim 99999999999 / 2 by 1", "cores 99999999999999999999", "cores 8 only",
		"cores 8 only / 1 by 4", "cores 8 only / 2", "cores 8: only / 2 by 4"};
	struct view parsed;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_non_null(view_parse(texts[i], &parsed));
}

TEST(a_view_must_fit_its_layout)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"cores 4: dim 0 / 4 by 1", NULL},
		{"cores 4 only / 2 by 0", "'only / N by D' needs a divisor D of at least 1"},
		{"cores 0", "a view needs a core at least"},
		{"cores 4: dim 2 / 2 by 1",
			"dimension 2 cannot be divided; those outside the stick are 0 to 1"},
		{"cores 4: dim 1 / 2 by 1, dim 0 / 2 by 1", "the dimensions of a view ascend"},
		{"cores 4: dim 0 / 3 by 1", "dimension 0 has 16 parts, not 3"},
		{"cores 4: dim 0 / 0 by 1", "dimension 0 has 16 parts, not 0"},
	};
	struct layout layout = matrix();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct view parsed = view(rows[i].text);
		const char *why = view_check(arena, &layout, &parsed);
		if (!rows[i].why)
			assert_null(why);
		else
			assert_string_equal(why, rows[i].why);
	}
}
