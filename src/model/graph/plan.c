#include "model/graph/plan.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "model/machine/topology.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct sliding sliding_make(const struct layout *layout)
{
	int dims = layout->rank - 1;
	struct sliding sliding = {.row_dim = -1, .stick_dim = dims - 1, .rows = 1};
	int64_t most = 0;
	for (int a = dims - 1; a >= 0; a--)
		for (int b = dims - 1; b > a; b--)
			if (layout->size[a] * layout->size[b] > most) {
				most = layout->size[a] * layout->size[b];
				sliding.row_dim = a;
				sliding.stick_dim = b;
			}
	if (sliding.row_dim >= 0)
		sliding.rows = layout->size[sliding.row_dim];
	sliding.sticks = layout->size[sliding.stick_dim];
	sliding.outer = layout->sticks / (sliding.rows * sliding.sticks);
	return sliding;
}

int64_t staging_bytes(const struct staging *staging)
{
	return staging->rows * staging->sticks * STICK_BYTES;
}

bool staging_is_whole(const struct sliding *sliding, const struct staging *staging)
{
	return staging->sticks == sliding->sticks &&
	       staging->rows == sliding->outer * sliding->rows;
}

int64_t staging_chunks(const struct sliding *sliding, const struct staging *staging)
{
	if (staging_is_whole(sliding, staging))
		return 1;
	return sliding->outer * number_ceil_div(sliding->rows, staging->rows) *
	       number_ceil_div(sliding->sticks, staging->sticks);
}

const char *staging_check(
	struct arena *arena, const struct layout *layout, const struct staging *staging)
{
	struct sliding sliding = sliding_make(layout);
	if (staging->rows < 1 || staging->sticks < 1)
		return "a staging tile has at least one row and one stick";
	if (staging->sticks > sliding.sticks ||
		(staging->rows > sliding.rows && !staging_is_whole(&sliding, staging)))
		return arena_format(arena,
			"a staging tile has at most %" PRId64 " rows of %" PRId64
			" sticks, or all %" PRId64 " x %" PRId64,
			sliding.rows, sliding.sticks, sliding.outer * sliding.rows, sliding.sticks);
	int64_t chunks = staging_chunks(&sliding, staging);
	if (staging->count < 1 || staging->count > STAGING_MOST)
		return arena_format(arena, "a broadcast has 1 to %d staging tiles", STAGING_MOST);
	if (staging->count > chunks)
		return arena_format(arena, "it has %d staging tiles for %" PRId64 " chunk%s",
			staging->count, chunks, chunks == 1 ? "" : "s");
	return NULL;
}

const char *broadcast_misfit(struct arena *arena, const struct arch *arch, const struct op *op)
{
	if (arch->ranks < 2)
		return arena_format(arena,
			"broadcast '%s' needs several ranks; '%s' has one ('ranks' of its "
			"outermost container says how many)",
			op->name, arch->name);
	if (op->root >= arch->ranks)
		return arena_format(arena,
			"broadcast '%s' has rank %d as its root; '%s' has ranks 0 to %" PRId64,
			op->name, op->root, arch->name, arch->ranks - 1);
	return NULL;
}

bool broadcasts_fit(const struct arch *arch, const struct workload *workload, struct diag *diag)
{
	struct arena *arena = arena_open();
	bool fit = true;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		const char *why = op->primitive->kind == OP_BROADCAST
					  ? broadcast_misfit(arena, arch, op)
					  : NULL;
		if (why)
			diag_error(diag, op->span, "%s", why);
		fit &= !why;
	}
	arena_close(arena);
	return fit;
}

int workload_ranks(const struct workload *workload, const struct arch *arch)
{
	return workload_has_broadcast(workload) ? (int)arch->ranks : 1;
}

const struct topology *arch_topology(struct arena *arena, const struct arch *arch, int root)
{
	return topology_make(arena, arch->copying.topology, arch->copying.ports, (int)arch->ranks,
		root, arch->rank_columns);
}

/* The first stay that is not of a lower tensor. */
static int first_stay(const struct plan *plan, int tensor)
{
	size_t at;
	bisect(at, 0, plan->residency_count, plan->residencies[at].tensor < tensor);
	return (int)at;
}

const struct residency *plan_lx(const struct plan *plan, int tensor, int step)
{
	for (int i = first_stay(plan, tensor); i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		if (stay->tensor != tensor)
			break;
		if (stay->place == PLACE_LX && stay->from <= step && step < stay->to)
			return stay;
	}
	return NULL;
}

bool plan_is_argument(const struct plan *plan, int step, int operand)
{
	const struct workload *workload = plan->workload;
	const struct op *op = &workload->ops[plan->steps[step].op];
	int tensor = op_operand(op, operand)->tensor;
	bool is_made = operand >= op->read_count;
	return !plan_lx(plan, tensor, step) && !(is_made && workload->tensors[tensor].copy_of);
}

bool op_copies_sticks(const struct workload *workload, const struct op *op)
{
	if (op->primitive != &primitive_clone)
		return false;
	const struct access *from = &op->reads[0], *to = &op->writes[0];
	const struct layout *a = &workload->tensors[from->tensor].layout;
	const struct layout *b = &workload->tensors[to->tensor].layout;
	return a->dtype == b->dtype && layout_equal(a, b) &&
	       access_equal(op, from, to, a->host_rank);
}

/* Copies sticks from HBM, or from LX, to HBM or LX. */
static bool plan_copies_tensor(const struct plan *plan, int step, bool from_lx, bool to_lx)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	return op_copies_sticks(plan->workload, op) &&
	       !plan_lx(plan, op->reads[0].tensor, step) != from_lx &&
	       !plan_lx(plan, op->writes[0].tensor, step) != to_lx;
}

bool plan_is_evict(const struct plan *plan, int step)
{
	return plan->workload->ops[plan->steps[step].op].move == MOVE_EVICT &&
	       plan_copies_tensor(plan, step, true, false);
}

bool plan_is_relayout(const struct plan *plan, int step)
{
	return plan->workload->ops[plan->steps[step].op].move == MOVE_RELAYOUT &&
	       plan_copies_tensor(plan, step, true, true);
}

bool plan_is_move(const struct plan *plan, int step)
{
	return plan_copies_tensor(plan, step, false, true);
}

bool plan_only_moves(const struct plan *plan, int step)
{
	return plan_is_move(plan, step) || plan_is_evict(plan, step) ||
	       plan_is_relayout(plan, step);
}

bool plan_joins_next(const struct plan *plan, int step)
{
	return step + 1 < plan->step_count && plan_is_move(plan, step) &&
	       plan->steps[step].bundle == plan->steps[step + 1].bundle &&
	       !plan->steps[step + 1].staging && !plan_is_relayout(plan, step + 1) &&
	       !plan_is_evict(plan, step + 1) && !plan_run(plan, step) && !plan_run(plan, step + 1);
}

/* Cores that a step takes: of a relayout those of the view with more slices. */
static int64_t plan_run_width(const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	int64_t width = mapping_cores(plan->arch, &plan->steps[step].mapping);
	if (!plan_is_relayout(plan, step))
		return width;
	const struct residency *from = plan_lx(plan, op->reads[0].tensor, step);
	struct mapping held = move_mapping(plan->arch, plan->workload, op, &from->view);
	return number_max(width, mapping_cores(plan->arch, &held));
}

bool plan_overhead(const struct plan *plan, int64_t *cycles)
{
	const struct arch *arch = plan->arch;
	*cycles = 0;
	for (int step = 0; step < plan->step_count;) {
		int64_t widest = 0, bundle_cycles;
		int bundle = plan->steps[step].bundle;
		for (; step < plan->step_count && plan->steps[step].bundle == bundle; step++)
			widest = number_max(widest, plan_run_width(plan, step));
		if (!number_mul(widest, arch->core_cycles, &bundle_cycles) ||
			!number_add(bundle_cycles, arch->bundle_cycles, &bundle_cycles) ||
			!number_add(*cycles, bundle_cycles, cycles))
			return false;
	}
	return true;
}

/* Moves and what they make have names of their own. */
static const struct workload *copy_workload(
	struct arena *arena, const struct workload *workload, const struct workload *given)
{
	struct workload *copy = arena_copy(arena, workload, sizeof *workload);
	struct tensor *tensors =
		arena_copy(arena, workload->tensors, workload->tensor_count * sizeof *tensors);
	struct op *ops = arena_copy(arena, workload->ops, workload->op_count * sizeof *ops);
	for (size_t t = given->tensor_count; t < workload->tensor_count; t++)
		tensors[t].name = arena_text(arena, tensors[t].name);
	for (size_t o = 0; o < workload->op_count; o++) {
		struct op *op = &ops[o];
		if (!op->move)
			continue;
		op->name = arena_text(arena, op->name);
		op->writes = arena_copy(arena, op->writes, sizeof *op->writes);
		for (int l = 0; l < op->loop_count; l++)
			op->loops[l].name = arena_text(arena, op->loops[l].name);
	}
	copy->tensors = tensors;
	copy->ops = ops;
	return copy;
}

struct plan *plan_copy(struct arena *arena, const struct plan *plan, const struct workload *given)
{
	struct plan *copy = arena_copy(arena, plan, sizeof *plan);
	copy->workload = copy_workload(arena, plan->workload, given);
	copy->steps =
		arena_copy(arena, plan->steps, (size_t)plan->step_count * sizeof *plan->steps);
	for (int s = 0; s < plan->step_count; s++)
		if (plan->steps[s].staging)
			copy->steps[s].staging = arena_copy(
				arena, plan->steps[s].staging, sizeof *plan->steps[s].staging);
	copy->residencies = arena_copy(arena, plan->residencies,
		(size_t)plan->residency_count * sizeof *plan->residencies);
	copy->runs = arena_copy(arena, plan->runs, (size_t)plan->run_count * sizeof *plan->runs);
	return copy;
}

/* A move that is asked for, and its place in the new plan. */
struct granted {
	const struct plan_wish *wish;
	int tensor; /* its number */
	const char *name;
};

struct plan_moving {
	const struct plan *given;
	struct plan *plan;
	struct growing growing;
	int *stays; /* by tensor: its residency, plus 1 */
};

/* By step; of one step as the header says. */
static int compare_granted(const void *left, const void *right)
{
	const struct granted *a = left, *b = right;
	if (a->wish->before != b->wish->before)
		return a->wish->before < b->wish->before ? -1 : 1;
	if ((a->wish->kind == MOVE_EVICT) != (b->wish->kind == MOVE_EVICT))
		return a->wish->kind == MOVE_EVICT ? -1 : 1;
	int order = a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
	return a->wish->kind == MOVE_EVICT ? -order : order;
}

static struct granted *plan_moving_grant(
	struct plan_moving *moving, const struct plan_wish *wishes, size_t count)
{
	struct growing *growing = &moving->growing;
	struct granted *granted = arena_array(growing->arena, struct granted, count);
	for (size_t i = 0; i < count; i++) {
		int tensor = (int)(moving->given->workload->tensor_count + i);
		const char *name = growing_name(growing, wishes[i].kind, wishes[i].tensor);
		granted[i] = (struct granted){&wishes[i], tensor, name};
		growing_reserve(growing, name, tensor);
	}
	qsort(granted, count, sizeof *granted, compare_granted);
	return granted;
}

static void copy_stays(struct plan_moving *moving)
{
	const struct plan *given = moving->given;
	for (int i = 0; i < given->residency_count; i++) {
		moving->plan->residencies[i] = given->residencies[i];
		moving->stays[given->residencies[i].tensor] = i + 1;
	}
}

/* By the steps that they have now, which are those of the given plan with moves between them. */
static void shift_runs(struct plan_moving *moving, const struct granted *granted, int count)
{
	for (int r = 0; r < moving->plan->run_count; r++) {
		struct tile_run *run = &moving->plan->runs[r];
		int before_first = 0, before_last = 0;
		while (before_last < count && granted[before_last].wish->before <= run->end - 1)
			before_first += granted[before_last++].wish->before <= run->first;
		run->first += before_first;
		run->end += before_last;
	}
}

static void plan_moving_add_move(
	struct plan_moving *moving, const struct granted *granted, int bundle)
{
	struct plan *plan = moving->plan;
	const struct plan_wish *wish = granted->wish;
	int step = plan->step_count++, tensor = moving->growing.now[wish->tensor];
	int number = granted->tensor - (int)moving->given->workload->tensor_count;
	int slot = moving->given->residency_count + number;
	struct residency *stay = &plan->residencies[slot], none = {.to = 0};
	struct residency *old =
		moving->stays[tensor] ? &plan->residencies[moving->stays[tensor] - 1] : &none;
	if (wish->kind != MOVE_RELOAD && old->place != PLACE_LX)
		BUG("tensor %d is not in LX", tensor);
	*stay = (struct residency){.tensor = granted->tensor, .in_place_of = -1};
	if (wish->kind != MOVE_EVICT) {
		stay->place = PLACE_LX;
		stay->view = wish->stay.view;
		stay->address = wish->stay.address;
		stay->size = wish->stay.size;
	}
	moving->stays[granted->tensor] = slot + 1;
	if (wish->readers)
		growing_move_for(&moving->growing, wish->kind, tensor, granted->tensor,
			granted->name, wish->readers, wish->reader_count);
	else
		growing_move(&moving->growing, wish->kind, tensor, granted->tensor, granted->name);
	plan->steps[step] = (struct step){.op = step,
		.bundle = bundle,
		.mapping = move_mapping(plan->arch, moving->growing.workload,
			&moving->growing.workload->ops[step],
			wish->kind == MOVE_EVICT ? &old->view : &stay->view)};
}

/* Every stay is of all of its tensor's life. */
static void end_stays(struct plan_moving *moving)
{
	struct plan *plan = moving->plan;
	struct users users = users_make(moving->growing.arena, plan->workload);
	for (int i = 0; i < plan->residency_count; i++) {
		struct residency *stay = &plan->residencies[i];
		plan_life(plan, &users, stay->tensor, &stay->from, &stay->to);
	}
}

struct plan *plan_with_moves(
	struct arena *arena, const struct plan *given, const struct plan_wish *wishes, size_t count)
{
	int moves = (int)count, steps = given->step_count;
	struct plan *plan = arena_copy(arena, given, sizeof *given);
	struct plan_moving moving = {.given = given,
		.plan = plan,
		.growing = growing_open(arena, given->workload, count),
		.stays = arena_array(arena, int, given->workload->tensor_count + count)};
	plan->workload = moving.growing.workload;
	plan->steps = arena_array(arena, struct step, steps + moves);
	plan->residencies = arena_array(arena, struct residency, given->residency_count + moves);
	plan->runs = arena_copy(arena, given->runs, (size_t)given->run_count * sizeof *given->runs);
	const struct granted *granted = plan_moving_grant(&moving, wishes, count);
	copy_stays(&moving);
	plan->step_count = 0;
	for (int o = 0, i = 0; o <= steps; o++) {
		int bundle = given->steps[o < steps ? o : o - 1].bundle;
		for (; i < moves && granted[i].wish->before == o; i++)
			plan_moving_add_move(&moving, &granted[i], bundle);
		if (o == steps)
			break;
		growing_take(&moving.growing);
		plan->steps[plan->step_count] = given->steps[o];
		plan->steps[plan->step_count].op = plan->step_count;
		plan->step_count++;
	}
	assert(growing_is_whole(&moving.growing));
	plan->residency_count = given->residency_count + moves;
	shift_runs(&moving, granted, moves);
	end_stays(&moving);
	return plan;
}

const char *const traffic_names[] = {
	[TRAFFIC_HBM_READ] = "hbm_read",
	[TRAFFIC_HBM_WRITE] = "hbm_write",
	[TRAFFIC_LX_FILL] = "lx_fill",
	[TRAFFIC_LX_DRAIN] = "lx_drain",
	[TRAFFIC_LX_READ] = "lx_read",
	[TRAFFIC_LX_WRITE] = "lx_write",
	[TRAFFIC_RING] = "ring",
	[TRAFFIC_DATA_RING] = "data_ring",
	[TRAFFIC_LINK] = "link",
	[TRAFFIC_COUNT] = NULL,
};

static bool steps_equal(const struct step_count *a, const struct step_count *b)
{
	for (int i = 0; i <= OP_READS_MOST; i++) {
		for (int t = 0; t < TRAFFIC_COUNT; t++) {
			if (a->bytes[i][t] != b->bytes[i][t])
				return false;
		}
	}
	if (!a->nests || !b->nests)
		return a->computes == b->computes && a->nests == b->nests;
	return a->computes == b->computes && nest_totals_equal(a->nests, b->nests);
}

bool counts_equal(const struct counts *a, const struct counts *b)
{
	if (a->step_count != b->step_count)
		return false;
	for (int s = 0; s < a->step_count; s++) {
		if (!steps_equal(&a->steps[s], &b->steps[s]))
			return false;
	}
	return true;
}

static bool counts_add_up(const struct counts *counts, enum traffic traffic, int64_t *total)
{
	*total = 0;
	for (int s = 0; s < counts->step_count; s++)
		for (int i = 0; i <= OP_READS_MOST; i++)
			if (!number_add(*total, counts->steps[s].bytes[i][traffic], total))
				return false;
	return true;
}

bool counts_fit(const struct counts *counts)
{
	int64_t total;
	for (int t = 0; t < TRAFFIC_COUNT; t++)
		if (!counts_add_up(counts, (enum traffic)t, &total))
			return false;
	return true;
}

int64_t counts_total(const struct counts *counts, enum traffic traffic)
{
	int64_t total;
	if (!counts_add_up(counts, traffic, &total))
		BUG("more %s bytes than an int64_t counts", traffic_names[traffic]);
	return total;
}

struct plan_arguments plan_arguments_open(const struct plan *plan, struct arena *arena)
{
	size_t tensors = plan->workload->tensor_count;
	return (struct plan_arguments){.plan = plan,
		.tensors = arena_array(arena, int, tensors),
		.lists = arena_array(arena, int, tensors),
		.list = 1};
}

void plan_arguments_clear(struct plan_arguments *arguments)
{
	arguments->count = 0;
	arguments->list++;
}

void plan_arguments_add(struct plan_arguments *arguments, int first, int end)
{
	const struct plan *plan = arguments->plan;
	for (int step = first; step < end; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op_operands(op); i++) {
			int home = tensor_home(plan->workload, op_operand(op, i)->tensor);
			if (arguments->lists[home] == arguments->list ||
				!plan_is_argument(plan, step, i))
				continue;
			arguments->lists[home] = arguments->list;
			arguments->tensors[arguments->count++] = home;
		}
	}
}
