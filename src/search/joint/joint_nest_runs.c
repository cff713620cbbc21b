#include "search/joint/joint_nests.h"
#include "search/joint/options.h"

#include <stdlib.h>

/* Loops that a run shares, while numbers of tiles are tried. */
struct trying_nests {
	struct joint_making *making;
	struct tile_run run;
	/* Numbers of tiles that are still wanted: from the fewest on; from the fewest on that leave room for
	 * all that the run uses from outside. */
	int few, roomy;
	bool last; /* the most tiles */
};

/* Loops of the first op that can be shared, extents that can be cut. */
static bool may_share(const struct op *op, int l)
{
	return !op->loops[l].reduction && op->loops[l].extent > 1;
}

/* True if the parts leave room for all that may lie in the scratchpad beside them. */
static bool is_roomy(const struct nest_range *range)
{
	int64_t room = range->making->question->planning->lx_capacity - range->span;
	for (int i = 0; i < range->outer_count; i++)
		room -= range->outer[i].bytes;
	return room >= 0;
}

static void try_tiles(struct trying_nests *try)
{
	struct joint_making *making = try->making;
	struct nest_range range;
	struct arena_mark mark = arena_mark(making->scratch);
	if (nest_range_open(making, &try->run, try->run.first, try->run.end, &range)) {
		bool roomy = is_roomy(&range);
		if (try->last || try->few > 0 || (roomy && try->roomy > 0))
			nest_range_options(&range);
		try->few--;
		try->roomy -= roomy;
	}
	arena_release(making->scratch, mark);
}

/* Tiles of loop k and the ones inside it whose product is `all`. */
static void share_out(struct trying_nests *try, const int64_t *extents, int k, int64_t all)
{
	bool last = k + 1 == try->run.loop_count;
	for (int64_t tiles = last ? all : 2; tiles <= all; tiles++) {
		if (tiles < 2 || all % tiles || extents[k] % tiles)
			continue;
		try->run.loops[k].tiles = tiles;
		if (last)
			try_tiles(try);
		else
			share_out(try, extents, k + 1, all / tiles);
	}
}

/* The fewest iterations first, then the fewest that leave room, then the most. */
static void try_loops(struct trying_nests *try, bool roomy)
{
	const struct op *op = &try->making->question->workload->ops[try->run.first];
	bool brief = !try->making->question->aim.nest_ticks;
	int64_t extents[RUN_LOOPS_MOST], most = 1;
	for (int k = 0; k < try->run.loop_count; k++) {
		extents[k] = op->loops[run_loop(op, &try->run, k)].extent;
		most *= extents[k];
	}
	try->few = (brief ? NEST_BRIEF_TILES : NEST_RUN_TILES) - 1;
	try->roomy = roomy ? NEST_ROOMY_TILES : 0;
	try->last = false;
	for (int64_t all = 2; all < most && (try->few > 0 || try->roomy > 0); all++)
		if (most % all == 0 && !stopper_stops(&try->making->question->planning->stopper))
			share_out(try, extents, 0, all);
	try->last = true;
	share_out(try, extents, 0, most);
}

/* True if the steps can share the loops, cut into single elements, or left whole: then what is inside fits
 * without a run, too.  *roomy: there is room for all that they use from outside. */
static bool can_share(const struct trying_nests *try, bool whole, bool *roomy)
{
	struct nest_range range;
	struct tile_run run = try->run;
	const struct op *op = &try->making->question->workload->ops[run.first];
	struct arena_mark mark = arena_mark(try->making->scratch);
	for (int k = 0; k < run.loop_count; k++)
		run.loops[k].tiles = whole ? 1 : op->loops[run_loop(op, &run, k)].extent;
	bool can = nest_range_open(try->making, &run, run.first, run.end, &range);
	*roomy = can && is_roomy(&range);
	arena_release(try->making->scratch, mark);
	return can;
}

void joint_nests_runs(struct joint_making *making, int first)
{
	const struct workload *workload = making->question->workload;
	const struct op *op = &workload->ops[first];
	bool brief = !making->question->aim.nest_ticks;
	bool two = joint_is_free(making, KIND_FUSED_LOOPS) && !brief;
	struct trying_nests try = {.making = making, .run = {.first = first}};
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
				bool roomy, whole;
				if (can_share(&try, false, &roomy) &&
					!(brief && can_share(&try, true, &whole)))
					try_loops(&try, roomy);
			}
	}
}
