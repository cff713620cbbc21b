#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Mechanisms that cost measured machines time (specs/README.md, "Measured machines"): the model
 * adds it up in closed form, the simulator as instructions need it.  Each alone on a machine that
 * is ideal but for that: the two must say the same cycles.  Then all at once on random plans: no
 * execution is below the model's bound.
 */
/* A machine in which nothing takes time but what is set; then the bus is one of reads and writes. */
static struct arch *ideal_arch(struct arena *arena, int cores)
{
	const struct ratio unlimited = {0, 1};
	struct arch *arch = arena_copy(arena, spyre_arch(arena, cores), sizeof *arch);
	struct level *hbm = &arch->levels[arch->hbm], *lx = &arch->levels[arch->lx];
	hbm->read_rate = hbm->write_rate = unlimited;
	lx->read_rate = lx->write_rate = lx->fill_rate = unlimited;
	arch->levels[arch->compute].mac_rate = arch->levels[arch->compute].vector_rate = unlimited;
	arch->bundle_cycles = arch->core_cycles = 0;
	arch->reduce_ring.rate = arch->data_ring.rate = unlimited;
	for (int i = 0; i <= RING_PARTS_MOST - RING_PARTS_LEAST; i++)
		arch->data_ring.run_cycles[i] = unlimited;
	return arch;
}

static struct executed run_one(const struct arch *arch, int cores, uint64_t seed, long i,
	const struct random_options *options, const char *name, struct arena *arena)
{
	struct random random = random_open(seed, (uint64_t)i);
	const struct plan *plan = random_plan(&random, options, arch, cores, arena);
	struct executed executed = execute_plan(plan, seed + (uint64_t)i, true, arena);
	if (executed.program && executed.why)
		fail_msg("%s, draw %ld of seed %" PRIu64 ": %s", name, i, seed, executed.why);
	return executed;
}

BARE_TEST(each_mechanism_takes_what_the_model_says)
{
	static const struct random_options options = {
		.elements_most = 20000, .legal = true, .opaque = false, .restickifies = true};
	uint64_t seed = draws_seed(36);
	long count = draws(150);
	for (int m = 0; m < mechanism_count; m++) {
		const struct mechanism *mechanism = &mechanisms[m];
		long run = 0, equal = 0, busy = 0;
		for (long i = 0; i < count; i++) {
			struct arena *arena = arena_open();
			struct arch *arch = ideal_arch(arena, 8);
			mechanism->set(arch);
			struct executed executed =
				run_one(arch, 8, seed, i, &options, mechanism->name, arena);
			if (executed.program) {
				int64_t model = executed.cost.score.cycles;
				bool same = executed.result.cycles == model;
				run++;
				equal += same;
				busy += model > 0;
				if (!same && mechanism->equal == 100)
					fail_msg("%s, draw %ld of seed %" PRIu64 ": %" PRId64
						 " cycles executed, %" PRId64 " in the model",
						mechanism->name, i, seed, executed.result.cycles,
						model);
			}
			arena_close(arena);
		}
		print_message("%s: %ld plans, %ld with equal cycles, %ld that it slows\n",
			mechanism->name, run, equal, busy);
		assert_true(run >= count / 2);
		assert_true(!draws_are_many(count) || 100 * equal >= mechanism->equal * run);
		assert_true(busy >= run / (mechanism->rare ? 50 : 10));
	}
}

BARE_TEST(all_mechanisms_keep_the_bound)
{
	static const struct random_options options = {
		.elements_most = 20000, .legal = true, .opaque = true, .restickifies = true};
	uint64_t seed = draws_seed(37);
	long count = draws(300);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		run_one(mechanisms_arch(arena, 8), 8, seed, i, &options, "all", arena);
		arena_close(arena);
	}
}

/* The same plan on a machine of which the simulator does not know the mechanism, as if it were not there. */
BARE_TEST(a_mechanism_that_one_of_the_two_lacks_is_noticed)
{
	static const struct random_options options = {
		.elements_most = 20000, .legal = true, .opaque = false, .restickifies = true};
	uint64_t seed = draws_seed(38);
	long count = draws(60);
	for (int m = 0; m < mechanism_count; m++) {
		long noticed = 0;
		for (long i = 0; i < count; i++) {
			struct arena *arena = arena_open();
			struct arch *arch = ideal_arch(arena, 8);
			struct arch *without = arena_copy(arena, arch, sizeof *arch);
			mechanisms[m].set(arch);
			struct executed executed =
				run_one(arch, 8, seed, i, &options, mechanisms[m].name, arena);
			if (executed.program) {
				struct program program = *executed.program;
				program.arch = without;
				struct sim_options how = {.mode = SIM_COUNT};
				struct sim_result result = sim_run(&program, &how, arena);
				noticed += result.cycles < executed.cost.score.cycles;
			}
			arena_close(arena);
		}
		print_message("%s: %ld of %ld plans tell\n", mechanisms[m].name, noticed, count);
		assert_true(noticed > 0 || (mechanisms[m].rare && !draws_are_many(count)));
	}
}
