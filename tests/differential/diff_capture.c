#include "base/arena.h"
#include "base/random.h"
#include "search/packing/packing_search.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/*
 * Proofs of captures, against brute force: every division, residency and address of small random
 * ones, by rules written once more.  Capacities are so small that addresses matter: some best sets
 * of buffers have no layout although their live bytes never exceed the capacity.
 */
enum { BUFFERS_MOST = 5, MENU_MOST = 3, STEPS = 5, CAPACITY_MOST = 7 };

struct force {
	const struct capture_question *question;
	int divisions[BUFFERS_MOST];
	int64_t addresses[BUFFERS_MOST];
	struct capture_cost best;
	bool any;
};

static bool is_pair(const struct capture_edge *edge, int parent, int own)
{
	for (size_t p = 0; p < edge->pair_count; p++)
		if (edge->pairs[p].parent == parent && edge->pairs[p].own == own)
			return true;
	return false;
}

static int64_t bytes_of(const struct force *force, size_t b)
{
	const struct capture_buffer *buffer = &force->question->capture->buffers[b];
	int64_t pieces = buffer->divisions[force->divisions[b]].pieces, bytes = 0;
	while (bytes * pieces < buffer->size)
		bytes++;
	return bytes;
}

/* True if the child reads the parent, and may write over it where it lies. */
static bool takes(const struct force *force, size_t child, size_t parent)
{
	const struct capture_buffer *buffers = force->question->capture->buffers;
	for (size_t e = 0; e < buffers[child].edge_count; e++)
		if (buffers[child].edges[e].parent == (int)parent &&
			buffers[child].edges[e].is_in_place)
			return force->addresses[child] == force->addresses[parent] &&
			       bytes_of(force, child) == bytes_of(force, parent) &&
			       buffers[parent].end - 1 == buffers[child].start;
	return false;
}

/* Buffer b beside those before it, which are its possible parents. */
static bool is_legal(const struct force *force, size_t b)
{
	const struct capture_buffer *buffers = force->question->capture->buffers;
	for (size_t e = 0; e < buffers[b].edge_count; e++) {
		int parent = buffers[b].edges[e].parent;
		if (force->addresses[parent] >= 0 &&
			!is_pair(&buffers[b].edges[e], force->divisions[parent],
				force->divisions[b]))
			return false;
	}
	if (force->addresses[b] < 0)
		return true;
	if (force->addresses[b] + bytes_of(force, b) > force->question->capacity)
		return false;
	for (size_t k = 0; k < b; k++) {
		int64_t at = force->addresses[k];
		bool meet = buffers[k].start < buffers[b].end && buffers[b].start < buffers[k].end;
		bool share = at >= 0 && at < force->addresses[b] + bytes_of(force, b) &&
			     force->addresses[b] < at + bytes_of(force, k);
		if (meet && share && !takes(force, b, k))
			return false;
	}
	return true;
}

static void try_all(struct force *force, size_t b, struct capture_cost cost)
{
	const struct capture *capture = force->question->capture;
	if (b == capture->count) {
		if (!force->any || capture_compare(&cost, &force->best) < 0)
			force->best = cost;
		force->any = true;
		return;
	}
	const struct capture_buffer *buffer = &capture->buffers[b];
	for (size_t d = 0; d < buffer->division_count; d++)
		for (int64_t at = UNPLACED; at <= CAPACITY_MOST; at++) {
			struct capture_cost sum = cost;
			force->divisions[b] = (int)d;
			force->addresses[b] = at;
			if (at >= 0 && (!buffer->may_stay || at % force->question->alignment))
				continue;
			sum.spilled += at < 0 ? buffer->cost : 0;
			sum.idle -= buffer->divisions[d].cores;
			sum.squares += buffer->divisions[d].squares;
			if (is_legal(force, b))
				try_all(force, b + 1, sum);
		}
}

static struct capture_edge draw_edge(struct arena *arena, struct random *random,
	const struct capture_buffer *buffers, size_t parent, size_t own)
{
	struct capture_pair *pairs =
		arena_array(arena, struct capture_pair, (MENU_MOST + 1) * MENU_MOST);
	struct capture_edge edge = {
		.parent = (int)parent, .pairs = pairs, .is_in_place = random_below(random, 3) > 0};
	for (size_t p = 0; p < buffers[parent].division_count; p++)
		for (size_t o = 0; o < buffers[own].division_count; o++)
			if (random_below(random, 3) > 0)
				pairs[edge.pair_count++] = (struct capture_pair){(int)p, (int)o};
	return edge;
}

static struct capture draw(struct arena *arena, struct random *random)
{
	struct capture_buffer *buffers = arena_array(arena, struct capture_buffer, BUFFERS_MOST);
	struct capture capture = {.name = "drawn", .buffers = buffers};
	capture.count = 2 + (size_t)random_below(random, BUFFERS_MOST - 1);
	for (size_t b = 0; b < capture.count; b++) {
		struct capture_division *menu =
			arena_array(arena, struct capture_division, MENU_MOST);
		struct capture_edge *edges = arena_array(arena, struct capture_edge, BUFFERS_MOST);
		int64_t start = (int64_t)b;
		buffers[b] = (struct capture_buffer){.name = arena_format(arena, "b%zu", b),
			.size = 1 + (int64_t)random_below(random, 8),
			.start = start,
			.end = start + 1 + (int64_t)random_below(random, STEPS - b + 1),
			.may_stay = random_below(random, 8) > 0,
			.cost = (int64_t)random_below(random, 20),
			.division_count = 1 + random_below(random, MENU_MOST),
			.divisions = menu,
			.edges = edges};
		for (size_t d = 0; d < buffers[b].division_count; d++) {
			int64_t pieces = 1 + (int64_t)random_below(random, 3),
				reductions = 1 + (int64_t)random_below(random, 2);
			menu[d] = (struct capture_division){pieces, pieces * reductions,
				pieces * pieces + reductions * reductions};
		}
		for (size_t k = 0; k < b; k++)
			if (buffers[k].end > start && random_below(random, 2))
				edges[buffers[b].edge_count++] =
					draw_edge(arena, random, buffers, k, b);
	}
	return capture;
}

/* The proven cost of the search must equal that of brute force; a raised or lowered one must
 * differ. */
BARE_TEST(proven_costs_are_the_least)
{
	uint64_t seed = draws_seed(1);
	long tight = 0, count = draws(4000);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct capture capture = draw(arena, &random);
		struct capture_question question = {.capture = &capture,
			.capacity = 1 + (int64_t)random_below(&random, CAPACITY_MOST),
			.alignment = 1 + (int64_t)random_below(&random, 2)};
		struct force force = {.question = &question};
		struct asker asker = {0};
		struct capture_found found = capture_explore(&asker, &question, 0, arena);
		try_all(&force, 0, (struct capture_cost){0});
		if (!found.is_proven || capture_compare(&found.answer->cost, &force.best) != 0)
			fail_msg("draw %ld: %s %lld %lld %lld, brute force %lld %lld %lld", i,
				found.is_proven ? "proven" : "open",
				(long long)found.answer->cost.spilled,
				(long long)found.answer->cost.idle,
				(long long)found.answer->cost.squares,
				(long long)force.best.spilled, (long long)force.best.idle,
				(long long)force.best.squares);
		tight += found.answer->cost.spilled > 0;
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || tight > count / 4);
}

/* A changed answer is legal for the checker exactly if it is for brute force's rules. */
BARE_TEST(changed_answers_are_rejected)
{
	uint64_t seed = draws_seed(2);
	long legal = 0, illegal = 0, count = draws(2000);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct capture capture = draw(arena, &random);
		struct capture_question question = {
			&capture, 2 + (int64_t)random_below(&random, 6), 1};
		struct force force = {.question = &question};
		struct capture_answer answer = {
			.divisions = force.divisions, .addresses = force.addresses};
		bool is_right = true;
		for (size_t b = 0; b < capture.count; b++) {
			force.divisions[b] =
				(int)random_below(&random, capture.buffers[b].division_count);
			force.addresses[b] = (int64_t)random_below(&random, 8) - 1;
			is_right &= is_legal(&force, b) &&
				    (capture.buffers[b].may_stay || force.addresses[b] < 0);
		}
		assert_int_equal(is_right, capture_check(arena, &question, &answer) == NULL);
		*(is_right ? &legal : &illegal) += 1;
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || (legal > count / 50 && illegal > count / 50));
}

enum { WIDE_BUFFERS = 60, WIDE_MENU = 12, WIDE_TICKS = 2000000 };

/* Each op reads three of the eight buffers before its own, each under one pair of divisions in six: a buffer that is
 * cheap to keep often leaves a later op no division. */
static struct capture draw_wide(struct arena *arena, struct random *random)
{
	struct capture_buffer *buffers = arena_array(arena, struct capture_buffer, WIDE_BUFFERS);
	for (size_t b = 0; b < WIDE_BUFFERS; b++) {
		struct capture_division *menu =
			arena_array(arena, struct capture_division, WIDE_MENU);
		struct capture_edge *edges = arena_array(arena, struct capture_edge, 3);
		buffers[b] = (struct capture_buffer){.name = arena_format(arena, "b%zu", b),
			.size = 1 + (int64_t)random_below(random, 100),
			.start = (int64_t)b,
			.end = (int64_t)b + 9,
			.may_stay = true,
			.cost = 1 + (int64_t)random_below(random, 100),
			.division_count = WIDE_MENU,
			.divisions = menu,
			.edges = edges};
		for (int d = 0; d < WIDE_MENU; d++)
			menu[d] = (struct capture_division){1 + d % 4, 1 + d, (1 + d) * (1 + d)};
		for (size_t k = 0; b >= 8 && k < 3; k++) {
			struct capture_pair *pairs =
				arena_array(arena, struct capture_pair, WIDE_MENU * WIDE_MENU);
			size_t count = 0;
			for (int p = 0; p < WIDE_MENU * WIDE_MENU; p++)
				if (random_below(random, 6) == 0)
					pairs[count++] =
						(struct capture_pair){p / WIDE_MENU, p % WIDE_MENU};
			edges[buffers[b].edge_count++] =
				(struct capture_edge){.parent = (int)(b - 8 + 3 * k),
					.pairs = pairs,
					.pair_count = count};
		}
	}
	return (struct capture){.name = "wide", .buffers = buffers, .count = WIDE_BUFFERS};
}

/* A search that is cut short keeps at least half of what its own bound says could be kept. */
BARE_TEST(short_searches_keep_buffers)
{
	uint64_t seed = draws_seed(3);
	for (long i = 0, count = draws(3); i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct capture capture = draw_wide(arena, &random);
		struct capture_question question = {&capture, 1000, 1};
		struct asker asker = {0};
		struct capture_found found = capture_explore(&asker, &question, WIDE_TICKS, arena);
		int64_t all = 0, kept = 0;
		for (size_t b = 0; b < capture.count; b++)
			all += capture.buffers[b].cost;
		kept = all - found.answer->cost.spilled;
		if (kept * 2 < all - found.bound)
			fail_msg("draw %ld: %lld of %lld are kept, the bound says %lld", i,
				(long long)kept, (long long)all, (long long)(all - found.bound));
		arena_close(arena);
	}
}
