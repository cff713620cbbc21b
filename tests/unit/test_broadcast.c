#include "base/arena.h"
#include "base/text.h"
#include "lower/transfer/broadcast.h"
#include "model/transfer/broadcast.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/copy.h"
#include "tests/support/arch_text.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/copy_text.h"

#include <string.h>

#include "tests/test.h"

static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container\n"
	"    name: system\n"
	"    attributes:\n"
	"      clock: 2GHz\n"
	"      links: {topology: bidirectional_ring, latency: 1us, bandwidth: 32GB/s}\n"
	"  - !Component {name: GM, class: DRAM}\n"
	"  - !Component\n"
	"    name: UB\n"
	"    class: SRAM\n"
	"    attributes: {size: 8KiB, scratchpad: true, alignment: 32, copy_sync: 3,\n"
	"      copy_in: {latency: 100, bandwidth: 64}, copy_out: {latency: 20ns, bandwidth: 16}}\n";

static const struct broadcast *read(struct arena *arena, const char *text, const char **why)
{
	const struct arch *arch = arch_of_text(arena, machine, diag_open(arena));
	assert_non_null(arch);
	return broadcast_of_text(arena, text, arch, why);
}

static const char small[] = "broadcast:\n"
			    "  dtype: fp32\n"
			    "  shape: [2, 30, 20]\n"
			    "  ranks: 4\n";

#define TILE "  tile: {rows: 8, cols: 16}\n"

/* Every code, by what is wrong; codes in the order in which they are found. */
static const struct {
	const char *lines, *codes;
} wrongs[] = {
	{TILE, ""},
	{"  tile: {rows: 8, cols: 16, dtype: int32}\n", "E_DTYPE_TILE"},
	{TILE "  destinations: {dtype: uint32}\n", "E_DTYPE_GROUP"},
	{TILE "  destinations: {layout: DN}\n", "E_LAYOUT"},
	{TILE "  source: {layout: NZ}\n  destinations: {layout: NZ}\n", ""},
	{"  tile: {rows: 8, cols: 16, valid_rows: 9}\n", "E_TILE_VALID"},
	{"  tile: {rows: 8, cols: 16, valid_cols: 17}\n", "E_TILE_VALID"},
	{"  tile: {rows: 8, cols: 12}\n", "E_TILE_ALIGN"},
	{"  tile: {rows: 129, cols: 16}\n", "E_UB_SIZE"},
	{"  tile: {rows: 128, cols: 16}\n", ""},
	{"  tile: {rows: 65, cols: 16}\n  mode: ping-pong\n", "E_UB_RANGE"},
	{"  tile: {rows: 64, cols: 16}\n  mode: ping-pong\n", ""},
	{TILE "  offsets: [16]\n", "E_UB_ALIGN"},
	{TILE "  mode: ping-pong\n  offsets: [0, 480]\n", "E_UB_OVERLAP"},
	{TILE "  mode: ping-pong\n  offsets: [512, 0]\n", ""},
	{TILE "  mode: ping-pong\n  offsets: [512]\n", "E_STAGING"},
	{TILE "  staging: 3\n  offsets: []\n", "E_STAGING"},
	{TILE "  source: {rank: 1}\n", "E_SRC_REMOTE"},
	{TILE "  root: 4\n", "E_ROOT"},
	{TILE "  root: -1\n", "E_ROOT"},
	{TILE "  root: 3\n", ""},
	{TILE "  caller: 1\n", "E_CALLER"},
	{TILE "  root: 4\n  caller: 1\n", "E_ROOT E_CALLER"},
	{TILE "  destinations: [{}, {}, {}]\n", "E_DST_COUNT"},
	{TILE "  destinations: [{}, {}, {shape: [2, 20, 30]}, {}]\n", "E_DST_SHAPE E_DST_STRIDE"},
	{TILE "  destinations: [{}, {}, {}, {strides: [600, 1, 30]}]\n", "E_DST_STRIDE"},
	{TILE "  destinations: [{}, {live: false}, {}, {}]\n", "E_DST_LIVE"},
	{TILE "  destinations: {strides: [600, 10, 1]}\n", "E_DST_SHARED"},
	{TILE "  destinations: {strides: [0, 20, 1]}\n", "E_DST_SHARED"},
	{TILE "  destinations: {strides: [1, 2, 60]}\n", ""},
	{"  tile: {rows: 8, cols: 16, valid_rows: 0}\n", "E_VROW"},
	{"  tile: {rows: 8, cols: 16, valid_rows: -3, valid_cols: 0}\n", "E_VROW E_VCOL"},
	{"  tile: {rows: 8, cols: 16, static: rows}\n", "E_DIV_ROW"},
	{"  tile: {rows: 8, cols: 16, static: [cols, rows]}\n", "E_DIV_ROW E_DIV_COL"},
	{"  tile: {rows: 10, cols: 24, valid_cols: 20, static: [cols, rows]}\n", ""},
	{"  compat: code\n" TILE, ""},
	{"  compat: code\n  tile: {rows: 64, cols: 24}\n", "E_TLOAD_ROW E_TLOAD_COL"},
	{"  compat: code\n  tile: {rows: 64, cols: 24, valid_rows: 60, valid_cols: 20}\n", ""},
	{"  tile: {rows: 64, cols: 24, static: [rows, cols]}\n", ""},
	{TILE "  operation: put\n  peer: 4\n", "E_PEER"},
	{TILE "  operation: get\n  peer: -1\n  root: 4\n", "E_ROOT E_PEER"},
	{TILE "  operation: get\n  peer: 3\n  source: [{}, {}, {}, {}]\n", "E_DST_COUNT"},
	{TILE "  operation: gather\n  destinations: {shape: [2, 119, 20]}\n", "E_ROWS"},
	{TILE "  operation: gather\n  destinations: {shape: [2, 130, 20]}\n", ""},
	{TILE "  operation: gather\n  destinations: {live: false}\n", "E_DST_LIVE"},
	{TILE "  operation: gather\n  source: [{}, {}, {}, {strides: [0, 0, 1]}]\n",
		"E_DST_STRIDE"},
	{TILE "  operation: gather\n  destinations: {dtype: int32}\n",
		"E_DTYPE_TILE E_DTYPE_GROUP"},
	{TILE "  operation: scatter\n  source: {shape: [2, 120, 24]}\n", "E_ROWS"},
	{TILE "  operation: reduce\n  source: [{}, {}, {live: false}, {}]\n", "E_DST_LIVE"},
	{TILE "  operation: reduce\n  offsets: [0]\n", "E_STAGING"},
	{TILE "  operation: reduce\n  offsets: [0, 480]\n", "E_UB_OVERLAP"},
	{TILE "  notify: {}\n", "E_WAIT_EARLY"},
	{TILE "  wait: {}\n", "E_WAIT_NEVER"},
	{TILE "  notify: {}\n  wait: {}\n", ""},
	{TILE "  notify: {}\n  wait: {value: 0}\n", "E_WAIT_NEVER"},
	{TILE "  notify: {}\n  wait: {cmp: ge, value: 0}\n", "E_WAIT_EARLY"},
	{TILE "  operation: gather\n  notify: {}\n  wait: {}\n", "E_WAIT_EARLY"},
	{TILE "  operation: gather\n  notify: {op: add}\n  wait: {cmp: eq, value: 2}\n",
		"E_WAIT_NEVER"},
	{TILE "  operation: gather\n  notify: {op: add}\n  wait: {cmp: ge, value: 3}\n", ""},
	{TILE "  operation: reduce\n  notify: {op: add, value: -1}\n"
	      "  wait: {cmp: lt, value: -2}\n",
		""},
	{"  tile: {rows: 8, cols: 12, dtype: fp16}\n  root: 9\n  mode: ping-pong\n"
	 "  offsets: [0]\n",
		"E_DTYPE_TILE E_TILE_ALIGN E_STAGING E_ROOT"},
};

static const char *codes_of(struct arena *arena, const struct broadcast *broadcast)
{
	struct text text = text_open(arena);
	size_t count;
	const struct broadcast_fault *faults = broadcast_check(broadcast, arena, &count);
	for (size_t i = 0; i < count; i++)
		text_add(&text, "%s%s", i ? " " : "", broadcast_error_names[faults[i].error]);
	return text_read(&text);
}

TEST(each_rule_has_a_code)
{
	bool met[BROADCAST_ERRORS] = {false};
	const char *why;
	met[E_NRANKS] = true; /* below */
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		const struct broadcast *broadcast =
			read(arena, arena_format(arena, "%s%s", small, wrongs[i].lines), &why);
		if (!broadcast)
			fail_msg("%s%s", wrongs[i].lines, why);
		const char *codes = codes_of(arena, broadcast);
		if (!text_equal(codes, wrongs[i].codes))
			fail_msg("%sis '%s', not '%s'", wrongs[i].lines, codes, wrongs[i].codes);
		for (int e = 0; e < BROADCAST_ERRORS; e++)
			met[e] |= strstr(codes, broadcast_error_names[e]) != NULL;
	}
	const struct broadcast *rankless = read(arena,
		"broadcast: {dtype: int8, shape: [4], ranks: 0, tile: {rows: 1, cols: 32}}", &why);
	assert_string_equal(codes_of(arena, rankless), "E_NRANKS");
	for (int e = 0; e < BROADCAST_ERRORS; e++)
		if (!met[e])
			fail_msg("no row is about %s", broadcast_error_names[e]);
}

TEST(the_assembly_line_says_what_the_keys_say)
{
	const char *why;
	const struct broadcast *by_keys = read(arena,
		"broadcast: {dtype: fp32, shape: [3, 128, 32], ranks: 4, tile: {rows: 16, cols: 32}}",
		&why);
	const char *line = broadcast_line(arena, by_keys);
	assert_string_equal(line, "tbroadcast %group, %src : (!pto.group<4, 1x1x3x128x32xf32>, "
				  "!pto.memref<1x1x3x128x32xf32>)");
	const struct broadcast *by_line = read(arena,
		arena_format(arena, "broadcast: {op: '%s', tile: {rows: 16, cols: 32}}", line),
		&why);
	assert_non_null(by_line);
	assert_string_equal(broadcast_line(arena, by_line), line);
	const struct broadcast *left_open = read(arena,
		"broadcast:\n"
		"  op: 'tbroadcast %group, %src : (!pto.group<...>, !pto.memref<...>)'\n"
		"  dtype: f32\n  shape: [3, 128, 32]\n  ranks: 4\n  tile: {rows: 16, cols: 32}\n",
		&why);
	assert_string_equal(broadcast_line(arena, left_open), line);
	const struct broadcast *unlike = read(arena,
		"broadcast:\n  op: 'tbroadcast %group, %src : (!pto.group<4, 3x128x32xi32>, "
		"!pto.memref<3x64x64xf32>)'\n  tile: {rows: 16, cols: 32}\n",
		&why);
	assert_string_equal(codes_of(arena, unlike), "E_DTYPE_GROUP E_DST_SHAPE");
}

/* A dense tensor of more than 2^31 elements has strides above every extent. */
TEST(strides_of_large_tensors_are_read_again)
{
	const char *why;
	const struct broadcast *large = read(arena,
		"broadcast: {dtype: fp16, shape: [33554432, 128], ranks: 2, "
		"tile: {rows: 16, cols: 32}}",
		&why);
	assert_int_equal(large->source.stride[0], INT64_C(1) << 32);
	const char *written = broadcast_write(arena, large);
	const struct broadcast *again = read(arena, written, &why);
	if (!again)
		fail_msg("%s%s", written, why);
	assert_string_equal(broadcast_write(arena, again), written);
}

TEST(speeds_come_from_the_machine_or_the_broadcast)
{
	const char *why;
	const struct broadcast *own = read(arena,
		"broadcast: {dtype: fp32, shape: [4], ranks: 2, tile: {rows: 1, cols: 8},\n"
		"  copy_in: {bandwidth: 7.5}, links: {topology: full, ports: all}}",
		&why);
	struct copying copying = own->copying;
	assert_int_equal(copying.topology, TOPOLOGY_FULL);
	assert_int_equal(copying.ports, PORTS_ALL);
	assert_true(copying.in.latency.num == 100 && copying.in.latency.den == 1);
	assert_true(copying.in.rate.num == 15 && copying.in.rate.den == 2);
	assert_true(copying.out.latency.num == 40 && copying.out.rate.num == 16);
	assert_true(copying.link.latency.num == 2000 && copying.link.rate.num == 16);
	struct copy_ticks ticks = copying_ticks(&copying);
	assert_int_equal(ticks.per_cycle, 240); /* 15 and 16 */
	assert_int_equal(ticks.sync, 3 * 240);
	assert_int_equal(own->scratchpad_bytes, 8192);
}

TEST(the_program_is_that_of_the_page)
{
	const char *why;
	const struct broadcast *broadcast = read(arena,
		"broadcast: {dtype: fp32, shape: [1, 3, 8], ranks: 2, tile: {rows: 1, cols: 8},\n"
		"  mode: ping-pong, offsets: [64, 0]}",
		&why);
	const struct copy_program *program = broadcast_lower(broadcast, NULL, 100, arena);
	assert_string_equal(copy_text(arena, program),
		"0 in: load src 0 [0+1 0+1 0+1 0+1 0+8] > tile 0 @64\n"
		"0 in: set 0\n"
		"0 in: load src 0 [0+1 0+1 0+1 1+1 0+8] > tile 1 @0\n"
		"0 in: set 2\n"
		"0 in: wait 1\n"
		"0 in: load src 0 [0+1 0+1 0+1 2+1 0+8] > tile 0 @64\n"
		"0 in: set 0\n"
		"0 in: wait 3\n"
		"0 in: wait 1\n"
		"0 out: wait 0\n"
		"0 out: store tile 0 @64 > dst 0 [0+1 0+1 0+1 0+1 0+8]\n"
		"0 out: store tile 0 @64 > dst 1 [0+1 0+1 0+1 0+1 0+8]\n"
		"0 out: set 1\n"
		"0 out: wait 2\n"
		"0 out: store tile 1 @0 > dst 0 [0+1 0+1 0+1 1+1 0+8]\n"
		"0 out: store tile 1 @0 > dst 1 [0+1 0+1 0+1 1+1 0+8]\n"
		"0 out: set 3\n"
		"0 out: wait 0\n"
		"0 out: store tile 0 @64 > dst 0 [0+1 0+1 0+1 2+1 0+8]\n"
		"0 out: store tile 0 @64 > dst 1 [0+1 0+1 0+1 2+1 0+8]\n"
		"0 out: set 1\n");
	assert_null(broadcast_lower(broadcast, NULL, 10, arena));
}

/* A small program with one thing changed, and the fault that it makes. */
static struct copy_result run_changed(
	struct arena *arena, size_t stream, size_t i, struct copy_instruction instruction)
{
	const char *why;
	const struct broadcast *broadcast = read(arena,
		"broadcast: {dtype: fp32, shape: [4, 8], ranks: 2, tile: {rows: 3, cols: 8}}",
		&why);
	struct copy_program *program =
		arena_copy(arena, broadcast_lower(broadcast, NULL, 100, arena), sizeof *program);
	struct copy_stream *streams = arena_copy(arena, program->streams, 2 * sizeof *streams);
	struct copy_instruction *changed = arena_copy(
		arena, streams[stream].instructions, streams[stream].count * sizeof *changed);
	changed[i] = instruction;
	streams[stream].instructions = changed;
	program->streams = streams;
	struct copy_options options = {.data = true, .seed = 1};
	return copy_run(program, &options, arena);
}

static bool has_fault(const struct copy_result *result, enum copy_fault_kind kind)
{
	for (int f = 0; f < result->fault_count; f++)
		if (result->faults[f].kind == kind)
			return true;
	return false;
}

/* in: load set wait, out: wait store store set; both twice, of three rows and of one */
TEST(wrong_programs_show)
{
	static const struct {
		size_t stream, i;
		struct copy_instruction instruction;
		enum copy_fault_kind kind;
	} changes[] = {
		{0, 1, {.kind = COPY_WAIT, .flag = 0}, COPY_DEADLOCK},
		{0, 2, {.kind = COPY_SET, .flag = 0}, COPY_RACE},
		{0, 3, {.kind = COPY_LOAD, .chunk = 0}, COPY_VALUE},
		{0, 3, {.kind = COPY_LOAD, .chunk = 1, .shift = 2}, COPY_BOUNDS},
		{1, 1, {.kind = COPY_SET, .flag = 1}, COPY_MISSING},
		{1, 2, {.kind = COPY_STORE, .buffer = 1}, COPY_TWICE},
		{0, 0, {.kind = COPY_LOAD, .chunk = 1}, COPY_UNWRITTEN},
		{1, 0, {.kind = COPY_SET, .flag = 1}, COPY_RACE},
		{1, 2, {.kind = COPY_SET, .flag = 1}, COPY_FLAG},
	};
	for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
		struct copy_result result =
			run_changed(arena, changes[c].stream, changes[c].i, changes[c].instruction);
		if (!has_fault(&result, changes[c].kind))
			fail_msg("change %zu shows no %s", c, copy_fault_names[changes[c].kind]);
	}
	struct copy_result sound =
		run_changed(arena, 0, 0, (struct copy_instruction){.kind = COPY_LOAD});
	assert_true(sound.finished && sound.data && !sound.fault_count);
}

/* Ranks 0 and 1 store a chunk each to rank 2; a link takes 10 ticks. */
static int64_t time_of_two(struct arena *arena, enum topology_kind kind, enum port_count ports)
{
	static const struct copy_instruction in[][2] = {
		{{.kind = COPY_LOAD, .buffer = 0, .tile = 0}, {.kind = COPY_SET, .flag = 0}},
		{{.kind = COPY_LOAD, .buffer = 1, .tile = 1}, {.kind = COPY_SET, .flag = 1}},
	};
	static const struct copy_instruction out[][2] = {
		{{.kind = COPY_WAIT, .flag = 0}, {.kind = COPY_STORE, .buffer = 2, .tile = 0}},
		{{.kind = COPY_WAIT, .flag = 1}, {.kind = COPY_STORE, .buffer = 3, .tile = 1}},
	};
	static const struct copy_stream streams[] = {{0, QUEUE_IN, 2, in[0]},
		{0, QUEUE_OUT, 2, out[0]}, {1, QUEUE_IN, 2, in[1]}, {1, QUEUE_OUT, 2, out[1]}};
	static const struct copy_tile tiles[] = {{0, 0, 32, 32}, {1, 0, 32, 32}};
	static const struct chunk chunk = {.count = {1, 1, 1, 1, 8}};
	struct copy_buffer buffers[4];
	for (int b = 0; b < 4; b++) {
		buffers[b] = (struct copy_buffer){.rank = b < 2 ? b : 2,
			.written = b > 1,
			.shape = {1, 1, 1, 1, 8},
			.name = "buffer"};
		broadcast_dense(buffers[b].shape, buffers[b].stride);
	}
	const struct copy_program program = {.element = ELEMENT_FP32,
		.topology = topology_make(arena, kind, ports, 3, 0, 0),
		.ticks = {.per_cycle = 1, .link_latency = 10},
		.flag_count = 2,
		.buffer_count = 4,
		.tile_count = 2,
		.buffers = buffers,
		.tiles = tiles,
		.chunk_count = 1,
		.chunks = &chunk,
		.stream_count = 4,
		.streams = streams};
	struct copy_options options = {0};
	struct copy_result result = copy_run(&program, &options, arena);
	assert_true(result.finished && !result.fault_count);
	return result.ticks;
}

TEST(ports_and_links_are_shared)
{
	assert_int_equal(time_of_two(arena, TOPOLOGY_FULL, PORTS_ALL), 10);
	assert_int_equal(time_of_two(arena, TOPOLOGY_FULL, PORTS_ONE), 20);
	/* from 0 over 1, whose own link is taken for both steps */
	assert_int_equal(time_of_two(arena, TOPOLOGY_RING, PORTS_ALL), 30);
}

/* Says stop when it is asked for the `left`-th time. */
static bool stop_later(void *left)
{
	return --*(int *)left <= 0;
}

/* 2 MiB go through the staging tile chunk by chunk; the stop comes at the fifth of many questions. */
TEST(an_execution_ends_when_it_is_stopped)
{
	static const char *const ways[] = {TILE, "  tile: {rows: 8, cols: 16}\n"
						 "  algorithm: chain\n"
						 "  segments: 1024\n"};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const char *why;
		struct broadcast_outcome outcome;
		const struct broadcast *broadcast = read(arena,
			arena_format(arena,
				"broadcast:\n  dtype: fp32\n  shape: [1024, 512]\n  ranks: 4\n%s",
				ways[i]),
			&why);
		int many = 1 << 30, five = 5;
		struct stopper late = {&many, stop_later}, soon = {&five, stop_later};
		assert_non_null(broadcast);
		why = broadcast_price(broadcast, NULL, arena, &outcome);
		if (why)
			fail_msg("%s", why);
		broadcast_execute(&outcome, 1 << 28, 1, NULL, &late, arena);
		assert_true(outcome.execution.finished && outcome.execution.agrees);
		assert_true((1 << 30) - many > 20);
		broadcast_execute(&outcome, 1 << 28, 1, NULL, &soon, arena);
		assert_false(outcome.execution.finished);
		assert_null(outcome.execution.fault);
		assert_in_range(-five, 0, 1);
	}
}
