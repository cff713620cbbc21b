#include "base/arena.h"
#include "base/number.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "search/graph/lx_views.h"
#include "search/joint/joint_runs.h"

#include <string.h>

/* One division for all ops of a run, and where that leaves what they use. */

/* --- parts */

struct residency stay_inside(const struct trying *trying, int tensor)
{
	struct residency stay = {.tensor = tensor, .place = PLACE_LX, .in_place_of = -1};
	users_life(&trying->making->users, tensor, &stay.from, &stay.to);
	return stay;
}

/* The workload of the first iteration: ops with parts of their loops, and parts of what lives inside. */
static void make_part(struct trying *trying)
{
	const struct workload *whole = trying->making->question->workload;
	struct arena *arena = trying->arena;
	struct op *ops = arena_copy(arena, whole->ops, whole->op_count * sizeof *ops);
	struct tensor *tensors =
		arena_copy(arena, whole->tensors, whole->tensor_count * sizeof *tensors);
	for (int o = trying->run.first; o < trying->run.end; o++)
		ops[o] = *run_op(arena, whole, &whole->ops[o], &trying->run, 0);
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int t = whole->ops[o].writes[0].tensor;
		struct residency stay = stay_inside(trying, t);
		if (is_inside(trying, t))
			tensors[t].layout = plan_stay_layout(&trying->plan, &stay);
	}
	trying->part = *whole;
	trying->part.ops = ops;
	trying->part.tensors = tensors;
}

/* --- what one division leads to */

/* By constraints; those of spans mean whole ops, which no run has. */
static bool is_allowed(
	const struct trying *trying, const struct op *op, const struct mapping *mapping)
{
	const struct joint_question *question = trying->making->question;
	const struct constraints *constraints = question->planning->constraints;
	return mapping_cores(question->arch, mapping) <= graph_cores(constraints, op) &&
	       graph_span(constraints, op) == INT64_MAX;
}

static bool make_mappings(struct trying *trying, struct mapping *mappings)
{
	const struct arch *arch = trying->making->question->arch;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		const struct op *op = &trying->part.ops[o];
		struct mapping *mapping = &mappings[o - trying->run.first];
		*mapping = mapping_make(arch, op);
		struct mapping_row *row = &mapping->rows[arch->core];
		int at = 0;
		uint32_t split = 0;
		for (int i = 0; i < trying->order_count; i++) {
			int l = run_loop(op, &trying->run, trying->order[i]);
			row->spatial[l] = (uint32_t)trying->splits.at[trying->order[i]];
			row->spatial_order[at++] = (uint8_t)l;
			split |= 1u << l;
		}
		for (int l = 0; l < op->loop_count; l++)
			if (!(split >> l & 1))
				row->spatial_order[at++] = (uint8_t)l;
		if (mapping_check(trying->arena, arch, &trying->part, op, mapping) ||
			!is_allowed(trying, op, mapping))
			return false;
	}
	return true;
}

static bool find_view(const struct trying *trying, const struct mapping *mappings, int o, int i,
	struct view *view)
{
	const char *why;
	const struct op *op = &trying->part.ops[o];
	return joint_may_lie(trying->making, op_operand(op, i)->tensor) &&
	       lx_view(trying->making->question->arch, &trying->part, op,
		       &mappings[o - trying->run.first], i, trying->arena, view, &why);
}

/* True if what lives inside is found by its readers where it is left. */
static bool parts_meet(
	const struct trying *trying, const struct mapping *mappings, int tensor, struct view *view)
{
	const struct users *users = &trying->making->users;
	int producer = trying->part.tensors[tensor].producer;
	if (!find_view(trying, mappings, producer, trying->part.ops[producer].read_count, view))
		return false;
	for (size_t u = users->first[tensor]; u < users->first[tensor + 1]; u++) {
		struct view asked;
		if (!find_view(trying, mappings, users->at[u].op, users->at[u].operand, &asked) ||
			!view_equal(&asked, view))
			return false;
	}
	return true;
}

/* The least room in which all that lives inside fits, in place of each other where it may. */
static bool pack_insides(struct trying *trying, struct joint_run *run)
{
	struct arena *arena = trying->arena;
	const struct joint_question *question = trying->making->question;
	struct buffer *buffers = arena_array(arena, struct buffer, run->inside_count);
	int *parents = arena_array(arena, int, run->inside_count);
	for (int i = 0; i < run->inside_count; i++) {
		const struct joint_inside *inside = &run->inside[i];
		const struct tensor *tensor = &trying->part.tensors[inside->tensor];
		struct residency stay = stay_inside(trying, inside->tensor);
		buffers[i] = (struct buffer){.name = tensor->name,
			.size = view_bytes(&tensor->layout, &inside->view),
			.start = stay.from,
			.end = stay.to};
		for (int k = 0; k < i && !buffers[i].parent_count; k++) {
			const struct op *op = &trying->part.ops[stay.from];
			if (buffers[k].end != stay.from + 1 || buffers[k].size < buffers[i].size ||
				!joint_may_take_over(
					trying->making, &trying->part, op, run->inside[k].tensor) ||
				!view_equal(&run->inside[k].view, &inside->view))
				continue;
			parents[i] = k;
			buffers[i].parents = &parents[i];
			buffers[i].parent_count = 1;
		}
	}
	struct packing packing = {.capacity = question->planning->lx_capacity,
		.alignment = question->arch->levels[question->arch->lx].alignment,
		.goal = PACKING_PEAK,
		.count = (size_t)run->inside_count,
		.buffers = buffers};
	struct problem problem = {.stage = STAGE_PLACE, .op = -1, .packing = &packing};
	struct answer answer =
		solve(solver_for(STAGE_PLACE, FOR_PACKINGS), &problem, 100000, 0, arena);
	if (!answer.candidate_count)
		return false;
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	struct packing_fault fault = packing_check(&packing, placement);
	if (fault.a >= 0)
		return false;
	run->room = 0;
	for (int i = 0; i < run->inside_count; i++) {
		int parent = placement->in_place_of[i];
		run->inside[i].offset = placement->addresses[i];
		run->inside[i].in_place_of = parent < 0 ? 0 : 1 + run->inside[parent].tensor;
		run->room = number_max(run->room, placement->addresses[i] + buffers[i].size);
	}
	return true;
}

/* What the run uses from outside, and what it makes that goes on. */
static void add_outer(
	struct trying *trying, const struct mapping *mappings, struct joint_run *run, int o, int i)
{
	struct joint_making *making = trying->making;
	const struct op *op = &trying->part.ops[o];
	int tensor = op_operand(op, i)->tensor, n = 0;
	bool writes = i == op->read_count;
	struct view view;
	if (is_inside(trying, tensor))
		return;
	while (n < run->outer_count && run->outers[n].tensor != tensor)
		n++;
	struct joint_outer *outer = &run->outers[n];
	if (n == run->outer_count) {
		run->outer_count++;
		*outer = (struct joint_outer){.tensor = tensor, .made = writes, .view = -1};
	}
	if (!find_view(trying, mappings, o, i, &view)) {
		outer->never = true;
		return;
	}
	int v = joint_views_add(making, tensor, &view, writes ? -1 : run->loops.first);
	if (writes)
		outer->view = v;
	else if (outer->asked_count < JOINT_ASKED_MOST)
		outer->asked[outer->asked_count++] = v;
	else
		outer->never = true;
}

static int count_operands(const struct trying *trying)
{
	int count = 0;
	for (int o = trying->run.first; o < trying->run.end; o++)
		count += op_operands(&trying->part.ops[o]);
	return count;
}

/* Adds the run with the tiles and the division at hand, if it can be carried out. */
static void add_run(struct trying *trying)
{
	struct joint_making *making = trying->making;
	struct arena *arena = making->arena;
	int ops = trying->run.end - trying->run.first;
	struct joint_run run = {.loops = trying->run, .part = trying->part};
	struct mapping *mappings = arena_array(arena, struct mapping, ops);
	if (!make_mappings(trying, mappings))
		return;
	run.mappings = mappings;
	run.cores = mapping_cores(making->question->arch, &mappings[0]);
	run.inside = arena_array(arena, struct joint_inside, ops);
	run.outers = arena_array(making->scratch, struct joint_outer, count_operands(trying));
	for (int o = trying->run.first; o < trying->run.end; o++) {
		int tensor = trying->part.ops[o].writes[0].tensor;
		struct view view;
		if (!is_inside(trying, tensor))
			continue;
		if (!parts_meet(trying, mappings, tensor, &view))
			return;
		run.inside[run.inside_count++] =
			(struct joint_inside){.tensor = tensor, .view = view};
	}
	if (!pack_insides(trying, &run))
		return;
	for (int o = trying->run.first; o < trying->run.end; o++)
		for (int i = 0; i < op_operands(&trying->part.ops[o]); i++)
			add_outer(trying, mappings, &run, o, i);
	*array_add(making->scratch, &making->runs) = run;
}

/* --- divisions */

typedef void division_function(struct trying *trying);

static int64_t units_of(const struct trying *trying, int k)
{
	const struct workload *workload = &trying->part;
	int64_t units = 0;
	for (int o = trying->run.first; o < trying->run.end; o++) {
		const struct op *op = &workload->ops[o];
		units = number_gcd(units, op_units(workload, op, run_loop(op, &trying->run, k)));
	}
	return units;
}

/* All orders of the loops that are split. */
static void order_loops(struct trying *trying, int at, division_function *use)
{
	if (at == trying->order_count) {
		use(trying);
		return;
	}
	for (int i = at; i < trying->order_count; i++) {
		int first = trying->order[at];
		trying->order[at] = trying->order[i];
		trying->order[i] = first;
		order_loops(trying, at + 1, use);
		trying->order[i] = trying->order[at];
		trying->order[at] = first;
	}
}

static int64_t most_cores(const struct trying *trying, int k, int64_t left)
{
	int64_t most = 0;
	if (k == trying->run.loop_count)
		return 1;
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count && divisors.at[i] <= left; i++)
		most = number_max(
			most, divisors.at[i] * most_cores(trying, k + 1, left / divisors.at[i]));
	return most;
}

/* Divisions over `left` cores by the shared loops from k on. */
static void divide(struct trying *trying, int k, int64_t left, division_function *use)
{
	if (k == trying->run.loop_count) {
		trying->order_count = 0;
		for (int i = 0; i < k; i++)
			if (trying->splits.at[i] > 1)
				trying->order[trying->order_count++] = i;
		if (left == 1)
			order_loops(trying, 0, use);
		return;
	}
	struct divisors divisors = number_divisors(trying->arena, units_of(trying, k));
	for (size_t i = 0; i < divisors.count; i++) {
		if (left % divisors.at[i])
			continue;
		trying->splits.at[k] = divisors.at[i];
		divide(trying, k + 1, left / divisors.at[i], use);
	}
}

void joint_run_divide(struct trying *trying)
{
	make_part(trying);
	divide(trying, 0, most_cores(trying, 0, trying->making->question->planning->cores),
		add_run);
}
