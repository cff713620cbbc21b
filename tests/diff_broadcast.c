/*
 * Random broadcasts: the simulator, the closed forms and the recurrence of the two queues, written
 * here once more, count and time alike; real data is right everywhere; and where one wait is
 * taken out, the simulator finds a race exactly when two accesses to one tile are ordered by
 * nothing that is left.
 */
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "cost/broadcast.h"
#include "lower/broadcast.h"
#include "model/broadcast_check.h"
#include "sim/copy.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { CHUNKS_MOST = 1 << 14, NODES_MOST = 240 };

struct draw {
	struct arena *arena;
	struct random random;
	const char *text;
	const struct broadcast *broadcast;
};

/* What the draws met. */
static struct {
	long legal, chunked, tails, mattering, harmless, three_tiles;
} seen;

static int64_t pick(struct draw *draw, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(&draw->random, (uint64_t)(most - least + 1));
}

static bool chance(struct draw *draw, int64_t in)
{
	return pick(draw, 1, in) == 1;
}

static void add_list(struct text *text, const char *key, const int64_t *at, int count)
{
	text_add(text, "  %s: [", key);
	for (int i = 0; i < count; i++)
		text_add(text, "%s%" PRId64, i ? ", " : "", at[i]);
	text_add(text, "]\n");
}

/* Rows with gaps between them, or planes in another order. */
static void draw_strides(struct draw *draw, const int64_t *shape, int64_t *stride)
{
	int order[] = {4, 3, 2, 1, 0};
	int64_t below = 1;
	if (chance(draw, 3)) {
		int a = (int)pick(draw, 0, 4), b = (int)pick(draw, 0, 4), kept = order[a];
		order[a] = order[b];
		order[b] = kept;
	}
	for (int i = 0; i < BROADCAST_RANK; i++) {
		stride[order[i]] = below;
		below *= number_max(shape[order[i]], 1) + (chance(draw, 3) ? pick(draw, 0, 3) : 0);
	}
}

static void add_speed(struct draw *draw, struct text *text, const char *key)
{
	static const char *const rates[] = {"8", "16", "128", "58.6", "7/3", "1.5"};
	text_add(text, "  %s: {latency: %s, ", key,
		chance(draw, 3)   ? "0"
		: chance(draw, 2) ? "12.5"
				  : "100");
	text_add(text, "bandwidth: %s}\n", rates[pick(draw, 0, 5)]);
}

static void add_links(struct draw *draw, struct text *text, int64_t ranks)
{
	int kind = (int)pick(draw, 0, TOPOLOGY_COUNT - 1);
	text_add(text, "  links: {topology: %s, ports: %s, latency: %" PRId64 ", bandwidth: %s",
		topology_names[kind], chance(draw, 2) ? "one" : "all",
		chance(draw, 2) ? 0 : pick(draw, 1, 40), chance(draw, 2) ? "16" : "3.2");
	if (kind == TOPOLOGY_MESH) {
		int64_t rows = ranks % 2 == 0 && chance(draw, 2) ? 2 : 1;
		text_add(text, ", dims: [%" PRId64 ", %" PRId64 "]", rows, ranks / rows);
	}
	text_add(text, "}\n");
}

static const char *draw_text(struct draw *draw)
{
	struct text text = text_open(draw->arena);
	int64_t shape[BROADCAST_RANK], stride[BROADCAST_RANK], offsets[8];
	enum element element = (enum element)pick(draw, 0, ELEMENT_COUNT - 1);
	int64_t unit = 32 / element_bytes(element), ranks = pick(draw, 1, 5);
	for (int d = 0; d < BROADCAST_RANK; d++)
		shape[d] = d < 3 ? pick(draw, 1, chance(draw, 2) ? 3 : 1) : pick(draw, 1, 40);
	if (chance(draw, 40))
		shape[pick(draw, 0, 4)] = 0;
	int64_t rows = pick(draw, 1, 16), cols = unit * pick(draw, 1, 3);
	int64_t valid_rows = chance(draw, 3) ? pick(draw, 1, rows) : rows;
	int64_t valid_cols = chance(draw, 3) ? pick(draw, 1, cols) : cols;
	int64_t staging = pick(draw, 1, 4), tile = rows * cols * element_bytes(element), at = 0;
	text_add(&text, "broadcast:\n  dtype: %s\n", element_names[element]);
	add_list(&text, "shape", shape, BROADCAST_RANK);
	text_add(&text, "  ranks: %" PRId64 "\n  root: %" PRId64 "\n", ranks,
		pick(draw, 0, ranks - 1));
	draw_strides(draw, shape, stride);
	add_list(&text, "source:\n    strides", stride, BROADCAST_RANK);
	draw_strides(draw, shape, stride);
	add_list(&text, "destinations:\n    strides", stride, BROADCAST_RANK);
	text_add(&text,
		"  tile: {rows: %" PRId64 ", cols: %" PRId64 ", valid_rows: %" PRId64
		", valid_cols: %" PRId64 "%s}\n  staging: %" PRId64 "\n",
		rows, cols, valid_rows, valid_cols,
		shape[3] % valid_rows == 0 && chance(draw, 2) ? ", static: rows" : "", staging);
	for (int64_t t = staging - 1; t >= 0; t--, at += tile + 32 * pick(draw, 0, 2))
		offsets[t] = at;
	add_list(&text, "offsets", offsets, (int)staging);
	add_speed(draw, &text, "copy_in");
	add_speed(draw, &text, "copy_out");
	add_links(draw, &text, ranks);
	if (chance(draw, 2))
		text_add(&text, "  copy_sync: %" PRId64 "\n", pick(draw, 0, 30));
	return text_read(&text);
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
	const int64_t *n = b->source.shape;
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

static int64_t store_of(const struct broadcast *b, const struct topology *topology, int64_t bytes)
{
	struct copy_ticks t = copying_ticks(&b->copying);
	int64_t sum = 0;
	for (int r = 0; r < b->ranks; r++) {
		bool own = r == b->root;
		sum += t.out_latency + ticks_of(bytes, own ? t.out_rate : t.link_rate) +
		       hops_to(topology, (int)b->root, r) * t.link_latency;
	}
	return sum;
}

static int64_t recurrence(const struct broadcast *b, const struct topology *topology,
	const struct expected *chunks, int64_t staging)
{
	static int64_t loaded[CHUNKS_MOST], stored[CHUNKS_MOST];
	struct copy_ticks t = copying_ticks(&b->copying);
	for (int64_t i = 0; i < chunks->count; i++) {
		int64_t load = i ? loaded[i - 1] : 0, store = i ? stored[i - 1] : 0;
		if (i >= staging)
			load = number_max(load, stored[i - staging] + t.sync);
		loaded[i] = load + t.in_latency + ticks_of(chunks->bytes[i], t.in_rate);
		stored[i] = number_max(store, loaded[i] + t.sync) +
			    store_of(b, topology, chunks->bytes[i]);
	}
	return chunks->count ? stored[chunks->count - 1] + t.sync : 0;
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
	SAME(draw, run->stores, chunks->count * b->ranks);
	SAME(draw, counts.flags, run->flags);
	SAME(draw, counts.bytes_loaded, run->bytes_loaded);
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
	int64_t all = number_max(chunks->count, 1);
	assert_true(broadcast_time(b, topology, b->staging, &times));
	SAME(draw, times.tiles, run->ticks);
	SAME(draw, times.tiles, recurrence(b, topology, chunks, b->staging));
	SAME(draw, times.single, recurrence(b, topology, chunks, 1));
	SAME(draw, times.ping_pong, recurrence(b, topology, chunks, 2));
	SAME(draw, times.unlimited, recurrence(b, topology, chunks, all));
	SAME(draw, broadcast_time_of(b, topology, b->staging, chunks->bytes, chunks->count),
		times.tiles);
	assert_true(times.bound <= times.unlimited && times.unlimited <= times.ping_pong);
	assert_true(times.ping_pong <= times.single);
	seen.three_tiles += times.unlimited < times.ping_pong;
}

/* ---- what a wait is for */

/* Every instruction is a node; reach[a][b]: a is before b. */
struct order {
	int count;
	struct {
		size_t stream;
		const struct copy_instruction *instruction;
	} nodes[NODES_MOST];
	bool reach[NODES_MOST][NODES_MOST];
};

static bool find_order(const struct copy_program *program, struct order *order)
{
	order->count = 0;
	for (size_t s = 0; s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			if (order->count == NODES_MOST)
				return false;
			order->nodes[order->count].stream = s;
			order->nodes[order->count++].instruction =
				&program->streams[s].instructions[i];
		}
	memset(order->reach, 0, sizeof order->reach);
	for (int a = 0; a + 1 < order->count; a++)
		order->reach[a][a + 1] = order->nodes[a].stream == order->nodes[a + 1].stream;
	for (int flag = 0; flag < program->flag_count; flag++) {
		int w = 0;
		for (int s = 0; s < order->count; s++) {
			const struct copy_instruction *set = order->nodes[s].instruction;
			if (set->kind != COPY_SET || set->flag != flag)
				continue;
			while (w < order->count &&
				(order->nodes[w].instruction->kind != COPY_WAIT ||
					order->nodes[w].instruction->flag != flag))
				w++;
			if (w < order->count)
				order->reach[s][w++] = true;
		}
	}
	for (int m = 0; m < order->count; m++)
		for (int a = 0; a < order->count; a++)
			for (int b = 0; order->reach[a][m] && b < order->count; b++)
				order->reach[a][b] |= order->reach[m][b];
	return true;
}

static bool has_race(const struct order *order)
{
	for (int a = 0; a < order->count; a++)
		for (int b = 0; b < order->count; b++) {
			const struct copy_instruction *load = order->nodes[a].instruction;
			const struct copy_instruction *store = order->nodes[b].instruction;
			if (load->kind == COPY_LOAD && store->kind == COPY_STORE &&
				load->tile == store->tile && !order->reach[a][b] &&
				!order->reach[b][a])
				return true;
		}
	return false;
}

static bool found_race(const struct copy_result *run)
{
	for (int f = 0; f < run->fault_count; f++)
		if (run->faults[f].kind == COPY_RACE)
			return true;
	return false;
}

/* The program without its n-th wait, counted over all streams. */
static bool without_wait(
	struct draw *draw, const struct copy_program *program, int n, struct copy_program *out)
{
	struct copy_stream *streams =
		arena_copy(draw->arena, program->streams, program->stream_count * sizeof *streams);
	*out = *program;
	out->streams = streams;
	for (size_t s = 0; s < program->stream_count; s++)
		for (size_t i = 0; i < streams[s].count; i++) {
			if (streams[s].instructions[i].kind != COPY_WAIT || n-- > 0)
				continue;
			struct copy_instruction *left = arena_copy(draw->arena,
				streams[s].instructions, streams[s].count * sizeof *left);
			memmove(&left[i], &left[i + 1], (--streams[s].count - i) * sizeof *left);
			streams[s].instructions = left;
			return true;
		}
	return false;
}

static void check_removed(struct draw *draw, const struct copy_program *program)
{
	static struct order order;
	struct copy_program broken;
	struct copy_options options = {.data = true, .seed = 1};
	int waits = 0;
	if (program->chunk_count > 24)
		return;
	while (without_wait(draw, program, waits, &broken))
		waits++;
	for (int tries = 0; waits && tries < 2; tries++) {
		without_wait(draw, program, (int)pick(draw, 0, waits - 1), &broken);
		if (!find_order(&broken, &order))
			return;
		struct copy_result run = copy_run(&broken, &options, draw->arena);
		bool matters = has_race(&order);
		if (matters != found_race(&run))
			fail_msg("a wait less %s a race, the simulator finds %s\n%s",
				matters ? "makes" : "does not make",
				run.fault_count ? run.faults[0].text : "nothing", draw->text);
		seen.mattering += matters;
		seen.harmless += !matters;
	}
}

static void check_draw(struct draw *draw)
{
	static struct expected chunks;
	const char *why;
	size_t faults;
	draw->text = draw_text(draw);
	draw->broadcast = broadcast_of_text(draw->arena, draw->text, NULL, &why);
	if (!draw->broadcast)
		fail_msg("%s\n%s", why, draw->text);
	const struct broadcast_fault *fault =
		broadcast_check(draw->broadcast, draw->arena, &faults);
	if (faults)
		fail_msg("%s: %s\n%s", broadcast_error_names[fault->error], fault->detail,
			draw->text);
	const struct copy_program *program =
		broadcast_lower(draw->broadcast, NULL, 1 << 20, draw->arena);
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
	seen.chunked += chunks.count > 1;
	seen.tails += chunks.count > 1 && chunks.bytes[chunks.count - 1] != chunks.bytes[0];
}

static void three_answers_agree(void **state)
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
		"%ld legal, %ld chunked, %ld with tails, %ld faster with more than two tiles; "
		"%ld waits that mattered, %ld that did not\n",
		seen.legal, seen.chunked, seen.tails, seen.three_tiles, seen.mattering,
		seen.harmless);
	if (!draws_are_many(count))
		return;
	assert_true(seen.chunked > count / 4 && seen.tails > count / 8);
	assert_true(seen.mattering > count / 8 && seen.harmless > count / 40);
	assert_true(seen.three_tiles > count / 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_answers_agree),
	};
	return cmocka_run_group_tests_name("diff_broadcast", tests, NULL, NULL);
}
