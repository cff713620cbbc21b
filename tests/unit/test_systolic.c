#include "base/arena.h"
#include "cost/nest/nest.h"
#include "cost/nest/nest_home.h"
#include "cost/recurrence/projection.h"
#include "model/nest/nest_mapping.h"
#include "model/recurrence/recurrence_einsum.h"
#include "search/recurrence/project_search.h"
#include "sim/nest/nest.h"
#include "sim/recurrence/systolic.h"
#include "tests/support/arch_text.h"
#include "tests/support/dataflows.h"
#include "tests/support/draws.h"
#include "tests/support/map_question.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_line.h"
#include "tests/support/shape_recurrence.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The systolic array of a machine: mappings that are the three classical dataflows take the
 * published cycles, in the model and executed; a pass is the projection of a recurrence that it
 * says it is; the mapper finds the best dataflow.
 */
enum { M, N, K };

/* For each dataflow: what lies along rows and columns, and runs in time. */
static const int rows[] = {M, K, K}, columns[] = {N, N, M}, inside[] = {K, M, N};

/* A product on an array of R rows and C columns; all of it in DRAM. */
static struct nest_case *make_product(struct arena *arena, const struct product *s)
{
	struct nest_case *nest = nest_line(arena,
		arena_format(arena, "DRAM (PE:%dx%d) RF MAC", (int)s->c, (int)s->r),
		arena_format(arena, "Z[m,n] = A[m,k] B[k,n], m=%d n=%d k=%d", (int)s->m, (int)s->n,
			(int)s->k),
		arena_format(arena, "DRAM: m%d n%d k%d", (int)s->m, (int)s->n, (int)s->k));
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		if (nest->hierarchy.levels[i].fanout.x * nest->hierarchy.levels[i].fanout.y > 1 ||
			(s->r * s->c == 1 && i == 1)) {
			nest->hierarchy.levels[i].fanout.systolic = true;
			nest->hierarchy.array_inner = i;
			nest->hierarchy.array_end = i + 1;
		}
	return nest;
}

/* Tiles of rows and columns outside, the third dimension inside, and what stays in the PEs. */
static void set_dataflow(struct nest_case *nest, enum dataflow dataflow, const struct product *s)
{
	static const char *const stays[] = {"Z", "B", "A"};
	int array = nest->hierarchy.array_inner, home = nest->hierarchy.level_count - 1;
	struct mapping_row *outer = nest_case_temporal(nest, home);
	struct mapping_row *block = nest_case_spatial(nest, array);
	const struct loop *dimensions = nest->shape.dimensions;
	int row = rows[dataflow], column = columns[dataflow], deep = inside[dataflow];
	block->spatial[row] = (uint32_t)s->r;
	block->spatial[column] = (uint32_t)s->c;
	block->spatial_y = (uint16_t)(1u << row);
	outer->temporal[row] = (uint32_t)number_ceil_div(dimensions[row].extent, s->r);
	outer->temporal[column] = (uint32_t)number_ceil_div(dimensions[column].extent, s->c);
	outer->temporal[deep] = 1;
	nest_case_temporal(nest, 0)->temporal[deep] = (uint32_t)dimensions[deep].extent;
	for (int t = 0; t < nest->shape.space_count; t++)
		if (nest_line_space(nest, stays[dataflow]) >> t & 1)
			nest->mapping.residency[t] |= 1u << nest->hierarchy.levels[0].row;
		else
			nest->mapping.residency[t] &= ~(1u << nest->hierarchy.levels[0].row);
}

static const struct nest_model *model_of(struct arena *arena, const struct nest_case *nest)
{
	return nest_model_make(arena, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
}

/* Cycles by the model, which the simulator needs as well. */
static int64_t cycles_of(
	struct arena *arena, const struct nest_case *nest, struct nest_counts *counts)
{
	struct nest_score score;
	assert_int_equal(
		nest_evaluate(model_of(arena, nest), &nest->mapping, counts, &score), NEST_FITS);
	struct nest_sim_options options = {.data = true, .timing = true, .seed = 3};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
	assert_true(sim.finished && sim.right);
	assert_true(nest_counts_equal(&nest->hierarchy, &nest->shape, counts, &sim.counts));
	assert_int_equal(sim.cycles, score.cycles);
	return score.cycles;
}

static struct product draw_product(struct random *random)
{
	int64_t r = 1 + (int64_t)random_below(random, 4), c = 1 + (int64_t)random_below(random, 4);
	return (struct product){4 + (int64_t)random_below(random, 9),
		4 + (int64_t)random_below(random, 9), 4 + (int64_t)random_below(random, 9), r, c};
}

BARE_TEST(classical_dataflows_take_the_published_cycles)
{
	uint64_t seed = draws_seed(94);
	for (long i = 0; i < draws(20); i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct product s = draw_product(&random);
		for (enum dataflow dataflow = 0; dataflow < DATAFLOWS; dataflow++) {
			struct nest_case *nest = make_product(arena, &s);
			struct nest_counts counts;
			set_dataflow(nest, dataflow, &s);
			assert_int_equal(
				cycles_of(arena, nest, &counts), dataflow_cycles(dataflow, &s));
		}
		arena_close(arena);
	}
}

/* --- a pass as a recurrence */

/* The loops of a pass alone, as dimensions of their own. */
static struct shape shape_of(const struct nest_case *nest, const struct nest_projection *projection)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct shape shape = {.name = "pass", .space_count = nest->shape.space_count};
	shape.dimension_count = projection->loop_count;
	for (int k = 0; k < projection->loop_count; k++)
		shape.dimensions[k] =
			(struct loop){.name = names[k], .extent = projection->loops[k].bound};
	for (int t = 0; t < shape.space_count; t++) {
		const struct dataspace *from = &nest->shape.spaces[t];
		struct dataspace *to = &shape.spaces[t];
		*to = (struct dataspace){.name = from->name,
			.written = from->written,
			.rank_count = from->rank_count,
			.word_bits = 16};
		for (int r = 0; r < from->rank_count; r++)
			for (int k = 0; k < projection->loop_count; k++) {
				const struct nest_projected_loop *loop = &projection->loops[k];
				int64_t coefficient =
					from->ranks[r].coefficient[loop->dimension] * loop->index;
				to->ranks[r].coefficient[k] = coefficient;
				to->relevant |= (uint32_t)(coefficient != 0) << k;
			}
	}
	return shape;
}

/* P and s of the pass. */
static struct projection projection_of(const struct nest_projection *from)
{
	struct projection projection = {.space_count = 2, .time_count = 1};
	for (int k = 0; k < from->loop_count; k++) {
		projection.space[0][k] = from->loops[k].space[0];
		projection.space[1][k] = from->loops[k].space[1];
		projection.time[0][k] = from->loops[k].time;
	}
	return projection;
}

/* Checks a channel: a held value goes from point to point of its PE, a moving one from PE to PE. */
static void expect_channel(const struct recurrence *recurrence, int stream,
	const struct projection_facts *facts, enum nest_channel channel)
{
	for (int e = 0; e < recurrence->dependence_count; e++) {
		if (recurrence->dependences[e].stream != stream || !facts->channels[e].is_live)
			continue;
		if (facts->channels[e].kind == CHANNEL_SYSTOLIC)
			assert_int_equal(channel, NEST_SYSTOLIC);
		else if (facts->channels[e].kind == CHANNEL_STATIONARY)
			assert_int_equal(channel, NEST_STATIONARY);
		else
			fail_msg("a wire");
	}
}

/* A product that the array makes in one pass. */
static void draw_pass(struct random *random, struct nest_case *nest, const struct product *s)
{
	enum dataflow dataflow = (enum dataflow)random_below(random, DATAFLOWS);
	nest->shape.dimensions[rows[dataflow]].extent = s->r;
	nest->shape.dimensions[columns[dataflow]].extent = s->c;
	set_dataflow(nest, dataflow, s);
}

BARE_TEST(a_pass_is_the_projection_of_a_recurrence)
{
	uint64_t seed = draws_seed(95);
	for (long i = 0; i < draws(60); i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct product s = draw_product(&random);
		struct nest_case *nest = make_product(arena, &s);
		struct nest_counts counts;
		struct nest_projection pass;
		struct recurrence recurrence;
		int streams[SHAPE_SPACES_MOST];
		const char *why;
		draw_pass(&random, nest, &s);
		int64_t cycles = cycles_of(arena, nest, &counts);
		assert_true(
			nest_array_project(model_of(arena, nest), &nest->mapping, &counts, &pass));
		assert_int_equal(pass.passes, 1);
		struct shape shape = shape_of(nest, &pass);
		if (!shape_recurrence(arena, &shape, &recurrence, streams, &why))
			fail_msg("%s", why);
		struct projection projection = projection_of(&pass);
		struct projection_facts facts = projection_facts(&recurrence, &projection, NULL);
		assert_int_equal(facts.fault, PROJECTION_FINE);
		assert_int_equal(facts.pes, pass.extent[0] * pass.extent[1]);
		assert_int_equal(facts.cycles, pass.steps + pass.skew_cycles);
		assert_int_equal(facts.cycles + pass.load_cycles, cycles);
		for (int t = 0; t < shape.space_count; t++)
			expect_channel(&recurrence, streams[t], &facts, pass.spaces[t].channel);
		uint64_t inputs_seed = 4;
		struct recurrence_inputs inputs = project_inputs(&inputs_seed);
		struct systolic_result result =
			systolic_run(&recurrence, &projection, &inputs, arena);
		assert_int_equal(result.fault, SYSTOLIC_FINE);
		assert_int_equal(result.cycles, facts.cycles);
		arena_close(arena);
	}
}

/* --- the mapper */

TEST(the_mapper_finds_the_best_dataflow)
{
	uint64_t seed = draws_seed(96);
	for (long i = 0; i < draws(20); i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct map_question question = {
			.arena = arena_open(), .objectives = {1, {OBJECTIVE_LATENCY}}};
		struct product s = {4 << random_below(&random, 3), 4 << random_below(&random, 3),
			4 << random_below(&random, 3), 4, 4};
		int64_t best = INT64_MAX;
		for (enum dataflow dataflow = 0; dataflow < DATAFLOWS; dataflow++)
			best = number_min(best, dataflow_cycles(dataflow, &s));
		question.nest = *make_product(question.arena, &s);
		question.nest.hierarchy.levels[0].size = 1;
		question.domain = nest_domain_read(question.arena, &question.nest, "[]");
		struct explored explored = map_question_explore(&question, "exact");
		assert_true(explored.complete && explored.frontier.count == 1);
		assert_true(explored.frontier.points[0].score.cycles <= best);
		arena_close(question.arena);
	}
}
