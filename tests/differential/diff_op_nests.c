/*
 * Tiles of an op whose array is described, with their nests: no random nest of any tile, priced as a step of
 * a plan, is better than all options of search/graph/op_map.h and than all that it says may be left out.
 */
#include "base/arena.h"
#include "base/array.h"
#include "cost/graph/cost.h"
#include "cost/graph/streaming.h"
#include "search/engine/kept.h"
#include "search/graph/op_map.h"
#include "search/graph/options.h"
#include "tests/support/array_arch.h"
#include "tests/support/draws.h"
#include "tests/support/every_tiling.h"
#include "tests/support/random_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

enum { NESTS_OF_A_TILE = 8 };

struct judged {
	struct random *random;
	const struct op_question *question;
	const struct op_front *front;
	struct arena *arena;
	struct plan plan; /* of the one step */
	long nests, between;
	long noticed; /* that would be better, were everything a tenth dearer */
	const char *wrong;
};

static bool covers(const struct op_value *a, const struct op_value *b, double dearer)
{
	return (double)a->cycles * dearer <= (double)b->cycles && a->hbm_bytes <= b->hbm_bytes &&
	       a->energy_pj * dearer <= b->energy_pj * (1 + 1e-9);
}

static bool is_covered(
	const struct judged *judged, const struct op_value *value, double dearer, bool options)
{
	const struct op_front *front = judged->front;
	for (size_t i = 0; i < front->count; i++)
		if (covers(&front->at[i].value, value, dearer))
			return true;
	for (size_t i = 0; i < front->least_count && !options; i++)
		if (covers(&front->least[i], value, dearer))
			return true;
	return false;
}

/* True if the factors inside make up the tile: others are in no mapspace. */
static bool divides(const struct inner_nest *nest)
{
	for (int l = 0; l < nest->shape->dimension_count; l++) {
		int64_t product = 1;
		for (int i = 0; i < nest->hierarchy->level_count; i++) {
			const struct nest_level *level = &nest->hierarchy->levels[i];
			product *= nest->mapping.rows[level->block_row].spatial[l];
			if (level->storage)
				product *= nest->mapping.rows[level->row].temporal[l];
		}
		if (product != nest->shape->dimensions[l].extent)
			return false;
	}
	return true;
}

static void judge_one(struct judged *judged, const struct mapping *tiles)
{
	const char *why;
	struct plan_cost *cost = arena_new(judged->arena, struct plan_cost);
	int64_t room;
	judged->plan.steps[0].mapping = *tiles;
	array_draw_nests(judged->random, &judged->plan, judged->arena);
	struct inner_question inner = inner_nest_question(judged->arena, &judged->plan, 0);
	inner.in_lx = judged->question->in_lx;
	struct inner_nest nest = inner_nest_make(&inner, judged->arena, &why);
	struct traffic_op *traffic = arena_new(judged->arena, struct traffic_op);
	traffic_open_nest(traffic, &inner, judged->arena);
	if (!nest.hierarchy || !divides(&nest) || traffic->inner->why ||
		!streaming_room(traffic, &room) || room > arch_stream_capacity(inner.arch) ||
		!cost_plan(&judged->plan, judged->arena, cost))
		return;
	const struct score *score = &cost->score;
	struct op_value value = {
		score->cycles, score->estimate_cycles, score->hbm_bytes, score->energy_pj};
	judged->nests++;
	judged->between += !is_covered(judged, &value, 1, true);
	judged->noticed += !is_covered(judged, &value, 1.1, false);
	if (!is_covered(judged, &value, 1, false))
		judged->wrong = mapping_print(
			judged->arena, inner.arch, inner.op, &judged->plan.steps[0].mapping);
}

static void judge(void *user)
{
	struct judged *judged = user;
	for (int n = 0; n < NESTS_OF_A_TILE && !judged->wrong; n++) {
		struct arena_mark mark = arena_mark(judged->arena);
		judge_one(judged, judged->question->mapping);
		if (!judged->wrong)
			arena_release(judged->arena, mark);
	}
}

/* False: its nests could not be proven. */
static bool check_step(const struct plan *plan, int step, struct judged *judged)
{
	struct arena *arena = judged->arena;
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct mapping mapping = plan->steps[step].mapping;
	struct op_question question = {
		.arch = plan->arch, .workload = plan->workload, .op = op, .mapping = &mapping};
	struct kept *kept = kept_open();
	struct nests_wanted wanted = {.kept = kept};
	struct op_front front = op_map_front(&question, &wanted, OP_ALL_EVALUATIONS, arena);
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open(traffic, plan->arch, plan->workload, op, &mapping, 0);
	struct step own = plan->steps[step];
	judged->plan = *plan;
	judged->plan.step_count = 1;
	judged->plan.steps = &own;
	judged->plan.residency_count = 0;
	judged->question = &question;
	judged->front = &front;
	if (front.proven)
		every_tiling_visit(&(struct every_tiling){&question,
			traffic->operands[op->read_count].joint, &mapping, judge, judged});
	kept_close(kept);
	return front.proven;
}

BARE_TEST(no_nest_is_better)
{
	uint64_t seed = draws_seed(1);
	long count = draws(300) / 10, proven = 0;
	struct judged all = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct random_options options = {.elements_most = 2000, .legal = true};
		int cores = 1 << random_below(&random, 3);
		const struct plan *plan =
			random_plan(&random, &options, array_arch(arena, cores), cores, arena);
		struct judged judged = {.random = &random, .arena = arena};
		for (int step = 0; step < plan->step_count && !judged.wrong; step++)
			if (op_has_inner_nest(
				    plan->arch, &plan->workload->ops[plan->steps[step].op]))
				proven += check_step(plan, step, &judged);
		if (judged.wrong)
			fail_msg("draw %ld of seed %" PRIu64 ": better than all: %s", i, seed,
				judged.wrong);
		all.nests += judged.nests;
		all.between += judged.between;
		all.noticed += judged.noticed;
		arena_close(arena);
	}
	printf("%ld ops, %ld nests, %ld below some option, %ld would be noticed\n", proven,
		all.nests, all.between, all.noticed);
	assert_true(!draws_are_many(count * 10) || (all.nests > count && all.noticed > 0));
}
