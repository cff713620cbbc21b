#include "base/arena.h"
#include "base/wide.h"
#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/draws.h"
#include "tests/support/nest_case.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/test.h"

/*
 * Random nests, executed.  Whatever the mapping, the result is the einsum's; words that one
 * level sends are the words that the next one gets; no port works faster than it can; more
 * bandwidth or a second buffer costs no time.
 */
static struct nest_sim simulate(
	struct arena *arena, const struct nest_case *nest, struct nest_sim_options options)
{
	options.seed = 5;
	return nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
}

/* The next level outwards from `level` that exchanges the dataspace's words; -1: none. */
static int next_kept(const struct nest_case *nest, int t, int level)
{
	int found = -1;
	for (int i = nest->hierarchy.level_count - 1; i > level; i--) {
		const struct nest_level *above = &nest->hierarchy.levels[i];
		bool kept = above->storage && nest->mapping.residency[t] >> above->row & 1;
		if (kept && (found < 0 || !(above->no_coalesce >> t & 1)))
			found = i;
	}
	return found;
}

static bool any_spatial(const struct nest_case *nest, int inner, int outer)
{
	for (int i = inner + 1; i <= outer; i++) {
		int row = nest->hierarchy.levels[i].block_row;
		for (int d = 0; row >= 0 && d < nest->shape.dimension_count; d++) {
			if (nest->mapping.rows[row].spatial[d] > 1)
				return true;
		}
	}
	return false;
}

/* Words of a dataspace between a level (-1: the multipliers) and its parent. */
static const char *check_words(const struct nest_case *nest, const struct nest_counts *counts,
	int t, int child, int parent)
{
	const struct nest_count *up = &counts->at[parent][t];
	bool written = nest->shape.spaces[t].written;
	bool alone = !any_spatial(nest, child, parent);
	bool reads_first = nest->hierarchy.levels[parent].rmw_first_update >> t & 1;
	if (written && child < 0)
		return up->updates > counts->computes || up->updates < counts->compute_cycles ||
				       (alone && up->updates != counts->computes)
			       ? "as many updates as products, but for those that add up on the way"
			       : NULL;
	if (written)
		return counts->at[child][t].fills > up->reads - up->drains ||
				       (!reads_first &&
					       counts->at[child][t].fills < up->reads - up->drains)
			       ? "every sum that leaves the parent comes back to a child"
			       : NULL;
	int64_t sent = up->reads - up->links, got = counts->computes;
	if (child >= 0)
		got = counts->at[child][t].fills - counts->at[child][t].links;
	return sent > got || (alone && sent != got)
		       ? "as many words come as are sent, but for multicast"
		       : NULL;
}

static const char *check_counts(const struct nest_case *nest, const struct nest_counts *counts)
{
	int64_t computes;
	if (!shape_computes(&nest->shape, &computes) || counts->computes != computes)
		return "one product for every point";
	if (counts->computes > counts->compute_cycles * counts->utilized_computes)
		return "no multiplier does two products in a cycle";
	for (int t = 0; t < nest->shape.space_count; t++) {
		for (int child = -1, parent; (parent = next_kept(nest, t, child)) >= 0;
			child = parent) {
			const char *why = check_words(nest, counts, t, child, parent);
			if (why)
				return why;
		}
	}
	return NULL;
}

static bool too_fast(int64_t halves, struct ratio rate, int64_t cycles, int64_t instances)
{
	return rate.num && (wide)halves * rate.den > (wide)cycles * rate.num * instances * 2;
}

static const char *check_times(const struct nest_case *nest, const struct nest_sim *sim)
{
	int64_t stalls = 0;
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		const struct nest_level *level = &nest->hierarchy.levels[i];
		int64_t reads = 0, writes = 0, utilized = sim->counts.utilized[i];
		for (int t = 0; t < nest->shape.space_count; t++) {
			const struct nest_count *count = &sim->counts.at[i][t];
			int64_t halves = (int64_t)(2 * level->rate_scale[t]);
			reads += count->reads * halves;
			writes += (count->fills + count->updates) * halves;
		}
		stalls += sim->stall_by_level[i];
		if (too_fast(reads, level->store.read_rate, sim->cycles, utilized) ||
			too_fast(writes, level->store.write_rate, sim->cycles, utilized) ||
			too_fast(reads + writes, level->store.shared_rate, sim->cycles, utilized))
			return "no port is faster than its rate";
	}
	if (sim->fill_cycles < 0 || sim->drain_cycles < 0 || sim->stall_cycles < 0 ||
		stalls != sim->stall_cycles ||
		sim->cycles != sim->fill_cycles + sim->counts.compute_cycles + sim->stall_cycles +
				       sim->drain_cycles)
		return "the parts of the time make up the whole";
	return NULL;
}

/* The same machine with other ports or buffers. */
struct machine {
	int64_t faster; /* times; 0: unlimited */
	double buffers; /* 0: as they are */
};

static int64_t time_on(struct arena *arena, const struct nest_case *nest, struct machine machine)
{
	struct nest_case other = *nest;
	for (int i = 0; i < other.hierarchy.level_count; i++) {
		struct nest_level *level = &other.hierarchy.levels[i];
		level->store.read_rate.num *= machine.faster;
		level->store.write_rate.num *= machine.faster;
		level->store.shared_rate.num *= machine.faster;
		if (!machine.faster) {
			level->store.fill_cycles = level->store.drain_cycles = 0;
			level->store.round_cycles.num = level->store.row_cycles.num = 0;
		}
		if (machine.buffers > 0)
			level->store.multiple_buffering = machine.buffers;
	}
	return simulate(arena, &other, (struct nest_sim_options){.timing = true}).cycles;
}

/* Ports: the model pays every network's latency, the machine those that words pass. */
static bool below_model(
	struct arena *arena, const struct nest_case *nest, const struct nest_sim *sim)
{
	struct hierarchy hierarchy = nest->hierarchy;
	struct nest_score score;
	for (int i = 0; i < hierarchy.level_count; i++)
		hierarchy.levels[i].store.fill_cycles = hierarchy.levels[i].store.drain_cycles = 0;
	nest_derive(nest_model_make(arena, &hierarchy, &nest->shape, COUNTING_EXACT), &sim->counts,
		&score);
	return sim->cycles < score.cycles;
}

/* The law that a nest breaks; NULL: none. */
static const char *broken_law(struct arena *arena, const struct nest_case *nest)
{
	struct nest_sim sim =
		simulate(arena, nest, (struct nest_sim_options){.data = true, .timing = true});
	if (!sim.finished || (!sim.right && !sim.wrong))
		return "it runs";
	if (!sim.right)
		return sim.wrong;
	struct nest_sim counted = simulate(arena, nest, (struct nest_sim_options){0});
	if (!nest_counts_equal(&nest->hierarchy, &nest->shape, &sim.counts, &counted.counts))
		return "numbers make no difference to counts";
	const char *why = check_counts(nest, &sim.counts);
	if (!why)
		why = check_times(nest, &sim);
	if (why)
		return why;
	if (below_model(arena, nest, &sim))
		return "the model's time is the least";
	if (time_on(arena, nest, (struct machine){0}) != sim.counts.compute_cycles)
		return "unlimited ports cost no time";
	if (time_on(arena, nest, (struct machine){.faster = 2}) > sim.cycles)
		return "faster ports cost no time";
	if (time_on(arena, nest, (struct machine){.faster = 1, .buffers = 2}) >
		time_on(arena, nest, (struct machine){.faster = 1, .buffers = 1}))
		return "second buffers cost no time";
	return NULL;
}

static bool breaks_a_law(const struct nest_case *nest, void *user)
{
	struct arena *arena = arena_open();
	bool broken = nest_case_fits(nest) && broken_law(arena, nest);
	arena_close(arena);
	return broken;
}

static struct ratio draw_rate(struct random *random)
{
	struct ratio rate = {0, 1};
	if (random_below(random, 2))
		ratio_make(1 + (int64_t)random_below(random, 6),
			1 + (int64_t)random_below(random, 3), &rate);
	return rate;
}

static void draw_ports(struct random *random, struct hierarchy *hierarchy)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		level->store.read_rate = draw_rate(random);
		level->store.write_rate = draw_rate(random);
		level->store.shared_rate = draw_rate(random);
		level->store.multiple_buffering = 1 + (double)random_below(random, 2);
		level->store.fill_cycles = (int64_t)random_below(random, 3);
		level->store.drain_cycles = (int64_t)random_below(random, 3);
		for (int t = 0; t < SHAPE_SPACES_MOST; t++)
			level->rate_scale[t] = random_below(random, 4) ? 1 : 0.5;
	}
}

BARE_TEST(random_nests_keep_the_laws)
{
	uint64_t seed = draws_seed(1);
	long count = draws(400);
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, &nest_case_all, &nest);
		draw_ports(&random, &nest.hierarchy);
		if (i % 2)
			nest_case_paces(&random, false, &nest);
		if (!breaks_a_law(&nest, NULL))
			continue;
		nest_case_shrink(&nest, breaks_a_law, NULL);
		struct arena *arena = arena_open();
		fail_msg("draw %ld: %s\n%s", i, broken_law(arena, &nest),
			nest_case_text(arena, &nest));
	}
}

/* A fault of any kind, anywhere: found, or without effect, as where a sum is 0. */
BARE_TEST(faults_are_found)
{
	uint64_t seed = draws_seed(2);
	struct nest_case_options options = nest_case_all;
	options.systolic = true;
	long count = draws(400), happened[NEST_SIM_FAULTS] = {0}, found[NEST_SIM_FAULTS] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		nest_case_draw(&random, &options, &nest);
		int fault = 1 + (int)random_below(&random, NEST_SIM_FAULTS - 1);
		struct nest_sim sim = simulate(arena, &nest,
			(struct nest_sim_options){.data = true,
				.fault = fault,
				.fault_at = random_below(&random, 8)});
		assert_true(sim.finished);
		happened[fault] += sim.faulty;
		found[fault] += !sim.right;
		assert_true(sim.faulty || sim.right);
		arena_close(arena);
	}
	for (int fault = 1; fault < NEST_SIM_FAULTS; fault++) {
		print_message("fault %d: found %ld of %ld\n", fault, found[fault], happened[fault]);
		assert_true(found[fault] * 2 > happened[fault] || !draws_are_many(count));
	}
}

/* Makes one thing about a nest wrong, perhaps. */
static void spoil(struct random *random, struct nest_case *nest)
{
	struct hierarchy *hierarchy = &nest->hierarchy;
	int i = (int)random_below(random, (uint64_t)hierarchy->level_count);
	int d = (int)random_below(random, (uint64_t)nest->shape.dimension_count);
	int t = (int)random_below(random, (uint64_t)nest->shape.space_count);
	struct nest_level *level = &hierarchy->levels[i];
	switch (random_below(random, 7)) {
	case 0:
		nest_case_temporal(nest, i)->temporal[d]++;
		break;
	case 1:
		nest->shape.dimensions[d].extent++;
		break;
	case 2:
		nest->mapping.residency[t] = 0;
		break;
	case 3:
		level->size = 1 + (int64_t)random_below(random, 12);
		break;
	case 4:
		level->size = 20;
		level->store.least_utilization = 0.5;
		break;
	case 5:
		level->least_usage = 0.75;
		break;
	default:
		level->fanout.x = level->fanout.y = 1;
	}
}

BARE_TEST(verdicts_are_the_model_s)
{
	uint64_t seed = draws_seed(3);
	long count = draws(1000), met[NEST_UNCOUNTABLE + 1] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct nest_case nest;
		struct nest_counts counts;
		struct nest_score score;
		nest_case_draw(&random, &nest_case_all, &nest);
		for (uint64_t k = random_below(&random, 3); k > 0; k--)
			spoil(&random, &nest);
		enum nest_verdict verdict = nest_evaluate(
			nest_model_make(arena, &nest.hierarchy, &nest.shape, COUNTING_EXACT),
			&nest.mapping, &counts, &score);
		struct nest_sim sim = simulate(arena, &nest, (struct nest_sim_options){0});
		/* there is more that no closed form counts */
		if (sim.verdict != verdict && verdict != NEST_UNCOUNTABLE)
			fail_msg("draw %ld: verdict %d, the model's is %d\n%s", i, sim.verdict,
				verdict, nest_case_text(arena, &nest));
		met[verdict]++;
		arena_close(arena);
	}
	for (int v = NEST_FITS; v <= NEST_HOMELESS; v++)
		assert_true(met[v] || !draws_are_many(count));
}
