#include "base/arena.h"
#include "search/solver.h"
#include "tests/support/buffers.h"

#include <string.h>

#include "tests/test.h"

/*
 * Hand-made packings and the addresses that each solver must find.
 */
enum { BUFFERS_MOST = 6 };

struct row {
	const char *name;
	int64_t capacity, alignment;
	size_t count;
	struct buffer buffers[BUFFERS_MOST];
	int64_t greedy[BUFFERS_MOST], firstfit[BUFFERS_MOST], bestfit[BUFFERS_MOST];
};

#define NONE UNPLACED

static const struct row rows[] = {
	{"everything fits side by side", 1024, 128, 3,
		{BUFFER(200, 0, 4), BUFFER(300, 0, 4), BUFFER(100, 1, 4)}, {0, 256, 640},
		{128, 384, 0}, {128, 384, 0}},
	{"too large for the capacity", 1024, 128, 2, {BUFFER(1025, 0, 2), BUFFER(1024, 0, 2)},
		{NONE, 0}, {NONE, 0}, {NONE, 0}},
	{"one byte too many after alignment", 256, 128, 2, {BUFFER(100, 0, 2), BUFFER(129, 0, 2)},
		{0, NONE}, {0, NONE}, {0, NONE}},
	{"a chain in place", 1024, 128, 3,
		{BUFFER(1024, 0, 2), CHILD(1024, 1, 3, 0), CHILD(1024, 2, 4, 1)}, {0, 0, 0},
		{0, 0, 0}, {0, 0, 0}},
	{"two children, one place", 1024, 128, 3,
		{BUFFER(512, 0, 2), CHILD(512, 1, 3, 0), CHILD(512, 1, 3, 0)}, {0, 0, 512},
		{0, 0, 512}, {0, 0, 512}},
	{"a larger child goes elsewhere", 1024, 128, 2, {BUFFER(128, 0, 2), CHILD(256, 1, 3, 0)},
		{0, 128}, {NONE, NONE}, {NONE, NONE}},
	{"the tail of a parent stays its own to its end", 1024, 128, 3,
		{BUFFER(512, 0, 2), CHILD(128, 1, 3, 0), BUFFER(128, 1, 3)}, {0, 0, 512},
		{0, 0, 512}, {0, 0, 512}},
	{"greedy is caught by fragmentation", 768, 128, 3,
		{BUFFER(256, 0, 3), BUFFER(256, 1, 5), BUFFER(512, 3, 5)}, {0, 256, NONE},
		{0, 512, 0}, {0, 512, 0}},
	{"top before hole", 1024, 128, 4,
		{BUFFER(128, 0, 9), BUFFER(128, 0, 2), BUFFER(128, 0, 9), BUFFER(128, 3, 9)},
		{0, 128, 256, 384}, {128, 0, 256, 0}, {128, 0, 256, 0}},
	{"best fit fills the gap that is just large enough", 1024, 128, 4,
		{BUFFER(512, 0, 2), BUFFER(128, 0, 5), BUFFER(384, 3, 9), BUFFER(128, 4, 12)},
		{0, 512, 0, 640}, {0, 512, 0, 384}, {0, 512, 640, 0}},
	{"a life of no length", 1024, 128, 2, {BUFFER(128, 2, 2), BUFFER(128, 3, 5)}, {0, 128},
		{NONE, 0}, {NONE, 0}},
};

static struct answer place(
	struct arena *arena, const struct packing *packing, const char *name, uint64_t budget)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	const struct solver *solver = solver_find(STAGE_PLACE, name);
	assert_non_null(solver);
	return solve(solver, &problem, budget, 1, arena);
}

static struct packing named(struct arena *arena, const struct row *row)
{
	struct buffer *buffers = arena_copy(arena, row->buffers, sizeof row->buffers);
	for (size_t i = 0; i < row->count; i++)
		buffers[i].name = arena_format(arena, "b%zu", i);
	return (struct packing){.capacity = row->capacity,
		.alignment = row->alignment,
		.count = row->count,
		.buffers = buffers};
}

static void check_row(
	struct arena *arena, const struct row *row, const char *solver, const int64_t *expected)
{
	struct packing packing = named(arena, row);
	struct answer answer = place(arena, &packing, solver, 0);
	for (size_t i = 0; i < row->count; i++) {
		int64_t address = answer.candidate_count
					  ? answer.candidates[0].placement->addresses[i]
					  : UNPLACED;
		if (address != expected[i])
			fail_msg("%s, %s: buffer %zu lies at %lld, expected %lld", row->name,
				solver, i, (long long)address, (long long)expected[i]);
	}
	if (answer.candidate_count)
		assert_int_equal(packing_check(&packing, answer.candidates[0].placement).a, -1);
}

static void hand_made_layouts_come_out(void **state)
{
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct arena *arena = arena_open();
		check_row(arena, &rows[r], "greedy", rows[r].greedy);
		check_row(arena, &rows[r], "firstfit", rows[r].firstfit);
		check_row(arena, &rows[r], "bestfit", rows[r].bestfit);
		arena_close(arena);
	}
}

static void the_value_is_what_stays_outside(void **state)
{
	struct arena *arena = arena_open();
	struct buffer buffers[] = {
		{.name = "a", .size = 700, .end = 2}, {.name = "b", .size = 400, .end = 2}};
	struct packing packing = {
		.capacity = 1024, .alignment = 128, .count = 2, .buffers = buffers};
	struct answer answer = place(arena, &packing, "greedy", 0);
	assert_int_equal((int64_t)answer.values[0], 400);
	assert_true(answer.ticks > 0);
	assert_false(answer.cut);
	arena_close(arena);
}

static void a_wrong_declaration_is_refused_by_name(void **state)
{
	struct arena *arena = arena_open();
	const int parent = 0;
	struct buffer buffers[] = {
		{.name = "early", .size = 128, .end = 5}, {.name = "late",
								  .size = 128,
								  .start = 3,
								  .end = 9,
								  .parent_count = 1,
								  .parents = &parent}};
	struct packing packing = {
		.capacity = 1024, .alignment = 128, .count = 2, .buffers = buffers};
	struct answer answer = place(arena, &packing, "bestfit", 0);
	assert_int_equal(answer.candidate_count, 0);
	assert_int_equal(answer.complaint_count, 1);
	assert_true(answer.complaints[0].error);
	assert_string_equal(answer.complaints[0].text,
		"'late' cannot take the place of 'early': it starts at 3, so its parent must end "
		"at 4, not 5");
	arena_close(arena);
}

static void a_cut_run_offers_what_it_placed(void **state)
{
	const char *const names[] = {"greedy", "firstfit", "bestfit"};
	struct buffer buffers[50] = {0};
	for (int i = 0; i < 50; i++)
		buffers[i] = (struct buffer){.name = "b", .size = 128, .start = i, .end = i + 9};
	struct packing packing = {
		.capacity = 4096, .alignment = 128, .count = 50, .buffers = buffers};
	for (int s = 0; s < 3; s++) {
		struct arena *arena = arena_open();
		struct answer answer = place(arena, &packing, names[s], 300);
		assert_true(answer.cut);
		assert_int_equal(answer.candidate_count, 1);
		int placed = 0;
		for (int i = 0; i < 50; i++)
			placed += answer.candidates[0].placement->addresses[i] != UNPLACED;
		assert_in_range(placed, 1, 49);
		assert_int_equal(packing_check(&packing, answer.candidates[0].placement).a, -1);
		arena_close(arena);
	}
}

static void nothing_to_place_is_placed(void **state)
{
	const char *const names[] = {"greedy", "firstfit", "bestfit"};
	struct packing packing = {.capacity = 100, .alignment = 1};
	for (int s = 0; s < 3; s++) {
		struct arena *arena = arena_open();
		assert_int_equal(place(arena, &packing, names[s], 0).candidate_count, 1);
		arena_close(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_made_layouts_come_out),
		cmocka_unit_test(the_value_is_what_stays_outside),
		cmocka_unit_test(a_wrong_declaration_is_refused_by_name),
		cmocka_unit_test(a_cut_run_offers_what_it_placed),
		cmocka_unit_test(nothing_to_place_is_placed),
	};
	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
