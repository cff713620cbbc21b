#include "base/arena.h"
#include "cost/nest/nest.h"

#include <string.h>

#include "tests/test.h"

/*
 * Timeloop's counting by hand: a buffer, a block of register files, a convolution along one
 * dimension.  DRAM is row 0, the buffer row 1, register files row 2, multipliers row 3.
 */
enum { K, R, P };
enum { WEIGHTS, INPUTS, OUTPUTS };

struct fixture {
	struct shape shape;
	struct hierarchy hierarchy;
	struct mapping mapping;
	struct nest_counts counts;
	struct nest_score score;
};

static void add_rank(struct dataspace *space, int a, int b)
{
	struct affine *rank = &space->ranks[space->rank_count++];
	rank->coefficient[a] = 1;
	rank->coefficient[b] = 1;
}

static void set_extents(struct fixture *f, int64_t k, int64_t r, int64_t p)
{
	const int64_t extents[] = {k, r, p};
	for (int d = 0; d < 3; d++) {
		f->shape.dimensions[d].extent = extents[d];
		f->mapping.rows[0].temporal[d] = (uint32_t)extents[d];
	}
}

static int set_up(void **state)
{
	static const char *const names[] = {"K", "R", "P"}, *const levels[] = {"RF", "GLB", "DRAM"};
	struct fixture *f = test_calloc(1, sizeof *f);
	struct shape *shape = &f->shape;
	shape->dimension_count = shape->space_count = 3;
	for (int d = 0; d < 3; d++)
		shape->dimensions[d].name = names[d];
	shape->spaces[WEIGHTS].name = "W";
	add_rank(&shape->spaces[WEIGHTS], K, K);
	add_rank(&shape->spaces[WEIGHTS], R, R);
	shape->spaces[INPUTS].name = "I";
	add_rank(&shape->spaces[INPUTS], R, P);
	shape->spaces[OUTPUTS].name = "O";
	shape->spaces[OUTPUTS].written = true;
	add_rank(&shape->spaces[OUTPUTS], K, K);
	add_rank(&shape->spaces[OUTPUTS], P, P);
	shape_finish(shape);
	f->hierarchy = (struct hierarchy){.level_count = 3,
		.compute_name = "MAC",
		.compute_row = 3,
		.compute_mesh_x = 4,
		.compute_mesh_y = 1,
		.compute_pj = 1,
		.clock_ns = 1};
	for (int i = 0; i < 3; i++) {
		struct nest_level *level = &f->hierarchy.levels[i];
		*level = (struct nest_level){.name = levels[i],
			.row = 2 - i,
			.block_row = 3 - i,
			.storage = true,
			.mesh_x = i == 0 ? 4 : 1,
			.mesh_y = 1,
			.fanout.x = i == 1 ? 4 : 1,
			.fanout.y = 1,
			.store = storage_unlimited,
			.energies.pj = {1, 1, 1},
			.gated_at = i};
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			level->rate_scale[t] = 1;
	}
	f->mapping.loop_count = 3;
	f->mapping.level_count = 4;
	for (int r = 0; r < 4; r++)
		for (int d = 0; d < 3; d++) {
			f->mapping.rows[r].spatial[d] = f->mapping.rows[r].temporal[d] = 1;
			f->mapping.rows[r].spatial_order[d] = (uint8_t)d;
			f->mapping.rows[r].temporal_order[d] = (uint8_t)d;
		}
	for (int t = 0; t < 3; t++)
		f->mapping.residency[t] = 7;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	test_free(*state);
	return 0;
}

static enum nest_verdict evaluate_by(struct fixture *f, enum counting counting)
{
	struct arena *arena = arena_open();
	const struct nest_model *model = nest_model_make(arena, &f->hierarchy, &f->shape, counting);
	enum nest_verdict verdict = nest_evaluate(model, &f->mapping, &f->counts, &f->score);
	arena_close(arena);
	return verdict;
}

static enum nest_verdict evaluate(struct fixture *f)
{
	return evaluate_by(f, COUNTING_TIMELOOP);
}

/* P over 4 register files, R around them: at every step of R but the first three files have from
 * a neighbour what they need, and from K to K, too, as the loop falls back by one step only. */
static void neighbours_hand_windows_on(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 2, 4, 4);
	f->mapping.rows[0].temporal[R] = f->mapping.rows[0].temporal[P] = 1;
	f->mapping.rows[1].temporal[R] = 4;
	f->mapping.rows[2].spatial[P] = 4;
	assert_int_equal(evaluate(f), NEST_FITS);
	/* 4 at first, then 1 for each of the other 7 steps */
	assert_int_equal(f->counts.at[1][INPUTS].reads, 4 + 7);
	/* of a file: 8 by the multiplier, 21 / 4 by neighbours: 13.25, printed as 13 */
	assert_int_equal(f->counts.at[0][INPUTS].links, 21);
	assert_int_equal(f->counts.at[0][INPUTS].reads, 4 * 13);
	assert_int_equal(f->counts.at[0][INPUTS].fills, 4 * 8);
	f->hierarchy.levels[1].no_link_transfer = 1 << INPUTS;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_int_equal(f->counts.at[1][INPUTS].reads, 4 * 8);
	assert_int_equal(f->counts.at[0][INPUTS].reads, 4 * 8);
}

/* R x P in one block: 6 different inputs for 12 register files. */
static void diagonals_are_served_once(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 1, 3, 4);
	f->mapping.rows[0].temporal[R] = f->mapping.rows[0].temporal[P] = 1;
	f->mapping.rows[2].spatial[R] = 3;
	f->mapping.rows[2].spatial[P] = 4;
	f->mapping.rows[2].spatial_y = 1 << P;
	f->hierarchy.levels[0].mesh_x = f->hierarchy.levels[1].fanout.x = 3;
	f->hierarchy.levels[0].mesh_y = f->hierarchy.levels[1].fanout.y = 4;
	f->hierarchy.compute_mesh_x = 3;
	f->hierarchy.compute_mesh_y = 4;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_int_equal(f->counts.at[1][INPUTS].reads, 6);
	assert_int_equal(f->counts.at[0][INPUTS].fills, 12);
	f->hierarchy.levels[1].no_spatial_reuse = 1 << INPUTS;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_int_equal(f->counts.at[1][INPUTS].reads, 12);
}

/* The window keeps what it has along P, and is dropped where K starts again. */
static void a_change_of_direction_drops_the_window(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 3, 4, 8);
	f->mapping.rows[0].temporal[R] = f->mapping.rows[0].temporal[P] = 1;
	f->mapping.rows[1].temporal[P] = 4;
	f->mapping.rows[2].temporal[P] = 2;
	f->mapping.rows[2].temporal[R] = 4;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_int_equal(f->counts.at[0][INPUTS].capacity, 5);
	assert_int_equal(f->counts.at[0][INPUTS].fills, 3 * (5 + 3 * 2));
}

/* Quotients are summed in floating point: at most one cycle more than by arithmetic. */
static void time_rounds_as_floating_point_does(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 4, 3, 4);
	assert_int_equal(evaluate(f), NEST_FITS);
	int64_t reads = 0;
	for (int t = 0; t < 3; t++)
		reads += f->counts.at[0][t].reads;
	f->hierarchy.levels[0].store.read_rate = (struct ratio){1, 1};
	assert_int_equal(evaluate(f), NEST_FITS);
	double compute = 48, sum = 0;
	for (int t = 0; t < 3; t++)
		sum += (double)f->counts.at[0][t].reads / compute;
	assert_true(f->score.cycles == reads || f->score.cycles == reads + 1);
	assert_true((double)f->score.cycles >= compute / (1 / sum));
	assert_int_equal(f->score.level_cycles[0], f->score.cycles);
	assert_int_equal(f->score.level_cycles[1], 48);
}

/* All 4 files leak while the buffer, at which they are gated, works. */
static void gated_instances_leak_together(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 2, 2, 2);
	f->hierarchy.levels[0].energies.leak_pj = 0.5;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_true(f->score.leak_pj[0] == 0.5 * 8);
	f->hierarchy.levels[0].gated_at = 1;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_true(f->score.leak_pj[0] == 4 * 0.5 * 8);
}

/* Timeloop 4cf6d4c: networks fill and drain after nothing leaks any more; `exact` goes on. */
static void nothing_leaks_into_the_latency_of_networks(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 2, 2, 2);
	f->hierarchy.levels[0].energies.leak_pj = 0.5;
	f->hierarchy.levels[1].store.fill_cycles = 8;
	f->hierarchy.levels[1].store.drain_cycles = 9;
	assert_int_equal(evaluate(f), NEST_FITS);
	assert_int_equal(f->score.cycles, 8 + 17);
	assert_true(f->score.leak_pj[0] == 0.5 * 8);
	assert_int_equal(evaluate_by(f, COUNTING_EXACT), NEST_FITS);
	assert_true(f->score.leak_pj[0] == 0.5 * (8 + 17));
}

static void refusals_have_numbers(void **state)
{
	struct fixture *f = *state;
	set_extents(f, 2, 3, 8);
	f->mapping.rows[0].temporal[P] = 1;
	f->mapping.rows[2].spatial[P] = 8;
	assert_int_equal(evaluate(f), NEST_FANOUT);
	assert_int_equal(f->score.asked, 8);
	assert_int_equal(f->score.given, 4);
	f->mapping.rows[2].spatial[P] = 4;
	assert_int_equal(evaluate(f), NEST_FACTORS);
	assert_int_equal(f->score.dimension, P);
	assert_int_equal(f->score.asked, 4);
	assert_int_equal(f->score.given, 8);
	f->mapping.rows[1].temporal[P] = 2;
	assert_int_equal(evaluate(f), NEST_FITS);
	f->hierarchy.levels[1].size = 16;
	assert_int_equal(evaluate(f), NEST_CAPACITY);
	assert_int_equal(f->score.level, 1);
	assert_int_equal(f->score.asked, 1 + 8 + 8);
	f->hierarchy.levels[1].size = 0;
	f->hierarchy.levels[1].store.no_room = true;
	assert_int_equal(evaluate(f), NEST_CAPACITY);
	assert_int_equal(f->score.given, 0);
	f->hierarchy.levels[1].store.no_room = false;
	f->hierarchy.levels[1].size = 100;
	f->hierarchy.levels[1].store.least_utilization = 0.25;
	assert_int_equal(evaluate(f), NEST_UTILIZATION);
	f->mapping.residency[WEIGHTS] = 0;
	assert_int_equal(evaluate(f), NEST_HOMELESS);
	assert_int_equal(f->score.space, WEIGHTS);
}

/* 2^93 multiply-adds, and bounds whose product comes back to the extent modulo 2^64. */
static void what_does_not_fit_is_refused(void **state)
{
	struct fixture *f = *state;
	set_extents(f, (int64_t)1 << 31, (int64_t)1 << 31, (int64_t)1 << 31);
	assert_int_equal(evaluate(f), NEST_OVERFLOW);
	set_extents(f, 1, 1, 1);
	f->mapping.rows[0].temporal[K] = 0xffffffff;
	f->mapping.rows[1].temporal[K] = 0xffffffff;
	f->mapping.rows[2].temporal[K] = 1;
	assert_int_equal(evaluate(f), NEST_FACTORS);
	f->mapping.rows[0].temporal[K] = 0;
	assert_int_equal(evaluate(f), NEST_FACTORS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbours_hand_windows_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(diagonals_are_served_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_change_of_direction_drops_the_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			time_rounds_as_floating_point_does, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			nothing_leaks_into_the_latency_of_networks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gated_instances_leak_together, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refusals_have_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, set_up, tear_down),
	};
	return cmocka_run_group_tests_name("Timeloop's counting by hand", tests, NULL, NULL);
}
