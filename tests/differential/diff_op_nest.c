#include "base/arena.h"
#include "cost/graph/cost.h"
#include "search/graph/op_map.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * One einsum under one mapping, by the model of plans, which counts sticks of boxes,
 * and by the model of nests, which counts words of tiles: where sticks are whole, words
 * times the bytes of an element are the bytes, at HBM and into LX.
 */
static const struct {
	const char *operands, *loops;
} einsums[] = {
	{"mk,kn->mn", "mnk"},
	{"bmk,bkn->bmn", "bmnk"},
	{"mk,kn,mn->mn", "mnk"},
	{"mkr,rkn->mn", "mnkr"},
	{"mk,mk->mk", "mk"},
};
enum { EINSUMS = sizeof einsums / sizeof *einsums };

/* Loops along a stick come in whole sticks of 64. */
static bool runs_along_stick(const char *operands, char loop)
{
	for (const char *at = operands; *at; at++)
		if (*at == loop && (at[1] == ',' || at[1] == '-' || at[1] == '\0'))
			return true;
	return false;
}

static struct plan *draw_plan(struct random *random, struct arena *arena)
{
	const struct arch *arch = spyre_arch(arena, 32);
	int e = (int)random_below(random, EINSUMS);
	int64_t extents[OP_LOOPS_MOST];
	for (int l = 0; einsums[e].loops[l]; l++) {
		bool stick = runs_along_stick(einsums[e].operands, einsums[e].loops[l]);
		extents[l] = (int64_t)random_below(random, 12) + 1;
		extents[l] *= stick ? 64 : 1;
		extents[l] += extents[l] == 1;
	}
	const struct workload *workload = sample_op(
		arena, OP_EINSUM, DTYPE_FP16, einsums[e].operands, einsums[e].loops, extents);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = 32,
		.step_count = 1,
		.steps = arena_new(arena, struct step),
		.residencies = arena_array(arena, struct residency, workload->tensor_count)};
	plan->steps[0].mapping =
		random_mapping(random, arch, 32, workload, &workload->ops[0], arena);
	for (int t = 0; t < (int)workload->tensor_count; t++)
		if (random_below(random, 4) == 0)
			plan->residencies[plan->residency_count++] = (struct residency){
				.tensor = t, .place = PLACE_LX, .to = 1, .in_place_of = -1};
	return plan;
}

static int64_t bytes_at(const struct op_nest *nest, int64_t words, int space)
{
	return words * nest->shape->spaces[space].word_bits / 8;
}

static bool counts_alike(const struct plan *plan, const struct op_nest *nest)
{
	struct arena *arena = arena_open();
	struct counts counts;
	bool alike = cost_counts(plan, arena, &counts);
	int hbm = hierarchy_level(nest->hierarchy, plan->arch->hbm);
	int lx = hierarchy_level(nest->hierarchy, plan->arch->lx);
	alike &= counts.steps[0].computes == nest->counts.computes;
	for (int i = 0; i < nest->shape->space_count; i++) {
		const int64_t *bytes = counts.steps[0].bytes[i];
		const struct nest_count *outer = &nest->counts.at[hbm][i];
		const struct nest_count *inner = &nest->counts.at[lx][i];
		bool read = !nest->shape->spaces[i].written;
		alike &= bytes[TRAFFIC_HBM_READ] == bytes_at(nest, outer->reads, i);
		alike &= bytes[TRAFFIC_HBM_WRITE] == bytes_at(nest, outer->updates, i);
		alike &= !read || bytes[TRAFFIC_LX_FILL] == bytes_at(nest, inner->fills, i);
	}
	arena_close(arena);
	return alike;
}

BARE_TEST(words_are_the_bytes_of_plans)
{
	uint64_t seed = draws_seed(1);
	long count = draws(300), fetched_again = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct plan *plan = draw_plan(&random, arena);
		struct op_nest *nest = arena_new(arena, struct op_nest);
		op_nest_make(plan, 0, arena, nest);
		const char *text = mapping_print(
			arena, plan->arch, &plan->workload->ops[0], &plan->steps[0].mapping);
		if (!nest->shape)
			fail_msg("draw %ld of seed %" PRIu64 ", %s: no nest", i, seed, text);
		if (!counts_alike(plan, nest))
			fail_msg("draw %ld of seed %" PRIu64 ", %s", i, seed, text);
		int hbm = hierarchy_level(nest->hierarchy, plan->arch->hbm);
		for (int t = 0; t < nest->shape->space_count; t++)
			fetched_again += nest->counts.at[hbm][t].reads >
					 plan->workload->tensors[t].layout.bytes / 2;
		arena_close(arena);
	}
	assert_true(fetched_again > 0 || !draws_are_many(count));
}

TEST(what_is_no_einsum_has_no_nest)
{
	const struct workload *workload =
		sample_op(arena, OP_REDUCE, DTYPE_FP16, "mk->m", "mk", (int64_t[]){64, 64});
	struct step step = {0};
	struct plan plan = {.arch = spyre_arch(arena, 32),
		.workload = workload,
		.cores = 32,
		.step_count = 1,
		.steps = &step};
	step.mapping = mapping_make(plan.arch, &workload->ops[0]);
	struct op_nest nest;
	op_nest_make(&plan, 0, arena, &nest);
	assert_null(nest.shape);
}
