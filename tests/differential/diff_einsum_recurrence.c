#include "base/arena.h"
#include "base/random.h"
#include "cost/recurrence/projection.h"
#include "model/recurrence/recurrence_einsum.h"
#include "sim/recurrence/systolic.h"
#include "tests/support/draws.h"
#include "tests/support/random_recurrence.h"
#include "tests/support/shape_recurrence.h"
#include "tests/test.h"

#include <string.h>

/*
 * Random einsums, as recurrences, give what naive loops over all their points give: in the
 * sequential order, and on the array of each legal projection that a draw meets.
 */
enum { LOOPS = RANDOM_RECURRENCE_LOOPS, POINTS_MOST = 256, READS_MOST = 3 };

struct element {
	int64_t place[RECURRENCE_LOOPS_MOST];
	double value;
};

static int64_t draw(struct random *random, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(random, (uint64_t)(most - least + 1));
}

/* The tensor's name, not the stream's, says what is in memory. */
static double element_of(char name, const int64_t *place)
{
	struct random random = random_open(7, (uint64_t)name);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		random = random_open(random.state, (uint64_t)place[i]);
	return (double)random_below(&random, 9) - 4;
}

static double read_input(void *user, int stream, const int64_t *place)
{
	const struct recurrence *recurrence = user;
	return element_of(recurrence->streams[stream].name[0], place);
}

static void draw_operand(struct random *random, int loops, struct dataspace *operand)
{
	operand->rank_count = (int)draw(random, 0, 3);
	for (int k = 0; k < operand->rank_count; k++) {
		operand->ranks[k].coefficient[draw(random, 0, loops - 1)] = 1;
		if (random_below(random, 3) == 0)
			operand->ranks[k].coefficient[draw(random, 0, loops - 1)] =
				draw(random, -2, 3);
		if (random_below(random, 5) == 0)
			operand->ranks[k].offset = draw(random, -2, 2);
	}
}

static void draw_einsum(struct random *random, struct recurrence_einsum *einsum)
{
	static const char *const loops[] = {"i", "j", "k", "l"}, *const names[] = {"A", "B", "C"};
	static const enum term_kind sums[] = {TERM_ADD, TERM_ADD, TERM_MAX, TERM_MIN};
	struct shape *shape = &einsum->shape;
	int count = (int)draw(random, 1, LOOPS);
	*einsum = (struct recurrence_einsum){
		.shape.dimension_count = count, .sum = sums[random_below(random, 4)]};
	for (int i = 0; i < count; i++)
		shape->dimensions[i] =
			(struct loop){.name = loops[i], .extent = draw(random, 1, 4)};
	int reads = (int)draw(random, 1, READS_MOST);
	for (int i = 0; i < reads; i++) {
		struct dataspace *operand = &shape->spaces[shape->space_count++];
		operand->name = names[i];
		draw_operand(random, count, operand);
		if (i && random_below(random, 6) == 0)
			*operand = shape->spaces[0]; /* a tensor twice */
	}
	struct dataspace *out = &shape->spaces[shape->space_count++];
	out->name = "D";
	out->written = true;
	if (random_below(random, 3) == 0)
		draw_operand(random, count, out);
	else
		for (int i = 0; i < count; i++)
			if (random_below(random, 2))
				out->ranks[out->rank_count++].coefficient[i] = 1;
}

static void place_of(
	const struct dataspace *operand, int loops, const int64_t *point, int64_t *place)
{
	memset(place, 0, sizeof *place * RECURRENCE_LOOPS_MOST);
	for (int k = 0; k < operand->rank_count; k++) {
		place[k] = operand->ranks[k].offset;
		for (int i = 0; i < loops; i++)
			place[k] += operand->ranks[k].coefficient[i] * point[i];
	}
}

static double combine(enum term_kind sum, double a, double b)
{
	if (sum == TERM_ADD)
		return a + b;
	return sum == TERM_MAX ? (a > b ? a : b) : (a < b ? a : b);
}

static int naive(const struct recurrence_einsum *einsum, struct element *elements)
{
	const struct shape *shape = &einsum->shape;
	struct recurrence recurrence = {.loop_count = shape->dimension_count};
	memcpy(recurrence.loops, shape->dimensions, sizeof recurrence.loops);
	int64_t point[RECURRENCE_LOOPS_MOST], place[RECURRENCE_LOOPS_MOST];
	int count = 0, loops = shape->dimension_count, last = shape->space_count - 1;
	for (bool more = recurrence_first(&recurrence, point); more;
		more = recurrence_next(&recurrence, point)) {
		double product = 1;
		int at = 0;
		for (int i = 0; i < last; i++) {
			place_of(&shape->spaces[i], loops, point, place);
			product *= element_of(shape->spaces[i].name[0], place);
		}
		place_of(&shape->spaces[last], loops, point, place);
		while (at < count && memcmp(elements[at].place, place, sizeof place) != 0)
			at++;
		memcpy(elements[at].place, place, sizeof place);
		elements[at].value =
			at < count ? combine(einsum->sum, elements[at].value, product) : product;
		count += at == count;
	}
	return count;
}

static void expect_elements(long draw, const struct element *elements, int count,
	const struct recurrence_output *outputs, size_t output_count)
{
	if (output_count != (size_t)count)
		fail_msg("draw %ld: %zu elements, naive loops write %d", draw, output_count, count);
	for (size_t i = 0; i < output_count; i++) {
		int at = 0;
		while (at < count &&
			memcmp(elements[at].place, outputs[i].place, sizeof elements->place) != 0)
			at++;
		if (at == count || elements[at].value != outputs[i].value)
			fail_msg("draw %ld: element %zu is %g, not %g", draw, i, outputs[i].value,
				at == count ? 0 : elements[at].value);
	}
}

/* Rows of space are sometimes lanes; wires and shuffles are what they are. */
static void draw_lanes(struct random *random, struct projection *projection)
{
	bool often = random_below(random, 2);
	for (int r = 0; r < projection->space_count; r++)
		if (often && random_below(random, 2))
			projection->lanes[r] = 100;
	projection->wires = (uint32_t)random_below(random, 1u << 16);
	projection->shuffles = (uint32_t)random_below(random, 1u << 16);
}

/* Tiles, loops along which nothing is carried, an order of the sum, and operands that are shifted
 * in. */
static void draw_tiles(struct arena *arena, struct random *random, struct recurrence_einsum *einsum)
{
	const struct shape *shape = &einsum->shape;
	int loops = shape->dimension_count;
	const char *why;
	for (int i = 0; i < loops; i++)
		if (random_below(random, 4) == 0)
			assert_true(recurrence_einsum_split(
				arena, einsum, i, draw(random, 1, 5), &why));
	einsum->reread = (uint32_t)(random_below(random, 256) & random_below(random, 256));
	for (int i = (int)draw(random, 0, shape->dimension_count); i > 0; i--)
		einsum->order[einsum->order_count++] =
			(int)draw(random, 0, shape->dimension_count - 1);
	for (int n = 0; n < 4; n++) {
		int i = (int)draw(random, 0, shape->space_count - 2);
		int along = (int)draw(random, 0, shape->dimension_count - 1);
		int before = (int)draw(random, 0, shape->dimension_count - 1);
		bool sees_along = false, sees_before = false;
		for (int k = 0; k < shape->spaces[i].rank_count; k++) {
			sees_along |= shape->spaces[i].ranks[k].coefficient[along] != 0;
			sees_before |= shape->spaces[i].ranks[k].coefficient[before] != 0;
		}
		for (int k = 0; k < einsum->load_count; k++)
			sees_before |= einsum->loads[k].operand == i ||
				       einsum->loads[k].along == before ||
				       einsum->loads[k].before == along;
		if (sees_along && !sees_before && along != before && einsum->sum == TERM_ADD &&
			random_below(random, 2))
			einsum->loads[einsum->load_count++] =
				(struct recurrence_load){i, along, before};
	}
}

struct kinds {
	long arrays, shared, shuffled, unshuffled, tiled, loaded;
};

BARE_TEST(recurrences_compute_the_einsum)
{
	static struct element elements[POINTS_MOST];
	uint64_t seed = draws_seed(17);
	long count = draws(3000), made = 0;
	struct kinds kinds = {0};
	for (long n = 0; n < count; n++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)n);
		struct recurrence_einsum einsum;
		struct recurrence recurrence;
		struct projection projection;
		const char *why = NULL;
		draw_einsum(&random, &einsum);
		int written = naive(&einsum, elements);
		if (random_below(&random, 2))
			draw_tiles(arena, &random, &einsum);
		if (!recurrence_einsum(arena, &einsum, &recurrence, &why)) {
			assert_non_null(why);
			arena_close(arena);
			continue;
		}
		made++;
		kinds.tiled += einsum.split_count > 0;
		kinds.loaded += einsum.load_count > 0;
		struct recurrence_inputs inputs = {&recurrence, read_input, NULL};
		struct recurrence_values values = sequential_run(&recurrence, &inputs, arena);
		if (values.fault)
			fail_msg("draw %ld: %s", n, values.fault);
		expect_elements(n, elements, written, values.outputs, values.output_count);
		for (int tries = 0; tries < 6 && recurrence.loop_count <= LOOPS; tries++) {
			random_projection(&random, &recurrence, &projection);
			draw_lanes(&random, &projection);
			struct projection_facts facts =
				projection_facts(&recurrence, &projection, NULL);
			struct systolic_result run =
				systolic_run(&recurrence, &projection, &inputs, arena);
			if (run.fault == SYSTOLIC_LARGE)
				continue;
			if (facts.fault == PROJECTION_SHUFFLE) {
				assert_int_equal(run.fault, SYSTOLIC_LANES);
				kinds.unshuffled++;
			}
			if (facts.fault != PROJECTION_FINE || run.fault == SYSTOLIC_CIRCLE)
				continue;
			assert_int_equal(run.fault, SYSTOLIC_FINE);
			assert_int_equal(run.cycles, facts.cycles);
			assert_int_equal(run.units, facts.units);
			assert_int_equal(run.issues, facts.issues);
			expect_elements(n, elements, written, run.outputs, run.output_count);
			kinds.arrays++;
			kinds.shuffled += run.lane_shuffles > 0;
			for (int d = 0; d < recurrence.dependence_count; d++)
				kinds.shared += facts.channels[d].is_live &&
						facts.channels[d].kind == CHANNEL_SHARED;
		}
		arena_close(arena);
	}
	printf("%ld einsums, %ld arrays, %ld values shared by lanes, %ld arrays with shuffles, %ld "
	       "without; %ld einsums with tiles, %ld with operands that are shifted in\n",
		made, kinds.arrays, kinds.shared, kinds.shuffled, kinds.unshuffled, kinds.tiled,
		kinds.loaded);
	if (draws_are_many(count)) {
		assert_true(made > count / 2);
		assert_true(kinds.arrays > count / 20);
		assert_true(kinds.shared && kinds.shuffled && kinds.unshuffled);
		assert_true(kinds.tiled > made / 10 && kinds.loaded > made / 50);
	}
}

/* A vector of a stream, in the order in which they were derived. */
static void expect_vector(const struct recurrence *recurrence, int at, const char *stream,
	int64_t a, int64_t b, int64_t c, int64_t d)
{
	const struct dependence *dependence = &recurrence->dependences[at];
	const int64_t vector[] = {a, b, c, d};
	assert_string_equal(recurrence->streams[dependence->stream].name, stream);
	assert_memory_equal(
		dependence->vector, vector, sizeof *vector * (size_t)recurrence->loop_count);
}

/* The equations of specs/space_time/convolution_2d.yaml, from the problem alone. */
TEST(convolution_is_as_written_by_hand)
{
	struct shape shape = {.name = "conv",
		.dimension_count = 4,
		.space_count = 3,
		.dimensions = {{.name = "p", .extent = 5}, {.name = "q", .extent = 6},
			{.name = "r", .extent = 3}, {.name = "s", .extent = 2}}};
	static const struct affine p_r = {{1, 0, 1}, 0}, q_s = {{0, 1, 0, 1}, 0}, p = {{1}, 0},
				   q = {{0, 1}, 0}, r = {{0, 0, 1}, 0}, s = {{0, 0, 0, 1}, 0};
	shape.spaces[0] =
		(struct dataspace){.name = "Y", .written = true, .rank_count = 2, .ranks = {p, q}};
	shape.spaces[1] = (struct dataspace){.name = "X", .rank_count = 2, .ranks = {p_r, q_s}};
	shape.spaces[2] = (struct dataspace){.name = "W", .rank_count = 2, .ranks = {r, s}};
	shape_finish(&shape);
	struct recurrence recurrence;
	int streams[SHAPE_SPACES_MOST];
	const char *why;
	assert_true(shape_recurrence(arena, &shape, &recurrence, streams, &why));
	assert_int_equal(recurrence.dependence_count, 6);
	expect_vector(&recurrence, 0, "X", 1, 0, -1, 0);
	expect_vector(&recurrence, 1, "X", 0, 1, 0, -1);
	expect_vector(&recurrence, 2, "W", 1, 0, 0, 0);
	expect_vector(&recurrence, 3, "W", 0, 1, 0, 0);
	/* Outermost first: from the last tap of a row to the first of the next. */
	expect_vector(&recurrence, 4, "Y", 0, 0, 1, -1);
	expect_vector(&recurrence, 5, "Y", 0, 0, 0, 1);
	assert_string_equal(recurrence.streams[streams[0]].name, "Y");
	assert_string_equal(recurrence.streams[streams[1]].name, "X");
	assert_string_equal(recurrence.streams[streams[2]].name, "W");
}

/* A sum along two directions that are not loops has no chain. */
TEST(what_has_no_chain_is_refused)
{
	struct recurrence recurrence;
	struct recurrence_einsum einsum = {.sum = TERM_ADD,
		.shape = {.dimension_count = 3,
			.dimensions = {{.name = "i", .extent = 3}, {.name = "j", .extent = 3},
				{.name = "k", .extent = 3}},
			.space_count = 2,
			.spaces = {{.name = "A", .rank_count = 1, .ranks = {{.coefficient = {1}}}},
				{.name = "B",
					.written = true,
					.rank_count = 1,
					.ranks = {{.coefficient = {1, 1, 1}}}}}}};
	const char *why;
	assert_false(recurrence_einsum(arena, &einsum, &recurrence, &why));
	assert_string_equal(why, "no chain can sum up 'B': the points of one element lie along "
				 "several directions that are not loops");
}
