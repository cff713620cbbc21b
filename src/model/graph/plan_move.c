#include "model/graph/plan_move.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/move.h"
#include "model/graph/run.h"
#include "model/graph/workload_move.h"

#include <stdlib.h>
#include <string.h>

/* A wish, and what becomes of it. */
struct granted {
	const struct plan_wish *wish;
	int tensor; /* its number */
	const char *name;
};

struct moving {
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

static struct granted *grant(struct moving *moving, const struct plan_wish *wishes, size_t count)
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

static void copy_stays(struct moving *moving)
{
	const struct plan *given = moving->given;
	for (int i = 0; i < given->residency_count; i++) {
		moving->plan->residencies[i] = given->residencies[i];
		moving->stays[given->residencies[i].tensor] = i + 1;
	}
}

/* By the steps that they have now, which are those of the given plan with moves between them. */
static void shift_runs(struct moving *moving, const struct granted *granted, int count)
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

static void add_move(struct moving *moving, const struct granted *granted, int bundle)
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
static void end_stays(struct moving *moving)
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
	struct moving moving = {.given = given,
		.plan = plan,
		.growing = growing_open(arena, given->workload, count),
		.stays = arena_array(arena, int, given->workload->tensor_count + count)};
	plan->workload = moving.growing.workload;
	plan->steps = arena_array(arena, struct step, steps + moves);
	plan->residencies = arena_array(arena, struct residency, given->residency_count + moves);
	plan->runs = arena_copy(arena, given->runs, (size_t)given->run_count * sizeof *given->runs);
	const struct granted *granted = grant(&moving, wishes, count);
	copy_stays(&moving);
	plan->step_count = 0;
	for (int o = 0, i = 0; o <= steps; o++) {
		int bundle = given->steps[o < steps ? o : o - 1].bundle;
		for (; i < moves && granted[i].wish->before == o; i++)
			add_move(&moving, &granted[i], bundle);
		if (o == steps)
			break;
		growing_take(&moving.growing);
		plan->steps[plan->step_count] = given->steps[o];
		plan->steps[plan->step_count].op = plan->step_count;
		plan->step_count++;
	}
	plan->residency_count = given->residency_count + moves;
	shift_runs(&moving, granted, moves);
	end_stays(&moving);
	return plan;
}
