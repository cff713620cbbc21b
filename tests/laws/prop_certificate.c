#include "base/arena.h"
#include "search/certificate/certificate_check.h"
#include "tests/support/draws.h"
#include "tests/support/nest_domain.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * Laws of the bounds by which certificates are checked, in both countings: however much of a
 * mapping is known, from the outermost level inwards, with or without the order of its loops,
 * the floor promises no more than the mapping costs.  A floor that promises a tenth more is seen to
 * break the law.  Where every rank is one dimension, the floor of a mapping known to the end is what
 * it costs, each read of a sum that drains included.
 */
struct law {
	struct arena *arena;
	long tried, broken;
	long plain,
		met; /* exactly, without flags: those where nothing is left open, those it costs */
	double by;
	const char *first;
};

struct problem_case {
	struct nest_case nest;
	struct nest_search search;
	struct completions *completions;
	struct floor_frame frame;
};

static void open_case(struct problem_case *out, struct arena *arena, struct random *random,
	long draw, enum counting counting)
{
	struct nest_case_options options = {.sliding = true,
		.bypass = true,
		.spatial = true,
		.steps_most = draw % 2 ? 4000 : 200};
	options.flags = draw % 8 == 0 || draw % 8 == 3;
	nest_case_draw(random, &options, &out->nest);
	for (int i = 0; i < out->nest.hierarchy.level_count && draw % 4 == 1; i++)
		out->nest.hierarchy.levels[i].store.block_words = 1;
	if (draw % 5 == 2)
		nest_case_paces(random, true, &out->nest);
	struct domain *domain = nest_domain_free(arena, &out->nest);
	domain->imperfect = 0;
	out->search = nest_domain_search(arena, domain, counting);
	out->search.wishes.objectives =
		(struct objectives){2, {OBJECTIVE_HBM_BYTES, OBJECTIVE_ACCESSES}};
	out->completions = completions_make(arena, out->search.space);
	out->frame = floor_frame_make(&out->search, out->completions);
}

static bool evaluate(const struct problem_case *problem, const struct mapping *mapping,
	struct nest_counts *counts, struct score *out)
{
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(problem->search.model, mapping, counts, &score);
	*out = nest_summary(&problem->search, counts, &score);
	return nest_verdict_counts(verdict);
}

static void expect_below(struct law *law, const struct problem_case *problem,
	const struct score *floor, const struct score *score, int level, const char *what)
{
	double margin = 1 + 1e-12;
	law->tried++;
	if (floor->energy_pj * law->by <= score->energy_pj * margin &&
		(double)floor->cycles * law->by <= (double)score->cycles &&
		(double)floor->hbm_bytes * law->by <= (double)score->hbm_bytes &&
		(double)floor->accesses[0] * law->by <= (double)score->accesses[0])
		return;
	if (!law->broken++)
		law->first = arena_format(law->arena,
			"%s counting, loops outside level %d, %s: at least %.17g pJ, %" PRId64
			" cycles, %" PRId64 " bytes, %" PRId64
			" accesses, but it has %.17g, %" PRId64 ", %" PRId64 ", %" PRId64 "\n%s",
			counting_names[problem->search.counting], level, what, floor->energy_pj,
			floor->cycles, floor->hbm_bytes, floor->accesses[0], score->energy_pj,
			score->cycles, score->hbm_bytes, score->accesses[0],
			nest_case_text(law->arena, &problem->nest));
}

static void follow(struct law *law, struct problem_case *problem, const struct score *score)
{
	const struct completions *completions = problem->completions;
	const struct mapping *mapping = &problem->nest.mapping;
	struct floor_cell cell;
	struct floor_loops loops[ARCH_LEVELS_MOST];
	struct floor_known known;
	int64_t left[SHAPE_DIMENSIONS_MOST];
	int outermost = completions->count - 1;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		known.from[t] = -1;
	floor_cell_make(&problem->frame, mapping, &cell);
	loops[outermost] = floor_loops_none(&cell);
	struct score floor = floor_score(&cell, loops, outermost, &known);
	expect_below(law, problem, &floor, score, outermost, "nothing known");
	for (int d = 0; d < problem->nest.shape.dimension_count; d++)
		left[d] = cell.temporal[d];
	for (int j = outermost; j > 0; j--) {
		const struct tiling_level *level =
			&problem->search.space->levels[completions->tiling[j]];
		const struct mapping_row *row = &mapping->rows[level->row];
		for (int d = 0; d < problem->nest.shape.dimension_count; d++)
			left[d] /= row->temporal[d];
		floor_loops_add(&cell, &loops[j], row->temporal, left, NULL, 0, &loops[j - 1]);
		floor = floor_score(&cell, loops, j - 1, &known);
		expect_below(law, problem, &floor, score, j - 1, "order open");
		for (int n = 1; n <= 2; n++) {
			floor_loops_add(&cell, &loops[j], row->temporal, left, row->temporal_order,
				n, &loops[j - 1]);
			floor = floor_score(&cell, loops, j - 1, &known);
			expect_below(law, problem, &floor, score, j - 1, "order partly known");
		}
		floor_loops_add(&cell, &loops[j], row->temporal, left, row->temporal_order,
			SHAPE_DIMENSIONS_MOST, &loops[j - 1]);
		floor = floor_score(&cell, loops, j - 1, &known);
		expect_below(law, problem, &floor, score, j - 1, "order known");
		struct mapping outside = *mapping;
		floor_count(&cell, &outside, j - 1, left, &known);
		floor = floor_score(&cell, loops, j - 1, &known);
		expect_below(law, problem, &floor, score, j - 1, "counted by the model");
	}
	const struct nest_case *nest = &problem->nest;
	bool whole = !problem->frame.timeloop && !problem->frame.flagged && outermost > 0;
	for (int t = 0; t < nest->shape.space_count; t++)
		whole &= problem->frame.plain[t];
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		whole &= nest->hierarchy.levels[i].store.block_words == 1;
	law->plain += whole;
	law->met += whole && floor.energy_pj >= score->energy_pj * (1 - 1e-9) &&
		    floor.cycles == score->cycles && floor.accesses[0] + 1 >= score->accesses[0];
}

static void try_floors(struct law *law, uint64_t seed, long count)
{
	for (long draw = 0; draw < count && !law->broken; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct problem_case problem;
		struct nest_counts counts;
		struct score score;
		open_case(&problem, arena, &random, draw, (enum counting)(draw / 2 % 2));
		for (int n = 0; n < 40; n++) {
			space_draw(problem.search.space, &random, &problem.nest.mapping);
			if (evaluate(&problem, &problem.nest.mapping, &counts, &score))
				follow(law, &problem, &score);
		}
		arena_close(arena);
	}
}

TEST(floors_are_never_above_the_cost)
{
	struct law law = {.arena = arena_open(), .by = 1};
	try_floors(&law, draws_seed(81), draws(1500));
	printf("%ld floors; %ld plain mappings known to the end, %ld of them cost theirs\n",
		law.tried, law.plain, law.met);
	if (law.broken)
		fail_msg("%s", law.first);
	assert_true(law.met * 4 >= law.plain * 3);
	arena_close(law.arena);
}

TEST(a_tenth_more_breaks_the_law)
{
	struct law law = {.arena = arena_open(), .by = 1.1};
	try_floors(&law, 81, 1000);
	assert_true(law.broken);
	arena_close(law.arena);
}
