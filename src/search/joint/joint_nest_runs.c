#include "search/joint/joint_nests.h"
#include "search/joint/options.h"

#include <stdlib.h>

/* Loops that a run shares, while numbers of tiles are tried. */
struct nest_run {
	struct joint_making *making;
	struct tile_run run;
	int most;  /* numbers of tiles */
	int taken; /* of them */
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
	for (int64_t tiles = last ? all : 2; tiles <= all && try->taken < try->most; tiles++) {
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
	for (int64_t all = 2; all < most && try->taken + 1 < try->most; all++)
		if (most % all == 0 && !stopper_stops(&try->making->question->planning->stopper))
			share_out(try, extents, 0, all);
	share_out(try, extents, 0, most);
}

/* Whether the steps can share the loops, cut into single elements, or left whole: then what is inside fits
 * without a run, too. */
static bool can_share(const struct nest_run *try, bool whole)
{
	struct nest_range range;
	struct tile_run run = try->run;
	const struct op *op = &try->making->question->workload->ops[run.first];
	struct arena_mark mark = arena_mark(try->making->scratch);
	for (int k = 0; k < run.loop_count; k++)
		run.loops[k].tiles = whole ? 1 : op->loops[run_loop(op, &run, k)].extent;
	bool can = nest_range_open(try->making, &run, run.first, run.end, &range);
	arena_release(try->making->scratch, mark);
	return can;
}

void joint_nests_runs(struct joint_making *making, int first)
{
	const struct workload *workload = making->question->workload;
	const struct op *op = &workload->ops[first];
	bool brief = !making->question->aim.nest_ticks;
	bool two = joint_is_free(making, KIND_FUSED_LOOPS) && !brief;
	struct nest_run try = {.making = making,
		.run = {.first = first},
		.most = brief ? NEST_BRIEF_TILES : NEST_RUN_TILES};
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
				if (can_share(&try, false) && !(brief && can_share(&try, true)))
					try_loops(&try);
			}
	}
}
