/* Claims about points of a frontier that follow from proven sums. */
#include "base/array.h"
#include "search/drive/drive.h"
#include "search/graph/plans.h"

#include <math.h>

#include "tests/test.h"

static const struct objectives three = {3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_CORES}};

/* Energies of sums are in 2^-10 pJ, of plans in pJ. */
static void add(struct planned_list *list, struct arena *arena, struct joint_aim aim, double bound,
	double latency, double energy)
{
	*array_add(arena, list) = (struct planned){.asked = {32, aim},
		.bound = bound,
		.found = true,
		.latency = latency,
		.energy = energy};
}

static struct score point_of(int64_t cycles, double energy)
{
	return (struct score){.cycles = cycles, .energy_pj = energy, .cores = 8};
}

/* L >= 100, E >= 10 pJ, and 1024 L + 1024 E >= 1024 * 130. */
static struct planned_list some_sums(struct arena *arena)
{
	struct planned_list list = {0};
	add(&list, arena, (struct joint_aim){.cycles = 1}, 100, 100, 50);
	add(&list, arena, (struct joint_aim){.energy = 1}, 10 * 1024, 200, 10);
	add(&list, arena, (struct joint_aim){.cycles = 1024, .energy = 1}, 130 * 1024, 110, 20);
	return list;
}

TEST(a_point_is_bound_by_the_sum_that_says_most)
{
	struct planned_list list = some_sums(arena);
	struct score fast = point_of(100, 50), middle = point_of(112, 20), lean = point_of(200, 10);
	assert_true(fabs(plans_bound(&list, &three, &fast) - 100) < 1e-9);
	assert_true(fabs(plans_bound(&list, &three, &middle) - 110) < 1e-9);
	assert_true(fabs(plans_bound(&list, &three, &lean) - 120) < 1e-9);
	struct objectives latency = {1, {OBJECTIVE_LATENCY}};
	assert_true(fabs(plans_bound(&list, &latency, &lean) - 100) < 1e-9);
}

/* Corners are (100, 30) and (120, 10). */
/* A plan that is below what was proven is none of the spaces that were searched. */
TEST(nothing_is_said_of_points_from_elsewhere)
{
	struct planned_list list = some_sums(arena);
	struct found founds[2] = {{0}};
	struct point points[2] = {{.score = point_of(100, 50), .payload = &founds[0]},
		{.score = point_of(90, 60), .payload = &founds[1]}};
	struct explored explored = {
		.frontier = {.objectives = three, .count = 1, .points = points}};
	plans_note(&list, &explored);
	assert_int_equal(founds[0].proof, PROOF_OPTIMAL);
	assert_true(fabs(explored.bounds[0] - 100) < 1e-9);
	explored.frontier.count = 2;
	plans_note(&list, &explored);
	assert_int_equal(founds[0].proof, PROOF_OPTIMAL);
	assert_int_equal(founds[1].proof, PROOF_NONE);
	assert_true(founds[1].bound <= 0 && explored.bounds[0] <= 0 && explored.bounds[1] > 9);
}

/* Cycles are whole: with 100.4 at least, 101 are the least; with 99.4, 100 may be. */
TEST(a_gap_of_less_than_a_cycle_is_none)
{
	struct planned_list list = some_sums(arena);
	struct found found = {0};
	struct point point = {.score = point_of(101, 50), .payload = &found};
	struct explored explored = {
		.frontier = {.objectives = three, .count = 1, .points = &point}};
	list.at[0].bound = 100.4;
	plans_note(&list, &explored);
	assert_int_equal(found.proof, PROOF_OPTIMAL);
	list.at[0].bound = 99.4;
	plans_note(&list, &explored);
	assert_int_equal(found.proof, PROOF_BOUND);
	assert_true(found.bound >= 100 && found.bound <= 100 && found.gap >= 1);
}

TEST(a_product_is_least_at_a_corner)
{
	struct planned_list list = some_sums(arena);
	assert_true(fabs(plans_least(&list, OBJECTIVE_EDP) - 1200) < 1e-6);
	list.count = 1;
	assert_true(plans_least(&list, OBJECTIVE_EDP) <= 0);
}

/* A sum over few cores says nothing about plans with more. */
TEST(a_sum_is_about_its_cores)
{
	struct planned_list list = some_sums(arena);
	for (size_t i = 0; i < list.count; i++)
		list.at[i].asked.cores = 4;
	struct score point = point_of(100, 50);
	assert_true(plans_bound(&list, &three, &point) <= 0);
	point.cores = 4;
	assert_true(plans_bound(&list, &three, &point) > 99);
}

TEST(sums_are_asked_about_between_neighbours_once)
{
	struct planned_list list = some_sums(arena);
	list.count = 2;
	struct plan_aims aims = plans_between(&three, &list, arena);
	assert_int_equal(aims.count, 1);
	assert_int_equal(aims.at[0].aim.energy, 1);
	assert_int_equal(aims.at[0].aim.cycles, (int64_t)llround(40 * 1024 / 100.0));
	list = some_sums(arena);
	aims = plans_between(&three, &list, arena);
	assert_int_equal(aims.count, 2);
	add(&list, arena, aims.at[0].aim, 1, 110, 20);
	add(&list, arena, aims.at[1].aim, 1, 110, 20);
	assert_int_equal(plans_between(&three, &list, arena).count, 0);
	struct objectives latency = {1, {OBJECTIVE_LATENCY}};
	assert_int_equal(plans_between(&latency, &list, arena).count, 0);
}

/* Counts the sums within one limit of cores. */
static size_t count_within(const struct plan_aims *aims, int cores)
{
	size_t count = 0;
	for (size_t i = 0; i < aims->count; i++)
		count += aims->at[i].cores == cores;
	return count;
}

/* Latency was proven by a plan on 8 cores; energy was not proven. */
TEST(fewer_cores_are_asked_about_unless_known)
{
	struct planned_list list = some_sums(arena);
	list.at[0].cores = list.at[1].cores = 8;
	list.at[1].bound = 9 * 1024;
	struct plan_aims eight = {0}, four = {0}, all = {0};
	plans_alone(&eight, &three, &list, 8, arena);
	assert_int_equal(eight.count, 1);
	assert_int_equal(eight.at[0].cores, 8);
	assert_int_equal(eight.at[0].aim.energy, 1);
	plans_alone(&four, &three, &list, 4, arena);
	assert_int_equal(four.count, 2);
	plans_alone(&all, &three, &list, 32, arena);
	assert_int_equal(all.count, 0);
}

/* The middle plan takes too many cores to be a neighbour within 8. */
TEST(each_limit_of_cores_has_its_neighbours)
{
	struct planned_list list = some_sums(arena);
	list.at[2].cores = 32;
	add(&list, arena, (struct joint_aim){.cycles = 1}, 100, 100, 50);
	list.at[3].asked.cores = 8;
	struct plan_aims aims = plans_between(&three, &list, arena);
	assert_int_equal(count_within(&aims, 32), 2);
	assert_int_equal(count_within(&aims, 8), 1);
	list.at[3].cut = true; /* twice: a limit is given up */
	add(&list, arena, (struct joint_aim){.energy = 1}, 10 * 1024, 200, 10);
	list.at[4].asked.cores = 8;
	list.at[4].cut = true;
	aims = plans_between(&three, &list, arena);
	assert_int_equal(count_within(&aims, 32), 2);
	assert_int_equal(count_within(&aims, 8), 0);
}

/* Between (100, 30) and (120, 10), which are corners of what is proven, no sum finds anything. */
TEST(what_is_nearly_proven_is_not_asked_about)
{
	struct planned_list list = some_sums(arena);
	list.at[0].energy = 30.02;
	list.at[1].latency = 120.02;
	list.at[2] = (struct planned){
		.asked = {32, {.cycles = 2048, .energy = 2}}, .bound = 2 * 130 * 1024};
	assert_int_equal(plans_between(&three, &list, arena).count, 0);
	list.at[2].bound = 2 * 125 * 1024;
	assert_int_equal(plans_between(&three, &list, arena).count, 1);
}
