#include "search/graph/lx.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/run.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"

#include <inttypes.h>
#include <math.h>

/* pJ: what is below comes of adding in another order. */
static const double ENERGY_LEAST = 0.5;

enum { TRIAL_STEPS_MOST = 1000000, TRIAL_TICKS = 200000 };

struct lx_trying {
	const struct planning *planning;
	struct plan *plan; /* with the tensor in LX */
	struct users users;
	int tensor;
	struct residency *stay; /* of the tensor */
	struct arena *arena;
	struct outcome outcome; /* of the plan, priced and lowered */
};

/* --- the plan with one more stay */

/* One part at a time where only steps of one run use it. */
static bool find_view(
	const struct lx_trying *trial, int op, int operand, struct view *view, const char **why)
{
	const struct plan *plan = trial->plan;
	const struct op *part = plan_step_op(trial->arena, plan, op);
	const struct mapping *mapping = &plan->steps[op].mapping;
	struct workload workload = *plan->workload;
	struct tensor *tensors = arena_copy(
		trial->arena, workload.tensors, workload.tensor_count * sizeof *workload.tensors);
	tensors[trial->tensor].layout = plan_stay_layout(plan, trial->stay);
	workload.tensors = tensors;
	if (!lx_view(plan->arch, &workload, part, mapping, operand, trial->arena, view, why))
		return false;
	if (operand >= part->read_count)
		lx_leave_to_owners(plan->arch, part, mapping, view);
	return true;
}

static void take_view(struct lx_trying *trial, const struct view *view)
{
	struct layout layout = plan_stay_layout(trial->plan, trial->stay);
	trial->stay->view = *view;
	trial->stay->size = view_bytes(&layout, view);
}

/* The residency of a tensor, which every plan of a tensor in use has or gets. */
static struct residency *open_stay(struct lx_trying *trial)
{
	struct plan *plan = trial->plan;
	int at = 0;
	while (at < plan->residency_count && plan->residencies[at].tensor < trial->tensor)
		at++;
	bool known = at < plan->residency_count && plan->residencies[at].tensor == trial->tensor;
	struct residency *all =
		arena_array(trial->arena, struct residency, plan->residency_count + !known);
	for (int i = 0; i < plan->residency_count; i++)
		all[i + (!known && i >= at)] = plan->residencies[i];
	plan->residency_count += !known;
	plan->residencies = all;
	all[at] = (struct residency){.tensor = trial->tensor, .place = PLACE_LX, .in_place_of = -1};
	plan_life(plan, &trial->users, trial->tensor, &all[at].from, &all[at].to);
	return &all[at];
}

/* A copy of what must lie in HBM, right before its first reader or the run that reader is of, for all ops that
 * can use it in LX; false without any. */
static bool copy_first(struct lx_trying *trial)
{
	const struct plan *plan = trial->plan;
	const struct users *users = &trial->users;
	struct plan_wish wish = {.kind = MOVE_RELOAD, .tensor = trial->tensor, .before = -1};
	size_t first = users->first[trial->tensor], end = users->first[trial->tensor + 1];
	int *readers = arena_array(trial->arena, int, end - first);
	for (size_t i = first; i < end; i++) {
		const struct op *op = &plan->workload->ops[users->at[i].op];
		const struct tile_run *run = plan_run(plan, users->at[i].op);
		if (users->at[i].operand >= op->read_count || !op_is_tiled(op))
			continue;
		if (wish.before < 0)
			wish.before = run ? run->first : users->at[i].op;
		if (!wish.reader_count || readers[wish.reader_count - 1] != users->at[i].op)
			readers[wish.reader_count++] = users->at[i].op;
	}
	if (wish.before < 0)
		return false;
	wish.readers = readers;
	wish.stay.view = (struct view){.cores = 1};
	trial->plan = plan_with_moves(trial->arena, plan, &wish, 1);
	trial->tensor = (int)plan->workload->tensor_count;
	trial->users = users_make(trial->arena, trial->plan->workload);
	for (int i = 0; i < trial->plan->residency_count; i++)
		if (trial->plan->residencies[i].tensor == trial->tensor)
			trial->stay = &trial->plan->residencies[i];
	return true;
}

/* The move that makes it leaves on each core what the view says. */
static void divide_move(struct lx_trying *trial)
{
	const struct workload *workload = trial->plan->workload;
	int producer = workload->tensors[trial->tensor].producer;
	if (workload->ops[producer].move)
		trial->plan->steps[producer].mapping = move_mapping(
			trial->plan->arch, workload, &workload->ops[producer], &trial->stay->view);
}

/* --- whether every core finds what it uses */

/* Takes the view of one user after the other, the writer first, until the plan can be lowered; NULL, or what
 * broke with the first of them. */
static const char *choose_view(struct lx_trying *trial)
{
	const struct users *users = &trial->users;
	const struct workload *workload = trial->plan->workload;
	const char *first = NULL;
	for (size_t i = users->first[trial->tensor]; i < users->first[trial->tensor + 1]; i++) {
		const struct op *op = &workload->ops[users->at[i].op];
		const char *why = NULL;
		struct view view;
		if (op->move && users->at[i].operand >= op->read_count)
			continue;
		if (find_view(trial, users->at[i].op, users->at[i].operand, &view, &why)) {
			take_view(trial, &view);
			divide_move(trial);
			trial->outcome =
				evaluate_given(trial->plan, TRIAL_STEPS_MOST, trial->arena);
			why = trial->outcome.why;
			if (!why)
				return NULL;
		}
		first = first ? first : why;
	}
	return first;
}

/* --- whether there is room */

/* LX: stays by number, then the staging tiles of broadcasts where they are. */
struct lx_room {
	struct packing packing;
	struct buffer *buffers;
	int *stays; /* by buffer: its residency */
	size_t stay_count;
};

/* A map may leave its output where it read: what the plan says, and what trial and planning allow. */
static void add_parents(const struct lx_trying *trial, struct lx_room *room, size_t child)
{
	const struct plan *plan = trial->plan;
	const struct residency *stay = &plan->residencies[room->stays[child]];
	const struct op *op = &plan->workload->ops[plan->workload->tensors[stay->tensor].producer];
	int *parents = arena_array(trial->arena, int, room->stay_count);
	size_t count = 0;
	for (size_t b = 0; b < room->stay_count; b++) {
		const struct residency *parent = &plan->residencies[room->stays[b]];
		bool given = stay->in_place_of == parent->tensor;
		bool tried = stay->tensor == trial->tensor || parent->tensor == trial->tensor;
		bool may = tried && b != child && parent->to == stay->from + 1 &&
			   parent->size == stay->size && view_equal(&parent->view, &stay->view) &&
			   name_list_has(&trial->planning->in_place, op->type) &&
			   !plan_in_place_misfit(
				   trial->arena, plan, &trial->users, stay->tensor, parent->tensor);
		if (given || may)
			parents[count++] = (int)b;
	}
	room->buffers[child].parents = parents;
	room->buffers[child].parent_count = count;
}

static void add_staging(const struct lx_trying *trial, struct lx_room *room)
{
	for (int step = 0; step < trial->plan->step_count; step++) {
		const struct staging *staging = trial->plan->steps[step].staging;
		for (int k = 0; staging && k < staging->count; k++)
			room->buffers[room->packing.count++] =
				(struct buffer){.name = "staging tile",
					.size = staging_bytes(staging),
					.start = step,
					.end = step + 1,
					.is_fixed = true,
					.address = staging->addresses[k]};
	}
}

static struct lx_room open_room(const struct lx_trying *trial)
{
	const struct plan *plan = trial->plan;
	size_t most = (size_t)plan->residency_count;
	for (int step = 0; step < plan->step_count; step++)
		most += plan->steps[step].staging ? (size_t)plan->steps[step].staging->count : 0;
	struct lx_room room = {.buffers = arena_array(trial->arena, struct buffer, most),
		.stays = arena_array(trial->arena, int, most)};
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (stay->place != PLACE_LX)
			continue;
		room.stays[room.stay_count] = i;
		room.buffers[room.stay_count++] =
			(struct buffer){.name = plan->workload->tensors[stay->tensor].name,
				.size = stay->size,
				.start = stay->from,
				.end = stay->to,
				.has_hint = stay->tensor != trial->tensor,
				.hint = stay->address};
	}
	room.packing = (struct packing){
		.capacity = number_min(arch_lx_capacity(plan->arch), trial->planning->lx_capacity),
		.alignment = arch_lx(plan->arch)->alignment,
		.count = room.stay_count,
		.goal = PACKING_FIT,
		.buffers = room.buffers};
	for (size_t b = 0; b < room.stay_count; b++)
		add_parents(trial, &room, b);
	add_staging(trial, &room);
	return room;
}

/* The step of the tensor's life in which most bytes lie in LX at least, and how many: a child that may take a
 * parent's place is counted as if it did. */
static int64_t fullest_step(const struct lx_trying *trial, const struct lx_room *room, int *fullest)
{
	int64_t most = 0;
	for (int step = trial->stay->from; step < trial->stay->to; step++) {
		int64_t load = 0;
		for (size_t b = 0; b < room->packing.count; b++) {
			const struct buffer *buffer = &room->buffers[b];
			bool lies = buffer->start <= step && step < buffer->end;
			bool takes = buffer->start == step && buffer->parent_count;
			load += lies && !takes ? buffer->size : 0;
		}
		if (load > most) {
			most = load;
			*fullest = step;
		}
	}
	return most;
}

static const char *find_addresses(struct lx_trying *trial)
{
	struct lx_room room = open_room(trial);
	int step = 0;
	int64_t load = fullest_step(trial, &room, &step), capacity = room.packing.capacity;
	if (load > capacity)
		return arena_format(trial->arena,
			"in step '%s' LX would hold %" PRId64 " bytes on a core, %" PRId64
			" more than its %" PRId64,
			trial->plan->workload->ops[trial->plan->steps[step].op].name, load,
			load - capacity, capacity);
	const struct solver *solver = solver_for(STAGE_PLACE, FOR_PACKINGS);
	struct problem problem = {.stage = STAGE_PLACE, .op = -1, .packing = &room.packing};
	struct answer answer = solve(solver, &problem, TRIAL_TICKS, 0, trial->arena);
	if (!answer.candidate_count)
		return arena_format(trial->arena,
			answer.status == PROOF_INFEASIBLE
				? "no addresses: its %" PRId64
				  " bytes on a core do not fit beside what else is in LX, though no step has "
				  "more than its %" PRId64
				: "its %" PRId64
				  " bytes on a core found no addresses among the %" PRId64
				  " of LX within the ticks of a trial",
			trial->stay->size, capacity);
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	for (size_t b = 0; b < room.stay_count; b++) {
		struct residency *stay = &trial->plan->residencies[room.stays[b]];
		int parent = placement->in_place_of[b];
		stay->address = placement->addresses[b];
		stay->in_place_of =
			parent < 0 ? -1 : trial->plan->residencies[room.stays[parent]].tensor;
	}
	return NULL;
}

/* --- what it gains */

static void add_change(struct text *text, enum amount kind, double change, const char *of)
{
	if (fabs(change) >= ENERGY_LEAST)
		text_add(text, ", %s%s %s", amount_text(text->arena, kind, fabs(change)), of,
			change < 0 ? "less" : "more");
}

static const char *compare_prices(const struct lx_trying *trial, const struct outcome *before)
{
	bool estimate = trial->planning->price == PRICE_ESTIMATE;
	const struct score *old = &before->cost.score, *new = &trial->outcome.cost.score;
	int64_t least = estimate ? old->estimate_cycles : old->cycles;
	int64_t cycles = (estimate ? new->estimate_cycles : new->cycles) - least;
	int64_t bytes = new->hbm_bytes - old->hbm_bytes;
	double energy = new->energy_pj - old->energy_pj;
	struct text text = text_open(trial->arena);
	text_add(&text, "it would fit, with ");
	if (cycles)
		text_add(&text, "%" PRId64 " cycles %s (%.1f %%)", number_max(cycles, -cycles),
			cycles < 0 ? "less" : "more", 100 * fabs((double)cycles) / (double)least);
	else
		text_add(&text, "as many cycles");
	add_change(&text, AMOUNT_ENERGY, energy, "");
	add_change(&text, AMOUNT_BYTES, (double)bytes, " of HBM");
	if (!cycles && !bytes && fabs(energy) < ENERGY_LEAST)
		text_add(&text, ": nothing is gained");
	return text_read(&text);
}

/* Returns the first rule that the plan breaks, in the order in which rules can be checked; NULL: none. */
static const char *find_break(struct lx_trying *trial)
{
	const char *why = plan_stay_misfit(trial->arena, trial->plan, &trial->users, trial->stay);
	if (why)
		return why;
	why = choose_view(trial);
	if (why)
		return arch_moves_boxes(trial->plan->arch)
			       ? arena_format(trial->arena, "the view is illegal: %s", why)
			       : why;
	why = find_addresses(trial);
	if (why)
		return why;
	struct plan_faults faults = plan_check(trial->plan, trial->arena);
	if (faults.count)
		return faults.at[0].why;
	graph_check(trial->planning->constraints, trial->plan, trial->arena, &why);
	return why;
}

struct lx_trial lx_try(
	const struct plan *plan, const struct planning *planning, int tensor, struct arena *arena)
{
	const struct tensor *at = &plan->workload->tensors[tensor];
	struct lx_trying trial = {.planning = planning,
		.plan = plan_copy(arena, plan, plan->workload),
		.users = users_make(arena, plan->workload),
		.tensor = tensor,
		.arena = arena};
	if (plan->arch->lx < 0)
		return (struct lx_trial){"the machine has no scratchpad for it", NULL};
	if (at->producer >= 0 && plan->workload->ops[at->producer].move == MOVE_EVICT)
		return (struct lx_trial){"the plan evicts it here", NULL};
	if (at->role == TENSOR_INPUT && !arch_moves_boxes(plan->arch))
		return (struct lx_trial){"it is an input, and lies in HBM", NULL};
	if (at->role == TENSOR_INTERMEDIATE)
		trial.stay = open_stay(&trial);
	else if (!copy_first(&trial))
		return (struct lx_trial){at->role == TENSOR_OUTPUT
						 ? "an output that no op reads: it must end in HBM"
						 : "no op could read it in LX",
			NULL};
	const char *why = find_break(&trial);
	if (why)
		return (struct lx_trial){why, NULL};
	trial.outcome = evaluate_given(trial.plan, TRIAL_STEPS_MOST, arena);
	if (trial.outcome.why)
		return (struct lx_trial){trial.outcome.why, NULL};
	struct outcome before = evaluate_cost(plan, arena);
	return (struct lx_trial){compare_prices(&trial, &before), trial.plan};
}

enum { START_STEPS_MOST = 1000000 };

/* The constraints without those of LX, whose tensors are listed. */
static struct constraints trial_leave_out(
	const struct constraints *constraints, struct text *tensors, struct arena *arena)
{
	struct constraints rest = *constraints;
	rest.at = arena_array(arena, struct constraint, constraints->count);
	rest.count = 0;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (graph_asks_lx(constraint))
			text_add(tensors, "%s'%s'", *text_read(tensors) ? ", " : "",
				constraint->subject);
		else
			rest.at[rest.count++] = *constraint;
	}
	return rest;
}

/* Puts each tensor that must be in LX there; NULL if one cannot be. */
static const struct plan *put_into_lx(const struct plan *plan, const struct planning *planning,
	const struct constraints *constraints, struct arena *arena)
{
	for (size_t i = 0; plan && i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (!graph_asks_lx(constraint) || !graph_check_one(constraints, i, plan, arena))
			continue;
		int tensor = workload_tensor(plan->workload, constraint->subject);
		plan = tensor < 0 ? NULL : lx_try(plan, planning, tensor, arena).plan;
	}
	const char *why = NULL;
	if (!plan || graph_check(constraints, plan, arena, &why) ||
		evaluate_given(plan, START_STEPS_MOST, arena).why)
		return NULL;
	return plan;
}

struct lx_price lx_price_find(const struct recipe *recipe, struct arena *arena)
{
	struct lx_price price = {0};
	const struct constraints *constraints = recipe->planning.constraints;
	if (!constraints)
		return price;
	struct text tensors = text_open(arena);
	struct constraints rest = trial_leave_out(constraints, &tensors, arena);
	if (rest.count == constraints->count)
		return price;
	price.tensors = text_read(&tensors);
	struct recipe asked = *recipe;
	asked.planning.constraints = &rest;
	price.free = recipe_plan(&asked, arena).plan;
	if (price.free)
		price.start = put_into_lx(price.free, &asked.planning, constraints, arena);
	return price;
}
