#include "base/arena.h"
#include "base/random.h"
#include "search/nest/nest_search.h"
#include "tests/support/draws.h"
#include "tests/support/map_question.h"
#include "tests/support/nest_all.h"
#include "tests/support/nest_domain.h"
#include "tests/support/nest_fits.h"
#include "tests/support/nest_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/test.h"

/*
 * The exact search against trying every mapping where tiles and their order are all the choice:
 * products of matrices below memories that hold some words, each level keeping what
 * a draw says.  There the search takes only tiles that could not be larger, and has bounds by what fits.
 */
enum { DRAWS = 200, MAPPINGS_MOST = 40000 };

static const char *const machines[] = {
	"DRAM GLB RF MAC",
	"DRAM GLB (PE:2x1) RF MAC",
	"DRAM GLB S RF MAC",
	"DRAM GLB S RF MAC",
};

static const char *const products[] = {
	"Z[m,n] = A[m,k] B[k,n], m=%d n=%d k=%d",
	"Z[m,n] = A[m,k] B[k,n], m=%d n=%d k=%d",
	"Z[m,n] = A[m] B[n,k], m=%d n=%d k=%d",
	"Z[m,n] = A[m,n,k] B[n,k], m=%d n=%d k=%d",
	"Z[m] = A[m,n] B[n,k] C[k], m=%d n=%d k=%d",
};

static void draw_level(struct random *random, struct nest_level *level, double pj)
{
	level->size = 3 + (int64_t)random_below(random, 30);
	for (int a = 0; a < NEST_ACTIONS; a++)
		level->energies.pj[a] = pj * (double)(1 + random_below(random, 4));
	if (random_below(random, 4) == 0)
		level->store.shared_rate = (struct ratio){1 + (int64_t)random_below(random, 3), 1};
}

/* Which of the dataspaces the levels inside keep. */
static const char *draw_residency(
	struct arena *arena, struct random *random, const struct nest_case *nest)
{
	const char *text = "";
	for (int i = 0; i + 1 < nest->hierarchy.level_count; i++) {
		const struct nest_level *level = &nest->hierarchy.levels[i];
		const char *kept = "", *passed = "";
		for (int t = 0; level->storage && t < nest->shape.space_count; t++) {
			const char **list = random_below(random, 5) < 3 ? &kept : &passed;
			*list = arena_format(arena, "%s%s%s", *list, **list ? ", " : "",
				nest->shape.spaces[t].name);
		}
		if (level->storage)
			text = arena_format(arena,
				"%s- {target: %s, type: dataspace, keep: [%s], bypass: [%s]}\n",
				text, level->name, kept, passed);
	}
	return text;
}

/* False: too many mappings. */
static bool draw_question(struct random *random, struct map_question *question)
{
	struct arena *arena = question->arena;
	int machine = (int)random_below(random, sizeof machines / sizeof *machines);
	int product = (int)random_below(random, sizeof products / sizeof *products);
	int extents[3];
	for (int d = 0; d < 3; d++)
		extents[d] = 2 + 2 * (int)random_below(random, 4);
	question->nest = *nest_line(arena, machines[machine],
		arena_format(arena, products[product], extents[0], extents[1], extents[2]),
		arena_format(arena, "DRAM: m%d n%d k%d", extents[0], extents[1], extents[2]));
	struct hierarchy *hierarchy = &question->nest.hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].storage)
			draw_level(random, &hierarchy->levels[i], i + 1);
	hierarchy->levels[hierarchy->level_count - 1].size = 0;
	question->constraints = draw_residency(arena, random, &question->nest);
	question->domain = nest_domain_read(arena, &question->nest, question->constraints);
	question->counting = random_below(random, 2) ? COUNTING_EXACT : COUNTING_TIMELOOP;
	question->objectives =
		random_below(random, 3)
			? (struct objectives){1, {OBJECTIVE_EDP}}
			: (struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	return nest_space_is_small(space_make(arena, question->domain), MAPPINGS_MOST);
}

TEST(products_have_the_enumerated_optimum)
{
	uint64_t seed = draws_seed(67);
	long count = draws(DRAWS), compared = 0, found = 0;
	for (long draw = 0; draw < count; draw++) {
		struct map_question question = {.arena = arena_open()};
		struct random random = random_open(seed, (uint64_t)draw);
		if (draw_question(&random, &question)) {
			struct explored all = map_question_explore(&question, "linear");
			struct explored best = map_question_explore(&question, "exact");
			compared++;
			found += all.frontier.count > 0;
			if (!best.complete || !map_frontiers_equal(&all.frontier, &best.frontier))
				fail_msg("seed %" PRIu64 " draw %ld, %s counting: %zu and %zu "
					 "points, %.17g and %.17g pJ\n%s%s",
					seed, draw, counting_names[question.counting],
					all.frontier.count, best.frontier.count,
					all.frontier.count ? all.frontier.points[0].score.energy_pj
							   : 0,
					best.frontier.count
						? best.frontier.points[0].score.energy_pj
						: 0,
					nest_case_text(question.arena, &question.nest),
					question.constraints);
		}
		arena_close(question.arena);
	}
	printf("%ld mapspaces compared, %ld with mappings that fit\n", compared, found);
	assert_true(!draws_are_many(count) || found > count / 3);
}
