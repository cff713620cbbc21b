#include "base/arena.h"
#include "search/drive/solver.h"
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

BARE_TEST(hand_made_layouts_come_out)
{
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct arena *arena = arena_open();
		check_row(arena, &rows[r], "greedy", rows[r].greedy);
		check_row(arena, &rows[r], "firstfit", rows[r].firstfit);
		check_row(arena, &rows[r], "bestfit", rows[r].bestfit);
		arena_close(arena);
	}
}

TEST(the_value_is_what_stays_outside)
{
	struct buffer buffers[] = {
		{.name = "a", .size = 700, .end = 2}, {.name = "b", .size = 400, .end = 2}};
	struct packing packing = {
		.capacity = 1024, .alignment = 128, .count = 2, .buffers = buffers};
	struct answer answer = place(arena, &packing, "greedy", 0);
	assert_int_equal((int64_t)answer.values[0], 400);
	assert_true(answer.ticks > 0);
	assert_false(answer.cut);
}

TEST(a_wrong_declaration_is_refused_by_name)
{
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
}

static bool says_stop(void *listener)
{
	(void)listener;
	return true;
}

/* They make one layout: a budget does not cut it, who interrupts them does. */
BARE_TEST(a_budget_does_not_cut_the_only_layout)
{
	const char *const names[] = {"greedy", "firstfit", "bestfit"};
	struct buffer buffers[50] = {0};
	for (int i = 0; i < 50; i++)
		buffers[i] = (struct buffer){.name = "b", .size = 128, .start = i, .end = i + 9};
	struct packing packing = {
		.capacity = 4096, .alignment = 128, .count = 50, .buffers = buffers};
	struct problem problem = {.stage = STAGE_PLACE, .packing = &packing};
	for (int s = 0; s < 6; s++) {
		struct arena *arena = arena_open();
		bool stops = s >= 3;
		struct asker asker = {.stopper.stop = stops ? says_stop : NULL};
		struct answer answer = solve_for(
			&asker, solver_find(STAGE_PLACE, names[s % 3]), &problem, 1, 1, arena);
		assert_int_equal(answer.cut, stops);
		assert_int_equal(answer.candidate_count, 1);
		int placed = 0;
		for (int i = 0; i < 50; i++)
			placed += answer.candidates[0].placement->addresses[i] != UNPLACED;
		assert_in_range(placed, stops ? 1 : 50, stops ? 49 : 50);
		assert_int_equal(packing_check(&packing, answer.candidates[0].placement).a, -1);
		arena_close(arena);
	}
}

/* A packing, its expected addresses, or the expected error. */
struct wish {
	const char *name, *solver;
	struct packing packing;
	struct buffer buffers[BUFFERS_MOST];
	int64_t addresses[BUFFERS_MOST];
	const char *complaint;
	enum proof_status status;
	double bound;
};

#define RESERVED(from_, to_)                                                                       \
	.reserved_count = 1, .reserved = (const struct byte_range[])                               \
	{                                                                                          \
		{                                                                                  \
			from_, to_                                                                 \
		}                                                                                  \
	}

static const struct wish wishes[] = {
	{"alignment of its own", "firstfit", {.capacity = 1024, .alignment = 1, .count = 2},
		{{.size = 100, .end = 2}, {.size = 100, .end = 3, .alignment = 256}}, {0, 256},
		.status = PROOF_OPTIMAL},
	{"alignment of its own", "greedy", {.capacity = 1024, .alignment = 64, .count = 3},
		{{.size = 10, .end = 2}, {.size = 10, .end = 3, .alignment = 8},
			{.size = 10, .end = 3, .alignment = 512}},
		{0, 16, 512}, .status = PROOF_OPTIMAL},
	{"a fixed address is kept free", "bestfit", {.capacity = 300, .alignment = 1, .count = 2},
		{{.size = 100, .end = 2}, {.size = 200, .end = 9, .is_fixed = true, .address = 50}},
		{NONE, 50}, .status = PROOF_NONE},
	{"a fixed address", "greedy", {.capacity = 300, .alignment = 1, .count = 1},
		{{.name = "here", .size = 100, .end = 2, .is_fixed = true, .address = 7}}, {NONE},
		.complaint =
			"'here' has a fixed address, which greedy does not support; use firstfit or bestfit"},
	{"a fixed address that is not aligned", "firstfit",
		{.capacity = 300, .alignment = 8, .count = 1},
		{{.size = 100, .end = 2, .is_fixed = true, .address = 7}}, {NONE},
		.status = PROOF_NONE},
	{"reserved bytes", "firstfit",
		{.capacity = 300, .alignment = 1, .count = 2, RESERVED(20, 120)},
		{{.size = 100, .end = 2}, {.size = 20, .end = 2}}, {120, 0},
		.status = PROOF_OPTIMAL},
	{"reserved ranges that meet", "firstfit",
		{.capacity = 12,
			.alignment = 1,
			.count = 2,
			.reserved_count = 2,
			.reserved = (const struct byte_range[]){{3, 5}, {4, 6}}},
		{{.size = 4, .end = 2}, {.size = 3, .end = 2}}, {6, 0}, .status = PROOF_OPTIMAL},
	{"it ends in the unit in which a range begins", "ilp",
		{.capacity = 4, .alignment = 2, .count = 1, .goal = PACKING_FIT, RESERVED(1, 3)},
		{{.size = 1, .end = 2}}, {0}, .status = PROOF_OPTIMAL},
	{"no bytes may lie among reserved ones", "exact",
		{.capacity = 8, .alignment = 1, .count = 1, RESERVED(6, 8)},
		{{.end = 2, .is_fixed = true, .address = 7, .weight = 3}}, {7},
		.status = PROOF_OPTIMAL},
	{"reserved bytes", "greedy", {.capacity = 300, .alignment = 1, RESERVED(0, 1)}, {{0}}, {0},
		.complaint = "greedy does not support reserved ranges; use firstfit or bestfit"},
	{"takes over or stays outside", "greedy", {.capacity = 300, .alignment = 1, .count = 3},
		{{.size = 100, .end = 3}, {.size = 90, .end = 3},
			{.size = 95,
				.start = 2,
				.end = 5,
				.parent_count = 1,
				.parents = (const int[]){1},
				.must_take_over = true}},
		{0, 100, NONE}, .status = PROOF_NONE},
	{"takes over", "bestfit", {.capacity = 300, .alignment = 1, .count = 2},
		{{.size = 100, .end = 3}, {.size = 95,
						  .start = 2,
						  .end = 5,
						  .parent_count = 1,
						  .parents = (const int[]){0},
						  .must_take_over = true}},
		{0, 0}, .status = PROOF_OPTIMAL},
	{"weights are what is lost", "greedy", {.capacity = 100, .alignment = 1, .count = 2},
		{{.size = 60, .end = 3, .weight = 5}, {.size = 60, .end = 3, .weight = 7}},
		{0, NONE}, .status = PROOF_NONE, .bound = 0},
	{"everything is placed, nothing lost", "greedy",
		{.capacity = 100, .alignment = 1, .count = 1}, {{.size = 60, .end = 3}}, {0},
		.status = PROOF_OPTIMAL, .bound = 0},
	{"uses", "firstfit", {.capacity = 100, .alignment = 1, .count = 1},
		{{.name = "used",
			.size = 60,
			.end = 3,
			.use_count = 1,
			.uses = (const struct use[]){{.at = 1}}}},
		{NONE},
		.complaint =
			"'used' has uses, between which it could be spilled; this solver places buffers for "
			"their whole life"},
	{"all fit", "bestfit", {.capacity = 100, .alignment = 1, .count = 1, .goal = PACKING_FIT},
		{{.size = 60, .end = 3}}, {0}, .status = PROOF_OPTIMAL, .bound = 0},
	{"not all have a place", "bestfit",
		{.capacity = 100, .alignment = 1, .count = 2, .goal = PACKING_FIT},
		{{.name = "a", .size = 60, .end = 3}, {.name = "b", .size = 60, .end = 2}},
		{NONE, NONE},
		.complaint =
			"no place found for 1 of 2 buffers, 'a' the first of them: whether all fit is undecided"},
	{"the peak is the load", "firstfit",
		{.capacity = 1000, .alignment = 64, .count = 2, .goal = PACKING_PEAK},
		{{.size = 60, .end = 3}, {.size = 60, .end = 2}}, {64, 0}, NULL, PROOF_OPTIMAL,
		124},
	{"a peak above the load", "firstfit",
		{.capacity = 1000, .alignment = 1, .count = 3, .goal = PACKING_PEAK},
		{BUFFER(10, 0, 2), BUFFER(20, 1, 3), BUFFER(15, 2, 5)}, {0, 10, 30},
		.status = PROOF_BOUND, .bound = 35},
};

BARE_TEST(what_is_asked_is_done_or_refused)
{
	for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++) {
		struct arena *arena = arena_open();
		const struct wish *wish = &wishes[w];
		struct packing packing = wish->packing;
		packing.buffers = wish->buffers;
		struct answer answer = place(arena, &packing, wish->solver, 0);
		const char *text = answer.complaint_count ? answer.complaints[0].text : NULL;
		if (!text != !wish->complaint || (text && strcmp(text, wish->complaint)))
			fail_msg("%s, %s: it says %s", wish->name, wish->solver, text);
		assert_int_equal(answer.candidate_count, !wish->complaint);
		for (size_t i = 0; i < packing.count && !wish->complaint; i++) {
			int64_t address = answer.candidates[0].placement->addresses[i];
			if (address != wish->addresses[i])
				fail_msg("%s, %s: buffer %zu lies at %lld", wish->name,
					wish->solver, i, (long long)address);
		}
		if (answer.status != wish->status || answer.bound != wish->bound)
			fail_msg("%s, %s: status %d, bound %g", wish->name, wish->solver,
				answer.status, answer.bound);
		arena_close(arena);
	}
}

TEST(what_is_lost_is_weighed)
{
	struct buffer buffers[] = {{.name = "a", .size = 60, .end = 3, .weight = 5},
		{.name = "b", .size = 60, .end = 3, .weight = 7}};
	struct packing packing = {.capacity = 100, .alignment = 1, .count = 2, .buffers = buffers};
	assert_int_equal((int)place(arena, &packing, "greedy", 0).values[0], 7);
	packing.goal = PACKING_PEAK;
	packing.capacity = 200;
	assert_int_equal((int)place(arena, &packing, "greedy", 0).values[0], 120);
	packing.goal = PACKING_FIT;
	assert_int_equal((int)place(arena, &packing, "greedy", 0).values[0], 0);
}

TEST(the_program_says_what_is_too_large)
{
	struct buffer *buffers = arena_array(arena, struct buffer, 401);
	for (int i = 0; i < 401; i++)
		buffers[i] = (struct buffer){.name = "b", .size = 1, .end = 2};
	struct packing packing = {
		.capacity = 1000, .alignment = 1, .count = 401, .buffers = buffers};
	struct answer answer = place(arena, &packing, "ilp", 0);
	assert_int_equal(answer.candidate_count, 0);
	assert_string_equal(
		answer.complaints[0].text, "ilp takes at most 400 buffers, not 401; use exact");
	packing.count = 100;
	answer = place(arena, &packing, "ilp", 0);
	assert_int_equal(answer.candidate_count, 0);
	assert_string_equal(answer.complaints[0].text,
		"ilp takes at most 3000 pairs of buffers that live at the same time; "
		"these 100 buffers have more; use exact");
}

TEST(what_fits_nowhere_even_alone_is_named)
{
	struct buffer buffers[] = {BUFFER(10, 0, 2), BUFFER(20, 1, 3)};
	buffers[1].name = "large";
	struct packing packing = {.capacity = 19,
		.alignment = 1,
		.count = 2,
		.buffers = buffers,
		.goal = PACKING_PEAK};
	struct answer answer = place(arena, &packing, "ilp", 0);
	assert_int_equal(answer.status, PROOF_INFEASIBLE);
	assert_string_equal(answer.complaints[0].text, "'large' does not fit even alone");
}

/* Alignments that do not divide each other, a place taken over, and all the bytes there can be. */
TEST(the_program_needs_no_capacity)
{
	int parents[] = {3};
	struct buffer buffers[] = {BUFFER(4, 0, 3), BUFFER(3, 0, 3), BUFFER(4, 0, 3),
		BUFFER(1, 1, 3), BUFFER(1, 2, 4), BUFFER(1, 2, 5)};
	struct packing packing = {.capacity = PACKING_BYTES_MOST,
		.alignment = 1,
		.count = 6,
		.buffers = buffers,
		.goal = PACKING_PEAK};
	buffers[1].alignment = buffers[2].alignment = buffers[4].alignment = 4;
	buffers[3].alignment = 3;
	for (int child = 4; child < 6; child++) {
		buffers[child].parent_count = 1;
		buffers[child].parents = parents;
	}
	struct answer answer = place(arena, &packing, "ilp", 0);
	assert_int_equal(answer.status, PROOF_OPTIMAL);
	assert_int_equal((int)answer.bound, 13);
}

/* No capacity is enough: said without trying one after the other. */
BARE_TEST(what_fits_into_no_capacity_has_no_least_peak)
{
	int parents[] = {0};
	struct buffer taking[] = {{.name = "p", .size = 2, .start = 1, .end = 2},
		{.name = "c",
			.size = 2,
			.start = 1,
			.end = 3,
			.parent_count = 1,
			.parents = parents,
			.must_take_over = true},
		{.name = "d",
			.size = 1,
			.start = 1,
			.end = 3,
			.parent_count = 1,
			.parents = parents,
			.must_take_over = true}};
	struct buffer fixed[] = {{.name = "a", .size = 8, .end = 3, .is_fixed = true},
		{.name = "b", .size = 256, .start = 1, .end = 5, .is_fixed = true, .address = 4}};
	struct packing packings[] = {
		{.count = 3, .buffers = taking}, {.count = 2, .buffers = fixed}};
	for (int i = 0; i < 2; i++) {
		struct arena *arena = arena_open();
		packings[i].capacity = PACKING_BYTES_MOST;
		packings[i].alignment = 1;
		packings[i].goal = PACKING_PEAK;
		struct answer answer = place(arena, &packings[i], "exact", 1000);
		assert_int_equal(answer.status, PROOF_INFEASIBLE);
		assert_int_equal(answer.candidate_count, 0);
		assert_true(answer.ticks < 100);
		arena_close(arena);
	}
}

BARE_TEST(nothing_to_place_is_placed)
{
	const char *const names[] = {"greedy", "firstfit", "bestfit"};
	struct packing packing = {.capacity = 100, .alignment = 1};
	for (int s = 0; s < 3; s++) {
		struct arena *arena = arena_open();
		assert_int_equal(place(arena, &packing, names[s], 0).candidate_count, 1);
		arena_close(arena);
	}
}
