#include "lower/graph/lower_step.h"

#include "base/arena.h"
#include "model/graph/run.h"

/* The loops between two levels of a nest, outermost first. */
struct loops_between {
	int count;
	struct {
		int level, loop;
	} at[ARCH_LEVELS_MOST * OP_LOOPS_MOST];
};

static bool keeps(const struct inner_nest *nest, int level, int space)
{
	const struct nest_level *at = &nest->hierarchy->levels[level];
	return at->storage && nest->mapping.residency[space] >> at->row & 1 &&
	       !(at->no_coalesce >> space & 1);
}

/* Those that run outside the tiles of a level, or of the multipliers: -1. */
static void list_loops(const struct inner_nest *nest, int level, struct loops_between *loops)
{
	loops->count = 0;
	for (int i = nest->hierarchy->level_count - 1; i > level; i--) {
		const struct mapping_row *row = &nest->mapping.rows[nest->hierarchy->levels[i].row];
		for (int k = nest->shape->dimension_count - 1; k >= 0; k--) {
			int l = row->temporal_order[k];
			if (row->temporal[l] > 1) {
				loops->at[loops->count].level = i;
				loops->at[loops->count++].loop = l;
			}
		}
	}
}

/* Whether instances that share sums send each its own: no_reuse (spatial) between two levels. */
static bool sends_apart(const struct inner_nest *nest, int level, int space)
{
	for (int i = level + 1; i < nest->hierarchy->level_count; i++) {
		const struct nest_level *at = &nest->hierarchy->levels[i];
		for (int l = 0; l < nest->shape->dimension_count; l++)
			if (at->block_row >= 0 && at->no_spatial_reuse >> space & 1 &&
				!(nest->shape->spaces[space].relevant >> l & 1) &&
				nest->mapping.rows[at->block_row].spatial[l] > 1)
				return true;
	}
	return false;
}

/*
 * Whether a word of the output comes to the outermost level more often than once.  A sum
 * leaves the level below that keeps it when the innermost loop that moves its tile goes on, or
 * at every step where no tile is kept; so it comes again if a loop that does not
 * move the tile runs around that.
 */
static bool adds_up(const struct inner_nest *nest, int space)
{
	uint32_t relevant = nest->shape->spaces[space].relevant;
	int level = nest->hierarchy->level_count - 2;
	struct loops_between loops;
	while (level >= 0 && !keeps(nest, level, space))
		level--;
	list_loops(nest, level, &loops);
	bool stays = level >= 0 && !(nest->hierarchy->levels[level].no_temporal_reuse >> space & 1);
	while (stays && loops.count > 0 && !(relevant >> loops.at[loops.count - 1].loop & 1))
		loops.count--;
	for (int k = 0; k < loops.count; k++)
		if (!(relevant >> loops.at[k].loop & 1))
			return true;
	return sends_apart(nest, level, space);
}

bool nest_open(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	struct inner_question question =
		inner_nest_question(lowering->queues.arena, lowering->plan, step->number);
	question.resumes =
		run_resumes(step->op, plan_run(lowering->plan, step->number), step->iteration);
	const char *why;
	struct inner_nest nest = inner_nest_make(&question, lowering->queues.arena, &why);
	step->nest = NULL;
	step->adds_up = false;
	if (why)
		return refuse(lowering, "op '%s': %s", step->op->name, why);
	if (!nest.hierarchy)
		return true;
	step->nest = arena_copy(lowering->queues.arena, &nest, sizeof nest);
	step->adds_up = adds_up(&nest, step->op->read_count);
	return true;
}
