#include "base/arena.h"
#include "solvers/map/local/moves.h"
#include "solvers/map/uneven/uneven.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Laws of the exact search over factors that need not divide.  From the outermost level inwards,
 * in all ranges of a level's rests that are looked at, no part of a mapping promises more
 * energy, cycles or words than the whole mapping costs, in both countings; and every mapping is
 * among the steps that the search takes.  A bound that promises a tenth more is seen to break
 * the law.
 */
struct law {
	long mappings, imperfect, broken;
	long plain,
		near; /* exactly, without flags; near: a bound within a hundredth of the energy */
	double by;
	const char *first;
};

struct whole {
	struct arena *arena;
	struct random *random;
	struct nest_case *nest;
	const struct nest_frame *frame;
	struct nest_counts counts;
	struct nest_score score;
	struct nest_view view;
	struct uneven_part part;
};

static int64_t words_at(const struct whole *whole, int i)
{
	int64_t words = 0;
	for (int t = 0; t < whole->nest->shape.space_count; t++) {
		const struct nest_count *count = &whole->counts.at[i][t];
		words += count->reads + count->fills + count->updates;
	}
	return words;
}

static void expect_below(struct law *law, const struct whole *whole, const char *what)
{
	struct score bound = uneven_bound(&whole->view, &whole->part);
	bool below = bound.energy_pj * law->by <= whole->score.energy_pj * (1 + 1e-9) &&
		     (double)bound.cycles * law->by <= (double)whole->score.cycles;
	for (int j = 0; j < whole->frame->count; j++) {
		int i = whole->frame->level[j];
		below &= (double)bound.accesses[i] * law->by <= (double)words_at(whole, i);
	}
	if (below || law->broken++)
		return;
	law->first = arena_format(whole->arena,
		"%s of level %d: at least %.17g pJ and %" PRId64
		" cycles, but it costs %.17g and %" PRId64 "\n%s",
		what, whole->part.level, bound.energy_pj, bound.cycles, whole->score.energy_pj,
		whole->score.cycles, nest_case_text(whole->arena, whole->nest));
}

static void expect_step(struct law *law, const struct whole *whole, int d, int first, int64_t rest)
{
	int64_t least = rest, most = rest;
	if (!uneven_clip(&whole->view, &whole->part, d, first, &least, &most) && !law->broken++)
		law->first = arena_format(whole->arena,
			"level %d: no step leaves %" PRId64 " of dimension %d\n%s",
			whole->part.level, rest, d, nest_case_text(whole->arena, whole->nest));
}

/* Returns the product of a dimension's temporal loops inside level j; an open one is covered by
 * any. */
static int64_t rest_of(const struct whole *whole, int j, int d)
{
	const struct hierarchy *hierarchy = &whole->nest->hierarchy;
	const struct mapping_row *rows = whole->nest->mapping.rows;
	bool open = whole->frame->search->domain->imperfect >> d & 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		bool chosen = j < whole->frame->count && i >= whole->frame->level[j];
		bool outside = j > 0 && i > whole->frame->level[j - 1];
		if (chosen && level->storage)
			open &= rows[level->row].temporal[d] == 1;
		if (outside)
			open &= rows[level->block_row].spatial[d] == 1;
	}
	int64_t rest = 1;
	for (int i = 0; i < j; i++) {
		int row = hierarchy->levels[whole->frame->level[i]].row;
		rest *= rows[row].temporal[d];
	}
	int64_t inside = whole->view.inside[j][d], extent = whole->nest->shape.dimensions[d].extent;
	return open && j > 0 ? (extent + inside - 1) / inside : rest;
}

static void follow(struct law *law, struct whole *whole)
{
	struct uneven_part *part = &whole->part;
	int count = whole->nest->shape.dimension_count;
	*part = (struct uneven_part){.level = whole->frame->count, .first = -1};
	expect_below(law, whole, "all");
	for (; part->level >= 0; part->level--) {
		const struct mapping_row *row = NULL;
		if (part->level < whole->frame->count)
			row = &whole->nest->mapping
				       .rows[whole->nest->hierarchy
						       .levels[whole->frame->level[part->level]]
						       .row];
		part->first = -1;
		for (int n = count - 1; row && n >= 0; n--)
			if (row->temporal[row->temporal_order[n]] > 1)
				part->first = row->temporal_order[n];
		int64_t rest[SHAPE_DIMENSIONS_MOST];
		for (int d = 0; d < count; d++) {
			rest[d] = rest_of(whole, part->level, d);
			expect_step(law, whole, d, part->first, rest[d]);
			part->least[d] =
				1 + (int64_t)random_below(whole->random, (uint64_t)rest[d]);
			part->most[d] = rest[d] + (int64_t)random_below(whole->random, 4);
		}
		expect_below(law, whole, "some");
		for (int d = 0; d < count; d++)
			part->least[d] = part->most[d] = rest[d];
		expect_below(law, whole, "one");
		uneven_choose(&whole->view, part);
		for (int d = 0; d < count && row; d++)
			if (part->bound[part->level][d] != row->temporal[d] && !law->broken++)
				law->first = arena_format(whole->arena,
					"level %d: bound %" PRId64 " of dimension %d\n%s",
					part->level, part->bound[part->level][d], d,
					nest_case_text(whole->arena, whole->nest));
		part->order[part->level] = row ? row->temporal_order : NULL;
	}
	bool plain = whole->frame->plain && !whole->frame->timeloop;
	for (int i = 0; i < whole->nest->hierarchy.level_count; i++)
		plain &= whole->nest->hierarchy.levels[i].store.block_words == 1;
	law->plain += plain;
	law->near += plain &&
		     uneven_bound(&whole->view, part).energy_pj >= whole->score.energy_pj * 0.99;
}

static void follow_some(struct law *law, struct arena *arena, struct random *random,
	const struct domain *domain, struct nest_case *nest, enum counting counting)
{
	struct nest_search search = nest_domain_search(arena, domain, counting);
	if (!space_factors_count(search.space))
		return;
	search.wishes.objectives.count = 0;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		if (nest->hierarchy.levels[i].storage)
			search.wishes.objectives.at[search.wishes.objectives.count++] =
				OBJECTIVE_ACCESSES + i;
	struct nest_frame frame = nest_frame_make(&search);
	frame.uneven = true;
	struct whole whole = {.arena = arena, .random = random, .nest = nest, .frame = &frame};
	for (int n = 0; n < 40; n++) {
		space_draw(search.space, random, &nest->mapping);
		enum nest_verdict verdict =
			nest_evaluate(search.model, &nest->mapping, &whole.counts, &whole.score);
		if (verdict != NEST_FITS)
			continue;
		law->mappings++;
		nest_view_make(&frame, &nest->mapping, &whole.view);
		follow(law, &whole);
	}
}

static void try_law(struct law *law, struct arena *arena, uint64_t seed, long count)
{
	for (long draw = 0; draw < count && !law->broken; draw++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)draw);
		struct nest_case nest;
		struct nest_case_options options = {.sliding = draw % 2,
			.imperfect = true,
			.bypass = true,
			.spatial = true,
			.steps_most = 200};
		options.flags = draw % 8 == 0;
		nest_case_draw(&random, &options, &nest);
		for (int i = 0; i < nest.hierarchy.level_count && draw % 3 == 1; i++)
			nest.hierarchy.levels[i].store.block_words = 1;
		if (draw % 4)
			nest_domain_limit(&random, &nest);
		struct domain *domain = nest_domain_free(arena, &nest);
		domain->imperfect = (uint32_t)(random_next(&random) | random_next(&random));
		for (int c = 0; c <= COUNTING_TIMELOOP; c++)
			follow_some(law, arena, &random, domain, &nest, (enum counting)c);
		if (law->broken)
			law->first = arena_format(
				arena, "seed %" PRIu64 " draw %ld, %s", seed, draw, law->first);
		else
			arena_release(arena, mark);
	}
}

TEST(no_part_promises_more_than_the_whole_costs)
{
	struct law law = {.by = 1};
	long count = draws(300);
	try_law(&law, arena, draws_seed(68), count);
	printf("%ld mappings; %ld plain ones chosen to the end, %ld of them near their bound\n",
		law.mappings, law.plain, law.near);
	if (law.broken)
		fail_msg("%s", law.first);
	assert_true(law.mappings > count);
	assert_true(law.near * 3 >= law.plain * 2);
}

TEST(a_bound_a_tenth_too_high_is_seen)
{
	struct law law = {.by = 1.1};
	try_law(&law, arena, 68, 50);
	assert_true(law.broken > 0);
}

/* --- mappings of padded extents, cut back */

struct cuts {
	struct arena *arena;
	struct random *random;
	struct nest_case padded, real;
	struct nest_search of_padded, of_real;
	long mappings, better;
};

/* Energy without leakage, which goes on while fewer ports than before serve the same words. */
static double moved_pj(const struct cuts *cuts, const struct nest_score *score)
{
	double pj = score->energy_pj;
	for (int i = 0; i < cuts->real.hierarchy.level_count; i++)
		pj -= score->leak_pj[i];
	return pj;
}

/* A mapping of the padded nest, cut back; what is more then, or NULL. */
static const char *cut_one(struct cuts *cuts)
{
	struct nest_counts of_padded, of_real;
	struct nest_score before, after;
	struct mapping *mapping = &cuts->padded.mapping;
	space_draw(cuts->of_padded.space, cuts->random, mapping);
	if (nest_evaluate(cuts->of_padded.model, mapping, &of_padded, &before) != NEST_FITS)
		return NULL;
	struct map_moves moves = map_moves_make(cuts->of_real.space);
	*mapping = map_moves_adopt(&moves, mapping);
	enum nest_verdict verdict = nest_evaluate(cuts->of_real.model, mapping, &of_real, &after);
	double pj_before = moved_pj(cuts, &before), pj = moved_pj(cuts, &after);
	cuts->mappings++;
	cuts->better += pj < pj_before * (1 - 1e-9);
	if (verdict == NEST_FITS && of_real.compute_cycles <= of_padded.compute_cycles &&
		pj <= pj_before * (1 + 1e-9))
		return NULL;
	return arena_format(cuts->arena,
		"verdict %d, %.17g pJ after %.17g, %" PRId64 " steps after %" PRId64 "\n%s",
		(int)verdict, pj, pj_before, of_real.compute_cycles, of_padded.compute_cycles,
		nest_case_text(cuts->arena, &cuts->padded));
}

TEST(cutting_back_costs_no_more)
{
	struct nest_case_options options = {.bypass = true, .spatial = true, .steps_most = 200};
	uint64_t seed = draws_seed(69);
	long count = draws(300), mappings = 0, better = 0;
	for (long draw = 0; draw < count; draw++) {
		struct random random = random_open(seed, (uint64_t)draw);
		struct cuts cuts = {.arena = arena_open(), .random = &random};
		nest_case_draw(&random, &options, &cuts.padded);
		cuts.real = cuts.padded;
		for (int d = 0; d < cuts.real.shape.dimension_count; d++) {
			int64_t *extent = &cuts.real.shape.dimensions[d].extent;
			*extent = 1 + (int64_t)random_below(&random, (uint64_t)*extent);
		}
		struct domain *uneven = nest_domain_free(cuts.arena, &cuts.real);
		uneven->imperfect = UINT32_MAX;
		cuts.of_padded = nest_domain_search(
			cuts.arena, nest_domain_free(cuts.arena, &cuts.padded), COUNTING_EXACT);
		cuts.of_real = nest_domain_search(cuts.arena, uneven, COUNTING_EXACT);
		for (int n = 0; n < 20; n++) {
			const char *wrong = cut_one(&cuts);
			if (wrong)
				fail_msg("seed %" PRIu64 " draw %ld: %s", seed, draw, wrong);
		}
		mappings += cuts.mappings;
		better += cuts.better;
		arena_close(cuts.arena);
	}
	printf("%ld mappings, %ld of them cost less\n", mappings, better);
	assert_true(mappings > count && better > 0);
}
