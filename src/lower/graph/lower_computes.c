#include "lower/graph/lower_step.h"

/* The last transfer that must be there before a core's compute; -1. */
static int64_t find_arrival(const struct step_state *step, int core)
{
	int64_t arrived = -1;
	for (int i = 0; i < step->op->read_count; i++) {
		const struct supply *supply = &step->supplies[i];
		const struct held *held = &supply->held[supply->classes.of[core]];
		arrived = number_max(arrived, held->arrived);
		if (supply->clone)
			arrived = number_max(
				arrived, clone_arrival(supply->clone, &held->box->region, core));
	}
	return arrived;
}

static void need_all(struct lowering *lowering, int core, bool first_pass, bool finish)
{
	const struct output *output = &lowering->step.output;
	int k = output->classes.of[core];
	queue_need(&lowering->queues, core, find_arrival(&lowering->step, core));
	if (output->ring && first_pass)
		queue_need(&lowering->queues, core,
			output->combined[k][turn(&output->accumulators, output->finished)]);
	if (finish && !output->resident)
		queue_need(&lowering->queues, core,
			output->sent[k][turn(&output->slots, output->finished)]);
}

/* Most tiles of a step have equal counts, which they share. */
static void set_loops(
	struct step_state *step, int core, struct arena *arena, struct compute *compute)
{
	int loops = step->tiling.loop_count;
	int64_t *first = arena_array(arena, int64_t, loops), count[OP_LOOPS_MOST];
	for (int l = 0; l < loops; l++) {
		first[l] = tile_first(&step->tiling, &step->tile, core, l);
		count[l] = tile_count(&step->tiling, &step->tile, core, l);
	}
	size_t size = (size_t)loops * sizeof *count;
	if (!step->counts || memcmp(step->counts, count, size) != 0)
		step->counts = arena_copy(arena, count, size);
	compute->first = first;
	compute->count = step->counts;
}

static const struct compute *make_compute(
	struct lowering *lowering, int core, bool first_pass, bool last_pass)
{
	struct step_state *step = &lowering->step;
	const struct output *output = &step->output;
	struct compute *compute = arena_alloc(lowering->queues.arena,
		sizeof *compute + (size_t)step->op->read_count * sizeof compute->reads[0]);
	compute->op = (int)(step->op - lowering->plan->workload->ops);
	set_loops(step, core, lowering->queues.arena, compute);
	compute->read_count = step->op->read_count;
	for (int i = 0; i < step->op->read_count; i++)
		compute->reads[i] = step->supplies[i].held[step->supplies[i].classes.of[core]].box;
	compute->write = output->box[output->classes.of[core]];
	compute->finish = last_pass && !output->ring;
	compute->accumulator_read = !first_pass;
	compute->accumulator_write = !compute->finish || step->adds_up;
	compute->nest = step->nest;
	compute->accumulator = output->accumulator[output->classes.of[core]];
	return compute;
}

void computes_add(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	int64_t pass = step->tile.number % step->tiling.passes;
	bool first_pass = pass == 0, last_pass = pass == step->tiling.passes - 1;
	int64_t first = -1;
	for (int c = 0; c < step->tiling.cores; c++) {
		struct instruction *instruction;
		queue_open(&lowering->queues, ENGINE_COMPUTE, UINT64_C(1) << c);
		need_all(lowering, c, first_pass, last_pass && !step->output.ring);
		int64_t number = queue_close(
			&lowering->queues, step->number, tile_in_step(step), &instruction);
		instruction->compute = make_compute(lowering, c, first_pass, last_pass);
		if (c == 0)
			first = number;
	}
	step->computes = first;
}
