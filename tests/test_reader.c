#include "base/arena.h"
#include "spec/reader.h"

#include <string.h>

#include "tests/test.h"

static void sizes_take_units_and_arithmetic(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} table[] = {
		{"64KiB", 65536},
		{"2 * MiB - 64*1024", 2031616},
		{"1.5 KiB", 1536},
		{"0x10", 16},
		{"1e6", 1000000},
		{"4_096", 4096},
		{"2**10 // 3", 341},
		{"ceil(log2(1000)) KB", 10000},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		struct reading reading = {.arena = arena, .diag = diag_open(arena)};
		const char *text = arena_format(arena, "capacity: %s", table[i].text);
		const struct node *map =
			node_read_text(arena, "text", text, strlen(text), reading.diag);
		struct reader reader;
		int64_t bytes = -1;
		assert_true(reader_open(&reader, &reading, map, "level"));
		assert_true(read_size(&reader, "capacity", REQUIRED, 0, INT64_MAX, &bytes));
		assert_int_equal(bytes, table[i].bytes);
		arena_close(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_take_units_and_arithmetic)};
	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
