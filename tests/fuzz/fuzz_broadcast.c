/*
 * Broadcasts, and operations beside them, with something changed: read or refused with a
 * complaint.  What is read and breaks no rule is priced, executed as priced, and written so that it
 * reads as the same.
 */
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "model/transfer/broadcast.h"
#include "search/transfer/broadcast_search.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"

#include <string.h>

#include "tests/test.h"

static const char *const seeds[] = {
	"  name: small\n"
	"  op: 'tbroadcast %group, %src : (!pto.group<4, 3x20x24xf32>, !pto.memref<3x20x24xf32>)'\n"
	"  root: 1\n  tile: {rows: 8, cols: 16, static: []}\n  mode: ping-pong\n"
	"  offsets: [0, 512]\n  order: gilmore_gomory\n",
	"  dtype: fp16\n  shape: [2, 30, 20]\n  ranks: 6\n  root: 2\n  caller: 2\n"
	"  compat: code\n  source: {rank: 2, strides: [600, 20, 1], layout: ND}\n"
	"  destinations: {dtype: fp16, strides: [1200, 40, 2], live: true}\n"
	"  tile: {rows: 10, cols: 16, valid_rows: 9, valid_cols: 10, dtype: fp16}\n"
	"  staging: 3\n  copy_in: {latency: 10, bandwidth: 7/3}\n"
	"  copy_out: {latency: 3ns, bandwidth: 12GB/s}\n  copy_sync: 2\n"
	"  links: {topology: mesh, dims: [2, 3], ports: all, latency: 1.5, bandwidth: 4}\n",
	("  dtype: int8\n  shape: [100]\n  ranks: 5\n  tile: {rows: 1, cols: 64}\n"
	 "  algorithm: chain\n  segments: 7\n  links: {topology: bidirectional_ring}\n"),
	"  op: 'treduce %group, %dst {op = #pto.reduce_op<Max>} : (!pto.group<3, 20x24xi16>, "
	"!pto.memref<20x24xi16>)'\n"
	"  root: 2\n  tile: {rows: 8, cols: 16}\n  mode: ping-pong\n  offsets: [0, 256, 512]\n"
	"  combine: {latency: 4, bandwidth: 3/2}\n"
	"  notify: 'tnotify %s, 2 {op = #pto.notify_op<AtomicAdd>} : (!pto.memref<i32>, i32)'\n"
	"  wait: 'twait %s, 4 {cmp = #pto.cmp<EQ>} : (!pto.memref<i32>, i32)'\n",
	"  operation: scatter\n  dtype: uint8\n  shape: [2, 6, 40]\n  ranks: 4\n"
	"  source: {shape: [2, 25, 40]}\n  tile: {rows: 4, cols: 32}\n  notify: {op: set, value: 1}\n"
	"  wait: {cmp: ge, value: 1}\n  links: {topology: tree, channels: 2, ports: all}\n",
	"  operation: gather\n  dtype: bf16\n  shape: [6, 40]\n  ranks: 5\n  root: 1\n"
	"  destinations: {shape: [30, 40], strides: [48, 1], live: true}\n"
	"  tile: {rows: 4, cols: 32}\n  algorithm: binomial\n",
	"  operation: get\n  dtype: fp32\n  shape: [6, 40]\n  ranks: 2\n  peer: 1\n"
	"  tile: {rows: 4, cols: 32}\n  staging: 2\n  notify: {op: add, value: -3}\n"
	"  wait: {cmp: lt, value: 0}\n",
	"  op: 'tput %dst, %src : (!pto.memref<9x16xf16>, !pto.memref<9x16xf16>)'\n  ranks: 3\n"
	"  root: 1\n  peer: 2\n  atomic: add\n  tile: {rows: 4, cols: 16}\n",
};
enum { SEEDS = sizeof seeds / sizeof *seeds };

/* Bounds on rounds take time in proportion to the cube of the ranks: seconds for the most that there
 * may be. */
enum { RANKS_PRICED = 128 };

static struct {
	long read, legal, executed;
} seen;

static void check_same(struct arena *arena, const struct broadcast *broadcast,
	const struct broadcast_outcome *outcome, const char *text)
{
	const char *why, *written = broadcast_write(arena, broadcast);
	const struct broadcast *again = broadcast_of_text(arena, written, NULL, &why);
	struct broadcast_outcome other;
	if (!again)
		fail_msg("%s\n%s\n%s", text, written, why);
	if (!text_equal(broadcast_write(arena, again), written))
		fail_msg("written once more it is another\n%s\n%s", text, written);
	why = broadcast_price(again, NULL, arena, &other);
	if (why || other.ticks != outcome->ticks ||
		other.score.link_bytes != outcome->score.link_bytes)
		fail_msg("written it is another: %s\n%s\n%s", why ? why : "", text, written);
}

static void check_text(struct arena *arena, const char *body)
{
	const char *why, *text = arena_format(arena, "broadcast:\n%s", body);
	const struct broadcast *broadcast = broadcast_of_text(arena, text, NULL, &why);
	struct broadcast_outcome outcome;
	size_t faults;
	if (!broadcast && !strstr(why, "error: "))
		fail_msg("refused without a reason:\n%s", text);
	if (!broadcast)
		return;
	seen.read++;
	if (broadcast->ranks > RANKS_PRICED)
		return;
	broadcast_check(broadcast, arena, &faults);
	if (faults || broadcast_price(broadcast, NULL, arena, &outcome))
		return;
	seen.legal++;
	check_same(arena, broadcast, &outcome, text);
	if (outcome.counts.bytes_stored > 1 << 20 || outcome.counts.chunks > 1 << 12)
		return;
	seen.executed++;
	broadcast_execute(&outcome, 1 << 24, 1, NULL, NULL, arena);
	if (!outcome.execution.agrees)
		fail_msg("%s\n%s",
			outcome.execution.fault ? outcome.execution.fault : "counts differ", text);
}

BARE_TEST(changed_broadcasts_are_read_or_refused)
{
	uint64_t seed = draws_seed(3);
	long count = draws(3000);
	for (int s = 0; s < SEEDS; s++) {
		struct arena *arena = arena_open();
		check_text(arena, seeds[s]);
		arena_close(arena);
	}
	assert_int_equal(seen.executed, SEEDS);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		check_text(arena, mutated_text(arena, &random, seeds[i % SEEDS]));
		arena_close(arena);
	}
	print_message("%ld legal, %ld executed\n", seen.legal, seen.executed);
	mutated_tell(count + SEEDS, seen.read);
}
