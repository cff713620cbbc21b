#include "search/graph/lx.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"
#include "cost/graph/cost.h"
#include "model/graph/op_mapping.h"
#include "model/graph/plan.h"
#include "model/graph/workload.h"

/* HBM bytes that an op moves of a tensor, if all else that it uses lies in LX. */
static int64_t lx_weight(const struct lx_graph *graph, int op, int tensor)
{
	const struct workload *workload = graph->workload;
	const struct op *user = &workload->ops[op];
	struct mapping mapping = graph->mappings[op];
	int64_t bytes, room;
	uint32_t in_lx = 0;
	for (int l = 0; l < user->loop_count; l++)
		mapping.rows[graph->arch->lx].temporal[l] = 1;
	for (int i = 0; i < op_operands(user); i++)
		if (op_operand(user, i)->tensor != tensor)
			in_lx |= 1u << i;
	if (!cost_stream(graph->arch, workload, user, &mapping, in_lx, &bytes, &room))
		return workload->tensors[tensor].layout.bytes;
	return bytes;
}

static void add_uses(const struct lx_graph *graph, struct buffer *buffer, int tensor)
{
	const struct workload *workload = graph->workload;
	int producer = workload->tensors[tensor].producer;
	bool is_copy = workload_copy_in_hbm(workload, tensor) >= 0;
	int64_t made = lx_weight(graph, producer, tensor);
	size_t first = graph->users.first[tensor], end = graph->users.first[tensor + 1];
	struct use *uses = arena_array(graph->arena, struct use, end - first + 1);
	size_t count = 0;
	uses[count++] = (struct use){.at = producer, .write = !is_copy, .weight = made};
	for (size_t i = first; i < end; i++) {
		int o = graph->users.at[i].op;
		if (o == uses[count - 1].at)
			continue;
		int64_t bytes = lx_weight(graph, o, tensor);
		if (is_copy && count == 1)
			number_add(bytes, made, &bytes);
		uses[count++] = (struct use){.at = o, .weight = bytes};
	}
	buffer->weight = workload->tensors[tensor].layout.bytes;
	buffer->uses = uses;
	buffer->use_count = count;
}

/* Everything that placing all buffers could save, and one byte. */
static int64_t weigh_all(const struct packing *packing)
{
	int64_t sum = 1;
	for (size_t b = 0; b < packing->count; b++)
		for (size_t u = 0; u < packing->buffers[b].use_count; u++)
			if (!number_add(sum, packing->buffers[b].uses[u].weight, &sum))
				return sum;
	return sum;
}

/*
 * Tensors that live in LX for a part of their lives.
 *
 * Asking: every buffer gets its uses, in steps, and what each transfer weighs:
 * the HBM bytes that its op would move, tiles that are fetched again not
 * counted.  A clone of a graph input is never written back: there its
 * first reader saves the clone's own write as well.  A tensor that must live in
 * LX has no uses, and weighs more than all others.
 *
 * A reload brings the whole tensor once.  So what a placement saves is what the
 * plan saves in HBM bytes where readers read whole tensors, each tile once and by
 * one operand; where an op reads a tensor by two, a reload before it saves more.
 */
static void lx_spill_ask(const struct lx_graph *graph, struct lx_buffers *buffers)
{
	size_t count = buffers->packing.count;
	struct buffer *asked = arena_copy(
		graph->arena, buffers->packing.buffers, count * sizeof *buffers->packing.buffers);
	buffers->packing.buffers = asked;
	for (size_t b = 0; b < buffers->tensor_count; b++)
		if (graph->stays[buffers->tensors[b]] != STAY_LX &&
			!stopper_stops(&graph->planning->stopper))
			add_uses(graph, &asked[b], buffers->tensors[b]);
	int64_t all = weigh_all(&buffers->packing);
	for (size_t b = 0; b < count; b++)
		if (!asked[b].use_count)
			asked[b].weight = all;
}

static size_t find_parts(const struct placement *placement, size_t buffer)
{
	size_t at;
	bisect(at, 0, placement->part_count, placement->parts[at].buffer < (int)buffer);
	return at;
}

static bool lx_spill_is_parted(const struct lx_layout *layout, size_t buffer)
{
	size_t k = find_parts(layout->placement, buffer);
	return k < layout->placement->part_count &&
	       layout->placement->parts[k].buffer == (int)buffer;
}

/* The part of a life with which a tensor begins; NULL if it begins in HBM or is there in no parts. */
static const struct residence_part *lx_spill_first(const struct lx_layout *layout, size_t buffer)
{
	if (!lx_spill_is_parted(layout, buffer))
		return NULL;
	const struct residence_part *part =
		&layout->placement->parts[find_parts(layout->placement, buffer)];
	return part->from == layout->buffers.packing.buffers[buffer].start ? part : NULL;
}

/* The plan with an evict behind every part of a life that is not the last, and a reload before
 * every part that does not begin with the tensor. */
static struct plan *lx_spill_move(
	const struct plan *plan, const struct lx_layout *layout, struct arena *arena)
{
	const struct placement *placement = layout->placement;
	struct plan_wish *wishes =
		arena_array(arena, struct plan_wish, 2 * (int)placement->part_count);
	size_t count = 0;
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		const struct buffer *buffer = &layout->buffers.packing.buffers[part->buffer];
		struct plan_wish wish = {.tensor = layout->buffers.tensors[part->buffer],
			.stay = {.view = layout->buffers.views[part->buffer],
				.address = part->address,
				.size = buffer->size}};
		if (part->from > buffer->start) {
			wish.kind = MOVE_RELOAD;
			wish.before = (int)part->from;
			wishes[count++] = wish;
		}
		if (part->to < buffer->end) {
			wish.kind = MOVE_EVICT;
			wish.before = (int)part->to;
			wishes[count++] = wish;
		}
	}
	return plan_with_moves(arena, plan, wishes, count);
}

/* For a solver without an answer: everything stays in HBM. */
static const struct placement *place_nothing(size_t count, struct arena *arena)
{
	struct placement *placement = arena_new(arena, struct placement);
	placement->count = count;
	placement->addresses = arena_array(arena, int64_t, count);
	placement->in_place_of = arena_array(arena, int, count);
	for (size_t b = 0; b < count; b++) {
		placement->addresses[b] = UNPLACED;
		placement->in_place_of[b] = -1;
	}
	return placement;
}

/* Returns the solver's answer about a packing; NULL: none, and layout->silent says why. */
static const struct placement *ask_placement(
	struct lx_layout *layout, const struct solver *solver, const struct packing *packing)
{
	struct problem problem = {.stage = STAGE_PLACE,
		.arch = layout->graph.arch,
		.workload = layout->graph.workload,
		.planning = layout->graph.planning,
		.op = -1,
		.packing = packing};
	uint64_t ticks = solver->purposes & FOR_GRAPHS ? 0 : layout->graph.planning->place_ticks;
	struct asker asker = {.jobs = 1, .stopper = layout->graph.planning->stopper};
	struct answer answer = solve_for(&asker, solver, &problem, ticks, 0, layout->graph.arena);
	layout->ticks += answer.ticks;
	layout->silent = NULL;
	if (!answer.candidate_count) {
		layout->silent =
			answer.complaint_count
				? answer.complaints[0].text
				: "the solver came to the end of its ticks without an answer";
		return place_nothing(packing->count, layout->graph.arena);
	}
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		BUG("place/%s: buffers '%s' and '%s': %s", solver->name,
			packing->buffers[fault.a].name,
			fault.b < 0 ? "" : packing->buffers[fault.b].name, fault.why);
	return placement;
}

/* True if every staging tile has a place. */
static bool lx_layout_stages(const struct lx_layout *layout)
{
	const struct lx_buffers *buffers = &layout->buffers;
	for (size_t b = buffers->tensor_count; b < buffers->packing.count; b++)
		if (layout->placement->addresses[b] == UNPLACED)
			return false;
	return true;
}

static void place_buffers(struct lx_layout *layout, const struct solver *solver)
{
	layout->buffers = lx_buffers(&layout->graph);
	if (solver->keeps_parts && arch_moves_boxes(layout->graph.arch))
		lx_spill_ask(&layout->graph, &layout->buffers);
	layout->placement = ask_placement(layout, solver, &layout->buffers.packing);
	if (lx_layout_stages(layout)) {
		lx_staging_take(&layout->graph,
			layout->placement->addresses + layout->buffers.tensor_count);
		return;
	}
	/* Tiles at the top, tensors below, in a packing of their own. */
	struct packing packing = layout->buffers.packing;
	packing.capacity -= lx_staging_most(&layout->graph);
	packing.capacity -= packing.capacity % packing.alignment;
	packing.count = layout->buffers.tensor_count;
	lx_staging_stack(&layout->graph, packing.capacity);
	layout->placement = ask_placement(layout, solver, &packing);
}

/* True if the solver has no address for a tensor that must live in LX. */
static bool leaves_out(const struct lx_layout *layout)
{
	const struct lx_graph *graph = &layout->graph;
	for (size_t b = 0; b < layout->buffers.tensor_count; b++)
		if (layout->placement->addresses[b] == UNPLACED &&
			graph->stays[layout->buffers.tensors[b]] == STAY_LX)
			return true;
	return false;
}

struct lx_layout lx_layout(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena)
{
	struct lx_layout layout = {
		.graph = lx_graph_open(arch, workload, mappings, planning, arena)};
	lx_clone_inputs(&layout.graph);
	if (stopper_stops(&planning->stopper)) {
		layout.placement = place_nothing(0, arena);
		return layout;
	}
	layout.impossible = lx_staging_choose(&layout.graph);
	place_buffers(&layout, solver);
	if (leaves_out(&layout)) {
		layout.graph.gives_way = true;
		place_buffers(&layout, solver);
	}
	return layout;
}

int64_t lx_unplaced_bytes(const struct lx_layout *layout)
{
	const struct workload *workload = layout->graph.workload;
	int64_t bytes = 0;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		if (tensor->producer >= 0 && !workload->ops[tensor->producer].move)
			bytes += tensor->layout.bytes;
	}
	for (size_t b = 0; b < layout->buffers.tensor_count; b++) {
		const struct tensor *tensor = &workload->tensors[layout->buffers.tensors[b]];
		if (layout->placement->addresses[b] != UNPLACED &&
			!workload->ops[tensor->producer].move)
			bytes -= tensor->layout.bytes;
	}
	return bytes;
}

/* Why a buffer does not live in LX from its first step on. */
static const char *lx_layout_explain(const struct lx_layout *layout, size_t b)
{
	struct arena *arena = layout->graph.arena;
	const struct packing *packing = &layout->buffers.packing;
	long long size = packing->buffers[b].size, capacity = packing->capacity;
	if (size > capacity &&
		layout_is_linear(
			&layout->graph.workload->tensors[layout->buffers.tensors[b]].layout))
		return arena_format(arena, "its %lld bytes exceed the %lld of LX", size, capacity);
	if (size > capacity)
		return arena_format(arena,
			"its %lld bytes per core (%lld sticks) exceed the %lld of LX", size,
			size / STICK_BYTES, capacity);
	if (layout->silent)
		return layout->silent;
	if (lx_spill_is_parted(layout, b))
		return arena_format(arena,
			"the solver keeps its %lld bytes per core among the %lld of LX for a part "
			"of its life",
			size, capacity);
	return arena_format(arena,
		"the solver found no gap for its %lld bytes per core among the %lld of LX while it "
		"lives",
		size, capacity);
}

static void explain_unplaced(const struct lx_layout *layout)
{
	for (size_t b = 0; b < layout->buffers.tensor_count; b++)
		if (layout->placement->addresses[b] == UNPLACED && !lx_spill_first(layout, b))
			layout->graph.reasons[layout->buffers.tensors[b]] =
				lx_layout_explain(layout, b);
}

/* Returns the address at which a tensor begins its life. */
static int64_t first_address(const struct lx_layout *layout, size_t b)
{
	const struct residence_part *part = lx_spill_first(layout, b);
	return part ? part->address : layout->placement->addresses[b];
}

static void add_residencies(struct plan *plan, const struct users *users,
	const struct lx_layout *layout, struct arena *arena)
{
	const struct workload *workload = plan->workload;
	int *buffer_of = arena_array(arena, int, workload->tensor_count);
	for (size_t b = 0; layout && b < layout->buffers.tensor_count; b++)
		if (first_address(layout, b) != UNPLACED)
			buffer_of[layout->buffers.tensors[b]] = (int)b + 1;
	plan->residencies = arena_array(arena, struct residency, workload->tensor_count);
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		struct residency stay = {.tensor = t, .place = PLACE_HBM, .in_place_of = -1};
		users_life(users, t, &stay.from, &stay.to);
		if (buffer_of[t]) {
			int b = buffer_of[t] - 1, parent = layout->placement->in_place_of[b];
			stay.place = PLACE_LX;
			stay.view = layout->buffers.views[b];
			stay.address = first_address(layout, (size_t)b);
			stay.size = layout->buffers.packing.buffers[b].size;
			if (parent >= 0)
				stay.in_place_of = layout->buffers.tensors[parent];
		}
		if (stay.from < stay.to)
			plan->residencies[plan->residency_count++] = stay;
	}
}

static struct plan *make_plan(const struct lx_graph *graph, const struct lx_layout *layout,
	const char *method, struct arena *arena)
{
	struct plan *plan = arena_new(arena, struct plan);
	plan->arch = graph->arch;
	plan->workload = graph->workload;
	plan->cores = graph->planning->cores;
	plan->step_count = (int)graph->workload->op_count;
	plan->steps = arena_array(arena, struct step, plan->step_count);
	for (int i = 0; i < plan->step_count; i++)
		plan->steps[i] = (struct step){
			.op = i, .mapping = graph->mappings[i], .staging = graph->stagings[i]};
	plan->proof.method = method;
	add_residencies(plan, &graph->users, layout, arena);
	return plan;
}

static void collect_reasons(
	const struct lx_graph *graph, struct lx_plan_result *result, struct arena *arena)
{
	struct array(struct lx_reason) reasons = {0};
	for (int t = 0; t < (int)graph->workload->tensor_count; t++)
		if (graph->reasons[t])
			*array_add(arena, &reasons) = (struct lx_reason){t, graph->reasons[t]};
	const struct workload *workload = result->plan->workload;
	for (int t = (int)graph->workload->tensor_count; t < (int)workload->tensor_count; t++)
		if (workload->ops[workload->tensors[t].producer].move == MOVE_EVICT)
			*array_add(arena, &reasons) = (struct lx_reason){t, "it was evicted"};
	result->reasons = reasons.at;
	result->reason_count = reasons.count;
}

static const char *check_mappings(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, struct arena *arena)
{
	/* whole nests have no factors yet */
	for (size_t o = 0; arch_moves_boxes(arch) && o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		const char *why = op_is_tiled(op)
					  ? mapping_check(arena, arch, workload, op, &mappings[o])
					  : NULL;
		if (why)
			return arena_format(arena, "'%s': %s", op->name, why);
	}
	return NULL;
}

struct lx_plan_result lx_plan(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena)
{
	struct lx_plan_result result = {.why = check_mappings(arch, workload, mappings, arena)};
	if (result.why)
		return result;
	struct lx_graph graph;
	if (planning->lx_planning && arch->lx >= 0) {
		struct lx_layout layout =
			lx_layout(arch, workload, mappings, planning, solver, arena);
		explain_unplaced(&layout);
		graph = layout.graph;
		result.ticks = layout.ticks;
		result.why = layout.impossible;
		if (stopper_stops(&planning->stopper))
			result.why = "it was asked to stop";
		if (result.why)
			return result;
		result.plan = make_plan(
			&graph, &layout, arena_format(arena, "place/%s", solver->name), arena);
		if (layout.placement->part_count)
			result.plan = lx_spill_move(result.plan, &layout, arena);
	} else {
		graph = lx_graph_open(arch, workload, mappings, planning, arena);
		for (size_t t = 0; t < workload->tensor_count; t++)
			graph.reasons[t] = arch->lx < 0 ? "the machine has no scratchpad for it"
							: "LX planning is off";
		result.why = lx_staging_choose(&graph);
		if (result.why)
			return result;
		lx_staging_stack(&graph, 0);
		result.plan = make_plan(&graph, NULL, "none", arena);
	}
	lx_bundle_steps(&graph, result.plan);
	collect_reasons(&graph, &result, arena);
	return result;
}
