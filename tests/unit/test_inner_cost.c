#include "base/arena.h"
#include "base/diag.h"
#include "cost/graph/cost.h"
#include "cost/graph/footprint.h"
#include "model/graph/op_mapping.h"
#include "report/graph/plan_results.h"
#include "report/run/json.h"
#include "tests/support/arch_text.h"
#include "tests/support/workload_text.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

/* A core with a register file and eight multipliers in its scratchpad. */
#define MACHINE(home, scratchpad, depth)                                                           \
	"architecture:\n  nodes:\n"                                                                \
	"  - !Container {name: system, attributes: {clock: 1GHz}}\n"                               \
	"  - !Component {name: HBM, class: DRAM, attributes: {" home                               \
	"shared_bandwidth: 32GB/s, read_energy_per_byte: 3pJ, write_energy_per_byte: 3pJ}}\n"      \
	"  - !Container {name: core, spatial: {meshX: 1}}\n"                                       \
	"  - !Component {name: LX, class: SRAM, attributes: {size: 256KiB, reserve: 0.5, "         \
	"alignment: 128, " scratchpad                                                              \
	"read_bandwidth: 64, write_bandwidth: 64, read_energy_per_byte: 1pJ, "                     \
	"write_energy_per_byte: 1pJ}}\n"                                                           \
	"  - !Component {name: RF, class: regfile, attributes: {depth: " depth ", width: 16}}\n"   \
	"  - !Component {name: mac, class: fpmac, spatial: {meshX: 8}}\n"
#define BOXES MACHINE("stick: 128B, ", "transfer: box, fill_bandwidth: 64, ", "1024")
#define SMALL MACHINE("stick: 128B, ", "transfer: box, fill_bandwidth: 64, ", "32")
#define WORDS MACHINE("", "", "1024")
#define PRODUCT                                                                                    \
	"workload: {dimensions: {m: 2, n: 64, k: 128}, "                                           \
	"ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}"

enum { M, N, K };
enum { HBM = 1, CORE, LX, RF, MAC };

static struct plan *make_plan(struct arena *arena, const char *machine)
{
	struct diag *diag = diag_open(arena);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = arch_of_text(arena, machine, diag),
		.workload = workload_given(arena, PRODUCT),
		.cores = 1,
		.step_count = 1,
		.steps = arena_array(arena, struct step, 1)};
	assert_non_null(plan->arch);
	plan->steps[0].mapping = mapping_make(plan->arch, plan->workload->ops);
	return plan;
}

/* Eight columns at a time; every word comes from the scratchpad, and every sum goes back there. */
static struct plan *make_bare(struct arena *arena, const char *machine, int k_tiles)
{
	struct plan *plan = make_plan(arena, machine);
	struct mapping *mapping = &plan->steps[0].mapping;
	mapping->rows[LX].temporal[K] = (uint32_t)k_tiles;
	mapping->rows[HBM].temporal[M] = 2;
	mapping->rows[HBM].temporal[N] = 8;
	mapping->rows[HBM].temporal[K] = 128 / (uint32_t)k_tiles;
	mapping->rows[MAC].spatial[N] = 8;
	return plan;
}

/* Loops of a and c multiply to 2 * 8 * 128 = 2048; b has a word for each multiplication. */
TEST(every_update_goes_through_the_scratchpad)
{
	struct plan_cost cost;
	struct plan *plan = make_bare(arena, BOXES, 1);
	assert_true(cost_plan(plan, arena, &cost));
	const struct step_count *count = &cost.counts.steps[0];
	assert_null(cost.score.rejected);
	assert_int_equal(count->bytes[0][TRAFFIC_LX_READ], 2 * 2048);
	assert_int_equal(count->bytes[1][TRAFFIC_LX_READ], 2 * 16384);
	assert_int_equal(count->bytes[2][TRAFFIC_LX_READ], 4 * (16384 - 128));
	assert_int_equal(count->bytes[2][TRAFFIC_LX_WRITE], 4 * (16384 - 128) + 2 * 128);
	assert_int_equal(count->bytes[2][TRAFFIC_HBM_WRITE], 256);
	assert_int_equal(count->bytes[1][TRAFFIC_HBM_READ], 128 * 128);
	assert_int_equal(count->nests->computes, 16384);
	assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], 2048);
	assert_int_equal(cost.phases[0].resource[RESOURCE_LX_READ],
		(2 * 2048 + 2 * 16384 + 4 * (16384 - 128) + 127) / 128);
}

/* Two passes: accumulators in between, each nest from the beginning. */
TEST(a_second_pass_reads_what_the_first_left)
{
	struct plan_cost cost;
	assert_true(cost_plan(make_bare(arena, BOXES, 2), arena, &cost));
	const struct step_count *count = &cost.counts.steps[0];
	assert_int_equal(count->bytes[2][TRAFFIC_LX_READ], 4 * (2 * (8192 - 128) + 128));
	assert_int_equal(count->bytes[2][TRAFFIC_LX_WRITE], 4 * (2 * (8192 - 128) + 128) + 2 * 128);
	assert_int_equal(cost.phases[0].resource[RESOURCE_COMPUTE], 2 * 1024);
}

/* A tensor that stays in registers is not read again, needs no accumulator, and costs its own
 * accesses. */
TEST(registers_save_the_scratchpad)
{
	struct plan *plan = make_bare(arena, BOXES, 1);
	struct mapping *mapping = &plan->steps[0].mapping;
	struct inner_question question = inner_nest_question(arena, plan, 0);
	struct op_price bare, kept;
	assert_true(op_price(&question, arena, &bare));
	mapping->residency[2] |= 1u << RF;
	mapping->rows[HBM].temporal[K] = 1;
	mapping->rows[RF].temporal[K] = 128;
	assert_true(op_price(&question, arena, &kept));
	const struct inner_cost *inner = inner_cost_make(&question, arena);
	int registers = hierarchy_level(inner->nest.hierarchy, RF);
	const struct nest_level *level = &inner->nest.hierarchy->levels[registers];
	const struct nest_count *rf = kept.counts.nests->at[registers];
	assert_int_equal(kept.counts.bytes[2][TRAFFIC_LX_WRITE], 2 * 128);
	assert_int_equal(kept.counts.bytes[2][TRAFFIC_LX_READ], 0);
	assert_int_equal(rf[2].updates, 16384);
	assert_int_equal(bare.room - kept.room, 4 * 128);
	assert_true(kept.bound <= bare.bound);
	double expected = 16384 * inner->nest.hierarchy->compute_pj +
			  (double)rf[2].reads * level->energies.pj[NEST_READ] +
			  (double)rf[2].updates * level->energies.pj[NEST_UPDATE];
	for (int i = 0; i < 3; i++) {
		const int64_t *bytes = kept.counts.bytes[i];
		expected += 3 * (double)(bytes[TRAFFIC_HBM_READ] + bytes[TRAFFIC_HBM_WRITE]) +
			    (double)(bytes[TRAFFIC_LX_READ] + bytes[TRAFFIC_LX_WRITE] +
				     bytes[TRAFFIC_LX_FILL] + bytes[TRAFFIC_LX_DRAIN]);
	}
	assert_true(fabs(kept.energy_pj - expected) < 1e-6);
}

TEST(a_nest_that_does_not_fit_is_rejected)
{
	struct plan_cost cost;
	struct plan *plan = make_bare(arena, SMALL, 1);
	plan->steps[0].mapping.residency[1] |= 1u << RF;
	plan->steps[0].mapping.rows[HBM].temporal[K] = 1;
	plan->steps[0].mapping.rows[RF].temporal[K] = 128;
	assert_true(cost_plan(plan, arena, &cost));
	assert_string_equal(
		cost.score.rejected, "op 'c': the tiles at 'RF' take 1024 words; it holds 32");
	plan = make_plan(arena, BOXES);
	assert_true(cost_plan(plan, arena, &cost));
	assert_string_equal(cost.score.rejected,
		"op 'c': the factors of dimension 'm' multiply to 1, not to its extent 2");
}

/* Levels as a problem prints them; their energies and HBM's are the plan's. */
TEST(reports_tell_the_levels)
{
	struct plan *plan = make_bare(arena, BOXES, 2);
	plan->steps[0].mapping.residency[0] |= 1u << RF;
	struct outcome outcome = evaluate_cost(plan, arena);
	assert_null(outcome.why);
	json_t *root = score_json(arena, &outcome, NULL, false), *level;
	json_t *op = json_array_get(json_object_get(root, "ops"), 0);
	json_t *nest = json_object_get(op, "nest");
	double energy = 0;
	size_t i;
	assert_string_equal(json_string_value(json_object_get(nest, "mapping")),
		"LX: k64 n8 m2 | mac: n8 | keep LX,RF: a; LX: b c");
	json_array_foreach(json_object_get(nest, "levels"), i, level)
		energy += json_number_value(json_object_get(level, "energy_pj"));
	for (i = 0; i < 3; i++) {
		const int64_t *bytes = outcome.cost.counts.steps[0].bytes[i];
		energy += 3 * (double)(bytes[TRAFFIC_HBM_READ] + bytes[TRAFFIC_HBM_WRITE]);
	}
	assert_true(fabs(energy - outcome.cost.score.energy_pj) < 1e-6);
	level = json_array_get(json_object_get(nest, "levels"), 2);
	assert_string_equal(json_string_value(json_object_get(level, "name")), "LX");
	level = json_object_get(json_object_get(level, "dataspaces"), "c");
	assert_int_equal(json_integer_value(json_object_get(level, "total_updates")), 16384);
	json_decref(root);
	root = score_json(arena, &outcome, NULL, false);
	const char *text = score_text(arena, &outcome, root);
	assert_non_null(strstr(text, "\nnest of step 0, op 'c': LX: k64 n8 m2 | mac: n8"));
	assert_non_null(strstr(text, "\nRF "));
	assert_non_null(strstr(
		json_csv(arena, root), "\nops.0.nest.levels.2.dataspaces.c.total_updates,16384\n"));
}

/* The whole op, as a problem of the same machine has it. */
TEST(a_whole_nest_costs_what_the_problem_does)
{
	struct plan_cost cost;
	struct plan *plan = make_bare(arena, WORDS, 1);
	struct mapping *mapping = &plan->steps[0].mapping;
	mapping->residency[1] |= 1u << RF;
	assert_true(cost_plan(plan, arena, &cost));
	struct diag *diag = diag_open(arena);
	const struct shape *shape =
		op_nest_shape(arena, plan->arch, plan->workload, plan->workload->ops);
	const struct hierarchy *hierarchy = hierarchy_make(arena, plan->arch, shape, diag);
	assert_non_null(hierarchy);
	struct nest_counts counts = {0};
	struct nest_score score;
	assert_int_equal(nest_evaluate(nest_model_make(arena, hierarchy, shape, COUNTING_EXACT),
				 mapping, &counts, &score),
		NEST_FITS);
	assert_null(cost.score.rejected);
	assert_int_equal(cost.score.cycles, score.cycles);
	assert_true(cost.score.energy_pj == score.energy_pj);
	assert_true(nest_totals_equal(&counts, cost.counts.steps[0].nests));
	const struct nest_count *home = counts.at[hierarchy_level(hierarchy, HBM)];
	for (int i = 0; i < 3; i++) {
		assert_int_equal(
			cost.counts.steps[0].bytes[i][TRAFFIC_HBM_READ], 2 * home[i].reads);
		assert_int_equal(cost.counts.steps[0].bytes[i][TRAFFIC_HBM_WRITE],
			2 * (home[i].fills + home[i].updates));
	}
}

/* 256 KiB; other residents leave 200 words to what the op has there. */
TEST(others_leave_less_room)
{
	struct plan *plan = make_bare(arena, WORDS, 1);
	struct mapping *mapping = &plan->steps[0].mapping;
	struct residency stay = {.tensor = -1,
		.place = PLACE_LX,
		.size = (256 << 10) - 400,
		.to = 1,
		.in_place_of = -1};
	struct plan_cost cost;
	mapping->rows[LX].temporal[M] = 2;
	mapping->rows[HBM].temporal[M] = 1;
	assert_true(cost_plan(plan, arena, &cost));
	assert_null(cost.score.rejected);
	plan->residencies = &stay;
	plan->residency_count = 1;
	assert_true(cost_plan(plan, arena, &cost));
	assert_null(cost.score.rejected); /* 2 + 8 + 16 words */
	stay.size = (256 << 10) - 50;
	assert_true(cost_plan(plan, arena, &cost));
	assert_string_equal(
		cost.score.rejected, "op 'c': the tiles at 'LX' take 26 words; it holds 25");
}
