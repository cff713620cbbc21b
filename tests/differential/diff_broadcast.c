/*
 * Random broadcasts, gathers, scatters, reductions, puts and gets, with signals and without: the
 * simulator, the closed forms and the recurrence of the queues, written here once more, count and
 * time alike; real data is right everywhere; and where one wait is taken out, the simulator finds
 * a race exactly when two accesses are ordered by nothing that is left.
 */
#include "base/arena.h"
#include "base/random.h"
#include "lower/transfer/broadcast.h"
#include "model/transfer/broadcast.h"
#include "search/transfer/broadcast_search.h"
#include "sim/transfer/copy.h"
#include "tests/support/arch_text.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/broadcast_draw.h"
#include "tests/support/copy_waits.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { CHUNKS_MOST = 1 << 14 };

struct draw {
	struct arena *arena;
	struct random random;
	const char *text;
	const struct broadcast *broadcast;
};

/* Kinds of cases that the draws met. */
static struct {
	long legal, chunked, tails, mattering, harmless, three_tiles, signals, shaken, fine;
	long of[OPERATION_COUNT];
} seen;

static int64_t pick(struct draw *draw, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(&draw->random, (uint64_t)(most - least + 1));
}

/* ---- the same once more, as the operation's page says it */

struct expected {
	int64_t count, bytes[CHUNKS_MOST], loaded;
	struct chunk chunks[CHUNKS_MOST];
};

static int64_t bytes_of(const struct broadcast *b, const struct chunk *chunk)
{
	int64_t bytes = element_bytes(b->source.element);
	for (int d = 0; d < BROADCAST_RANK; d++)
		bytes *= chunk->count[d];
	return bytes;
}

static void expect_chunk(
	const struct broadcast *b, struct expected *out, const int64_t *at, const int64_t *count)
{
	struct chunk *chunk = &out->chunks[out->count];
	memcpy(chunk->at, at, sizeof chunk->at);
	memcpy(chunk->count, count, sizeof chunk->count);
	out->loaded += out->bytes[out->count++] = bytes_of(b, chunk);
}

static void expect_chunks(const struct broadcast *b, struct expected *out)
{
	const int64_t *n = broadcast_block(b);
	int64_t rows = b->tile.valid_rows, cols = b->tile.valid_cols, zero[BROADCAST_RANK] = {0};
	out->count = out->loaded = 0;
	if (!n[0] || !n[1] || !n[2] || !n[3] || !n[4])
		return;
	if (n[0] * n[1] * n[2] * n[3] <= rows && n[4] <= cols) {
		expect_chunk(b, out, zero, n);
		return;
	}
	for (int64_t i = 0; i < n[0]; i++)
		for (int64_t j = 0; j < n[1]; j++)
			for (int64_t k = 0; k < n[2]; k++)
				for (int64_t r = 0; r < n[3]; r += rows)
					for (int64_t c = 0; c < n[4]; c += cols) {
						int64_t at[] = {i, j, k, r, c};
						int64_t count[] = {1, 1, 1,
							number_min(rows, n[3] - r),
							number_min(cols, n[4] - c)};
						expect_chunk(b, out, at, count);
					}
}

static int64_t ticks_of(int64_t bytes, struct ratio rate)
{
	return rate.num ? number_ceil_div(bytes * rate.den, rate.num) : 0;
}

/* Links on the way, by going step by step. */
static int64_t hops_to(const struct topology *topology, int from, int to)
{
	bool reached[8] = {false};
	int64_t hops = 0;
	reached[from] = true;
	for (; !reached[to]; hops++) {
		bool next[8];
		memcpy(next, reached, sizeof next);
		for (size_t l = 0; l < topology->link_count; l++)
			next[topology->links[l].to] |= reached[topology->links[l].from];
		memcpy(reached, next, sizeof next);
	}
	return hops;
}

/* A transfer between the root and a rank, or within it. */
static int64_t load_of(
	const struct broadcast *b, const struct topology *topology, int from, int64_t bytes)
{
	struct copy_ticks t = copying_ticks(&b->copying);
	return t.in_latency + ticks_of(bytes, from == b->root ? t.in_rate : t.link_rate) +
	       hops_to(topology, from, (int)b->root) * t.link_latency;
}

static int64_t store_of(
	const struct broadcast *b, const struct topology *topology, int to, int64_t bytes)
{
	struct copy_ticks t = copying_ticks(&b->copying);
	return t.out_latency + ticks_of(bytes, to == b->root ? t.out_rate : t.link_rate) +
	       hops_to(topology, (int)b->root, to) * t.link_latency;
}

/* Returns the partner of the root in its i-th leg. */
static int partner(const struct broadcast *b, int64_t i)
{
	return operation_is_pair(b->operation) ? (int)b->peer : (int)i;
}

static int64_t legs_of(const struct broadcast *b)
{
	bool all = b->operation == OPERATION_GATHER || b->operation == OPERATION_SCATTER;
	return all ? b->ranks : 1;
}

static int64_t stores_of(
	const struct broadcast *b, const struct topology *topology, int64_t leg, int64_t bytes)
{
	int64_t sum = 0;
	if (operation_pulls(b->operation))
		return store_of(b, topology, (int)b->root, bytes);
	if (b->operation != OPERATION_BROADCAST)
		return store_of(b, topology, partner(b, leg), bytes);
	for (int r = 0; r < b->ranks; r++)
		sum += store_of(b, topology, r, bytes);
	return sum;
}

/* When the last load and the last store end. */
struct ends {
	int64_t loaded, stored;
};

static struct ends copies(const struct broadcast *b, const struct topology *topology,
	const struct expected *chunks, int64_t staging)
{
	static int64_t stored[CHUNKS_MOST * 5];
	struct copy_ticks t = copying_ticks(&b->copying);
	struct ends at = {0, 0};
	for (int64_t i = 0; i < chunks->count * legs_of(b); i++) {
		int64_t leg = i / chunks->count, bytes = chunks->bytes[i % chunks->count];
		int from = operation_pulls(b->operation) ? partner(b, leg) : (int)b->root;
		if (i >= staging)
			at.loaded = number_max(at.loaded, stored[i - staging] + t.sync);
		at.loaded += load_of(b, topology, from, bytes);
		at.stored = number_max(at.stored, at.loaded + t.sync) +
			    stores_of(b, topology, leg, bytes);
		stored[i] = at.stored;
	}
	return at;
}

/* Load own, load and add each other; a tile is free once it is added; then store. */
static struct ends reduction(const struct broadcast *b, const struct topology *topology,
	const struct expected *chunks, int64_t staging)
{
	struct copy_ticks t = copying_ticks(&b->copying);
	struct ends at = {0, 0};
	for (int64_t c = 0; c < chunks->count; c++) {
		int64_t bytes = chunks->bytes[c], added[8], i = 0, vector = 0;
		if (c)
			at.loaded = number_max(at.loaded, at.stored + t.sync);
		at.loaded += load_of(b, topology, (int)b->root, bytes);
		for (int r = 0; r < b->ranks; r++) {
			if (r == b->root)
				continue;
			if (i >= staging)
				at.loaded = number_max(at.loaded, added[i - staging] + t.sync);
			at.loaded += load_of(b, topology, r, bytes);
			vector = number_max(vector, at.loaded + t.sync) + t.combine_latency +
				 ticks_of(bytes, t.combine_rate);
			added[i++] = vector;
		}
		at.stored = vector + t.sync + store_of(b, topology, (int)b->root, bytes);
	}
	return at;
}

static bool reduces(const struct broadcast *b)
{
	return b->operation == OPERATION_REDUCE && b->ranks > 1;
}

/* Before a pull the others write their blocks and signal the root; after a push the root signals
 * them one by one, and they read. */
static int64_t shake(const struct broadcast *b, const struct topology *topology,
	const struct expected *chunks, int64_t staging, int64_t stored)
{
	static int64_t written[CHUNKS_MOST];
	struct copy_ticks t = copying_ticks(&b->copying);
	int64_t read = 0, loaded = 0, end = 0, told = stored, last = stored + t.sync;
	for (int64_t i = 0; i < chunks->count; i++) {
		read += load_of(b, topology, (int)b->root, chunks->bytes[i]);
		if (i >= staging)
			loaded = number_max(loaded, written[i - staging] + t.sync);
		loaded += load_of(b, topology, (int)b->root, chunks->bytes[i]);
		end = written[i] = number_max(end, loaded + t.sync) +
				   store_of(b, topology, (int)b->root, chunks->bytes[i]);
	}
	for (int r = 0; r < b->ranks; r++) {
		bool pulls = operation_pulls(b->operation);
		int64_t hops = pulls ? hops_to(topology, r, (int)b->root)
				     : hops_to(topology, (int)b->root, r);
		int64_t notice = t.out_latency + hops * t.link_latency;
		if (r == b->root || (operation_is_pair(b->operation) && r != b->peer))
			continue;
		told += notice;
		last = number_max(last, pulls ? end + notice + stored + t.sync : told + read);
		last = number_max(last, pulls ? end + t.sync : 0);
	}
	return last;
}

static int64_t recurrence(const struct broadcast *b, const struct topology *topology,
	const struct expected *chunks, int64_t staging)
{
	struct ends ends = reduces(b) ? reduction(b, topology, chunks, staging)
				      : copies(b, topology, chunks, staging);
	if (!chunks->count)
		return 0;
	if (b->handshake.waits)
		return shake(b, topology, chunks, staging, ends.stored);
	return ends.stored + copying_ticks(&b->copying).sync;
}

#define SAME(draw, a, b)                                                                           \
	do {                                                                                       \
		int64_t left = (a), right = (b);                                                   \
		if (left != right)                                                                 \
			fail_msg("%s is %" PRId64 ", %s is %" PRId64 "\n%s", #a, left, #b, right,  \
				(draw)->text);                                                     \
	} while (0)

static void check_counts(struct draw *draw, const struct copy_program *program,
	const struct expected *chunks, const struct copy_result *run)
{
	const struct broadcast *b = draw->broadcast;
	struct broadcast_counts counts;
	assert_true(broadcast_count(b, program->topology, &counts));
	SAME(draw, chunks->count, program->chunk_count);
	for (int64_t i = 0; i < chunks->count; i++)
		if (memcmp(&chunks->chunks[i], &program->chunks[i], sizeof chunks->chunks[i]) != 0)
			fail_msg("chunk %" PRId64 " is another\n%s", i, draw->text);
	SAME(draw, counts.chunks, chunks->count);
	SAME(draw, counts.loads, run->loads);
	SAME(draw, counts.stores, run->stores);
	if (b->operation == OPERATION_BROADCAST)
		SAME(draw, run->stores, chunks->count * b->ranks);
	SAME(draw, counts.combines, run->combines);
	SAME(draw, counts.flags, run->flags);
	SAME(draw, counts.bytes_loaded, run->bytes_loaded);
	if (b->operation == OPERATION_BROADCAST && !b->handshake.waits)
		SAME(draw, run->bytes_loaded, chunks->loaded);
	SAME(draw, counts.bytes_stored, run->bytes_stored);
	SAME(draw, counts.link_bytes, run->link_bytes);
	SAME(draw, counts.staging_bytes, run->staging_bytes);
}

static void check_times(struct draw *draw, const struct topology *topology,
	const struct expected *chunks, const struct copy_result *run)
{
	const struct broadcast *b = draw->broadcast;
	struct broadcast_times times;
	int64_t all = number_max(chunks->count * legs_of(b), b->ranks);
	assert_true(broadcast_time(b, topology, b->staging, &times));
	SAME(draw, times.tiles, run->ticks);
	SAME(draw, times.tiles, recurrence(b, topology, chunks, b->staging));
	SAME(draw, times.single, recurrence(b, topology, chunks, 1));
	SAME(draw, times.ping_pong, recurrence(b, topology, chunks, 2));
	SAME(draw, times.unlimited, recurrence(b, topology, chunks, all));
	if (b->operation == OPERATION_BROADCAST)
		SAME(draw, broadcast_time_of(b, topology, b->staging, chunks->bytes, chunks->count),
			times.tiles);
	struct broadcast_outcome outcome;
	assert_null(broadcast_price(b, NULL, draw->arena, &outcome));
	SAME(draw, outcome.ticks, times.tiles);
	assert_true(outcome.bound <= outcome.score.cycles);
	assert_true(times.bound <= times.unlimited && times.unlimited <= times.ping_pong);
	assert_true(times.ping_pong <= times.single);
	seen.three_tiles += times.unlimited < times.ping_pong;
}

/* ---- what a wait is for */

static bool found_race(const struct copy_result *run)
{
	for (int f = 0; f < run->fault_count; f++)
		if (run->faults[f].kind == COPY_RACE || run->faults[f].kind == COPY_UNWRITTEN)
			return true;
	return false;
}

static void check_removed(struct draw *draw, const struct copy_program *program)
{
	struct copy_program broken;
	struct copy_options options = {.data = true, .seed = 1};
	int waits = 0;
	if (program->chunk_count > 24)
		return;
	while (copy_without_wait(draw->arena, program, waits, &broken))
		waits++;
	for (int tries = 0; waits && tries < 2; tries++) {
		copy_without_wait(draw->arena, program, (int)pick(draw, 0, waits - 1), &broken);
		int matters = copy_needs_order(&broken);
		if (matters < 0)
			return;
		struct copy_result run = copy_run(&broken, &options, draw->arena);
		if (matters != found_race(&run))
			fail_msg("a wait less %s a race, the simulator finds %s\n%s",
				matters ? "makes" : "does not make",
				run.fault_count ? run.faults[0].text : "nothing", draw->text);
		seen.mattering += matters;
		seen.signals += matters && program->signal_count;
		seen.harmless += !matters;
	}
}

/* A machine that says nothing but the alignment of its scratchpad. */
static const struct arch *aligned(struct arena *arena, int64_t alignment)
{
	const char *text = arena_format(arena,
		"architecture:\n  version: 0.4\n  nodes:\n"
		"  - !Component {name: GM, class: DRAM}\n"
		"  - !Component {name: UB, class: SRAM, attributes:\n"
		"      {size: 1MiB, scratchpad: true, alignment: %" PRId64 "}}\n",
		alignment);
	const struct arch *arch = arch_of_text(arena, text, diag_open(arena));
	assert_non_null(arch);
	return arch;
}

static void check_draw(struct draw *draw)
{
	static struct expected chunks;
	const char *why;
	size_t faults;
	int64_t alignment = 1 << pick(draw, 0, 5);
	draw->text = broadcast_draw(draw->arena, &draw->random, alignment);
	draw->broadcast =
		broadcast_of_text(draw->arena, draw->text, aligned(draw->arena, alignment), &why);
	if (!draw->broadcast)
		fail_msg("%s\n%s", why, draw->text);
	const struct broadcast_fault *fault =
		broadcast_check(draw->broadcast, draw->arena, &faults);
	if (faults)
		fail_msg("%s: %s\n%s", broadcast_error_names[fault->error], fault->detail,
			draw->text);
	const struct copy_program *program =
		broadcast_lower(draw->broadcast, NULL, 1 << 20, draw->arena);
	if (program->chunk_count > CHUNKS_MOST)
		return;
	expect_chunks(draw->broadcast, &chunks);
	struct copy_options options = {.data = true, .seed = 1};
	struct copy_result run = copy_run(program, &options, draw->arena);
	if (!run.finished || run.fault_count)
		fail_msg("%s\n%s", run.fault_count ? run.faults[0].text : "unfinished", draw->text);
	assert_true(run.data);
	check_counts(draw, program, &chunks, &run);
	check_times(draw, program->topology, &chunks, &run);
	check_removed(draw, program);
	seen.legal++;
	seen.fine += alignment < 32;
	seen.of[draw->broadcast->operation]++;
	seen.shaken += draw->broadcast->handshake.waits;
	seen.chunked += chunks.count > 1;
	seen.tails += chunks.count > 1 && chunks.bytes[chunks.count - 1] != chunks.bytes[0];
}

TEST(three_answers_agree)
{
	long count = draws(300);
	uint64_t seed = draws_seed(7);
	for (long i = 0; i < count; i++) {
		struct draw draw = {
			.arena = arena_open(), .random = random_open(seed, (uint64_t)i)};
		check_draw(&draw);
		arena_close(draw.arena);
	}
	print_message(
		"%ld legal, %ld chunked, %ld with tails, %ld faster with more than two tiles, "
		"%ld with signals, %ld with alignments below 32; "
		"%ld waits that mattered, %ld that did not\n",
		seen.legal, seen.chunked, seen.tails, seen.three_tiles, seen.shaken, seen.fine,
		seen.mattering, seen.harmless);
	if (!draws_are_many(count))
		return;
	assert_true(seen.chunked > count / 4 && seen.tails > count / 8);
	assert_true(seen.mattering > count / 8 && seen.harmless > count / 40);
	assert_true(seen.three_tiles > count / 40 && seen.signals > count / 40);
	assert_true(seen.fine > count / 2);
	for (int o = 0; o < OPERATION_COUNT; o++)
		assert_true(seen.of[o] > count / 40);
}
