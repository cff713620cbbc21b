#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/graph/streaming.h"
#include "search/graph/stream.h"
#include "tests/support/draws.h"
#include "tests/support/every_tiling.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * The choice of tiles against all tilings there are: every vector of divisors
 * with every order that keeps reductions innermost, priced by cost_stream.
 */
struct tiling {
	int64_t hbm, cycles, tiles, passes;
	int64_t factors[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST];
};

struct all {
	const struct op_question *question;
	struct arena *arena;
	struct mapping mapping;
	uint32_t whole; /* loops that may not be tiled */
	struct tiling *list;
	size_t count, capacity;
};

static void price(void *user)
{
	struct all *all = user;
	const struct op_question *q = all->question;
	const struct mapping_row *row = &all->mapping.rows[q->arch->lx];
	struct tiling tiling = {.tiles = 1, .passes = 1};
	struct traffic_op traffic;
	int64_t room;
	if (!cost_stream(q->arch, q->workload, q->op, &all->mapping, q->in_lx, &tiling.hbm, &room))
		return;
	if (room > arch_stream_capacity(q->arch))
		return;
	traffic_open(&traffic, q->arch, q->workload, q->op, &all->mapping, q->in_lx);
	traffic.arriving = q->arriving;
	assert_true(streaming_estimate(&traffic, tiling.hbm, &tiling.cycles));
	for (int i = 0; i < q->op->loop_count; i++) {
		tiling.factors[i] = row->temporal[i];
		tiling.order[i] = row->temporal_order[i];
		tiling.tiles *= row->temporal[i];
		if (q->op->loops[i].reduction)
			tiling.passes *= row->temporal[i];
	}
	if (all->count == all->capacity) {
		struct tiling *old = all->list;
		all->capacity = all->capacity ? all->capacity * 2 : 256;
		all->list = arena_array(all->arena, struct tiling, all->capacity);
		if (old)
			memcpy(all->list, old, all->count * sizeof *old);
	}
	all->list[all->count++] = tiling;
}

/* a before b: see stream.h, without rule 2.  Orders compare by their tiled loops only. */
static int compare(const struct tiling *a, const struct tiling *b, int loop_count)
{
	if (a->tiles != b->tiles)
		return a->tiles < b->tiles ? -1 : 1;
	if (a->passes != b->passes)
		return a->passes < b->passes ? -1 : 1;
	for (int l = 0; l < loop_count; l++)
		if (a->factors[l] != b->factors[l])
			return a->factors[l] < b->factors[l] ? -1 : 1;
	int i = 0, j = 0;
	for (;;) {
		while (i < loop_count && a->factors[a->order[i]] == 1)
			i++;
		while (j < loop_count && b->factors[b->order[j]] == 1)
			j++;
		if (i == loop_count)
			return 0;
		if (a->order[i] != b->order[j])
			return a->order[i] < b->order[j] ? -1 : 1;
		i++;
		j++;
	}
}

/* The cost of the op in one tile. */
static int64_t find_bound(const struct all *all, int64_t hbm)
{
	const struct op_question *q = all->question;
	struct mapping mapping = all->mapping;
	struct traffic_op traffic;
	int64_t bound;
	for (int l = 0; l < q->op->loop_count; l++)
		mapping.rows[q->arch->lx].temporal[l] = 1;
	traffic_open(&traffic, q->arch, q->workload, q->op, &mapping, q->in_lx);
	traffic.arriving = q->arriving;
	assert_true(streaming_bound(&traffic, hbm, &bound));
	return bound;
}

static const struct tiling *find_best(const struct all *all)
{
	int64_t hbm = INT64_MAX, least = INT64_MAX;
	const struct tiling *best = NULL;
	if (all->count == 0)
		return NULL;
	for (size_t i = 0; i < all->count; i++)
		hbm = all->list[i].hbm < hbm ? all->list[i].hbm : hbm;
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].hbm == hbm && all->list[i].cycles < least)
			least = all->list[i].cycles;
	int64_t bound = find_bound(all, hbm), most = bound + bound / 8;
	if (least > most)
		most = least + bound / 16;
	for (size_t i = 0; i < all->count; i++) {
		const struct tiling *one = &all->list[i];
		if (one->hbm == hbm && one->cycles <= most &&
			(!best || compare(one, best, all->question->op->loop_count) < 0))
			best = one;
	}
	return best;
}

static void check_step(const struct plan *plan, int step, struct random *random,
	struct arena *arena, const char *where)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct op_question question = {
		.arch = plan->arch,
		.workload = plan->workload,
		.op = op,
		.mapping = &plan->steps[step].mapping,
		.in_lx = (uint32_t)random_below(random, 2u << op->read_count),
	};
	question.arriving.operands =
		question.in_lx & (uint32_t)random_below(random, 1u << op->read_count);
	for (int i = 0; i < op->read_count; i++)
		question.arriving.follows[i] = (uint32_t)random_below(random, 1u << op->loop_count);
	struct all all = {.question = &question, .arena = arena, .mapping = *question.mapping};
	struct traffic_op traffic;
	traffic_open(&traffic, plan->arch, plan->workload, op, question.mapping, 0);
	all.whole = traffic.operands[op->read_count].joint;
	every_tiling_visit(
		&(struct every_tiling){all.question, all.whole, &all.mapping, price, &all});
	const struct tiling *best = find_best(&all);
	struct stream_answer answer = stream_tiles(&question, arena);
	if (answer.found != (best != NULL))
		fail_msg("%s: found %d", where, answer.found);
	if (!best)
		return;
	struct tiling got = {.tiles = answer.tile_count, .passes = 1};
	for (int l = 0; l < op->loop_count; l++) {
		got.factors[l] = answer.tiles[l];
		got.order[l] = answer.order[l];
		if (op->loops[l].reduction)
			got.passes *= answer.tiles[l];
	}
	if (answer.hbm_bytes != best->hbm || answer.cycles != best->cycles ||
		compare(&got, best, op->loop_count) != 0)
		fail_msg("%s: %" PRId64 " bytes in %" PRId64 " tiles, expected %" PRId64
			 " in %" PRId64,
			where, answer.hbm_bytes, answer.tile_count, best->hbm, best->tiles);
}

BARE_TEST(best_tiles_of_all)
{
	uint64_t seed = draws_seed(4);
	long count = draws(1000);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct random_options options = {
			.elements_most = 40000, .legal = random_below(&random, 2)};
		int cores = 1 << random_below(&random, 4);
		options.restickifies = draw_chance(&random, 2);
		const struct arch *drawn = draw_chance(&random, 2) ? mechanisms_arch(arena, cores)
								   : spyre_arch(arena, cores);
		struct arch *arch = arena_copy(arena, drawn, sizeof *arch);
		arch->levels[arch->lx].storage.capacity = 1 << 20;
		arch->levels[arch->lx].storage.reserve = 1024 << random_below(&random, 7);
		const struct plan *plan = random_plan(&random, &options, arch, cores, arena);
		for (int step = 0; step < plan->step_count; step++) {
			char where[64];
			snprintf(where, sizeof where, "draw %ld of seed %" PRIu64 ", step %d", i,
				seed, step);
			check_step(plan, step, &random, arena, where);
		}
		arena_close(arena);
	}
}
