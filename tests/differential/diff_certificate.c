#include "base/arena.h"
#include "base/array.h"
#include "model/nest/nest_mapping.h"
#include "search/certificate/certificate_check.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Certificates of random small mapspaces against every mapping of them, in both countings: what
 * is true is found to hold, to the last bit, and what is wrong by one bit is rejected.
 */
enum { MAPPINGS_MOST = 3000 };

static const struct objectives wishes[] = {
	{1, {OBJECTIVE_EDP}},
	{1, {OBJECTIVE_ENERGY}},
	{1, {OBJECTIVE_LATENCY}},
	{1, {OBJECTIVE_HBM_BYTES}},
	{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
	{3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_HBM_BYTES}},
};

/* A legal mapping and what it costs. */
struct legal {
	struct mapping mapping;
	struct score score;
};

struct drawn {
	struct arena *arena;
	struct random *random;
	struct nest_case nest;
	const char *constraints;
	struct nest_search search;
	struct array(struct legal) all;
	struct certificate certificate; /* what exact proves */
	const char *seed;
	long held, rejected;
};

static void find_all(struct drawn *drawn)
{
	const struct nest_search *search = &drawn->search;
	for (uint64_t f = 0; f < space_factors_count(search->space); f++) {
		struct mapping mapping;
		space_factors(search->space, f, &mapping);
		uint64_t rests = space_rest_count(search->space, &mapping);
		for (uint64_t r = 0; r < rests; r++) {
			struct nest_counts counts;
			struct nest_score score;
			space_rest(search->space, r, &mapping);
			if (nest_evaluate(search->model, &mapping, &counts, &score) != NEST_FITS ||
				constraints_check(search->constraints, search->domain, &mapping,
					drawn->arena))
				continue;
			*array_add(drawn->arena, &drawn->all) =
				(struct legal){mapping, nest_summary(search, &counts, &score)};
		}
	}
}

static bool draw_space(struct drawn *drawn, const struct nest_case_options *options, long draw)
{
	struct domain *domain;
	nest_case_draw(drawn->random, options, &drawn->nest);
	nest_domain_limit(drawn->random, &drawn->nest);
	if (draw % 2) {
		domain = nest_domain_wish(
			drawn->arena, drawn->random, &drawn->nest, false, &drawn->constraints);
		if (!domain)
			return false;
	} else {
		domain = nest_domain_free(drawn->arena, &drawn->nest);
		nest_domain_narrow(drawn->random, domain);
		nest_domain_homes(drawn->random, domain);
	}
	domain->imperfect = 0;
	enum counting counting =
		random_below(drawn->random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP;
	drawn->search = nest_domain_search(drawn->arena, domain, counting);
	drawn->search.wishes.objectives =
		wishes[random_below(drawn->random, sizeof wishes / sizeof *wishes)];
	drawn->search.solver = solver_find(STAGE_MAP, "exact");
	return nest_space_is_small(drawn->search.space, MAPPINGS_MOST);
}

static void expect(struct drawn *drawn, const struct certificate *certificate, enum verdict answer,
	const char *what)
{
	struct certificate_checking checking = {
		.certificate = certificate, .search = &drawn->search};
	struct certificate_result result = certificate_check(&checking, drawn->arena);
	(answer == VERDICT_YES ? drawn->held++ : drawn->rejected++);
	if (result.answer != answer)
		fail_msg("%s, %s counting, %s%s: %s should be %s: %s\n%s%s", drawn->seed,
			counting_names[drawn->search.counting],
			objective_names[drawn->search.wishes.objectives.at[0]],
			drawn->search.wishes.objectives.count > 1 ? " ..." : "", what,
			answer == VERDICT_YES ? "accepted" : "rejected",
			result.why ? result.why : "it is not",
			nest_case_text(drawn->arena, &drawn->nest),
			drawn->constraints ? drawn->constraints : "");
}

static double value_of(const struct drawn *drawn, const struct legal *legal)
{
	return objective_value(drawn->search.wishes.objectives.at[0], &legal->score);
}

static struct certificate_point point_of(const struct drawn *drawn, const struct legal *legal)
{
	const struct objectives *objectives = &drawn->search.wishes.objectives;
	double *values = arena_array(drawn->arena, double, objectives->count);
	for (size_t k = 0; k < objectives->count; k++)
		values[k] = objective_value(objectives->at[k], &legal->score);
	return (struct certificate_point){
		.mapping = nest_mapping_print(
			drawn->arena, drawn->search.arch, drawn->search.shape, &legal->mapping),
		.cycles = legal->score.cycles,
		.energy_pj = legal->score.energy_pj,
		.values = values};
}

static struct certificate_point *copy_points(struct drawn *drawn, struct certificate *certificate)
{
	struct certificate_point *points = arena_copy(drawn->arena, certificate->points,
		certificate->point_count * sizeof *certificate->points);
	certificate->points = points;
	return points;
}

/* Values that are not the point's. */
static void try_values(struct drawn *drawn)
{
	for (int side = -1; side <= 1; side += 2) {
		struct certificate certificate = drawn->certificate;
		struct certificate_point *point = copy_points(drawn, &certificate);
		point->energy_pj = nextafter(point->energy_pj, side * INFINITY);
		expect(drawn, &certificate, VERDICT_NO, "an energy one bit off");
		certificate = drawn->certificate;
		point = copy_points(drawn, &certificate);
		double values[OBJECTIVE_COUNT];
		memcpy(values, point->values, certificate.objectives.count * sizeof *values);
		values[0] = nextafter(values[0], side * INFINITY);
		point->values = values;
		expect(drawn, &certificate, VERDICT_NO, "a value one bit off");
		certificate = drawn->certificate;
		copy_points(drawn, &certificate)->cycles += side;
		expect(drawn, &certificate, VERDICT_NO, "a cycle more or less");
	}
}

/* Each point gone; a worse one in its place. */
static void try_points(struct drawn *drawn)
{
	size_t count = drawn->certificate.point_count;
	size_t gone = random_below(drawn->random, count);
	struct certificate certificate = drawn->certificate;
	certificate.epsilon = 0;
	struct certificate_point *points = copy_points(drawn, &certificate);
	for (size_t i = gone; i + 1 < count; i++)
		points[i] = points[i + 1];
	certificate.point_count--;
	expect(drawn, &certificate, VERDICT_NO, "a point removed");

	const struct legal *other = &drawn->all.at[random_below(drawn->random, drawn->all.count)];
	if (count == 1 && value_of(drawn, other) > drawn->certificate.points[0].values[0] &&
		drawn->search.wishes.objectives.count == 1) {
		certificate = drawn->certificate;
		*copy_points(drawn, &certificate) = point_of(drawn, other);
		expect(drawn, &certificate, VERDICT_NO, "a wrong optimum");
	}
}

/* The true least as a bound, and one bit more. */
static void try_bound(struct drawn *drawn, double least)
{
	const struct legal *other = &drawn->all.at[random_below(drawn->random, drawn->all.count)];
	struct certificate certificate = drawn->certificate;
	certificate.epsilon = 0;
	certificate.claim = PROOF_BOUND;
	certificate.bound = least;
	*copy_points(drawn, &certificate) = point_of(drawn, other);
	certificate.gap = value_of(drawn, other) - least;
	expect(drawn, &certificate, VERDICT_YES, "the least value as the bound");
	certificate.bound = nextafter(least, INFINITY);
	certificate.gap = value_of(drawn, other) - certificate.bound;
	expect(drawn, &certificate, VERDICT_NO, "a bound one bit above the least");
	certificate.bound = least;
	certificate.gap = nextafter(value_of(drawn, other) - least, -INFINITY);
	expect(drawn, &certificate, VERDICT_NO, "a gap one bit too small");
}

static void check_draw(struct drawn *drawn)
{
	struct explored explored = nest_explore(&drawn->search, drawn->arena);
	struct certificate *made = NULL;
	if (explored.complete)
		made = certificate_make(drawn->arena, &drawn->search, &explored);
	if (!made)
		return;
	drawn->certificate = *made;
	find_all(drawn);
	expect(drawn, made, VERDICT_YES, "what exact proves");
	if (!made->point_count)
		return;
	try_values(drawn);
	try_points(drawn);
	if (drawn->search.wishes.objectives.count > 1)
		return;
	double least = INFINITY;
	for (size_t i = 0; i < drawn->all.count; i++)
		least = fmin(least, value_of(drawn, &drawn->all.at[i]));
	try_bound(drawn, least);
}

static void compare(const struct nest_case_options *options, uint64_t seed, long count)
{
	long spaces = 0, held = 0, rejected = 0;
	for (long draw = 0; draw < count; draw++) {
		struct random random = random_open(seed, (uint64_t)draw);
		struct drawn drawn = {.arena = arena_open(), .random = &random};
		drawn.seed = arena_format(drawn.arena, "seed %" PRIu64 " draw %ld", seed, draw);
		if (draw_space(&drawn, options, draw)) {
			check_draw(&drawn);
			spaces++;
		}
		held += drawn.held;
		rejected += drawn.rejected;
		arena_close(drawn.arena);
	}
	printf("%ld mapspaces, %ld certificates held, %ld rejected\n", spaces, held, rejected);
	assert_true(!draws_are_many(count) || (held > count / 4 && rejected > count));
}

TEST(what_is_true_holds_and_one_bit_less_does_not)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .steps_most = 40};
	compare(&options, draws_seed(83), draws(200));
}

TEST(flags_do_not_change_that)
{
	struct nest_case_options options = {
		.sliding = true, .bypass = true, .spatial = true, .flags = true, .steps_most = 16};
	compare(&options, draws_seed(84), draws(200) / 4);
}

TEST(random_certificates_of_systolic_arrays)
{
	struct nest_case_options options = {.sliding = true,
		.bypass = true,
		.spatial = true,
		.systolic = true,
		.steps_most = 30};
	compare(&options, draws_seed(85), draws(200) / 2);
}
