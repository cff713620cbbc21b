#include "lower/graph/lower.h"

#include "lower/graph/lower_step.h"
#include "model/graph/run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One box on its way round the ring. */
struct shipment {
	int sender, far; /* links that it crosses */
	bool up;
	uint64_t receivers;
	struct region region; /* of the tensor under the old view */
};

struct relayout {
	struct slices from, to;
	int cores; /* of the ring */
	struct array(struct shipment) shipments;
	int64_t sent[PROGRAM_CORES_MOST], received[PROGRAM_CORES_MOST]; /* runs */
	int64_t boxes[PROGRAM_CORES_MOST];                              /* that a core receives */
	uint64_t cut
		[PROGRAM_CORES_MOST]; /* by the first core with an old slice: those with the new slices */
};

static bool same_origin(const struct slices *slices, int rank, int a, int b)
{
	return memcmp(slices->origin[a], slices->origin[b], (size_t)rank * sizeof(int64_t)) == 0;
}

/* The first core that holds the same slice. */
static int first_holder(const struct slices *slices, int rank, int core)
{
	for (uint64_t m = slices->holders; m; m &= m - 1)
		if (same_origin(slices, rank, least_core(m), core))
			return least_core(m);
	return core;
}

static bool is_up(int cores, int sender, int receiver, int *far)
{
	int up = (receiver + cores - sender) % cores;
	*far = up <= cores - up ? up : cores - up;
	return up <= cores - up;
}

static int find_sender(const struct relayout *relayout, int rank, int holder, int receiver)
{
	int best = holder, least = relayout->cores, far;
	for (uint64_t m = relayout->from.holders; m; m &= m - 1) {
		int core = least_core(m);
		is_up(relayout->cores, core, receiver, &far);
		if (far < least && same_origin(&relayout->from, rank, core, holder)) {
			best = core;
			least = far;
		}
	}
	return best;
}

/* Intersects two slices; false: they do not meet. */
static bool relayout_intersect(
	const struct relayout *relayout, int sender, int receiver, struct region *region)
{
	region->sticks = 1;
	for (int d = 0; d < region->rank; d++) {
		int64_t a = relayout->from.origin[sender][d], b = relayout->to.origin[receiver][d];
		int64_t end = number_min(a + relayout->from.size[d], b + relayout->to.size[d]);
		int64_t first = number_max(a, b);
		if (first >= end)
			return false;
		region->first[d] = (int32_t)first;
		region->count[d] = (int32_t)(end - first);
		region->sticks *= end - first;
	}
	return true;
}

/* Rows of sticks that follow each other in both slices. */
static int64_t count_runs(const struct relayout *relayout, const struct region *region)
{
	int64_t runs = region->sticks;
	for (int d = region->rank - 1; d >= 0; d--) {
		runs /= region->count[d];
		if (region->count[d] != relayout->from.size[d] ||
			region->count[d] != relayout->to.size[d])
			break;
	}
	return runs;
}

/* The receiver joins those that get the same box from the sender the same way. */
static void lowering_join(struct lowering *lowering, struct relayout *relayout, int sender,
	int receiver, const struct region *region)
{
	struct shipment *shipment = NULL;
	int far;
	bool up = is_up(relayout->cores, sender, receiver, &far);
	for (size_t i = 0; i < relayout->shipments.count && !shipment; i++) {
		struct shipment *at = &relayout->shipments.at[i];
		if (at->sender == sender && at->up == up && region_equal(&at->region, region))
			shipment = at;
	}
	if (!shipment) {
		shipment = array_add(lowering->queues.scratch, &relayout->shipments);
		*shipment = (struct shipment){sender, 0, up, 0, *region};
		relayout->sent[sender] += count_runs(relayout, region);
	}
	shipment->receivers |= UINT64_C(1) << receiver;
	shipment->far = far > shipment->far ? far : shipment->far;
}

static void find_shipments(
	struct lowering *lowering, struct relayout *relayout, struct region *region)
{
	for (uint64_t r = relayout->to.holders; r; r &= r - 1) {
		int receiver = least_core(r);
		for (uint64_t s = relayout->from.holders; s; s &= s - 1) {
			int holder = least_core(s);
			if (first_holder(&relayout->from, region->rank, holder) != holder ||
				!relayout_intersect(relayout, holder, receiver, region))
				continue;
			lowering_join(lowering, relayout,
				find_sender(relayout, region->rank, holder, receiver), receiver,
				region);
			relayout->received[receiver] += count_runs(relayout, region);
			relayout->boxes[receiver]++;
			relayout->cut[holder] |=
				UINT64_C(1) << first_holder(&relayout->to, region->rank, receiver);
		}
	}
}

static void lowering_add(struct lowering *lowering, bool up, int core, const struct send *send)
{
	struct instruction *instruction;
	queue_open(&lowering->queues, up ? ENGINE_UP : ENGINE_DOWN, UINT64_C(1) << core);
	queue_close(&lowering->queues, lowering->step.number, 0, &instruction);
	instruction->send = arena_copy(lowering->queues.arena, send, sizeof *send);
}

/* Every core sets up its runs; a SYNC stands between that and all that moves. */
static void lowering_set_up(struct lowering *lowering, const struct relayout *relayout)
{
	struct send send = {0};
	for (int c = 0; c < relayout->cores; c++) {
		int64_t cut = __builtin_popcountll(relayout->cut[c]);
		send.parts = number_max(send.parts, number_max(cut, relayout->boxes[c]));
	}
	for (int c = 0; c < relayout->cores; c++) {
		send.runs = number_max(relayout->sent[c], relayout->received[c]);
		if (send.runs > 0)
			lowering_add(lowering, true, c, &send);
	}
	queue_sync(&lowering->queues, lowering->step.number);
}

static const struct operand_box *place_region(struct lowering *lowering,
	const struct region *region, int operand, const struct slices *slices, int core)
{
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	box->operand = operand;
	box->region = *region;
	box->region.tensor = slices->stay->tensor;
	box->lx =
		location_within(region, slices->stay->address, slices->size, slices->origin[core]);
	return box;
}

static void lowering_ship(
	struct lowering *lowering, const struct relayout *relayout, const struct shipment *shipment)
{
	int receiver = least_core(shipment->receivers);
	struct send send = {
		.from = place_region(
			lowering, &shipment->region, 0, &relayout->from, shipment->sender),
		.to = place_region(lowering, &shipment->region, 1, &relayout->to, receiver),
		.receivers = shipment->receivers,
	};
	lowering_add(lowering, shipment->up, shipment->sender, &send);
}

static int region_order(const struct region *a, const struct region *b)
{
	for (int d = 0; d < a->rank; d++)
		if (a->first[d] != b->first[d])
			return a->first[d] < b->first[d] ? -1 : 1;
	return 0;
}

/* Near receivers first, so that all links have as much to do at any time; of equally far ones those first that
 * have no link in common. */
static int compare_shipments(const void *left, const void *right)
{
	const struct shipment *a = left, *b = right;
	if (a->far != b->far)
		return a->far < b->far ? -1 : 1;
	int turn = a->far ? a->sender % a->far : 0, other = b->far ? b->sender % b->far : 0;
	if (turn != other)
		return turn < other ? -1 : 1;
	if (a->sender != b->sender)
		return a->sender < b->sender ? -1 : 1;
	return a->up != b->up ? a->up - b->up : region_order(&a->region, &b->region);
}

/* Lowers a step that only moves from LX to LX. */
static bool relayout_lower(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	const struct op *op = lowering->step.op;
	int step = lowering->step.number, tensor = op->reads[0].tensor;
	const struct layout *layout = &plan->workload->tensors[tensor].layout;
	struct relayout *relayout = arena_new(lowering->queues.scratch, struct relayout);
	struct region region = region_whole(layout, tensor);
	relayout->cores = (int)arch_cores(plan->arch);
	slices_make(plan, plan_lx(plan, tensor, step), 0, &relayout->from);
	slices_make(plan, plan_lx(plan, op->writes[0].tensor, step), 0, &relayout->to);
	find_shipments(lowering, relayout, &region);
	lowering_set_up(lowering, relayout);
	qsort(relayout->shipments.at, relayout->shipments.count, sizeof *relayout->shipments.at,
		compare_shipments);
	for (size_t i = 0; i < relayout->shipments.count; i++)
		lowering_ship(lowering, relayout, &relayout->shipments.at[i]);
	return !is_full(lowering);
}

/* The box of the host array that a stay has in an iteration. */
static void set_box(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct whole_operand *out)
{
	struct layout part = plan_stay_layout(plan, stay);
	for (int d = 0; d + 1 < part.rank; d++) {
		int h = part.host_dim[d];
		if (h < 0)
			continue;
		out->first[h] = plan_stay_first(plan, stay, iteration, d);
		out->size[h] = part.size[d];
	}
	out->bytes = part.bytes;
}

static struct whole_operand place_whole(const struct lowering *lowering, int operand)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	int tensor = op_operand(step->op, operand)->tensor;
	const struct residency *stay = plan_lx(plan, tensor, step->number);
	const struct layout *layout = &plan->workload->tensors[tensor].layout;
	struct whole_operand whole = {
		.tensor = tensor,
		.in_lx = stay != NULL,
		.address = stay ? stay->address : lowering->hbm[tensor],
		.bytes = layout->bytes,
	};
	memcpy(whole.size, layout->host_size, sizeof whole.size);
	if (stay)
		set_box(plan, stay, step->iteration, &whole);
	return whole;
}

static const struct compute *make_whole_compute(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	struct arena *arena = lowering->queues.arena;
	struct compute *compute = arena_new(arena, struct compute);
	struct whole_operand *whole =
		arena_array(arena, struct whole_operand, op_operands(step->op));
	for (int i = 0; i < op_operands(step->op); i++)
		whole[i] = place_whole(lowering, i);
	int64_t *first = arena_array(arena, int64_t, step->op->loop_count),
		*count = arena_array(arena, int64_t, step->op->loop_count);
	const struct tile_run *run = plan_run(plan, step->number);
	for (int l = 0; l < step->op->loop_count; l++) {
		struct run_part part = run_part(plan->workload, step->op, run, step->iteration, l);
		first[l] = part.first;
		count[l] = part.count;
	}
	*compute = (struct compute){
		.op = (int)(step->op - plan->workload->ops),
		.accumulator_read = run_resumes(step->op, run, step->iteration),
		.finish = !run_goes_on(step->op, run, step->iteration),
		.first = first,
		.count = count,
		.nest = step->nest,
		.whole = whole,
	};
	return compute;
}

/* Lowers a whole op as one compute: opaque, or on a machine whose tiles do not move in boxes. */
static bool whole_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct op *op = step->op;
	struct instruction *instruction;
	if (op->primitive->kind == OP_BROADCAST)
		return refuse(lowering,
			"op '%s' is a broadcast, and only machines whose tiles move in boxes have ranks",
			op->name);
	step->nest = NULL;
	if (op_is_tiled(op) && !nest_open(lowering))
		return false;
	queue_open(&lowering->queues, ENGINE_COMPUTE, 1);
	queue_close(&lowering->queues, step->number, 0, &instruction);
	instruction->compute = make_whole_compute(lowering);
	return true;
}

/* A box that a core sends from its slice of what is evicted. */
static bool send_box(struct lowering *lowering, const struct operand_projection *projection,
	const struct slices *slices, int core)
{
	const struct step_state *step = &lowering->step;
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	struct instruction *instruction;
	box->operand = projection->operand;
	projection_box(projection, &step->tiling, &step->tile, core, &box->region);
	box->lx = location_within(
		&box->region, slices->stay->address, slices->size, slices->origin[core]);
	if (!slices_hold(lowering, slices, &box->region, UINT64_C(1) << core))
		return false;
	queue_open(&lowering->queues, ENGINE_DMA_OUT, UINT64_C(1) << core);
	queue_close(&lowering->queues, step->number, (int)step->tile.number, &instruction);
	instruction->transfer = hbm_transfer(lowering, box, slices->stay->tensor);
	return true;
}

/* Lowers a step that only moves out of LX. */
static bool evict_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct workload *workload = lowering->plan->workload;
	const struct residency *stay =
		plan_lx(lowering->plan, step->op->reads[0].tensor, step->number);
	struct operand_projection *projection = &step->output.projection;
	struct grouping *classes = &step->output.classes;
	if (workload->tensors[step->op->writes[0].tensor].copy_of)
		return true;
	projection_make(workload, step->op, step->op->read_count, projection);
	tiling_group(&step->tiling, projection->loops, classes);
	if (!slices_open(lowering, stay, &step->output.slices))
		return false;
	do {
		for (int k = 0; k < classes->count; k++) {
			if (is_full(lowering) || !send_box(lowering, projection,
							 &step->output.slices, classes->leader[k]))
				return false;
		}
	} while (tile_next(&step->tiling, &step->tile));
	return true;
}

/* Gives a tensor the next bytes, unless it has some, or is a copy and has those. */
static bool place_tensor(struct lowering *lowering, int t)
{
	const struct tensor *tensor = &lowering->plan->workload->tensors[t];
	int home = tensor_home(lowering->plan->workload, t);
	if (home != t) {
		lowering->hbm[t] = lowering->hbm[home];
		return lowering->hbm[home] >= 0 ||
		       refuse(lowering, "nothing of '%s' lies in HBM that '%s' could be",
			       lowering->plan->workload->tensors[home].name, tensor->name);
	}
	if (lowering->hbm[t] >= 0)
		return true;
	lowering->hbm[t] = lowering->hbm_bytes;
	if (!number_add(lowering->hbm_bytes, tensor->layout.bytes, &lowering->hbm_bytes))
		return refuse(lowering, "the tensors take more bytes than can be counted");
	return true;
}

/* In the order of use: what no step finds in LX lies in HBM, all its life at one address. */
static bool hbm_place(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	lowering->hbm = arena_array(lowering->queues.arena, int64_t, plan->workload->tensor_count);
	for (size_t t = 0; t < plan->workload->tensor_count; t++)
		lowering->hbm[t] = -1;
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		for (int i = 0; i < op_operands(op); i++) {
			int t = op_operand(op, i)->tensor;
			if (!plan_lx(plan, t, s) && !place_tensor(lowering, t))
				return false;
		}
	}
	int64_t capacity = arch_hbm(plan->arch)->capacity;
	if (capacity > 0 && lowering->hbm_bytes > capacity)
		return refuse(lowering,
			"the tensors take %" PRId64 " bytes of '%s', which has %" PRId64,
			lowering->hbm_bytes, arch_home(plan->arch)->name, capacity);
	return true;
}

static struct location hbm_location(const struct lowering *lowering, const struct region *box)
{
	static const int64_t origin[REGION_RANK_MOST];
	const struct layout *layout = &lowering->plan->workload->tensors[box->tensor].layout;
	return location_within(box, lowering->hbm[box->tensor], layout->size, origin);
}

struct transfer *hbm_transfer(
	const struct lowering *lowering, const struct operand_box *box, int lx_tensor)
{
	struct transfer *transfer = arena_new(lowering->queues.arena, struct transfer);
	*transfer = (struct transfer){
		.lx_tensor = lx_tensor,
		.box = box,
		.hbm = hbm_location(lowering, &box->region),
	};
	return transfer;
}

static struct clone *open_clone(struct lowering *lowering)
{
	const struct step_state *step = &lowering->step;
	const struct supply *supply = &step->supplies[0];
	struct clone *clone = arena_new(lowering->queues.scratch, struct clone);
	clone->tensor = step->op->writes[0].tensor;
	clone->tiling = step->tiling;
	clone->projection = supply->projection;
	clone->classes = supply->classes;
	clone->arrived = arena_alloc_array(lowering->queues.scratch, (size_t)step->tiling.tiles,
		(size_t)supply->classes.count * sizeof(int64_t));
	return clone;
}

/* Lowers a step that only moves into LX. */
static bool clone_lower(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	struct supply *supply = &step->supplies[0];
	const struct residency *stay =
		plan_lx(lowering->plan, step->op->writes[0].tensor, step->number);
	if (!supplies_open(lowering) || !slices_open(lowering, stay, &supply->slices))
		return false;
	supply->resident = true;
	struct clone *clone = open_clone(lowering);
	do {
		if (is_full(lowering) || !supply_move(lowering, supply))
			return false;
		for (int k = 0; k < supply->classes.count; k++)
			clone->arrived[step->tile.number * supply->classes.count + k] =
				supply->held[k].arrived;
	} while (tile_next(&step->tiling, &step->tile));
	*array_add(lowering->queues.scratch, &lowering->clones) = clone;
	return true;
}

/* Does the clone's tile begin at or before the end of the box? */
static bool begins_in(
	const struct clone *clone, const struct tile *tile, int core, const struct region *box)
{
	struct region part;
	projection_box(&clone->projection, &clone->tiling, tile, core, &part);
	for (int d = 0; d < box->rank; d++) {
		if (part.first[d] >= (int64_t)box->first[d] + box->count[d])
			return false;
	}
	return true;
}

/*
 * Tiles begin later the further their loop has gone, so of the tiles that meet
 * the box the last one has gone furthest in every loop.
 */
static int64_t clone_arrival(const struct clone *clone, const struct region *box, int core)
{
	const struct step_tiling *tiling = &clone->tiling;
	int64_t number = 0, weight = 1;
	if (core >= tiling->cores)
		return -1;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = tiling->order[i];
		int64_t low = 0, high = tiling->factor[l] - 1;
		while (low < high) {
			struct tile probe = {0};
			probe.at[l] = low + (high - low + 1) / 2;
			if (begins_in(clone, &probe, core, box))
				low = probe.at[l];
			else
				high = probe.at[l] - 1;
		}
		number += low * weight;
		weight *= tiling->factor[l];
	}
	return clone->arrived[number * clone->classes.count + clone->classes.of[core]];
}

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

/* Of the current tile. */
/* Adds the computes of the current tile, one for each core. */
static void computes_add(struct lowering *lowering)
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

#define NUMBERS (UINT32_MAX - 1) /* of instructions that have different numbers */

bool refuse(struct lowering *lowering, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	lowering->why = arena_format_list(lowering->queues.arena, format, list);
	va_end(list);
	return false;
}

bool is_full(const struct lowering *lowering)
{
	return lowering->queues.list.count > lowering->most;
}

static void add_residents(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (stay->place != PLACE_LX)
			continue;
		*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
			.tensor = stay->tensor,
			.address = stay->address,
			.size = stay->size,
			.from = stay->from,
			.to = stay->to,
			.in_place_of = stay->in_place_of,
			.cores = holders_of(&stay->view),
		};
	}
}

/* Boxes have 32-bit coordinates. */
static bool check_coordinates(struct lowering *lowering)
{
	const struct workload *workload = lowering->plan->workload;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct layout *layout = &workload->tensors[t].layout;
		for (int d = 0; d + 1 < layout->rank; d++) {
			if (layout->size[d] > INT32_MAX)
				return refuse(lowering,
					"device dimension %d of '%s' has %" PRId64
					" coordinates; a program can name %" PRId32,
					d, workload->tensors[t].name, layout->size[d], INT32_MAX);
		}
	}
	return true;
}

static bool count_overhead(struct lowering *lowering, int64_t *overhead)
{
	return plan_overhead(lowering->plan, overhead) ||
	       refuse(lowering, "the bundles take more cycles than can be counted");
}

static bool lower_tiles(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	uint32_t moved = ~UINT32_C(0);
	if (!nest_open(lowering) || !supplies_open(lowering) || !output_open(lowering) ||
		!buffers_place(lowering))
		return false;
	for (; moved; moved = tile_next(&step->tiling, &step->tile)) {
		if (is_full(lowering))
			return false;
		for (int i = 0; i < step->op->read_count; i++) {
			struct supply *supply = &step->supplies[i];
			bool moves = !supply->held[0].box || supply->projection.loops & moved;
			if (moves && !supply_move(lowering, supply))
				return false;
		}
		if (step->tile.number % step->tiling.passes == 0 && !output_begin(lowering))
			return false;
		computes_add(lowering);
		if ((step->tile.number + 1) % step->tiling.passes == 0)
			output_end(lowering);
	}
	return true;
}

static bool lower_step(struct lowering *lowering, int s, int64_t iteration)
{
	const struct plan *plan = lowering->plan;
	struct step_state *step = &lowering->step;
	step->number = s;
	step->iteration = iteration;
	step->op = &plan->workload->ops[plan->steps[s].op];
	step->tile = (struct tile){0};
	step->computes = -1;
	step->counts = NULL;
	if (!arch_moves_boxes(plan->arch) || step->op->primitive->kind == OP_OPAQUE)
		return whole_lower(lowering);
	if (step->op->primitive->kind == OP_BROADCAST)
		return staging_lower(lowering);
	if (plan_is_relayout(plan, s))
		return relayout_lower(lowering);
	lowering->why = tiling_make(plan, s, iteration, lowering->queues.arena, &step->tiling);
	if (lowering->why)
		return false;
	if (plan_is_move(plan, s))
		return clone_lower(lowering);
	return plan_is_evict(plan, s) ? evict_lower(lowering) : lower_tiles(lowering);
}

/* A move and the op behind it are one phase; every step of a run is one in each iteration. */
static bool ends_phase(const struct plan *plan, int s)
{
	return !arch_moves_boxes(plan->arch) || !plan_joins_next(plan, s);
}

/* Returns the place of a move in its phase: -1 if what it makes is gone by the last step, so that its bytes may be
 * another's; the read of the last step that it brings; behind all reads if it brings none. */
static int plan_find_turn(const struct plan *plan, int s, int last)
{
	const struct op *op = &plan->workload->ops[plan->steps[last].op];
	int tensor = plan->workload->ops[plan->steps[s].op].writes[0].tensor, read = 0;
	if (!plan_lx(plan, tensor, last))
		return -1;
	while (read < op->read_count && op->reads[read].tensor != tensor)
		read++;
	return read;
}

/* Lowers the moves of a phase in the order in which its last step needs them, and that step. */
static bool lower_phase(struct lowering *lowering, int first, int last)
{
	const struct plan *plan = lowering->plan;
	int reads = first < last ? plan->workload->ops[plan->steps[last].op].read_count : -2;
	for (int turn = -1; turn <= reads; turn++)
		for (int s = first; s < last; s++)
			if (plan_find_turn(plan, s, last) == turn && !lower_step(lowering, s, 0))
				return false;
	return lower_step(lowering, last, 0);
}

static bool lower_run(struct lowering *lowering, const struct tile_run *run)
{
	int64_t iterations = run_iterations(run);
	for (int64_t i = 0; i < iterations; i++)
		for (int s = run->first; s < run->end; s++) {
			if (!lower_step(lowering, s, i) || is_full(lowering))
				return false;
			if (i + 1 < iterations || s + 1 < run->end)
				queue_sync(&lowering->queues, s);
		}
	return true;
}

/* Nothing needs a SYNC after the last step. */
static bool lower_steps(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	for (int first = 0, last; first < plan->step_count; first = last + 1) {
		const struct tile_run *run = plan_run(plan, first);
		last = run ? run->end - 1 : first;
		while (!run && last + 1 < plan->step_count && !ends_phase(plan, last))
			last++;
		bool done = run ? lower_run(lowering, run) : lower_phase(lowering, first, last);
		if (!done || is_full(lowering))
			return false;
		lowering->clones.count = 0;
		if (last + 1 < plan->step_count)
			queue_sync(&lowering->queues, last);
	}
	return true;
}

static const struct program *make_program(const struct lowering *lowering, int64_t overhead)
{
	const struct plan *plan = lowering->plan;
	struct arena *arena = lowering->queues.arena;
	struct program *program = arena_new(arena, struct program);
	int *ops = arena_array(arena, int, plan->step_count);
	for (int s = 0; s < plan->step_count; s++)
		ops[s] = plan->steps[s].op;
	size_t count = lowering->queues.list.count;
	*program = (struct program){
		.arch = plan->arch,
		.workload = plan->workload,
		.step_count = plan->step_count,
		.step_ops = ops,
		.hbm = lowering->hbm,
		.hbm_bytes = lowering->hbm_bytes,
		.overhead_cycles = overhead,
		.ranks = workload_ranks(plan->workload, plan->arch),
		.instruction_count = count,
		.instructions = arena_copy(
			arena, lowering->queues.list.at, count * sizeof(struct instruction)),
		.allotment_count = lowering->allotments.count,
		.allotments = lowering->allotments.at,
	};
	return program;
}

/* Instructions that a step has in any case. */
static int64_t least_of_step(const struct plan *plan, int step)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	if (!arch_moves_boxes(plan->arch) || op->primitive->kind == OP_OPAQUE)
		return 1;
	if (plan->steps[step].staging)
		return staging_size(plan, step);
	if (plan_only_moves(plan, step))
		return 0;
	int64_t size = mapping_cores(plan->arch, mapping);
	for (int l = 0; l < op->loop_count; l++) {
		if (!number_mul(size, mapping->rows[plan->arch->lx].temporal[l], &size))
			return INT64_MAX;
	}
	return size;
}

/* Is it too large for sure? */
static bool plan_exceeds(const struct plan *plan, uint64_t most)
{
	for (int s = 0; s < plan->step_count; s++) {
		int64_t least, iterations = run_iterations(plan_run(plan, s));
		if (!number_mul(least_of_step(plan, s), iterations, &least) ||
			(uint64_t)least > most)
			return true;
		most -= (uint64_t)least;
	}
	return false;
}

const struct program *lower_within(
	const struct plan *plan, uint64_t most, struct arena *arena, struct lower_refusal *refusal)
{
	struct arena *scratch = arena_open();
	struct lowering *lowering = arena_new(scratch, struct lowering);
	lowering->plan = plan;
	lowering->most = most < NUMBERS ? most : NUMBERS;
	lowering->queues.arena = arena;
	lowering->queues.scratch = scratch;
	lowering->queues.sync = -1;
	lowering->step.number = -1;
	const struct program *program = NULL;
	int64_t overhead;
	add_residents(lowering);
	if (!plan_exceeds(plan, lowering->most) && check_coordinates(lowering) &&
		hbm_place(lowering) && count_overhead(lowering, &overhead) && lower_steps(lowering))
		program = make_program(lowering, overhead);
	*refusal = (struct lower_refusal){lowering->why, lowering->step.number};
	arena_close(scratch);
	return program;
}

const struct program *lower_plan(const struct plan *plan, struct arena *arena, const char **why)
{
	struct lower_refusal refusal;
	const struct program *program = lower_within(plan, NUMBERS, arena, &refusal);
	*why = refusal.why;
	if (!program && !*why)
		*why = "the program has more instructions than can be numbered";
	return program;
}
