
#include "base/arena.h"
#include "base/fatal.h"
#include "lower/graph/lower_step.h"
#include "model/graph/run.h"

#include <assert.h>
#include <inttypes.h>

/* `op` has the extents of the iteration. */
static void divide_loop(const struct plan *plan, int step, const struct op *op, int l,
	int64_t divisor, struct step_tiling *tiling)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	int64_t grain = op_grain(plan->workload, op, l);
	int64_t units = op_units(plan->workload, op, l) / mapping_split(plan->arch, mapping, l);
	tiling->factor[l] = mapping->rows[plan->arch->lx].temporal[l];
	tiling->extent[l] = op->loops[l].extent;
	tiling->share[l] = units * grain;
	tiling->span[l] = units / tiling->factor[l] * grain;
	int64_t split = mapping_split(plan->arch, mapping, l);
	for (int c = 0; c < tiling->cores; c++)
		tiling->start[c][l] = tiling->first[l] + c / divisor % split * tiling->share[l];
}

/* False when the tiles cannot be counted. */
static bool transfer_order_loops(
	const struct mapping_row *row, const struct op *op, struct step_tiling *tiling)
{
	tiling->tiles = tiling->passes = 1;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = row->temporal_order[i];
		tiling->order[i] = l;
		if (!number_mul(tiling->tiles, tiling->factor[l], &tiling->tiles))
			return false;
		if (op->loops[l].reduction)
			tiling->passes *= tiling->factor[l];
	}
	return true;
}

const char *tiling_make(const struct plan *plan, int step, int64_t iteration, struct arena *arena,
	struct step_tiling *tiling)
{
	const struct mapping *mapping = &plan->steps[step].mapping;
	const struct tile_run *run = plan_run(plan, step);
	struct arena_mark mark = arena_mark(arena);
	const struct op *whole = &plan->workload->ops[plan->steps[step].op];
	const struct op *op = run_op(arena, plan->workload, whole, run, iteration);
	bool moves = plan_is_move(plan, step) || plan_is_evict(plan, step);
	struct move move = moves ? move_find(plan, step) : (struct move){0};
	int64_t cores = moves ? move.cores : mapping_cores(plan->arch, mapping);
	if (cores > PROGRAM_CORES_MOST)
		return arena_format(arena, "op '%s' uses %" PRId64 " cores; a program can name %d",
			op->name, cores, PROGRAM_CORES_MOST);
	tiling->cores = (int)cores;
	tiling->loop_count = op->loop_count;
	tiling->reduction_split = mapping_reduction_split(plan->arch, op, mapping);
	for (int l = 0; l < op->loop_count; l++) {
		tiling->first[l] = run_part(plan->workload, whole, run, iteration, l).first;
		divide_loop(plan, step, op, l,
			moves ? move.divisor[l] : mapping_divisor(plan->arch, mapping, l), tiling);
	}
	if (!transfer_order_loops(&mapping->rows[plan->arch->lx], op, tiling))
		return arena_format(arena, "op '%s' has too many tiles", op->name);
	arena_release(arena, mark);
	return NULL;
}

uint32_t tile_next(const struct step_tiling *tiling, struct tile *tile)
{
	uint32_t moved = 0;
	tile->number++;
	for (int i = 0; i < tiling->loop_count; i++) {
		int l = tiling->order[i];
		if (tiling->factor[l] == 1)
			continue;
		moved |= UINT32_C(1) << l;
		if (++tile->at[l] < tiling->factor[l])
			return moved;
		tile->at[l] = 0;
	}
	return 0;
}

static bool starts_alike(const struct step_tiling *tiling, uint32_t loops, int a, int b)
{
	for (uint32_t m = loops; m; m &= m - 1) {
		int l = __builtin_ctz(m);
		if (tiling->start[a][l] != tiling->start[b][l])
			return false;
	}
	return true;
}

void tiling_group(const struct step_tiling *tiling, uint32_t loops, struct grouping *grouping)
{
	grouping->count = 0;
	for (int c = 0; c < tiling->cores; c++) {
		int k = 0;
		while (k < grouping->count && !starts_alike(tiling, loops, grouping->leader[k], c))
			k++;
		if (k == grouping->count) {
			grouping->leader[k] = c;
			grouping->mask[k] = 0;
			grouping->count++;
		}
		grouping->of[c] = k;
		grouping->mask[k] |= UINT64_C(1) << c;
	}
}

/* The loops between two levels of a nest, outermost first. */
struct loops_between {
	int count;
	struct {
		int level, loop;
	} at[ARCH_LEVELS_MOST * OP_LOOPS_MOST];
};

static bool inner_nest_keeps(const struct inner_nest *nest, int level, int space)
{
	const struct nest_level *at = &nest->hierarchy->levels[level];
	return at->storage && nest->mapping.residency[space] >> at->row & 1 &&
	       !(at->no_coalesce >> space & 1);
}

/* Lists the loops that run outside the tiles of a level, or of the multipliers: -1. */
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

/* True if instances that share sums send each its own: no_reuse (spatial) between two levels. */
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
 * True if a word of the output comes to the outermost level more often than once.  A sum
 * leaves the level below that keeps it when the innermost loop that moves its tile goes on, or
 * at every step where no tile is kept; so it comes again if a loop that does not
 * move the tile runs around that.
 */
static bool adds_up(const struct inner_nest *nest, int space)
{
	uint32_t relevant = nest->shape->spaces[space].relevant;
	int level = nest->hierarchy->level_count - 2;
	struct loops_between loops;
	while (level >= 0 && !inner_nest_keeps(nest, level, space))
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

enum { POOL_STEP = 256 };

void queue_open(struct queues *queues, enum engine engine, uint64_t mask)
{
	queues->engine = engine;
	queues->mask = mask;
	queues->need_count = 0;
}

static void queues_need(struct queues *queues, size_t number)
{
	queues->followed.at[number] = true;
	queues->needs[queues->need_count++] = (uint32_t)number;
}

void queue_need(struct queues *queues, int core, int64_t number)
{
	if (number < 0 || (size_t)number < queues->phase)
		return;
	assert((size_t)number < queues->list.count);
	const struct instruction *needed = &queues->list.at[number];
	if (!(needed->mask >> core & queues->mask >> core & 1))
		BUG("core %d is not in both masks", core);
	size_t *known = &queues->known[core][queues->engine][needed->engine];
	if (*known > (size_t)number)
		return;
	*known = (size_t)number + 1;
	queues_need(queues, (size_t)number);
}

static bool enter_queues(struct queues *queues, size_t number)
{
	bool follows = false;
	for (uint64_t m = queues->mask; m; m &= m - 1) {
		size_t *tail = &queues->tail[least_core(m)][queues->engine];
		if (*tail) {
			queues->followed.at[*tail - 1] = true;
			follows = true;
		}
		*tail = number + 1;
	}
	return follows;
}

static void sort_needs(struct queues *queues)
{
	for (size_t i = 1; i < queues->need_count; i++) {
		uint32_t number = queues->needs[i];
		size_t at = i;
		for (; at > 0 && queues->needs[at - 1] > number; at--)
			queues->needs[at] = queues->needs[at - 1];
		queues->needs[at] = number;
	}
}

/* Dependences are few and small: they lie close to each other. */
static const uint32_t *keep_needs(struct queues *queues)
{
	if (queues->need_count == 0)
		return NULL;
	if (queues->pool_left < queues->need_count) {
		queues->pool_left = number_max(POOL_STEP, (int64_t)queues->need_count);
		queues->pool = arena_array(queues->arena, uint32_t, queues->pool_left);
	}
	uint32_t *kept = queues->pool;
	memcpy(kept, queues->needs, queues->need_count * sizeof *kept);
	queues->pool += queues->need_count;
	queues->pool_left -= queues->need_count;
	return kept;
}

int64_t queue_close(struct queues *queues, int step, int tile, struct instruction **out)
{
	size_t number = queues->list.count;
	*array_add(queues->scratch, &queues->followed) = false;
	bool follows = queues->engine != ENGINE_SYNC && enter_queues(queues, number);
	if (!follows && queues->need_count == 0 && queues->sync >= 0)
		queues->needs[queues->need_count++] = (uint32_t)queues->sync;
	sort_needs(queues);
	struct instruction *instruction = array_add(queues->scratch, &queues->list);
	*instruction = (struct instruction){
		.engine = queues->engine,
		.step = step,
		.tile = tile,
		.mask = queues->mask,
		.dependence_count = (uint32_t)queues->need_count,
		.dependences = keep_needs(queues),
	};
	if (out)
		*out = instruction;
	return (int64_t)number;
}

void queue_sync(struct queues *queues, int step)
{
	uint64_t mask = 0;
	queue_open(queues, ENGINE_SYNC, 0);
	for (int c = 0; c < PROGRAM_CORES_MOST; c++) {
		for (int e = 0; e < QUEUE_COUNT; e++) {
			size_t tail = queues->tail[c][e];
			if (tail)
				mask |= UINT64_C(1) << c;
			if (tail && !queues->followed.at[tail - 1])
				queues_need(queues, tail - 1);
		}
	}
	queues->mask = mask;
	queues->sync = queue_close(queues, step, -1, NULL);
	queues->phase = queues->list.count;
	memset(queues->tail, 0, sizeof queues->tail);
	memset(queues->known, 0, sizeof queues->known);
}

void projection_make(const struct workload *workload, const struct op *op, int operand,
	struct operand_projection *projection)
{
	const struct access *access = op_operand(op, operand);
	projection->operand = operand;
	projection->tensor = access->tensor;
	projection->layout = &workload->tensors[access->tensor].layout;
	projection->access = access;
	projection->loops = 0;
	projection->term_count = 0;
	for (int h = 0; h < projection->layout->host_rank; h++) {
		for (int l = 0; l < op->loop_count; l++) {
			int64_t factor = access->host[h].coefficient[l];
			if (factor == 0)
				continue;
			projection->loops |= UINT32_C(1) << l;
			projection->terms[projection->term_count++] =
				(struct projection_term){h, l, factor};
		}
	}
}

static void host_box(const struct operand_projection *projection, const struct step_tiling *tiling,
	const struct tile *tile, int core, int64_t *low, int64_t *high)
{
	for (int h = 0; h < projection->layout->host_rank; h++)
		low[h] = high[h] = projection->access->host[h].offset;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		int64_t first = tile_first(tiling, tile, core, term->loop) * term->factor;
		int64_t length = (tile_count(tiling, tile, core, term->loop) - 1) * term->factor;
		low[term->host] += first + number_min(length, 0);
		high[term->host] += first + number_max(length, 0);
	}
	for (int h = 0; h < projection->layout->host_rank; h++)
		access_clip(
			projection->access, projection->layout->host_size[h], &low[h], &high[h]);
}

void projection_box(const struct operand_projection *projection, const struct step_tiling *tiling,
	const struct tile *tile, int core, struct region *box)
{
	int64_t low[LAYOUT_HOST_RANK_MOST], high[LAYOUT_HOST_RANK_MOST];
	const struct layout *layout = projection->layout;
	host_box(projection, tiling, tile, core, low, high);
	box->tensor = projection->tensor;
	box->rank = layout->rank - 1;
	box->sticks = 1;
	for (int d = 0; d < box->rank; d++) {
		int h = layout->host_dim[d];
		int64_t step = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		bool moves = layout->part[d] != PART_SYNTHETIC;
		box->first[d] = moves ? (int32_t)(low[h] / step) : 0;
		box->count[d] = moves ? (int32_t)(high[h] / step) - box->first[d] + 1 : 1;
		box->sticks *= box->count[d];
	}
}

bool projection_begins_at_sticks(
	const struct operand_projection *projection, const struct step_tiling *tiling)
{
	int stick = projection->layout->stick_dim, per_stick = projection->layout->per_stick;
	if (stick < 0)
		return true;
	int64_t begin = projection->access->host[stick].offset;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		if (term->host != stick)
			continue;
		if (tiling->span[term->loop] * term->factor % per_stick != 0 &&
			tiling->span[term->loop] < tiling->extent[term->loop])
			return false;
		begin += tiling->first[term->loop] * term->factor;
	}
	return begin % per_stick == 0;
}

/*
 * Boxes of two classes differ at their start when every dimension has at most
 * one divided loop and all begin at sticks.
 */
static bool projection_may_meet(
	const struct operand_projection *projection, const struct step_tiling *tiling)
{
	int divided[LAYOUT_HOST_RANK_MOST] = {0};
	if (projection->access->pad) /* two tiles of padding alone move the same edge */
		return true;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		if (tiling->share[term->loop] < tiling->extent[term->loop] &&
			++divided[term->host] > 1)
			return true;
	}
	return !projection_begins_at_sticks(projection, tiling);
}

struct region region_whole(const struct layout *layout, int tensor)
{
	struct region region = {
		.tensor = tensor, .rank = layout->rank - 1, .sticks = layout->sticks};
	for (int d = 0; d < region.rank; d++)
		region.count[d] = (int32_t)layout->size[d];
	return region;
}

struct location location_dense(const struct region *box, int64_t address, int64_t unit)
{
	struct location location = {.address = address};
	for (int d = box->rank - 1; d >= 0; d--) {
		location.stride[d] = unit;
		unit *= box->count[d];
	}
	return location;
}

struct location location_within(
	const struct region *box, int64_t address, const int64_t *size, const int64_t *origin)
{
	struct location location = {.address = address};
	int64_t stride = STICK_BYTES;
	for (int d = box->rank - 1; d >= 0; d--) {
		location.stride[d] = stride;
		location.address += (box->first[d] - origin[d]) * stride;
		stride *= size[d];
	}
	return location;
}

uint64_t holders_of(const struct view *view)
{
	uint64_t holders = 0;
	for (int c = 0; c < view->cores && c < PROGRAM_CORES_MOST; c++)
		if (view_holds(view, c))
			holders |= UINT64_C(1) << c;
	return holders;
}

void slices_make(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct slices *slices)
{
	struct layout layout = plan_stay_layout(plan, stay);
	slices->stay = stay;
	slices->holders = holders_of(&stay->view);
	for (int d = 0; d + 1 < layout.rank; d++) {
		int64_t first = plan_stay_first(plan, stay, iteration, d);
		slices->size[d] = view_size(&layout, &stay->view, d);
		for (int c = 0; c < stay->view.cores && c < PROGRAM_CORES_MOST; c++)
			slices->origin[c][d] = first + view_first(&layout, &stay->view, d, c);
	}
}

/* The first device dimension in which the box leaves the core's slice; -1: it does not. */
static int slices_miss(const struct slices *slices, const struct region *box, int core)
{
	for (int d = 0; d < box->rank; d++) {
		int64_t origin = slices->origin[core][d];
		if (box->first[d] < origin ||
			(int64_t)box->first[d] + box->count[d] > origin + slices->size[d])
			return d;
	}
	return -1;
}

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

/* Places the box that a class holds, or is about to fetch, in LX. */
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
static void lowering_fetch(struct lowering *lowering, struct supply *supply, const int *list,
	int count, const struct operand_box *box)
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
static bool lowering_find_next(
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
		if (!lowering_find_next(lowering, supply, k, &next[k]))
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
		lowering_fetch(lowering, supply, list, members, box);
		any = true;
	}
	supply->moves += any;
	return true;
}
