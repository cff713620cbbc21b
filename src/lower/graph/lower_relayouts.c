#include "lower/graph/lower_step.h"

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

/* What is in both slices; false: nothing. */
static bool intersect(
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
static void join(struct lowering *lowering, struct relayout *relayout, int sender, int receiver,
	const struct region *region)
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
				!intersect(relayout, holder, receiver, region))
				continue;
			join(lowering, relayout,
				find_sender(relayout, region->rank, holder, receiver), receiver,
				region);
			relayout->received[receiver] += count_runs(relayout, region);
			relayout->boxes[receiver]++;
			relayout->cut[holder] |=
				UINT64_C(1) << first_holder(&relayout->to, region->rank, receiver);
		}
	}
}

static void add(struct lowering *lowering, bool up, int core, const struct send *send)
{
	struct instruction *instruction;
	queue_open(&lowering->queues, up ? ENGINE_UP : ENGINE_DOWN, UINT64_C(1) << core);
	queue_close(&lowering->queues, lowering->step.number, 0, &instruction);
	instruction->send = arena_copy(lowering->queues.arena, send, sizeof *send);
}

/* Every core sets up its runs; a SYNC stands between that and all that moves. */
static void set_up(struct lowering *lowering, const struct relayout *relayout)
{
	struct send send = {0};
	for (int c = 0; c < relayout->cores; c++) {
		int64_t cut = __builtin_popcountll(relayout->cut[c]);
		send.parts = number_max(send.parts, number_max(cut, relayout->boxes[c]));
	}
	for (int c = 0; c < relayout->cores; c++) {
		send.runs = number_max(relayout->sent[c], relayout->received[c]);
		if (send.runs > 0)
			add(lowering, true, c, &send);
	}
	queue_sync(&lowering->queues, lowering->step.number);
}

static const struct operand_box *place(struct lowering *lowering, const struct region *region,
	int operand, const struct slices *slices, int core)
{
	struct operand_box *box = arena_new(lowering->queues.arena, struct operand_box);
	box->operand = operand;
	box->region = *region;
	box->region.tensor = slices->stay->tensor;
	box->lx =
		location_within(region, slices->stay->address, slices->size, slices->origin[core]);
	return box;
}

static void ship(
	struct lowering *lowering, const struct relayout *relayout, const struct shipment *shipment)
{
	int receiver = least_core(shipment->receivers);
	struct send send = {
		.from = place(lowering, &shipment->region, 0, &relayout->from, shipment->sender),
		.to = place(lowering, &shipment->region, 1, &relayout->to, receiver),
		.receivers = shipment->receivers,
	};
	add(lowering, shipment->up, shipment->sender, &send);
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

bool relayout_lower(struct lowering *lowering)
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
	set_up(lowering, relayout);
	qsort(relayout->shipments.at, relayout->shipments.count, sizeof *relayout->shipments.at,
		compare_shipments);
	for (size_t i = 0; i < relayout->shipments.count; i++)
		ship(lowering, relayout, &relayout->shipments.at[i]);
	return !is_full(lowering);
}
