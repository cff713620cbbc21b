#include "search/joint/joint_nests.h"
#include "search/joint/options.h"

#include <stdlib.h>

/* Loops that a run shares, while numbers of tiles are tried. */
struct nest_run {
	struct joint_making *making;
	struct tile_run run;
	int taken;
};

/* Loops of the first op that can be shared, extents that can be cut. */
static bool may_share(const struct op *op, int l)
{
	return !op->loops[l].reduction && op->loops[l].extent > 1;
}

static void try_tiles(struct nest_run *try)
{
	struct joint_making *making = try->making;
	struct nest_range range;
	struct arena_mark mark = arena_mark(making->scratch);
	if (nest_range_open(making, &try->run, try->run.first, try->run.end, &range)) {
		nest_range_options(&range);
		try->taken++;
	}
	arena_release(making->scratch, mark);
}

/* Tiles of loop k and the ones inside it whose product is `all`. */
static void share_out(struct nest_run *try, const int64_t *extents, int k, int64_t all)
{
	bool last = k + 1 == try->run.loop_count;
	for (int64_t tiles = last ? all : 2; tiles <= all && try->taken < NEST_RUN_TILES; tiles++) {
		if (tiles < 2 || all % tiles || extents[k] % tiles)
			continue;
		try->run.loops[k].tiles = tiles;
		if (last)
			try_tiles(try);
		else
			share_out(try, extents, k + 1, all / tiles);
	}
}

/* The fewest iterations first, then the most. */
static void try_loops(struct nest_run *try)
{
	const struct op *op = &try->making->question->workload->ops[try->run.first];
	int64_t extents[RUN_LOOPS_MOST], most = 1;
	for (int k = 0; k < try->run.loop_count; k++) {
		extents[k] = op->loops[run_loop(op, &try->run, k)].extent;
		most *= extents[k];
	}
	try->taken = 0;
	for (int64_t all = 2; all < most && try->taken + 1 < NEST_RUN_TILES; all++)
		if (most % all == 0 && !stopper_stops(&try->making->question->planning->stopper))
			share_out(try, extents, 0, all);
	share_out(try, extents, 0, most);
}

/* Whether steps [first, end) can share the loops at all, cut into single elements. */
static bool can_share(const struct nest_run *try)
{
	struct nest_range range;
	struct tile_run run = try->run;
	const struct op *op = &try->making->question->workload->ops[run.first];
	struct arena_mark mark = arena_mark(try->making->scratch);
	for (int k = 0; k < run.loop_count; k++)
		run.loops[k].tiles = op->loops[run_loop(op, &run, k)].extent;
	bool can = nest_range_open(try->making, &run, run.first, run.end, &range);
	arena_release(try->making->scratch, mark);
	return can;
}

void joint_nests_runs(struct joint_making *making, int first)
{
	const struct workload *workload = making->question->workload;
	const struct op *op = &workload->ops[first];
	bool two = joint_is_free(making, KIND_FUSED_LOOPS);
	struct nest_run try = {.making = making, .run = {.first = first}};
	for (int end = first + 2; end <= first + NEST_RUN_OPS && end <= (int)workload->op_count;
		end++) {
		if (!op_is_tiled(&workload->ops[end - 1]))
			return;
		try.run.end = end;
		for (int a = 0; a < op->loop_count; a++)
			for (int b = a; b < (two ? op->loop_count : a + 1); b++) {
				if (!may_share(op, a) || !may_share(op, b))
					continue;
				try.run.loop_count = 1 + (b > a);
				try.run.loops[0].name = op->loops[a].name;
				try.run.loops[1].name = op->loops[b].name;
				if (can_share(&try))
					try_loops(&try);
			}
	}
}
