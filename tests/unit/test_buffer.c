#include "tests/support/buffers.h"

#include <string.h>

#include "tests/test.h"

/*
 * Layouts and what the checker says of them: the pair at fault, or nothing.
 * `in_place` is what the placement claims; -1 when it claims nothing.
 */
enum { BUFFERS_MOST = 4 };

struct row {
	const char *name;
	struct buffer buffers[BUFFERS_MOST];
	int64_t addresses[BUFFERS_MOST];
	int in_place[BUFFERS_MOST];
	int a, b;
};

#define ABSENT UNPLACED, UNPLACED
#define ALONE -1, -1

static const struct row rows[] = {
	{"side by side", {BUFFER(100, 0, 4), BUFFER(100, 0, 4)}, {0, 128, ABSENT}, {-1, -1, ALONE},
		-1, -1},
	{"one byte shared", {BUFFER(129, 0, 4), BUFFER(100, 0, 4)}, {0, 128, ABSENT},
		{-1, -1, ALONE}, 0, 1},
	{"one after the other", {BUFFER(100, 0, 2), BUFFER(100, 2, 4)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, -1, -1},
	{"the later one first", {BUFFER(100, 2, 4), BUFFER(100, 0, 2)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, -1, -1},
	{"one step too early", {BUFFER(100, 0, 3), BUFFER(100, 2, 4)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, 0, 1},
	{"unplaced ones take no room", {BUFFER(100, 0, 3), BUFFER(100, 0, 4)},
		{UNPLACED, 0, ABSENT}, {-1, -1, ALONE}, -1, -1},
	{"no life, no conflict", {BUFFER(100, 2, 2), BUFFER(100, 0, 4)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, -1, -1},
	{"no bytes, no conflict", {BUFFER(0, 0, 4), BUFFER(100, 0, 4)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, -1, -1},
	{"not aligned", {BUFFER(100, 0, 4)}, {64, UNPLACED, ABSENT}, {-1, -1, ALONE}, 0, -1},
	{"before the start", {BUFFER(100, 0, 4)}, {-128, UNPLACED, ABSENT}, {-1, -1, ALONE}, 0, -1},
	{"exactly to the end", {BUFFER(1000, 0, 4)}, {0, UNPLACED, ABSENT}, {-1, -1, ALONE}, -1,
		-1},
	{"beyond the end", {BUFFER(128, 0, 4), BUFFER(105, 0, 4)}, {0, 896, ABSENT},
		{-1, -1, ALONE}, 1, -1},
	{"larger than everything", {BUFFER(INT64_MAX, 0, 4)}, {0, UNPLACED, ABSENT},
		{-1, -1, ALONE}, 0, -1},
	{"in place", {BUFFER(100, 0, 2), CHILD(100, 1, 4, 0)}, {0, 0, ABSENT}, {-1, 0, ALONE}, -1,
		-1},
	{"in place, and silent about it", {BUFFER(100, 0, 2), CHILD(100, 1, 4, 0)}, {0, 0, ABSENT},
		{-1, -1, ALONE}, 0, 1},
	{"in place of a stranger", {BUFFER(100, 0, 2), BUFFER(100, 1, 4)}, {0, 0, ABSENT},
		{-1, 0, ALONE}, 1, -1},
	{"in place at another address", {BUFFER(500, 0, 2), CHILD(100, 1, 4, 0)}, {0, 128, ABSENT},
		{-1, 0, ALONE}, 1, -1},
	{"inside its parent", {BUFFER(500, 0, 2), CHILD(100, 1, 4, 0)}, {0, 128, ABSENT},
		{-1, -1, ALONE}, 0, 1},
	{"larger than its parent", {BUFFER(100, 0, 2), CHILD(101, 1, 4, 0)}, {0, 0, ABSENT},
		{-1, 0, ALONE}, 1, -1},
	{"its parent lives on", {BUFFER(100, 0, 3), CHILD(100, 1, 4, 0)}, {0, 0, ABSENT},
		{-1, 0, ALONE}, 1, -1},
	{"a parent that was not placed", {BUFFER(100, 0, 2), CHILD(100, 1, 4, 0)},
		{UNPLACED, 0, ABSENT}, {-1, 0, ALONE}, 1, -1},
	{"a parent out of range", {BUFFER(100, 0, 2), CHILD(100, 1, 4, 0)}, {0, 0, ABSENT},
		{-1, 7, ALONE}, 1, -1},
	{"a chain", {BUFFER(300, 0, 2), CHILD(200, 1, 3, 0), CHILD(100, 2, 5, 1)},
		{128, 128, 128, UNPLACED}, {-1, 0, 1, -1}, -1, -1},
	{"two heirs of one parent", {BUFFER(300, 0, 2), CHILD(200, 1, 3, 0), CHILD(100, 1, 3, 0)},
		{0, 0, 0, UNPLACED}, {-1, 0, 0, -1}, 1, 2},
	{"a parent's tail is its own until it ends",
		{BUFFER(300, 0, 2), CHILD(100, 1, 3, 0), BUFFER(100, 1, 3)}, {0, 0, 128, UNPLACED},
		{-1, 0, -1, -1}, 0, 2},
};

static int count_of(const struct row *row)
{
	int count = BUFFERS_MOST;
	while (!row->buffers[count - 1].end)
		count--;
	return count;
}

static struct packing_fault check(const struct row *row)
{
	struct buffer buffers[BUFFERS_MOST];
	int64_t addresses[BUFFERS_MOST];
	int in_place[BUFFERS_MOST];
	memcpy(buffers, row->buffers, sizeof buffers);
	memcpy(addresses, row->addresses, sizeof addresses);
	memcpy(in_place, row->in_place, sizeof in_place);
	size_t count = (size_t)count_of(row);
	struct packing packing = {
		.capacity = 1000, .alignment = 128, .count = count, .buffers = buffers};
	struct placement placement = {
		.count = count, .addresses = addresses, .in_place_of = in_place};
	return packing_check(&packing, &placement);
}

TEST(the_pair_at_fault_is_named)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct packing_fault fault = check(&rows[i]);
		if (fault.a != rows[i].a || fault.b != rows[i].b)
			fail_msg("%s: %d, %d (%s) instead of %d, %d", rows[i].name, fault.a,
				fault.b, fault.why ? fault.why : "no fault", rows[i].a, rows[i].b);
		assert_true((fault.a < 0) == !fault.why);
	}
}
