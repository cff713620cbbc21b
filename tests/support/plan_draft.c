#include "tests/support/plan_draft.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "tests/support/random_plan.h"

#include <string.h>

const struct tile_run *draft_run(const struct plan_draft *draft, int op)
{
	for (int r = 0; r < draft->run_count; r++)
		if (op >= draft->runs[r].first && op < draft->runs[r].end)
			return &draft->runs[r];
	return NULL;
}

uint32_t draft_readers(const struct workload *workload, int tensor)
{
	uint32_t readers = 0;
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < workload->ops[o].read_count; i++)
			if (workload->ops[o].reads[i].tensor == tensor)
				readers |= 1u << o;
	return readers;
}

/* --- a plan from its pieces */

struct making {
	const struct plan_draft *draft;
	struct arena *arena;
	struct growing growing;
	struct plan *plan;
	int op_steps[DRAFT_OPS_MOST], move_steps[DRAFT_MOVES_MOST];
	struct users users;
};

static int made_by(const struct making *making, int move)
{
	return (int)making->draft->workload->tensor_count + move;
}

static bool add_move(struct making *making, int m)
{
	const struct draft_move *move = &making->draft->moves[m];
	struct growing *growing = &making->growing;
	int readers[DRAFT_OPS_MOST];
	size_t count = 0;
	int tensor = move->from < 0 ? move->tensor : made_by(making, move->from);
	int producer = making->draft->workload->tensors[move->tensor].producer;
	if (move->from >= m ||
		(move->from >= 0 && making->draft->moves[move->from].tensor != move->tensor) ||
		producer >= move->before)
		return false;
	for (size_t o = growing->taken; o < making->draft->workload->op_count; o++)
		if (move->readers >> o & 1)
			readers[count++] = (int)o;
	const char *name = growing_name(growing, move->kind, move->tensor);
	growing_reserve(growing, name, made_by(making, m));
	making->move_steps[m] = (int)growing->workload->op_count;
	growing_move_for(growing, move->kind, tensor, made_by(making, m), name, readers, count);
	return true;
}

static bool make_workload(struct making *making)
{
	const struct plan_draft *draft = making->draft;
	int m = 0, ops = (int)draft->workload->op_count;
	making->growing = growing_open(making->arena, draft->workload, (size_t)draft->move_count);
	for (int o = 0; o <= ops; o++) {
		for (; m < draft->move_count && draft->moves[m].before == o; m++)
			if (!add_move(making, m))
				return false;
		if (o == ops)
			break;
		making->op_steps[o] = (int)making->growing.workload->op_count;
		growing_take(&making->growing);
	}
	making->growing.workload->tensor_count =
		draft->workload->tensor_count + (size_t)draft->move_count;
	return m == draft->move_count;
}

static void make_steps(struct making *making)
{
	const struct plan_draft *draft = making->draft;
	struct plan *plan = making->plan;
	int bundle = 0, m = 0;
	for (int o = 0, ops = (int)draft->workload->op_count; o <= ops; o++) {
		for (; m < draft->move_count && draft->moves[m].before == o; m++) {
			int step = making->move_steps[m];
			bundle += step > 0 && draft->moves[m].begins_bundle;
			plan->steps[step] = (struct step){.op = step, .bundle = bundle};
		}
		if (o == ops)
			break;
		int step = making->op_steps[o];
		const struct tile_run *run = draft_run(draft, o);
		bundle += step > 0 && draft->ops[o].begins_bundle && (!run || run->first == o);
		plan->steps[step] = (struct step){
			.op = step, .bundle = bundle, .mapping = draft->ops[o].mapping};
	}
	for (int r = 0; r < draft->run_count; r++) {
		struct tile_run *run = &plan->runs[plan->run_count++];
		*run = draft->runs[r];
		run->first = making->op_steps[draft->runs[r].first];
		run->end = making->op_steps[draft->runs[r].end - 1] + 1;
	}
}

/* The view of a stay by its rule; false where the op does not cut the tensor evenly. */
static bool find_view(const struct making *making, const struct residency *stay,
	const struct draft_stay *wanted, struct view *view)
{
	const struct plan *plan = making->plan;
	*view = wanted->view;
	if (wanted->rule == VIEW_GIVEN)
		return true;
	*view = (struct view){.cores = number_max(1, wanted->view.cores)};
	if (wanted->rule == VIEW_WHOLE)
		return true;
	int step = making->op_steps[wanted->op];
	const struct op *op = &making->draft->workload->ops[wanted->op];
	const struct op *now = &plan->workload->ops[step];
	int origin = stay->tensor;
	int tensors = (int)making->draft->workload->tensor_count;
	if (origin >= tensors)
		origin = making->draft->moves[origin - tensors].tensor;
	struct layout layout = plan_stay_layout(plan, stay);
	for (int i = 0; i < op_operands(op); i++)
		if (op_operand(op, i)->tensor == origin && op_is_tiled(now))
			return view_of_step(plan, step, i, &layout, making->arena, view);
	return false;
}

static bool add_stay(
	struct making *making, int tensor, const struct draft_stay *wanted, int in_place_of)
{
	struct plan *plan = making->plan;
	if (!wanted->in_lx)
		return true;
	struct residency *stay = &plan->residencies[plan->residency_count++];
	*stay = (struct residency){.tensor = tensor, .place = PLACE_LX, .in_place_of = in_place_of};
	plan_life(plan, &making->users, tensor, &stay->from, &stay->to);
	if (stay->from >= stay->to || !find_view(making, stay, wanted, &stay->view))
		return false;
	struct layout layout = plan_stay_layout(plan, stay);
	if (view_check(making->arena, &layout, &stay->view))
		return false;
	stay->size = view_bytes(&layout, &stay->view);
	return true;
}

/* By tensor. */
static bool make_stays(struct making *making)
{
	const struct plan_draft *draft = making->draft;
	making->users = users_make(making->arena, making->plan->workload);
	for (int t = 0; t < (int)draft->workload->tensor_count; t++) {
		int o = draft->workload->tensors[t].producer;
		if (o < 0 || o >= DRAFT_OPS_MOST)
			continue;
		const struct draft_op *op = &draft->ops[o];
		const struct op *now = &making->plan->workload->ops[making->op_steps[o]];
		int parent = op->in_place_of && op->in_place_of <= now->read_count
				     ? now->reads[op->in_place_of - 1].tensor
				     : -1;
		if (now->write_count == 1 && !add_stay(making, t, &op->stay, parent))
			return false;
	}
	for (int m = 0; m < draft->move_count; m++)
		if (!add_stay(making, made_by(making, m), &draft->moves[m].stay, -1))
			return false;
	return true;
}

static struct residency *stay_of(const struct plan *plan, int tensor)
{
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor)
			return &plan->residencies[i];
	return NULL;
}

/* A tensor takes over the bytes of one that dies there, in the same size; else it has its own. */
static void settle_in_place(struct plan *plan)
{
	for (int i = 0; i < plan->residency_count; i++) {
		struct residency *stay = &plan->residencies[i];
		const struct residency *parent =
			stay->in_place_of < 0 ? NULL : stay_of(plan, stay->in_place_of);
		if (!parent || parent->size != stay->size || parent->to != stay->from + 1)
			stay->in_place_of = -1;
	}
}

/* Moves need slices that their own loops can cut. */
static void divide_moves(struct making *making)
{
	const struct plan_draft *draft = making->draft;
	struct plan *plan = making->plan;
	for (int m = 0; m < draft->move_count; m++) {
		const struct draft_move *move = &draft->moves[m];
		struct step *step = &plan->steps[making->move_steps[m]];
		const struct op *op = &plan->workload->ops[making->move_steps[m]];
		const struct residency *stay = stay_of(plan,
			move->kind == MOVE_EVICT ? op->reads[0].tensor : op->writes[0].tensor);
		struct view whole = {.cores = 1};
		step->mapping =
			move_mapping(plan->arch, plan->workload, op, stay ? &stay->view : &whole);
		struct mapping_row *row = &step->mapping.rows[plan->arch->lx];
		for (int l = 0; l < op->loop_count && move->kind != MOVE_RELAYOUT; l++) {
			int64_t units = op_units(plan->workload, op, l) /
					mapping_split(plan->arch, &step->mapping, l);
			row->temporal[l] = 1;
			if (move->tiles[l] > 0 && units % move->tiles[l] == 0)
				row->temporal[l] = move->tiles[l];
			if (move->tiles[l])
				row->temporal_order[l] = move->order[l];
		}
	}
}

static bool overlaps_in_time(const struct residency *a, const struct residency *b)
{
	return a->from < b->to && b->from < a->to;
}

/* The end of the highest stay that stands in the way of one at an address; -1: none does. */
static int64_t find_obstacle(
	const struct plan *plan, const struct residency *stay, int64_t address, const bool *placed)
{
	int64_t end = -1;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *other = &plan->residencies[i];
		if (placed[i] && overlaps_in_time(stay, other) &&
			other->address < address + stay->size &&
			address < other->address + other->size)
			end = number_max(end, other->address + other->size);
	}
	return end;
}

static const struct residency *head_of(const struct plan *plan, const struct residency *stay)
{
	while (stay->in_place_of >= 0)
		stay = stay_of(plan, stay->in_place_of);
	return stay;
}

/* The whole chain of tensors that take over each other's bytes at one address. */
static bool place_chain(const struct plan *plan, const struct residency *head, bool *placed)
{
	int64_t alignment = arch_lx(plan->arch)->alignment, address = 0;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (head_of(plan, stay) != head)
			continue;
		int64_t end = find_obstacle(plan, stay, address, placed);
		if (end < 0)
			continue;
		address = number_align_up(end, alignment);
		i = -1; /* all of the chain again */
	}
	for (int i = 0; i < plan->residency_count; i++) {
		if (head_of(plan, &plan->residencies[i]) != head)
			continue;
		plan->residencies[i].address = address;
		placed[i] = true;
	}
	return address + head->size <= arch_lx_capacity(plan->arch);
}

/* Largest first. */
static bool pack(struct plan *plan)
{
	bool placed[DRAFT_OPS_MOST + DRAFT_MOVES_MOST] = {false};
	for (;;) {
		const struct residency *next = NULL;
		for (int i = 0; i < plan->residency_count; i++) {
			const struct residency *stay = &plan->residencies[i];
			if (!placed[i] && stay->in_place_of < 0 &&
				(!next || stay->size > next->size))
				next = stay;
		}
		if (!next)
			return true;
		if (!place_chain(plan, next, placed))
			return false;
	}
}

struct plan *draft_plan(const struct plan_draft *draft, struct arena *arena)
{
	struct making making = {.draft = draft, .arena = arena};
	if (!make_workload(&making))
		return NULL;
	int steps = (int)making.growing.workload->op_count;
	struct plan *plan = making.plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = draft->arch,
		.workload = making.growing.workload,
		.cores = draft->cores,
		.step_count = steps,
		.steps = arena_array(arena, struct step, steps),
		.residencies =
			arena_array(arena, struct residency, DRAFT_OPS_MOST + DRAFT_MOVES_MOST),
		.runs = arena_array(arena, struct tile_run, DRAFT_RUNS_MOST)};
	make_steps(&making);
	for (int r = 0; r < plan->run_count; r++) {
		int step;
		if (plan_run_misfit(arena, plan, r, &step))
			return NULL;
	}
	if (!make_stays(&making))
		return NULL;
	settle_in_place(plan);
	if (!pack(plan))
		return NULL;
	divide_moves(&making);
	return plan;
}

/* --- the pieces of a plan */

struct taking {
	const struct plan *plan;
	const struct workload *given;
	struct plan_draft *draft;
	struct arena *arena;
	int step_ops[DRAFT_OPS_MOST +
		     DRAFT_MOVES_MOST]; /* by step: its op of the workload; -1: a move */
};

/* The move that made a tensor; -1: it is one of the workload. */
static int move_that_made(const struct taking *taking, int tensor)
{
	int producer = taking->plan->workload->tensors[tensor].producer, move = -1;
	if (tensor < (int)taking->given->tensor_count)
		return -1;
	for (int s = 0; s <= producer; s++)
		move += taking->step_ops[s] < 0;
	return move;
}

static void take_stay(const struct taking *taking, int tensor, struct draft_stay *out)
{
	const struct residency *stay = stay_of(taking->plan, tensor);
	*out = (struct draft_stay){.rule = VIEW_GIVEN};
	for (int i = 0; i < taking->plan->residency_count; i++)
		if (taking->plan->residencies[i].tensor == tensor &&
			taking->plan->residencies[i].place == PLACE_LX)
			stay = &taking->plan->residencies[i];
	if (!stay || stay->place != PLACE_LX)
		return;
	out->in_lx = true;
	out->view = stay->view;
	if (!stay->view.part_count)
		out->rule = VIEW_WHOLE;
	struct layout layout = plan_stay_layout(taking->plan, stay);
	for (int s = 0; s < taking->plan->step_count; s++) {
		const struct op *op = &taking->plan->workload->ops[s];
		for (int i = 0; i < op_operands(op); i++) {
			struct view view;
			if (taking->step_ops[s] < 0 || op_operand(op, i)->tensor != tensor ||
				!op_is_tiled(op) ||
				!view_of_step(taking->plan, s, i, &layout, taking->arena, &view) ||
				!view_equal(&view, &stay->view) || view.cores != stay->view.cores)
				continue;
			out->rule = VIEW_OF_OP;
			out->op = taking->step_ops[s];
			return;
		}
	}
}

static void take_move(const struct taking *taking, int step, int before, struct draft_move *move)
{
	const struct plan *plan = taking->plan;
	const struct op *op = &plan->workload->ops[step];
	*move = (struct draft_move){.kind = op->move,
		.tensor = op->reads[0].tensor,
		.from = move_that_made(taking, op->reads[0].tensor),
		.before = before,
		.begins_bundle =
			step > 0 && plan->steps[step].bundle != plan->steps[step - 1].bundle};
	if (move->from >= 0)
		move->tensor = taking->draft->moves[move->from].tensor;
	for (int s = step + 1; s < plan->step_count; s++)
		for (int i = 0; i < plan->workload->ops[s].read_count; i++)
			if (plan->workload->ops[s].reads[i].tensor == op->writes[0].tensor &&
				taking->step_ops[s] >= 0)
				move->readers |= 1u << taking->step_ops[s];
	take_stay(taking, op->writes[0].tensor, &move->stay);
	for (int l = 0; l < op->loop_count; l++) {
		move->tiles[l] = plan->steps[step].mapping.rows[plan->arch->lx].temporal[l];
		move->order[l] = plan->steps[step].mapping.rows[plan->arch->lx].temporal_order[l];
	}
}

static void take_op(const struct taking *taking, int step, struct draft_op *out)
{
	const struct plan *plan = taking->plan;
	const struct op *op = &plan->workload->ops[step];
	*out = (struct draft_op){.mapping = plan->steps[step].mapping,
		.begins_bundle =
			step > 0 && plan->steps[step].bundle != plan->steps[step - 1].bundle};
	take_stay(taking, op->writes[0].tensor, &out->stay);
	const struct residency *stay = stay_of(plan, op->writes[0].tensor);
	for (int i = 0; stay && stay->place == PLACE_LX && i < op->read_count; i++)
		if (stay->in_place_of == op->reads[i].tensor)
			out->in_place_of = i + 1;
}

static bool number_steps(struct taking *taking)
{
	const struct workload *workload = taking->plan->workload;
	int op = 0;
	if (taking->given->op_count > DRAFT_OPS_MOST || taking->plan->run_count > DRAFT_RUNS_MOST ||
		workload->op_count > taking->given->op_count + DRAFT_MOVES_MOST)
		return false;
	for (int s = 0; s < (int)workload->op_count; s++) {
		bool is_move = workload->ops[s].move != MOVE_NONE;
		taking->step_ops[s] = is_move ? -1 : op++;
	}
	return op == (int)taking->given->op_count;
}

bool draft_take(const struct plan *plan, const struct workload *given, struct plan_draft *draft,
	struct arena *arena)
{
	struct taking taking = {.plan = plan, .given = given, .draft = draft, .arena = arena};
	*draft = (struct plan_draft){.arch = plan->arch, .workload = given, .cores = plan->cores};
	if (!number_steps(&taking))
		return false;
	for (int s = 0, op = 0; s < plan->step_count; s++) {
		if (taking.step_ops[s] < 0)
			take_move(&taking, s, op, &draft->moves[draft->move_count++]);
		else
			take_op(&taking, s, &draft->ops[op++]);
	}
	for (int r = 0; r < plan->run_count; r++) {
		struct tile_run *run = &draft->runs[draft->run_count++];
		*run = plan->runs[r];
		run->first = taking.step_ops[plan->runs[r].first];
		run->end = taking.step_ops[plan->runs[r].end - 1] + 1;
	}
	return true;
}
