/* Tiles by price against all tilings there are, each priced as a step of a plan. */
#include "base/arena.h"
#include "base/array.h"
#include "cost/graph/cost.h"
#include "cost/graph/latency.h"
#include "search/engine/kept.h"
#include "search/graph/op_map.h"
#include "search/graph/options.h"
#include "tests/support/draws.h"
#include "tests/support/every_tiling.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

struct every {
	const struct op_question *question;
	const struct plan *plan;
	int step;
	struct arena *arena;
	struct mapping mapping;
	uint32_t whole; /* loops that may not be tiled */
	struct array(struct op_value) values;
};

/* Returns the cycles that cost_plan charges for the phase of the step. */
static int64_t find_cycles(const struct every *every, const struct step_count *count)
{
	struct plan plan = *every->plan;
	struct counts counts = {.step_count = plan.step_count};
	struct phase_cost phase = {every->step, every->step + 1, 0, 0, {0}};
	plan.steps =
		arena_copy(every->arena, plan.steps, (size_t)plan.step_count * sizeof *plan.steps);
	plan.steps[every->step].mapping = every->mapping;
	counts.steps = arena_array(every->arena, struct step_count, plan.step_count);
	counts.steps[every->step] = *count;
	struct traffic_op *ops = arena_array(every->arena, struct traffic_op, plan.step_count);
	traffic_open_step(&ops[every->step], &plan, every->step, every->arena);
	assert_true(latency_phase(&plan, &counts, ops, every->arena, &phase));
	return phase.cycles;
}

static void price(void *user)
{
	struct every *every = user;
	const struct op_question *q = every->question;
	struct inner_question inner = {.arch = q->arch,
		.workload = q->workload,
		.op = q->op,
		.mapping = &every->mapping,
		.in_lx = q->in_lx};
	struct op_price priced;
	struct arena_mark mark = arena_mark(every->arena);
	bool fits = op_price(&inner, every->arena, &priced);
	int64_t cycles = find_cycles(every, &priced.counts);
	arena_release(every->arena, mark);
	if (fits && priced.room <= arch_stream_capacity(q->arch))
		*array_add(every->arena, &every->values) = (struct op_value){cycles,
			number_max(cycles, priced.estimate), priced.hbm_bytes, priced.energy_pj};
}

static bool covers(const struct op_value *a, const struct op_value *b)
{
	return a->cycles <= b->cycles && a->estimate <= b->estimate &&
	       a->hbm_bytes <= b->hbm_bytes && a->energy_pj <= b->energy_pj * (1 + 1e-12);
}

/* True if some option is as good as each tiling, and each option is one. */
static bool is_complete(const struct op_front *front, const struct every *every)
{
	for (size_t i = 0; i < every->values.count; i++) {
		bool covered = false;
		for (size_t k = 0; k < front->count && !covered; k++)
			covered = covers(&front->at[k].value, &every->values.at[i]);
		if (!covered)
			return false;
	}
	for (size_t k = 0; k < front->count; k++) {
		bool real = false;
		for (size_t i = 0; i < every->values.count && !real; i++)
			real = covers(&every->values.at[i], &front->at[k].value);
		if (!real)
			return false;
	}
	return true;
}

static void check_choices(
	const struct op_answer *answer, const struct every *every, const char *where)
{
	const struct op_value *by_goal[TILE_GOALS];
	double energy = INFINITY;
	int64_t hbm = INT64_MAX, least = INT64_MAX;
	for (int goal = 0; goal < TILE_GOALS; goal++)
		by_goal[goal] = &answer->at[answer->choice[goal]].value;
	const struct op_value *published = by_goal[TILES_PUBLISHED];
	for (size_t i = 0; i < every->values.count; i++) {
		const struct op_value *value = &every->values.at[i];
		energy = fmin(energy, value->energy_pj);
		hbm = number_min(hbm, value->hbm_bytes);
		if (value->cycles <= published->cycles)
			least = number_min(least, value->estimate);
	}
	if (by_goal[TILES_ENERGY]->energy_pj > energy * (1 + 1e-12) ||
		by_goal[TILES_HBM_BYTES]->hbm_bytes != hbm ||
		by_goal[TILES_LATENCY]->cycles > published->cycles ||
		by_goal[TILES_LATENCY]->estimate > least + least / OP_MAP_AS_FAST)
		fail_msg("%s: a goal is missed", where);
	const struct op_value *all = by_goal[TILES_ALL];
	if (all->cycles > published->cycles || all->hbm_bytes > published->hbm_bytes ||
		all->energy_pj > published->energy_pj)
		fail_msg("%s: worse than the published tiles", where);
}

/* Options left out that are noticed. */
static size_t break_front(struct op_front *front, const struct every *every, struct arena *arena)
{
	size_t noticed = 0;
	struct op_option *fewer = arena_array(arena, struct op_option, front->count);
	for (size_t out = 0; out < front->count; out++) {
		struct op_front broken = {.at = fewer};
		for (size_t k = 0; k < front->count; k++)
			if (k != out)
				fewer[broken.count++] = front->at[k];
		noticed += !is_complete(&broken, every);
	}
	return noticed;
}

static void check_step(
	const struct plan *plan, int step, struct arena *arena, const char *where, size_t *noticed)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct op_question question = {.arch = plan->arch,
		.workload = plan->workload,
		.op = op,
		.mapping = &plan->steps[step].mapping,
		.in_lx = inner_nest_question(arena, plan, step).in_lx};
	struct every every = {.question = &question,
		.plan = plan,
		.step = step,
		.arena = arena,
		.mapping = *question.mapping};
	struct traffic_op traffic;
	traffic_open(&traffic, plan->arch, plan->workload, op, question.mapping, question.in_lx);
	if (traffic.moves || traffic.evicts)
		return;
	every.whole = traffic.operands[op->read_count].joint;
	every_tiling_visit(
		&(struct every_tiling){every.question, every.whole, &every.mapping, price, &every});
	struct kept *kept = kept_open();
	struct nests_wanted wanted = {.kept = kept};
	struct op_front front = op_map_front(&question, NULL, OP_ALL_EVALUATIONS, arena);
	const struct op_answer *answer = op_map(&wanted, &question, arena);
	if (!front.proven || !is_complete(&front, &every))
		fail_msg("%s: %zu options do not stand for %zu tilings", where, front.count,
			every.values.count);
	if (answer->found != (every.values.count > 0))
		fail_msg("%s: found %d", where, answer->found);
	if (answer->found)
		check_choices(answer, &every, where);
	assert_ptr_equal(op_map(&wanted, &question, arena), answer);
	*noticed += break_front(&front, &every, arena);
	kept_close(kept);
}

BARE_TEST(no_tiling_is_better)
{
	uint64_t seed = draws_seed(1);
	long count = draws(300);
	size_t noticed = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct random_options options = {
			.elements_most = 20000, .legal = random_below(&random, 2)};
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
			if (op_is_tiled(&plan->workload->ops[plan->steps[step].op]))
				check_step(plan, step, arena, where, &noticed);
		}
		arena_close(arena);
	}
	assert_true(noticed > (size_t)count);
}
