#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/nest/nest_search.h"
#include "solvers/map/local/moves.h"
#include "solvers/map/uneven/uneven.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"
#include "tests/support/nest_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Heuristics on random small mapspaces: moves stay inside, what is offered keeps every rule,
 * threads change nothing, and with time enough they find what enumeration finds.
 */
static const char *const heuristics[] = {"random", "anneal"};
enum { HEURISTICS = sizeof heuristics / sizeof *heuristics, REST_MOST = 3000 };

struct setting {
	struct arena *arena;
	struct nest_case nest;
	struct domain *domain;
	const struct space *space;
};

static void draw_setting(struct random *random, struct arena *arena, int64_t steps_most,
	bool imperfect, struct setting *out)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = steps_most};
	*out = (struct setting){.arena = arena};
	nest_case_draw(random, &options, &out->nest);
	nest_domain_limit(random, &out->nest);
	out->domain = nest_domain_free(arena, &out->nest);
	if (random_below(random, 4))
		nest_domain_narrow(random, out->domain);
	if (!imperfect)
		out->domain->imperfect = 0;
	out->nest.hierarchy.least_parallelism = out->domain->least_parallelism;
	for (int r = 0; r < out->domain->arch->level_count; r++) /* no constraint says so here */
		out->domain->rows[r].spatial_over = out->domain->rows[r].temporal_over = 0;
	out->space = space_make(arena, out->domain);
}

static bool same_row(const struct mapping_row *a, const struct mapping_row *b, int count)
{
	for (int d = 0; d < count; d++)
		if (a->spatial[d] != b->spatial[d] || a->temporal[d] != b->temporal[d] ||
			a->spatial_order[d] != b->spatial_order[d] ||
			a->temporal_order[d] != b->temporal_order[d])
			return false;
	return ((a->spatial_y ^ b->spatial_y) & ((1 << count) - 1)) == 0;
}

static bool same_mapping(
	const struct space *space, const struct mapping *a, const struct mapping *b)
{
	for (int t = 0; t < space->domain->shape->space_count; t++)
		if (a->residency[t] != b->residency[t])
			return false;
	for (int r = 0; r < a->level_count; r++)
		if (!same_row(&a->rows[r], &b->rows[r], space->domain->shape->dimension_count))
			return false;
	return true;
}

/* The bounds are one of the space's factorizations: looked for among all. */
static bool has_bounds(const struct space *space, const struct mapping *mapping, int d)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	bool more = factors_first(space->factors[d], bounds);
	for (; more; more = factors_next(space->factors[d], bounds)) {
		bool same = true;
		for (int i = 0; i < space->level_count; i++) {
			const struct mapping_row *row = &mapping->rows[space->levels[i].row];
			same &= bounds[i] ==
				(space->levels[i].spatial ? row->spatial[d] : row->temporal[d]);
		}
		if (same)
			return true;
	}
	return false;
}

/* The mapping is one of those that the space lists; `open` if there are too many to look. */
static bool is_member(const struct space *space, const struct mapping *mapping, bool *open)
{
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		if (!has_bounds(space, mapping, d))
			return false;
	uint64_t rests = space_rest_count(space, mapping);
	*open = rests > REST_MOST;
	for (uint64_t r = 0; r < rests && !*open; r++) {
		struct mapping other = *mapping;
		space_rest(space, r, &other);
		if (same_mapping(space, mapping, &other))
			return true;
	}
	return *open;
}

static void expect_member(const struct setting *setting, const struct mapping *mapping,
	const char *what, uint64_t seed, long draw, long *met)
{
	bool open;
	if (!is_member(setting->space, mapping, &open))
		fail_msg("%s leaves the space: seed %" PRIu64 " draw %ld\n%s", what, seed, draw,
			nest_case_text(setting->arena, &setting->nest));
	*met += !open;
}

static struct map_move wild_move(struct random *random, const struct space *space)
{
	int count = space->domain->shape->dimension_count;
	return (struct map_move){
		.kind = (enum map_move_kind)random_below(
			random, space->free_count ? MAP_MOVE_KEEP + 1 : MAP_MOVE_KEEP),
		.dimension = (int)random_below(random, (uint64_t)count),
		.other = (int)random_below(random, (uint64_t)count),
		.level = (int)random_below(random, (uint64_t)space->level_count),
		.from = (int)random_below(random, (uint64_t)space->level_count),
		.bound = 1 + (int64_t)random_below(random, 100),
		.ahead = random_below(random, 2),
		.bit = space->free_count ? (int)random_below(random, (uint64_t)space->free_count)
					 : 0,
	};
}

BARE_TEST(moves_stay_inside)
{
	uint64_t seed = draws_seed(71);
	long count = draws(500), met = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		draw_setting(&random, arena, 200, true, &setting);
		if (!space_factors_count(setting.space)) {
			arena_close(arena);
			continue;
		}
		struct map_moves moves = map_moves_make(setting.space);
		struct mapping at;
		space_draw(setting.space, &random, &at);
		struct mapping same = map_moves_adopt(&moves, &at);
		if (!same_mapping(setting.space, &at, &same))
			fail_msg("seed %" PRIu64 " draw %ld: a mapping of the space is not kept",
				seed, draw);
		for (int step = 0; step < 10; step++) {
			if (map_moves_step(&moves, &random, &at))
				expect_member(&setting, &at, "a step", seed, draw, &met);
			struct map_move move = wild_move(&random, setting.space);
			map_move(&moves, &move, &at);
			expect_member(&setting, &at, "a wild move", seed, draw, &met);
		}
		/* Any mapping of the machine comes to the nearest of the space. */
		same = map_moves_adopt(&moves, &setting.nest.mapping);
		expect_member(&setting, &same, "an adopted mapping", seed, draw, &met);
		arena_close(arena);
	}
	printf("%ld mappings found among those of their space\n", met);
	assert_true(!draws_are_many(count) || met > count);
}

/* This test's own check sees a bound, an order or a residency that the domain forbids. */
BARE_TEST(what_leaves_the_domain_is_seen)
{
	uint64_t seed = draws_seed(72);
	long count = draws(300), bounds = 0, residencies = 0, orders = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		bool open;
		draw_setting(&random, arena, 60, true, &setting);
		const struct space *space = setting.space;
		if (space_factors_count(space)) {
			struct mapping good, bad;
			space_draw(space, &random, &good);
			const struct tiling_level *level = &space->levels[0];
			bad = good;
			(level->spatial ? bad.rows[level->row].spatial
					: bad.rows[level->row].temporal)[0] *= 2;
			assert_false(is_member(space, &bad, &open));
			bounds++;
			bad = good; /* the outermost storage keeps everything */
			bad.residency[0] ^= 1u << domain_outermost(space->domain->arch);
			bool inside = is_member(space, &bad, &open);
			assert_true(open || !inside);
			residencies += !open;
			level = &space->levels[space->level_count - 1];
			const struct row_domain *row = &space->domain->rows[level->row];
			uint8_t *order = bad.rows[level->row].temporal_order;
			bad = good;
			if (!level->spatial && row->temporal_inner > 0 &&
				setting.nest.shape.dimension_count > 1) {
				uint8_t first = order[0];
				order[0] = order[1];
				order[1] = first;
				inside = is_member(space, &bad, &open);
				assert_true(open || !inside);
				orders += !open;
			}
		}
		arena_close(arena);
	}
	printf("seen: %ld bounds, %ld residencies, %ld orders\n", bounds, residencies, orders);
	assert_true(!draws_are_many(count) || (bounds && residencies && orders));
}

static struct nest_search search_of(const struct setting *setting, struct objectives objectives,
	const char *solver, uint64_t budget, int jobs)
{
	struct nest_search search =
		nest_domain_search(setting->arena, setting->domain, COUNTING_EXACT);
	search.space = setting->space;
	search.wishes.objectives = objectives;
	search.solver = solver ? solver_find(STAGE_MAP, solver) : NULL;
	search.wishes.budget = budget;
	search.wishes.seed = 1;
	search.wishes.asker.jobs = jobs;
	return search;
}

static struct objectives draw_objectives(struct random *random)
{
	struct objectives objectives = {1, {OBJECTIVE_EDP}};
	if (random_below(random, 2))
		objectives = (struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	return objectives;
}

BARE_TEST(offers_keep_every_rule)
{
	uint64_t seed = draws_seed(73);
	long count = draws(60), met = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		draw_setting(&random, arena, 200, true, &setting);
		for (int h = 0; h < HEURISTICS && space_factors_count(setting.space); h++) {
			struct nest_search search = search_of(
				&setting, draw_objectives(&random), heuristics[h], 400, 1);
			struct problem problem = {.stage = STAGE_MAP, .nest = &search, .end = 400};
			const struct solver *solver = solver_find(STAGE_MAP, heuristics[h]);
			if (solver->sharing == SHARING_CHAINS) {
				problem.end = 3;
				problem.first = random_below(&random, 3);
			}
			struct answer answer = solve(solver, &problem, 400, 1, arena);
			assert_true(answer.evaluated <= 400);
			for (size_t i = 0; i < answer.candidate_count; i++) {
				const struct mapping *offer = answer.candidates[i].mappings;
				expect_member(&setting, offer, heuristics[h], seed, draw, &met);
				if (!nest_mapping_fits(setting.domain, offer) ||
					constraints_check(
						search.constraints, setting.domain, offer, arena))
					fail_msg("%s offers what does not fit: seed %" PRIu64
						 " draw %ld",
						heuristics[h], seed, draw);
			}
		}
		arena_close(arena);
	}
	printf("%ld offers found among the mappings of their space\n", met);
	assert_true(!draws_are_many(count) || met > count);
}

/* --- what the search over factors that need not divide begins with */

static void run_padded(struct run *run, const struct problem *problem)
{
	struct nest_offers offers = nest_offers_open(run, problem->nest);
	uneven_padded(run, problem->nest, &offers, 400, 0);
	nest_offers_close(&offers);
}

static const struct solver padded = {.stage = STAGE_MAP, .name = "padded", .run = run_padded};

static long expect_padded_inside(
	const struct setting *setting, struct objectives objectives, uint64_t seed, long draw)
{
	struct nest_search search = search_of(setting, objectives, NULL, 0, 1);
	struct problem problem = {.stage = STAGE_MAP, .nest = &search};
	struct answer answer = solve(&padded, &problem, 0, 1, setting->arena);
	long met = 0;
	for (size_t i = 0; i < answer.candidate_count; i++)
		expect_member(
			setting, answer.candidates[i].mappings, padded.name, seed, draw, &met);
	return met;
}

BARE_TEST(padded_mappings_come_back_into_the_space)
{
	uint64_t seed = draws_seed(77);
	long count = draws(60), met = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		draw_setting(&random, arena, 60, true, &setting);
		setting.domain->imperfect = UINT32_MAX;
		setting.space = space_make(arena, setting.domain);
		met += expect_padded_inside(&setting, draw_objectives(&random), seed, draw);
		arena_close(arena);
	}
	printf("%ld offers found among the mappings of their space\n", met);
	assert_true(!draws_are_many(count) || met > count / 4);
}

/* Three are padded to six, two times three, and cut back to two times two. */
TEST(three_stay_three_where_the_domain_says_so)
{
	struct setting setting = {.arena = arena_open()};
	setting.nest =
		*nest_line(setting.arena, "DRAM RF (PE:2) MAC", "Z[b] = A[b], b=3", "DRAM: b3");
	setting.domain = nest_domain_free(setting.arena, &setting.nest);
	setting.domain->imperfect = 1;
	setting.domain->rows[nest_line_level(&setting.nest, "RF")->row].temporal[0] =
		(struct factor_domain){.least = 3, .most = 3};
	setting.space = space_make(setting.arena, setting.domain);
	struct objectives latency = {1, {OBJECTIVE_LATENCY}};
	assert_true(expect_padded_inside(&setting, latency, 0, 0) > 0);
	arena_close(setting.arena);
}

static void expect_same(
	const struct explored *a, const struct explored *b, const char *solver, int jobs)
{
	bool same = a->frontier.count == b->frontier.count &&
		    a->effort.evaluated == b->effort.evaluated &&
		    a->effort.offered == b->effort.offered &&
		    a->effort.refused == b->effort.refused;
	for (size_t i = 0; same && i < a->frontier.count; i++) {
		const struct point *x = &a->frontier.points[i], *y = &b->frontier.points[i];
		same = strcmp(x->key, y->key) == 0 &&
		       memcmp(&x->score.energy_pj, &y->score.energy_pj, sizeof(double)) == 0 &&
		       x->score.cycles == y->score.cycles;
	}
	if (!same)
		fail_msg("%s with %d threads", solver, jobs);
}

BARE_TEST(threads_change_nothing)
{
	static const int jobs[] = {2, 7};
	uint64_t seed = draws_seed(74);
	for (long draw = 0; draw < 1 + draws(100) / 100; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		draw_setting(&random, arena, 2000, false, &setting);
		struct objectives objectives = draw_objectives(&random);
		for (int h = 0; h < HEURISTICS; h++) {
			struct nest_search search = search_of(
				&setting, objectives, heuristics[h], 25000, 1); /* 3 chains */
			struct explored alone = nest_explore(&search, arena);
			for (int j = 0; j < 2; j++) {
				search.wishes.asker.jobs = jobs[j];
				struct explored shared = nest_explore(&search, arena);
				expect_same(&alone, &shared, heuristics[h], jobs[j]);
			}
		}
		arena_close(arena);
	}
}

/* Counts the mappings that a sequence of draws makes, by the definition. */
static uint64_t count_draws(const struct nest_search *search, uint64_t first, uint64_t end)
{
	double best = INFINITY;
	uint64_t no_better = 0, unfit = 0;
	for (uint64_t n = first; n < end; n++) {
		struct random random = random_open(search->wishes.seed, n);
		struct mapping mapping;
		struct nest_counts counts;
		struct nest_score score;
		space_draw(search->space, &random, &mapping);
		if (nest_evaluate(search->model, &mapping, &counts, &score) != NEST_FITS) {
			if (++unfit == search->patience.timeout)
				return n + 1 - first;
			continue;
		}
		double edp = score.energy_pj * (double)score.cycles;
		unfit = 0;
		no_better = edp < best ? 0 : no_better + 1;
		best = fmin(best, edp);
		if (no_better && no_better == search->patience.victory)
			return n + 1 - first;
	}
	return end - first;
}

BARE_TEST(draws_end_when_they_should)
{
	uint64_t seed = draws_seed(76);
	long count = draws(100), ended = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		struct objectives edp = {1, {OBJECTIVE_EDP}};
		draw_setting(&random, arena, 200, false, &setting);
		struct nest_search search = search_of(&setting, edp, "random", 900, 2);
		uint64_t expected = 0, sequences = 1 + random_below(&random, 3);
		search.patience = (struct patience){
			random_below(&random, 40), 1 + random_below(&random, 200), sequences};
		for (uint64_t s = 0; s < sequences && space_factors_count(setting.space); s++)
			expected += count_draws(
				&search, s * (900 / sequences), (s + 1) * (900 / sequences));
		struct explored explored = nest_explore(&search, arena);
		assert_int_equal(explored.effort.evaluated, expected);
		ended += expected < 900;
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) || ended > count / 2);
}

/* In a space without a mapping that fits, no solver finds one. */
BARE_TEST(time_enough_finds_the_optimum)
{
	uint64_t seed = draws_seed(75);
	long count = draws(400) / 10, compared = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct setting setting;
		draw_setting(&random, arena, 40, draw % 4 == 0, &setting);
		struct objectives edp = {1, {OBJECTIVE_EDP}};
		bool small = nest_space_is_small(setting.space, 400);
		struct nest_search search = search_of(&setting, edp, "linear", 1000000, 1);
		struct explored all = {0};
		if (small)
			all = nest_explore(&search, arena);
		compared += small && all.frontier.count;
		for (int h = 0; h < HEURISTICS && small; h++) {
			search = search_of(&setting, edp, heuristics[h], 4000, 1);
			struct explored found = nest_explore(&search, arena);
			const struct point *a = all.frontier.points, *b = found.frontier.points;
			if (found.frontier.count != all.frontier.count ||
				(all.frontier.count &&
					fabs(objective_value(OBJECTIVE_EDP, &a->score) -
						objective_value(OBJECTIVE_EDP, &b->score)) >
						1e-9 * objective_value(OBJECTIVE_EDP, &a->score)))
				fail_msg("%s misses the optimum: seed %" PRIu64
					 " draw %ld\n%s\nbest: %s\nfound: %s",
					heuristics[h], seed, draw,
					nest_case_text(arena, &setting.nest),
					all.frontier.count ? a->key : "none",
					found.frontier.count ? b->key : "none");
		}
		arena_close(arena);
	}
	printf("%ld mapspaces compared\n", compared);
	assert_true(!draws_are_many(count) || compared > count / 4);
}
