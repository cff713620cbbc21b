#include "search/joint/joint_pack.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"

static int64_t room_of(
	const struct joint_space *space, const struct joint_answer *answer, size_t step)
{
	const struct joint_step *at = &answer->steps[step];
	return at->kind == JOINT_OPTION ? space->options[at->option].room : 0;
}

/* The stays, and behind them the rooms. */
static struct packing list_items(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_stays *stays, struct arena *arena)
{
	struct buffer *buffers = arena_array(arena, struct buffer, stays->count + answer->count);
	int *parents = arena_array(arena, int, stays->count);
	size_t count = stays->count;
	for (size_t i = 0; i < stays->count; i++) {
		const struct joint_stay *stay = &stays->at[i];
		const struct joint_tensor *tensor = &space->tensors[stay->tensor];
		parents[i] = (int)stay->in_place_of;
		buffers[i] = (struct buffer){.name = tensor->name,
			.size = tensor->bytes[stay->view],
			.start = (int64_t)stay->from,
			.end = (int64_t)stay->to + 1};
		if (stay->in_place_of < 0)
			continue;
		buffers[i].parents = &parents[i];
		buffers[i].parent_count = 1;
	}
	for (size_t s = 0; s < answer->count; s++)
		if (room_of(space, answer, s) > 0)
			buffers[count++] = (struct buffer){.name = "room",
				.size = room_of(space, answer, s),
				.start = (int64_t)s,
				.end = (int64_t)s + 1};
	return (struct packing){.capacity = space->capacity,
		.alignment = space->alignment,
		.goal = PACKING_FIT,
		.count = count,
		.buffers = buffers};
}

static void take(const struct packing *packing, const struct placement *placement,
	const struct joint_answer *answer, struct joint_packing *out, struct arena *arena)
{
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		BUG("items %d and %d of a joint answer: %s", fault.a, fault.b, fault.why);
	int64_t *rooms = arena_array(arena, int64_t, answer->count);
	for (size_t i = out->stays.count; i < packing->count; i++)
		rooms[packing->buffers[i].start] = placement->addresses[i];
	out->status = VERDICT_YES;
	out->addresses = placement->addresses;
	out->in_place_of = placement->in_place_of;
	out->rooms = rooms;
}

struct joint_packing joint_pack(const struct joint_space *space, const struct joint_answer *answer,
	struct run *run, uint64_t ticks, struct arena *arena)
{
	struct joint_packing out = {.status = VERDICT_OPEN};
	out.stays = joint_stays(space, answer, arena, &out.why);
	if (out.why)
		return out;
	struct packing packing = list_items(space, answer, &out.stays, arena);
	const struct solver *solver = solver_for(STAGE_PLACE, FOR_PACKINGS);
	struct problem problem = {.stage = STAGE_PLACE, .op = -1, .packing = &packing};
	struct answer found = run ? run_ask(run, solver, &problem, ticks, 0, arena)
				  : solve(solver, &problem, ticks, 0, arena);
	out.item_count = packing.count;
	out.ticks = found.ticks;
	if (found.candidate_count) {
		take(&packing, found.candidates[found.candidate_count - 1].placement, answer, &out,
			arena);
	} else if (found.status == PROOF_INFEASIBLE) {
		out.status = VERDICT_NO;
		out.core_count = found.core_count;
		out.core = found.core;
	}
	return out;
}
