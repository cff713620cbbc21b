#include "base/array.h"
#include "model/machine/score.h"
#include "model/nest/nest_mapping.h"
#include "search/drive/solver.h"
#include "search/nest/nest_search.h"
#include "tests/support/draws.h"
#include "tests/support/nest_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * An adversary of proven mappings: factors move between levels, loops change places, and residencies flip, in ways of
 * this test's own.  No mapping that fits and keeps the constraints may beat a proven optimum.  The problems are too
 * large to try every mapping.
 */
enum { PROBLEMS = 10, MUTANTS = 500, STEPS_MOST = 4 };

static const char *const machines[] = {"eyeriss", "simba", "gemmini", "tpu_v4i", "three_level"};
static const enum objective objectives[] = {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_EDP};
enum {
	MACHINES = sizeof machines / sizeof *machines,
	OBJECTIVES = sizeof objectives / sizeof *objectives
};

struct attack {
	const struct nest_search *search;
	struct random *random;
	long valid, beaten;
	double least; /* part of the proven value */
};

static uint32_t *factor_at(struct mapping *mapping, int place, int d)
{
	struct mapping_row *row = &mapping->rows[place / 2];
	return place % 2 ? &row->spatial[d] : &row->temporal[d];
}

/* A prime factor of one dimension goes to another loop. */
static void move_factor(struct attack *attack, struct mapping *mapping)
{
	int d = (int)draw_below(attack->random, attack->search->shape->dimension_count);
	int from = (int)draw_below(attack->random, 2 * mapping->level_count);
	int to = (int)draw_below(attack->random, 2 * mapping->level_count);
	uint32_t *a = factor_at(mapping, from, d), *b = factor_at(mapping, to, d);
	for (uint32_t p = 2; p <= *a; p++)
		if (*a % p == 0) {
			*a /= p;
			*b *= p;
			return;
		}
}

/* Two loops of a level change places. */
static void swap_loops(struct attack *attack, struct mapping *mapping)
{
	struct mapping_row *row = &mapping->rows[draw_below(attack->random, mapping->level_count)];
	int count = attack->search->shape->dimension_count;
	int i = (int)draw_below(attack->random, count), k = (int)draw_below(attack->random, count);
	uint8_t kept = row->temporal_order[i];
	row->temporal_order[i] = row->temporal_order[k];
	row->temporal_order[k] = kept;
	if (draw_chance(attack->random, 3))
		row->spatial_y ^= 1u << i;
}

static void flip_residency(struct attack *attack, struct mapping *mapping)
{
	int t = (int)draw_below(attack->random, attack->search->shape->space_count);
	mapping->residency[t] ^= 1u << draw_below(attack->random, mapping->level_count);
}

static void mutate(struct attack *attack, struct mapping *mapping)
{
	static void (*const ways[])(struct attack *, struct mapping *) = {
		move_factor, move_factor, swap_loops, flip_residency};
	for (int64_t n = 1 + draw_below(attack->random, STEPS_MOST); n > 0; n--)
		ways[draw_below(attack->random, 4)](attack, mapping);
}

static bool is_inside(const struct domain *domain, const struct mapping *mapping)
{
	for (int r = 0; r < mapping->level_count; r++) {
		const struct row_domain *row = &domain->rows[r];
		for (int d = 0; d < domain->shape->dimension_count; d++)
			if (mapping->rows[r].temporal[d] < row->temporal[d].least ||
				mapping->rows[r].temporal[d] > row->temporal[d].most ||
				mapping->rows[r].spatial[d] < row->spatial[d].least ||
				mapping->rows[r].spatial[d] > row->spatial[d].most)
				return false;
		for (int t = 0; t < domain->shape->space_count; t++) {
			bool kept = mapping->residency[t] >> r & 1;
			if (kept ? row->bypass >> t & 1 : row->keep >> t & 1)
				return false;
		}
	}
	return true;
}

/* True, and the value, if the mapping is one of the space that was searched. */
static bool price(struct attack *attack, const struct mapping *mapping, enum objective objective,
	double *value)
{
	const struct nest_search *search = attack->search;
	struct nest_counts counts;
	struct nest_score score;
	struct arena *scratch = arena_open();
	bool valid = is_inside(search->domain, mapping) &&
		     !constraints_check(search->constraints, search->domain, mapping, scratch) &&
		     nest_evaluate(search->model, mapping, &counts, &score) == NEST_FITS;
	arena_close(scratch);
	if (valid) {
		struct score summary = nest_summary(search, &counts, &score);
		*value = objective_value(objective, &summary);
	}
	return valid;
}

static void attack_best(struct attack *attack, const struct mapping *best, enum objective objective,
	double proven, long mutants)
{
	struct mapping at = *best;
	for (long n = 0; n < mutants; n++) {
		struct mapping mutant = draw_chance(attack->random, 2) ? *best : at;
		double value;
		mutate(attack, &mutant);
		if (!price(attack, &mutant, objective, &value))
			continue;
		attack->valid++;
		attack->beaten += value < proven * (1 - 1e-9);
		attack->least = fmin(attack->least, value / proven);
		if (draw_chance(attack->random, 2))
			at = mutant;
	}
}

static const char *draw_problem(struct arena *arena, struct random *random)
{
	static const int extents[] = {4, 6, 8, 12, 14, 16, 20, 24, 28, 32};
	int at[7];
	for (int d = 0; d < 7; d++)
		at[d] = extents[draw_below(random, sizeof extents / sizeof *extents)];
	if (draw_chance(random, 2))
		return arena_format(arena,
			"problem:\n  dimensions: [M, N, K]\n  instance: {M: %d, N: %d, K: %d}\n"
			"  data_spaces:\n  - {name: Weights, projection: [K, N]}\n"
			"  - {name: Inputs, projection: [M, K]}\n"
			"  - {name: Outputs, projection: [M, N], read_write: true}\n",
			at[0] * 4, at[1] * 4, at[2] * 4);
	return arena_format(arena,
		"problem:\n  shape: cnn-layer\n"
		"  instance: {R: %d, S: %d, P: %d, Q: %d, C: %d, K: %d, N: 1}\n",
		1 + 2 * (int)draw_below(random, 2), 1 + 2 * (int)draw_below(random, 2), at[2],
		at[3], at[4], at[5]);
}

TEST(no_mapping_beats_a_proof)
{
	uint64_t seed = draws_seed(35);
	long count = draws(PROBLEMS), proven = 0, valid = 0, beaten = 0;
	double least = 1e300;
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		const char *path =
			arena_format(arena, "specs/arch/%s.yaml", machines[i % MACHINES]);
		const char *problem = draw_problem(arena, &random);
		enum objective objective = objectives[draw_below(&random, OBJECTIVES)];
		struct nest_search search = {.counting = COUNTING_EXACT};
		struct diag *diag = diag_open(arena);
		if (!nest_request_read(arena, diag, &path, 1, problem, &search)) {
			diag_print(diag, stderr);
			fail_msg("%s\n%s", path, problem);
		}
		search.wishes.objectives = (struct objectives){1, {objective}};
		search.wishes.simulate = SIMULATE_NONE;
		search.wishes.seed = 1;
		search.solver = solver_find(STAGE_MAP, "exact");
		search.wishes.asker.jobs = 1;
		search.wishes.budget = 2000000;
		struct explored found = nest_explore(&search, arena);
		if (found.complete && found.frontier.count) {
			const struct nest_found *best = found.frontier.points[0].payload;
			struct attack attack = {
				.search = &search, .random = &random, .least = 1e300};
			double value = objective_value(objective, &found.frontier.points[0].score);
			attack_best(&attack, &best->mapping, objective, value, MUTANTS);
			proven++;
			valid += attack.valid;
			beaten += attack.beaten;
			least = fmin(least, attack.least);
			if (attack.beaten)
				printf("seed %" PRIu64 " draw %ld: %s beaten: %.12g of the proven "
				       "value\n%s%s\n",
					seed, i, path, attack.least, problem,
					nest_mapping_print(
						arena, search.arch, search.shape, &best->mapping));
		}
		arena_release(arena, mark);
	}
	print_message(
		"%ld problems, %ld proven; %ld mutants that fit, %ld beat a proof; the best is "
		"%.6f of a proven value\n",
		count, proven, valid, beaten, least);
	assert_int_equal(beaten, 0);
	assert_true(!draws_are_many(count) || (proven > count / 2 && valid > proven));
}
