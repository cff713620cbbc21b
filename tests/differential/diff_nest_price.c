#include "base/arena.h"
#include "base/wide.h"
#include "cost/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_compare.h"

#include <inttypes.h>
#include <math.h>

#include "tests/test.h"

/*
 * Time and energy of exact counts, done again from specs/counting.md without a thought for speed:
 * integers of 128 bits and one division, energies summed access by access.
 */
static void draw_prices(struct random *random, struct nest_case *nest)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		struct ratio *rates[] = {&level->store.read_rate, &level->store.write_rate,
			&level->store.shared_rate};
		for (int k = 0; k < 3; k++)
			if (random_below(random, 3) == 0)
				ratio_make(1 + (int64_t)random_below(random, 64),
					1 + (int64_t)random_below(random, 64), rates[k]);
		level->store.block_words = 1 + (int64_t)random_below(random, 64);
		if (level->mesh_x % 2 == 0 && random_below(random, 2))
			level->store.cluster_size = 2;
		level->gated_at = (int)random_below(random, (uint64_t)nest->hierarchy.level_count);
		level->store.fill_cycles = (int64_t)random_below(random, 5);
		level->store.drain_cycles = (int64_t)random_below(random, 5);
	}
}

static wide ceil_div(wide a, wide b)
{
	return a / b + (a % b != 0);
}

/* Cycles for the words of one instance at a rate; the work is of all instances. */
static wide time_of(wide work, int64_t instances, struct ratio rate)
{
	return rate.num ? ceil_div(work * rate.den, (wide)instances * rate.num) : 0;
}

/* The same of words and rows. */
static wide time_of_both(wide work, int64_t rows, int64_t instances, const struct nest_level *level,
	struct ratio rate)
{
	struct ratio row = level->store.row_cycles;
	wide both = work * rate.den * row.den + (wide)rows * row.num * rate.num;
	return rate.num ? ceil_div(both, (wide)instances * rate.num * row.den) : 0;
}

static wide level_cycles(const struct nest_case *nest, const struct nest_counts *counts, int i)
{
	const struct nest_level *level = &nest->hierarchy.levels[i];
	wide reads = 0, writes = 0, most = counts->compute_cycles;
	for (int t = 0; t < nest->shape.space_count; t++) {
		reads += counts->at[i][t].reads;
		writes += (wide)counts->at[i][t].fills + counts->at[i][t].updates;
	}
	bool shared = level->store.shared_rate.num;
	wide needed[] = {time_of_both(reads, shared ? 0 : counts->rows[i], counts->utilized[i],
				 level, level->store.read_rate),
		time_of(writes, counts->utilized[i], level->store.write_rate),
		time_of_both(reads + writes, counts->rows[i], counts->utilized[i], level,
			level->store.shared_rate),
		ceil_div((wide)counts->rounds[i] * level->store.round_cycles.num,
			level->store.round_cycles.den)};
	for (int k = 0; k < 4; k++)
		most = needed[k] > most ? needed[k] : most;
	return most;
}

static double space_pj(const struct nest_case *nest, const struct nest_counts *counts, int i, int t)
{
	const struct nest_level *level = &nest->hierarchy.levels[i];
	const struct nest_count *count = &counts->at[i][t];
	const int64_t words[NEST_ACTIONS] = {count->reads, count->fills, count->updates};
	int64_t all = level->mesh_x * level->mesh_y / level->store.cluster_size;
	int64_t clusters = counts->utilized[i] < all ? counts->utilized[i] : all;
	double pj = 0;
	for (int a = 0; a < NEST_ACTIONS; a++)
		pj += level->energies.pj[a] *
		      (double)(int64_t)ceil_div(
			      words[a], (wide)counts->utilized[i] * level->store.block_words);
	return pj * (double)clusters;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static const char *differs(const struct nest_case *nest, const struct nest_counts *counts,
	const struct nest_score *score, struct arena *arena)
{
	const struct hierarchy *hierarchy = &nest->hierarchy;
	wide most = 0, network = 0;
	double energy = (double)counts->computes * hierarchy->compute_pj;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		wide cycles = level_cycles(nest, counts, i);
		most = cycles > most ? cycles : most;
		network += level->store.fill_cycles + level->store.drain_cycles;
		if (cycles != score->level_cycles[i])
			return arena_format(arena, "%s takes %" PRId64 " cycles, not %" PRId64 "\n",
				level->name, score->level_cycles[i], (int64_t)cycles);
		for (int t = 0; t < nest->shape.space_count; t++) {
			double pj = space_pj(nest, counts, i, t);
			energy += pj;
			if (!near(score->space_pj[i][t], pj))
				return arena_format(arena, "%s %s takes %.17g pJ, not %.17g\n",
					level->name, nest->shape.spaces[t].name,
					score->space_pj[i][t], pj);
		}
	}
	if (most + network != score->cycles)
		return arena_format(arena, "%" PRId64 " cycles, not %" PRId64 "\n", score->cycles,
			(int64_t)(most + network));
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct nest_level *gate = &hierarchy->levels[level->gated_at];
		double share = (double)(level->mesh_x * level->mesh_y) /
			       (double)(gate->mesh_x * gate->mesh_y);
		bool gated = share > 1;
		energy += level->energies.leak_pj * (double)score->cycles * (gated ? share : 1) *
			  (double)counts->utilized[gated ? level->gated_at : i];
	}
	if (!near(score->energy_pj, energy))
		return arena_format(arena, "%.17g pJ, not %.17g\n", score->energy_pj, energy);
	return NULL;
}

TEST(time_and_energy_are_those_of_the_counts)
{
	long count = draws(2000), priced = 0, waited = 0;
	uint64_t seed = draws_seed(31);
	for (long i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(arena);
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		struct nest_counts counts;
		struct nest_score score = {0};
		nest_case_draw(&random, &nest_case_all, &nest);
		if (i % 2)
			nest_case_grow(&random, i % 4 == 1 ? 4096 : INT64_C(1) << 31, &nest);
		draw_prices(&random, &nest);
		if (i % 3 == 0)
			nest_case_paces(&random, false, &nest);
		const struct nest_model *model =
			nest_model_make(arena, &nest.hierarchy, &nest.shape, COUNTING_EXACT);
		enum nest_verdict verdict = nest_evaluate(model, &nest.mapping, &counts, &score);
		if (verdict == NEST_FITS || verdict == NEST_CAPACITY) {
			const char *why = differs(&nest, &counts, &score, arena);
			if (why)
				fail_msg("seed %" PRIu64 " draw %ld:\n%s%s", seed, i,
					nest_case_text(arena, &nest), why);
			priced++;
			waited += score.cycles > counts.compute_cycles;
		}
		arena_release(arena, mark);
	}
	if (draws_are_many(count)) {
		assert_true(priced > count / 2);
		assert_true(waited > count / 8);
	}
}
