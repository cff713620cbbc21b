/* The operations beside a broadcast, and signals, read from assembly lines and written as them. */
#include "base/arena.h"
#include "model/transfer/broadcast.h"
#include "tests/support/broadcast_case.h"

#include <string.h>

#include "tests/test.h"

static const struct broadcast *read(struct arena *arena, const char *text, const char **why)
{
	return broadcast_of_text(arena, text, NULL, why);
}

static bool is_legal(struct arena *arena, const struct broadcast *broadcast)
{
	size_t faults;
	broadcast_check(broadcast, arena, &faults);
	return faults == 0;
}

/* Every operation by its keys and by the line that they make; what reads badly is shown. */
TEST(each_operation_has_a_line)
{
	static const struct {
		const char *keys, *line;
	} rows[] = {
		{"operation: gather", "tgather %group, %dst : (!pto.group<4, 1x1x3x8x32xf32>, "
				      "!pto.memref<1x1x3x32x32xf32>)"},
		{"operation: scatter", "tscatter %group, %src : (!pto.group<4, 1x1x3x8x32xf32>, "
				       "!pto.memref<1x1x3x32x32xf32>)"},
		{"operation: reduce, reduction: max",
			"treduce %group, %dst {op = #pto.reduce_op<Max>} : (!pto.group<4, "
			"1x1x3x8x32xf32>, !pto.memref<1x1x3x8x32xf32>)"},
		{"operation: put, peer: 2, atomic: add",
			"tput %dst, %src : (!pto.memref<1x1x3x8x32xf32>, "
			"!pto.memref<1x1x3x8x32xf32>)"},
		{"operation: get, peer: 2", "tget %dst, %src : (!pto.memref<1x1x3x8x32xf32>, "
					    "!pto.memref<1x1x3x8x32xf32>)"},
	};
	const char *why, *tile = "tile: {rows: 4, cols: 32}";
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct broadcast *by_keys = read(arena,
			arena_format(arena,
				"broadcast: {%s, dtype: fp32, shape: [3, 8, 32], ranks: 4, %s}",
				rows[i].keys, tile),
			&why);
		assert_string_equal(broadcast_line(arena, by_keys), rows[i].line);
		const char *written = broadcast_write(arena, by_keys);
		const struct broadcast *again = read(arena, written, &why);
		if (!again)
			fail_msg("%s%s", written, why);
		assert_string_equal(broadcast_write(arena, again), written);
		assert_true(is_legal(arena, again));
	}
}

TEST(signals_are_read_from_their_lines)
{
	const char *why;
	const struct broadcast *b = read(arena,
		"broadcast:\n  dtype: f32\n  shape: [4]\n  ranks: 3\n"
		"  tile: {rows: 1, cols: 8}\n  operation: gather\n"
		"  notify: 'tnotify %signal_remote, 2 {op = #pto.notify_op<AtomicAdd>} : "
		"(!pto.memref<i32>, i32)'\n"
		"  wait: 'twait %signal, 4 {cmp = #pto.cmp<GE>} : (!pto.memref<i32>, i32)'\n",
		&why);
	if (!b)
		fail_msg("%s", why);
	assert_true(b->handshake.notifies && b->handshake.waits);
	assert_int_equal(b->handshake.op, NOTIFY_ADD);
	assert_int_equal(b->handshake.value, 2);
	assert_int_equal(b->handshake.cmp, WAIT_GE);
	assert_int_equal(b->handshake.wanted, 4);
	assert_true(is_legal(arena, b));
}
