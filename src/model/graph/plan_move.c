#include "model/graph/plan_move.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/move.h"
#include "model/graph/workload_move.h"

#include <string.h>

struct plan *plan_with_room(struct arena *arena, const struct plan *plan, int moves)
{
	struct plan *copy = arena_copy(arena, plan, sizeof *plan);
	copy->workload = workload_copy(arena, plan->workload, (size_t)moves);
	copy->steps = arena_array(arena, struct step, plan->step_count + moves);
	copy->residencies = arena_array(arena, struct residency, plan->residency_count + moves);
	memcpy(copy->steps, plan->steps, (size_t)plan->step_count * sizeof *copy->steps);
	memcpy(copy->residencies, plan->residencies,
		(size_t)plan->residency_count * sizeof *copy->residencies);
	return copy;
}

static struct residency *find_stay(struct plan *plan, int tensor)
{
	for (int i = 0; i < plan->residency_count; i++)
		if (plan->residencies[i].tensor == tensor)
			return &plan->residencies[i];
	return NULL;
}

/* The op, its step, and everybody's new step numbers; the stay of its output is the caller's. */
static struct residency *add_move(
	struct arena *arena, struct plan *plan, enum move_kind kind, int tensor, int before)
{
	/* The copy is the plan's own: nobody else sees it yet. */
	struct workload *workload = (struct workload *)plan->workload;
	struct step *step = &plan->steps[before];
	size_t behind = (size_t)(plan->step_count - before);
	int bundle = plan->steps[before < plan->step_count ? before : before - 1].bundle;
	workload_add_move(arena, workload, kind, tensor, before);
	memmove(step + 1, step, behind * sizeof *step);
	*step = (struct step){.bundle = bundle};
	plan->step_count++;
	for (int s = before; s < plan->step_count; s++)
		plan->steps[s].op = s;
	for (int i = 0; i < plan->residency_count; i++) {
		struct residency *stay = &plan->residencies[i];
		stay->from += stay->from >= before;
		stay->to += stay->to > before;
	}
	struct residency *stay = &plan->residencies[plan->residency_count++];
	*stay = (struct residency){.tensor = (int)workload->tensor_count - 1,
		.from = before,
		.to = before + 1,
		.in_place_of = -1};
	/* The move is the last that uses the tensor, and all behind it use what it makes. */
	struct residency *old = find_stay(plan, tensor);
	if (old && old->to > stay->to)
		stay->to = old->to;
	if (old)
		old->to = before + 1;
	return stay;
}

int plan_add_evict(struct arena *arena, struct plan *plan, int tensor, int before)
{
	const struct residency *left = find_stay(plan, tensor);
	if (!left || left->place != PLACE_LX)
		BUG("tensor %d is not in LX", tensor);
	struct view view = left->view;
	struct residency *stay = add_move(arena, plan, MOVE_EVICT, tensor, before);
	plan->steps[before].mapping =
		move_mapping(plan->arch, plan->workload, &plan->workload->ops[before], &view);
	return stay->tensor;
}

int plan_add_reload(struct arena *arena, struct plan *plan, int tensor, int before,
	const struct residency *place)
{
	struct residency *stay = add_move(arena, plan, MOVE_RELOAD, tensor, before);
	stay->place = PLACE_LX;
	stay->view = place->view;
	stay->address = place->address;
	stay->size = place->size;
	plan->steps[before].mapping = move_mapping(
		plan->arch, plan->workload, &plan->workload->ops[before], &place->view);
	return stay->tensor;
}
