#include "model/graph/run.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

/* What can be said without looking at ops. */
static const char *check_shape(struct arena *arena, const struct plan *plan, int r)
{
	const struct tile_run *run = &plan->runs[r];
	int64_t iterations = 1;
	if (run->first < 0 || run->first >= run->end || run->end > plan->step_count)
		return "a run of steps has no steps";
	if (r > 0 && run->first < plan->runs[r - 1].end)
		return "two runs have steps in common, or follow each other in the wrong order";
	if (run->loop_count < 1 || run->loop_count > RUN_LOOPS_MOST)
		return arena_format(arena, "the steps of a run share 1 to %d loops, not %d",
			RUN_LOOPS_MOST, run->loop_count);
	for (int k = 0; k < run->loop_count; k++) {
		for (int other = 0; other < k; other++)
			if (text_equal(run->loops[k].name, run->loops[other].name))
				return arena_format(
					arena, "the run has loop '%s' twice", run->loops[k].name);
		if (run->loops[k].tiles < 1 ||
			!number_mul(iterations, run->loops[k].tiles, &iterations))
			return "the run has no iterations, or more than can be counted";
	}
	return NULL;
}

/* Loop k of the run is a loop of the op that can be cut so, and as in the op before. */
static const char *check_loop(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op, int k)
{
	const struct workload *workload = plan->workload;
	const struct run_loop *shared = &run->loops[k];
	const struct op *first = &workload->ops[run->first];
	int l = run_loop(op, run, k), other = run_loop(first, run, k);
	if (l < 0)
		return arena_format(
			arena, "it has no loop '%s', which its run shares", shared->name);
	if (op->loops[l].reduction && arch_moves_boxes(plan->arch))
		return arena_format(arena,
			"it reduces over '%s', which its run shares: its output would not be whole "
			"before the last iteration, and machines whose tiles move in boxes keep no "
			"sums so long",
			shared->name);
	int64_t units = op_units(workload, op, l);
	if (units % shared->tiles)
		return arena_format(arena,
			"the %lld tiles of '%s' that its run shares do not divide its %lld units",
			(long long)shared->tiles, shared->name, (long long)units);
	int64_t own = run_part(workload, op, run, 0, l).count;
	int64_t theirs = run_part(workload, first, run, 0, other).count;
	if (own != theirs || op->loops[l].extent != first->loops[other].extent)
		return arena_format(arena,
			"its run cuts '%s' into parts of %lld of its %lld elements, but of %lld of "
			"%lld in '%s'",
			shared->name, (long long)own, (long long)op->loops[l].extent,
			(long long)theirs, (long long)first->loops[other].extent, first->name);
	return NULL;
}

/* The host dimension of an operand that the op's loop l alone walks; -1. */
static int walked_dimension(
	const struct workload *workload, const struct op *op, int operand, int l)
{
	const struct layout *layout = &workload->tensors[op_operand(op, operand)->tensor].layout;
	for (int h = 0; h < layout->host_rank; h++)
		if (run_walks(workload, op, operand, h) == l)
			return h;
	return -1;
}

/* An iteration writes its part of the output and nothing else, or adds to it. */
static const char *check_output(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op)
{
	const struct workload *workload = plan->workload;
	for (int k = 0; k < run->loop_count; k++)
		if (!op->loops[run_loop(op, run, k)].reduction &&
			walked_dimension(workload, op, op->read_count, run_loop(op, run, k)) < 0)
			return arena_format(arena,
				"'%s', which its run shares, does not walk a dimension of '%s' "
				"alone",
				run->loops[k].name, workload->tensors[op->writes[0].tensor].name);
	return NULL;
}

/* What steps of the run made is read part by part. */
static const char *check_read(struct arena *arena, const struct plan *plan,
	const struct tile_run *run, const struct op *op, int i)
{
	const struct workload *workload = plan->workload;
	const struct tensor *tensor = &workload->tensors[op->reads[i].tensor];
	if (tensor->producer < run->first || tensor->producer >= run->end)
		return NULL;
	const struct op *writer = &workload->ops[tensor->producer];
	if (run_adds_up(writer, run))
		return arena_format(arena,
			"it reads '%s', to which '%s' adds up to the last iteration: end the run "
			"before it",
			tensor->name, writer->name);
	for (int k = 0; k < run->loop_count; k++) {
		int h = walked_dimension(
			workload, writer, writer->read_count, run_loop(writer, run, k));
		if (h < 0 || run_walks(workload, op, i, h) != run_loop(op, run, k))
			return arena_format(arena,
				"it does not read '%s' in the parts in which '%s' makes it: end "
				"the run of '%s' before it",
				tensor->name, writer->name, run->loops[k].name);
	}
	return NULL;
}

static const char *check_step(
	struct arena *arena, const struct plan *plan, const struct tile_run *run, int step)
{
	const struct op *op = &plan->workload->ops[step];
	const char *why = NULL;
	if (op->move)
		return "a run has no moves";
	if (!op_is_tiled(op))
		return "it has no loops that a run can share";
	if (plan->steps[step].bundle != plan->steps[run->first].bundle)
		return "all steps of a run are of one bundle";
	for (int k = 0; !why && k < run->loop_count; k++)
		why = check_loop(arena, plan, run, op, k);
	if (!why)
		why = check_output(arena, plan, run, op);
	for (int i = 0; !why && i < op->read_count; i++)
		why = check_read(arena, plan, run, op, i);
	return why;
}

const char *plan_run_misfit(struct arena *arena, const struct plan *plan, int r, int *step)
{
	const struct tile_run *run = &plan->runs[r];
	const char *why = check_shape(arena, plan, r);
	*step = -1;
	for (int s = run->first; !why && s < run->end; s++) {
		why = check_step(arena, plan, run, s);
		*step = s;
	}
	return why;
}
