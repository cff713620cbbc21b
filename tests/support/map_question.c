#include "tests/support/map_question.h"

#include "base/arena.h"
#include "search/drive/solver.h"
#include "tests/support/nest_domain.h"

static const struct objectives wishes[] = {
	{1, {OBJECTIVE_EDP}},
	{1, {OBJECTIVE_ENERGY}},
	{1, {OBJECTIVE_LATENCY}},
	{1, {OBJECTIVE_HBM_BYTES}},
	{2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}},
	{2, {OBJECTIVE_EDP, OBJECTIVE_HBM_BYTES}},
	{3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_HBM_BYTES}},
};

/* The outermost storage level holds everything: a mapping fits more often. */
static void lift_home(struct hierarchy *hierarchy)
{
	int i = hierarchy->level_count - 1;
	while (!hierarchy->levels[i].storage)
		i--;
	hierarchy->levels[i].size = 0;
	hierarchy->levels[i].store.least_utilization = 0;
}

static void price_networks(struct random *random, struct hierarchy *hierarchy)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		hierarchy->levels[i].network.hop_pj = (double)random_below(random, 5) / 4;
		hierarchy->levels[i].network.router_pj = (double)random_below(random, 3) / 4;
	}
}

static enum objective draw_accesses(struct random *random, const struct hierarchy *hierarchy)
{
	int level;
	do
		level = (int)random_below(random, (uint64_t)hierarchy->level_count);
	while (!hierarchy->levels[level].storage);
	return (enum objective)(OBJECTIVE_ACCESSES + level);
}

bool map_question_draw(const struct map_questions *class, struct random *random, long draw,
	struct map_question *out)
{
	nest_case_draw(random, &class->options, &out->nest);
	nest_domain_limit(random, &out->nest);
	if (random_below(random, 4))
		lift_home(&out->nest.hierarchy);
	if (class->constraints) {
		out->domain = nest_domain_wish(
			out->arena, random, &out->nest, class->options.flags, &out->constraints);
		if (!out->domain)
			return false;
	} else {
		out->domain = nest_domain_free(out->arena, &out->nest);
		if (draw % 4)
			nest_domain_narrow(random, out->domain);
		nest_domain_homes(random, out->domain);
		out->nest.hierarchy.least_parallelism = out->domain->least_parallelism;
		for (int r = 0; r < out->domain->arch->level_count; r++) /* texts only */
			out->domain->rows[r].spatial_over = out->domain->rows[r].temporal_over = 0;
	}
	if (class->imperfect)
		out->domain->imperfect = (uint32_t)(random_next(random) | random_next(random));
	else if (!class->constraints)
		out->domain->imperfect = 0;
	out->counting = random_below(random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP;
	out->domain->whole_homes = out->counting == COUNTING_EXACT;
	out->objectives = wishes[random_below(random, sizeof wishes / sizeof *wishes)];
	if (random_below(random, 5) == 0)
		out->objectives.at[0] = draw_accesses(random, &out->nest.hierarchy);
	if (class->networks)
		price_networks(random, &out->nest.hierarchy);
	if (draw % 3 == 2 && !out->domain->imperfect)
		nest_case_paces(random, true, &out->nest);
	return true;
}

struct nest_search map_question_search(const struct map_question *question)
{
	struct nest_search search =
		nest_domain_search(question->arena, question->domain, question->counting);
	search.wishes.objectives = question->objectives;
	return search;
}

struct explored map_question_explore(const struct map_question *question, const char *solver)
{
	struct nest_search search = map_question_search(question);
	search.solver = solver_find(STAGE_MAP, solver);
	return nest_explore(&search, question->arena);
}

/* True if some point of a frontier is no worse than this one, but for rounding. */
static bool is_covered(const struct frontier *frontier, const struct score *score)
{
	for (size_t i = 0; i < frontier->count; i++) {
		bool covered = true;
		for (size_t k = 0; k < frontier->objectives.count; k++) {
			enum objective objective = frontier->objectives.at[k];
			covered &= objective_value(objective, &frontier->points[i].score) <=
				   objective_value(objective, score) * (1 + 1e-9);
		}
		if (covered)
			return true;
	}
	return false;
}

bool map_frontiers_equal(const struct frontier *a, const struct frontier *b)
{
	bool same = true;
	for (size_t i = 0; i < a->count; i++)
		same &= is_covered(b, &a->points[i].score);
	for (size_t i = 0; i < b->count; i++)
		same &= is_covered(a, &b->points[i].score);
	return same;
}
