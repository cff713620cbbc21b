#include "base/arena.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_case.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

/*
 * Nests on given values: einsums, maps and reductions of arrays that are smaller than the nest, so
 * that it computes padding, from nothing or on top of sums that are there, against plain loops over
 * what exists.  Small integers: all of it is exact.
 */
struct values_case {
	struct nest_case nest;
	struct nest_values values;
	int64_t words[SHAPE_SPACES_MOST]; /* of each array */
	float *expected;                  /* the result */
	int written;
};

static const struct primitive *draw_primitive(struct random *random, const struct shape *shape)
{
	static const char *const maps[] = {"mul", "sub", "maximum", "neg"};
	static const char *const reductions[] = {"sum", "max", "min", "mean"};
	uint32_t all = (1u << shape->dimension_count) - 1, written = 0;
	for (int t = 0; t < shape->space_count; t++)
		if (shape->spaces[t].written)
			written = shape->spaces[t].relevant;
	if (written == all && shape->space_count <= 3 && random_below(random, 2)) {
		int first = shape->space_count == 3 ? 0 : 3;
		return primitive_find(maps[first + (first ? 0 : (int)random_below(random, 3))]);
	}
	if (shape->space_count == 2)
		return primitive_find(reductions[random_below(random, 4)]);
	return &primitive_einsum;
}

static int64_t find_side(const struct values_case *drawn, int t, int r)
{
	int64_t side = 1;
	for (int d = 0; d < drawn->nest.shape.dimension_count; d++)
		side += drawn->nest.shape.spaces[t].ranks[r].coefficient[d] *
			(drawn->values.extents[d] - 1);
	return side;
}

static void draw_array(struct random *random, struct values_case *drawn, int t, struct arena *arena)
{
	struct nest_array_view *view = &drawn->values.views[t];
	drawn->words[t] = 1;
	for (int r = drawn->nest.shape.spaces[t].rank_count - 1; r >= 0; r--) {
		view->stride[r] = drawn->words[t];
		view->size[r] = find_side(drawn, t, r);
		drawn->words[t] *= view->size[r];
	}
	view->at = arena_array(arena, float, drawn->words[t]);
	for (int64_t w = 0; w < drawn->words[t]; w++)
		view->at[w] = (float)random_below(random, 5) - 2;
	if (!drawn->nest.shape.spaces[t].written)
		return;
	drawn->written = t;
	drawn->expected = arena_array(arena, float, drawn->words[t]);
	for (int64_t w = 0; w < drawn->words[t]; w++)
		drawn->expected[w] =
			drawn->values.resumes ? view->at[w] : drawn->values.primitive->start;
}

static float *find_element(const struct values_case *drawn, int t, const int64_t *index)
{
	const struct shape *shape = &drawn->nest.shape;
	int64_t place = 0;
	for (int r = 0; r < shape->spaces[t].rank_count; r++)
		for (int d = 0; d < shape->dimension_count; d++)
			place += shape->spaces[t].ranks[r].coefficient[d] * index[d] *
				 drawn->values.views[t].stride[r];
	return &(t == drawn->written ? drawn->expected : drawn->values.views[t].at)[place];
}

/* One point of the loops. */
static void visit(const struct values_case *drawn, const int64_t *index)
{
	const struct primitive *primitive = drawn->values.primitive;
	float *out = find_element(drawn, drawn->written, index), product = 1;
	float words[SHAPE_SPACES_MOST] = {0};
	int count = 0;
	for (int t = 0; t < drawn->nest.shape.space_count; t++)
		if (t != drawn->written)
			words[count++] = *find_element(drawn, t, index);
	for (int k = 0; k < count; k++)
		product *= words[k];
	if (primitive->kind == OP_EINSUM)
		*out += product;
	else if (primitive->kind == OP_REDUCE)
		*out = primitive->kernel(*out, words[0]);
	else
		*out = primitive->kernel(words[0], words[1]);
}

static void compute(const struct values_case *drawn)
{
	const struct shape *shape = &drawn->nest.shape;
	int64_t index[SHAPE_DIMENSIONS_MOST] = {0};
	int d;
	do {
		visit(drawn, index);
		for (d = shape->dimension_count - 1; d >= 0; d--) {
			if (++index[d] < drawn->values.extents[d])
				break;
			index[d] = 0;
		}
	} while (d >= 0);
}

/* The home of what is written has one instance: the outermost level keeps everything. */
static void draw_case(struct random *random, struct values_case *drawn, struct arena *arena)
{
	struct nest_case *nest = &drawn->nest;
	do
		nest_case_draw(random, &nest_case_all, nest);
	while (!nest->hierarchy.levels[nest->hierarchy.level_count - 1].storage);
	for (int t = 0; t < nest->shape.space_count; t++)
		nest->mapping.residency[t] |= 1u << 0;
	drawn->values.primitive = draw_primitive(random, &nest->shape);
	drawn->values.kernel = kernel_apply;
	drawn->values.resumes = drawn->values.primitive->kind != OP_MAP && random_below(random, 2);
	for (int d = 0; d < nest->shape.dimension_count; d++)
		drawn->values.extents[d] =
			nest->shape.dimensions[d].extent -
			(random_below(random, 2)
					? 0
					: draw_below(random, nest->shape.dimensions[d].extent));
	for (int t = 0; t < nest->shape.space_count; t++)
		draw_array(random, drawn, t, arena);
	compute(drawn);
}

static bool is_right(const struct values_case *drawn)
{
	const float *got = drawn->values.views[drawn->written].at;
	bool right = true;
	for (int64_t w = 0; w < drawn->words[drawn->written]; w++)
		right &= got[w] == drawn->expected[w];
	return right;
}

TEST(results_are_those_of_the_loops)
{
	uint64_t seed = draws_seed(3);
	long count = draws(2000), kinds[OP_BROADCAST + 1] = {0}, resumed = 0;
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct values_case *drawn = arena_new(arena, struct values_case);
		draw_case(&random, drawn, arena);
		struct nest_case *nest = &drawn->nest;
		struct nest_sim_options options = {.data = true, .values = &drawn->values};
		struct nest_sim sim = nest_simulate(
			&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
		if (!sim.finished || !sim.right || !is_right(drawn))
			fail_msg("seed %" PRIu64 " draw %ld: %s of\n%s%s", seed, i,
				drawn->values.primitive->name, nest_case_text(arena, nest),
				sim.wrong ? sim.wrong : "other numbers");
		kinds[drawn->values.primitive->kind]++;
		resumed += drawn->values.resumes;
		arena_release(arena, mark);
	}
	if (draws_are_many(count))
		assert_true(kinds[OP_EINSUM] && kinds[OP_MAP] && kinds[OP_REDUCE] && resumed);
}

/* Strides leave gaps, and diagonals too. */
static bool has_gaps(const struct shape *shape, int t, int64_t words)
{
	int64_t sums = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (shape->spaces[t].relevant >> d & 1)
			sums *= shape->dimensions[d].extent;
	return words != sums;
}

/* Sums that are there are read once each, and not at the first touch. */
TEST(sums_that_are_there_are_read_once)
{
	uint64_t seed = draws_seed(4);
	long count = draws(500);
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_sim sims[2];
		struct values_case *drawn = arena_new(arena, struct values_case);
		draw_case(&random, drawn, arena);
		struct nest_case *nest = &drawn->nest;
		int home = nest->hierarchy.level_count - 1, t = drawn->written;
		for (int resumes = 0; resumes < 2; resumes++) {
			drawn->values.resumes = resumes == 1;
			struct nest_sim_options options = {.data = true, .values = &drawn->values};
			sims[resumes] = nest_simulate(
				&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
		}
		const struct nest_count *fresh = &sims[0].counts.at[home][t],
					*again = &sims[1].counts.at[home][t];
		bool reads_first = nest->hierarchy.levels[home].rmw_first_update >> t & 1;
		if (!reads_first && !has_gaps(&nest->shape, t, fresh->capacity) &&
			again->reads != fresh->reads + fresh->capacity)
			fail_msg("seed %" PRIu64 " draw %ld: %" PRId64 " reads and %" PRId64
				 " of %" PRId64 " words of\n%s",
				seed, i, fresh->reads, again->reads, fresh->capacity,
				nest_case_text(arena, nest));
		assert_int_equal(again->updates, fresh->updates);
		arena_release(arena, mark);
	}
}
