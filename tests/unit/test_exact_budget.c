#include "base/arena.h"
#include "tests/support/gemm_request.h"

#include "tests/test.h"

/*
 * The budget of `exact`, in counted work.
 *
 * Its work before the first mapping counts into its budget: on a machine with many levels one
 * choice of spatial bounds has hundreds of thousands of residencies.
 */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: chip, attributes: {datawidth: 16, global_cycle_seconds: 1e-9}}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {width: 64}}\n"
	"  - !Component {name: L5, class: SRAM, attributes: {depth: 65536, width: 64}}\n"
	"  - !Component {name: L4, class: SRAM, attributes: {depth: 16384, width: 64}}\n"
	"  - !Component {name: L3, class: SRAM, attributes: {depth: 4096, width: 64}}\n"
	"  - !Component {name: L2, class: SRAM, attributes: {depth: 1024, width: 64}}\n"
	"  - !Component {name: RF, class: regfile, attributes: {depth: 48}}\n"
	"  - !Component {name: MAC, class: intmac}\n";

static bool count_asked(void *asked)
{
	++*(long *)asked;
	return false;
}

/* Returns the number of polls for a stop, a measure of the work. */
static long work_for(uint64_t budget)
{
	static const int64_t extents[] = {4, 4, 4};
	struct arena *arena = arena_open();
	long asked = 0;
	struct nest_search search = gemm_request(arena, NULL, 0, machine, extents, false);
	search.wishes.budget = budget;
	search.wishes.asker.stopper.listener = &asked;
	search.wishes.asker.stopper.stop = count_asked;
	struct explored found = nest_explore(&search, arena);
	assert_false(found.complete);
	arena_close(arena);
	return asked;
}

TEST(listing_residencies_counts_into_the_budget)
{
	long little = work_for(4), more = work_for(100);
	assert_true(little > 0 && 4 * little < more);
}

/* Four buffers around arrays of 128 x 128 multipliers that hold weights; FLAGS are of the fan-out of four. */
#define FLAGGED(flags)                                                                                          \
	"architecture:\n"                                                                                       \
	"  version: 0.4\n"                                                                                      \
	"  nodes:\n"                                                                                            \
	"  - !Container {name: chip, attributes: {datawidth: 8, global_cycle_seconds: 1e-9}}\n"                 \
	"  - !Component {name: DRAM, class: DRAM, attributes: {width: 8, vector_access_energy: "                \
	"56pJ}}\n"                                                                                              \
	"  - !Component {name: shared, class: SRAM, attributes: {depth: 134217728, width: 8, "                  \
	"vector_access_energy: 15pJ}}\n"                                                                        \
	"  - !Container\n"                                                                                      \
	"    name: core\n"                                                                                      \
	"    spatial: {meshX: 4}\n" flags                                                                       \
	"  - !Component {name: local, class: SRAM, attributes: {depth: 4194304, width: 8, "                     \
	"vector_access_energy: 2pJ}, constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}}\n" \
	"  - !Container {name: row, spatial: {meshX: 128}}\n"                                                   \
	"  - !Container {name: column, spatial: {meshY: 128}}\n"                                                \
	"  - !Component {name: RF, class: regfile, attributes: {depth: 1}, constraints: "                       \
	"{dataspace: {keep_only: [Weights]}}}\n"                                                                \
	"  - !Component {name: MAC, class: intmac}\n"

static uint64_t work_of_proof(const char *flagged)
{
	static const int64_t extents[] = {64, 64, 64};
	struct arena *arena = arena_open();
	struct nest_search search = gemm_request(arena, NULL, 0, flagged, extents, false);
	search.wishes.budget = 200000;
	struct explored found = nest_explore(&search, arena);
	uint64_t work = found.complete ? found.effort.ticks : UINT64_MAX;
	arena_close(arena);
	return work;
}

/* A flag that only adds words leaves the bounds of the other words as they are. */
TEST(words_read_by_each_child_alone_do_not_blind_the_proof)
{
	uint64_t free = work_of_proof(FLAGGED(""));
	uint64_t flagged = work_of_proof(
		FLAGGED("    constraints: {spatial: {no_reuse: [Inputs, Weights, Outputs]}}\n"));
	assert_in_range(free, 1, 200000);
	assert_in_range(flagged, 1, 200000);
}
