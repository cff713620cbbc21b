/*
 * Packings in a given order: who was below stays below, an order that a packing has can be kept,
 * and what fits in no order of the brute force fits in none of the packer's.
 */
#include "base/arena.h"
#include "base/random.h"
#include "solvers/place/pack.h"
#include "tests/support/draws.h"

#include "tests/test.h"

enum { COUNT = 7, STEPS = 6, SIZE_MOST = 5 };

static const struct packing *asked;
static struct pack_question question;
static enum pack_status status;
static int64_t found[COUNT];

static void run_pack(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	(void)problem;
	question.packing = asked;
	question.capacity = asked->capacity;
	struct pack_answer answer = pack(run, &question, arena);
	status = answer.status;
	for (size_t i = 0; i < asked->count && status == PACK_FITS; i++)
		found[i] = answer.placement->addresses[i];
	arena_close(arena);
}

static const struct solver solver = {.stage = STAGE_PLACE, .name = "order", .run = run_pack};

static enum pack_status pack_in(const struct packing *packing, const int64_t *order)
{
	struct arena *arena = arena_open();
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	asked = packing;
	question = (struct pack_question){.order = order};
	solve(&solver, &problem, 0, 1, arena);
	arena_close(arena);
	return status;
}

static bool meet(const struct buffer *a, const struct buffer *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool is_below(const struct packing *packing, const int64_t *order, size_t i, size_t j)
{
	return order[i] != UNPLACED && order[j] != UNPLACED && order[i] < order[j] &&
	       meet(&packing->buffers[i], &packing->buffers[j]);
}

/* Addresses from the first buffer on; true: all have one. */
static bool fits(const struct packing *packing, const int64_t *order, int64_t *at, size_t i)
{
	if (i == packing->count)
		return true;
	const struct buffer *b = packing->buffers;
	for (at[i] = 0; at[i] + b[i].size <= packing->capacity; at[i]++) {
		bool good = true;
		for (size_t j = 0; j < i && good; j++) {
			bool above = at[i] >= at[j] + b[j].size, below = at[i] + b[i].size <= at[j];
			good = !meet(&b[i], &b[j]) || (above && !is_below(packing, order, i, j)) ||
			       (below && !is_below(packing, order, j, i));
		}
		if (good && fits(packing, order, at, i + 1))
			return true;
	}
	return false;
}

static struct packing draw_packing(struct arena *arena, struct random *random)
{
	struct buffer *buffers = arena_array(arena, struct buffer, COUNT);
	for (int i = 0; i < COUNT; i++) {
		int64_t life = 1 + (int64_t)random_below(random, STEPS / 2);
		int64_t start = (int64_t)random_below(random, (uint64_t)(STEPS - life + 1));
		buffers[i] = (struct buffer){.name = "b",
			.size = 1 + (int64_t)random_below(random, SIZE_MOST),
			.start = start,
			.end = start + life};
	}
	return (struct packing){.alignment = 1,
		.capacity = 8 + (int64_t)random_below(random, 5),
		.count = COUNT,
		.buffers = buffers};
}

static void order_is_kept(void **state)
{
	long count = draws(2000), fitting = 0, not_fitting = 0;
	uint64_t seed = draws_seed(1);
	(void)state;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = draw_packing(arena, &random);
		int64_t order[COUNT], brute[COUNT];
		for (int i = 0; i < COUNT; i++)
			order[i] = random_below(&random, 3) ? (int64_t)random_below(&random, 1000)
							    : UNPLACED;
		for (int i = 0; i < COUNT; i++) /* all differ */
			order[i] = order[i] == UNPLACED ? UNPLACED : order[i] * COUNT + i;
		bool expected = fits(&packing, order, brute, 0);
		if (pack_in(&packing, order) != (expected ? PACK_FITS : PACK_NEVER))
			fail_msg("draw %ld: it %s", draw, expected ? "fits" : "does not fit");
		for (size_t i = 0; i < COUNT && expected; i++)
			for (size_t j = 0; j < COUNT; j++)
				if (is_below(&packing, order, i, j))
					assert_true(found[i] + packing.buffers[i].size <= found[j]);
		if (expected) { /* and once more in the order that was found */
			int64_t again[COUNT];
			for (int i = 0; i < COUNT; i++)
				again[i] = found[i];
			assert_int_equal(pack_in(&packing, again), PACK_FITS);
		}
		*(expected ? &fitting : &not_fitting) += 1;
		arena_close(arena);
	}
	print_message("%ld fit, %ld do not\n", fitting, not_fitting);
	assert_true(!draws_are_many(count) || (fitting > count / 10 && not_fitting > count / 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
