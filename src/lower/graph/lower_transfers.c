#include "lower/graph/lower_step.h"

#include <inttypes.h>

bool slices_open(struct lowering *lowering, const struct residency *stay, struct slices *slices)
{
	const struct step_state *step = &lowering->step;
	if (stay->view.cores < step->tiling.cores)
		return refuse(lowering,
			"op '%s' runs on core %d, which holds nothing of '%s': only %" PRId64
			" cores do",
			step->op->name, step->tiling.cores - 1,
			lowering->plan->workload->tensors[stay->tensor].name, stay->view.cores);
	slices_make(lowering->plan, stay, step->iteration, slices);
	return true;
}

bool slices_hold(struct lowering *lowering, const struct slices *slices, const struct region *box,
	uint64_t mask)
{
	for (uint64_t m = mask; m; m &= m - 1) {
		int core = least_core(m), d = slices_miss(slices, box, core);
		if (!(slices->holders >> core & 1))
			return refuse(lowering,
				"op '%s' runs on core %d, which holds nothing of '%s'",
				lowering->step.op->name, core,
				lowering->plan->workload->tensors[slices->stay->tensor].name);
		if (d < 0)
			continue;
		int64_t origin = slices->origin[core][d];
		return refuse(lowering,
			"op '%s' on core %d uses %" PRId64 "..%" PRId64
			" of device dimension %d of '%s', whose slice there is %" PRId64
			"..%" PRId64,
			lowering->step.op->name, core, (int64_t)box->first[d],
			(int64_t)box->first[d] + box->count[d] - 1, d,
			lowering->plan->workload->tensors[slices->stay->tensor].name, origin,
			origin + slices->size[d] - 1);
	}
	return true;
}

static const struct clone *find_clone(const struct lowering *lowering, int tensor)
{
	for (size_t i = 0; i < lowering->clones.count; i++) {
		if (lowering->clones.at[i]->tensor == tensor)
			return lowering->clones.at[i];
	}
	return NULL;
}

static bool supply_open(struct lowering *lowering, struct supply *supply, int operand)
{
	const struct step_state *step = &lowering->step;
	const struct plan *plan = lowering->plan;
	projection_make(plan->workload, step->op, operand, &supply->projection);
	tiling_group(&step->tiling, supply->projection.loops, &supply->classes);
	supply->may_meet = projection_may_meet(&supply->projection, &step->tiling);
	const struct residency *stay = plan_lx(plan, supply->projection.tensor, step->number);
	supply->resident = stay != NULL;
	supply->fetched = !stay;
	supply->clone = find_clone(lowering, supply->projection.tensor);
	for (int k = 0; k < supply->classes.count; k++)
		supply->held[k] = (struct held){.arrived = -1, .last_readers = {-1, -1}};
	return !stay || slices_open(lowering, stay, &supply->slices);
}

bool supplies_open(struct lowering *lowering)
{
	for (int i = 0; i < lowering->step.op->read_count; i++) {
		if (!supply_open(lowering, &lowering->step.supplies[i], i))
			return false;
	}
	return true;
}

/* Of what is padded classes skip fetches at different times, and yet one transfer goes to the same place of all. */
static int next_slot(const struct supply *supply, int k)
{
	return turn(&supply->slots,
		supply->projection.access->pad ? supply->moves : supply->held[k].fetches);
}

/* Where a box that a class holds, or is about to fetch, lies in LX. */
static bool place_box(struct lowering *lowering, const struct supply *supply, int k,
	const struct region *box, struct location *lx)
{
	const struct slices *slices = &supply->slices;
	if (supply->resident) {
		*lx = location_within(box, slices->stay->address, slices->size,
			slices->origin[supply->classes.leader[k]]);
		return slices_hold(lowering, slices, box, supply->classes.mask[k]);
	}
	int slot = next_slot(supply, k);
	*lx = location_dense(box, supply->slots.address[slot], STICK_BYTES);
	return true;
}

/* The computes that last read the slot of a class's next fetch must be done. */
static void need_slot(struct lowering *lowering, struct supply *supply, int k)
{
	struct held *held = &supply->held[k];
	if (supply->resident || held->fetches == 0)
		return;
	held->last_readers[held->slot] = lowering->step.computes;
	int64_t readers = held->last_readers[next_slot(supply, k)];
	if (readers < 0)
		return;
	for (uint64_t m = supply->classes.mask[k]; m; m &= m - 1)
		queue_need(&lowering->queues, least_core(m), readers + least_core(m));
}

/* One transfer to all classes of the list, whose box is at the same place. */
static void fetch(struct lowering *lowering, struct supply *supply, const int *list, int count,
	const struct operand_box *box)
{
	struct queues *queues = &lowering->queues;
	struct instruction *instruction;
	uint64_t mask = 0;
	for (int i = 0; i < count; i++)
		mask |= supply->classes.mask[list[i]];
	queue_open(queues, ENGINE_DMA_IN, mask);
	for (int i = 0; i < count; i++)
		need_slot(lowering, supply, list[i]);
	int64_t number = queue_close(
		queues, lowering->step.number, tile_in_step(&lowering->step), &instruction);
	instruction->transfer = hbm_transfer(
		lowering, box, supply->resident ? supply->slices.stay->tensor : box->region.tensor);
	for (int i = 0; i < count; i++) {
		struct held *held = &supply->held[list[i]];
		held->box = box;
		held->arrived = number;
		held->slot = supply->resident ? 0 : next_slot(supply, list[i]);
		held->fetches++;
	}
}

/* Does class k go to the tile with a new box?  Then *next is where it comes to lie. */
static bool find_next(
	struct lowering *lowering, struct supply *supply, int k, const struct operand_box **next)
{
	const struct step_state *step = &lowering->step;
	const struct operand_box *box = supply->held[k].box;
	struct operand_box found = {.operand = supply->projection.operand};
	projection_box(&supply->projection, &step->tiling, &step->tile, supply->classes.leader[k],
		&found.region);
	*next = NULL;
	if (box && region_equal(&box->region, &found.region))
		return true;
	if (!place_box(lowering, supply, k, &found.region, &found.lx))
		return false;
	*next = arena_copy(lowering->queues.arena, &found, sizeof found);
	return true;
}

static bool same_place(const struct operand_box *a, const struct operand_box *b)
{
	return a->lx.address == b->lx.address && region_equal(&a->region, &b->region);
}

bool supply_move(struct lowering *lowering, struct supply *supply)
{
	const struct operand_box *next[PROGRAM_CORES_MOST];
	int count = supply->classes.count, list[PROGRAM_CORES_MOST];
	bool any = false;
	for (int k = 0; k < count; k++) {
		if (!find_next(lowering, supply, k, &next[k]))
			return false;
		if (!supply->fetched && next[k])
			supply->held[k].box = next[k];
	}
	for (int k = 0; supply->fetched && k < count; k++) {
		const struct operand_box *box = next[k];
		int members = 0;
		if (!box)
			continue;
		for (int j = k; j < (supply->may_meet ? count : k + 1); j++) {
			if (!next[j] || !same_place(box, next[j]))
				continue;
			list[members++] = j;
			next[j] = NULL;
		}
		fetch(lowering, supply, list, members, box);
		any = true;
	}
	supply->moves += any;
	return true;
}
