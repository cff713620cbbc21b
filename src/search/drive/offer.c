#include "base/arena.h"
#include "search/drive/drive_state.h"
#include "search/drive/solver.h"

#include <string.h>

void drive_count(struct slot *slot, const struct execution *execution)
{
	slot->effort.events += execution->events;
	slot->effort.simulated += execution->finished;
	slot->effort.unsimulated += !execution->finished && !execution->fault;
}

void drive_judge(struct slot *slot, const struct found *found)
{
	const struct drive *drive = slot->drive;
	const struct drive_kind *kind = drive->kind;
	if (!execution_disagrees(&found->execution))
		return;
	slot->effort.disagreed++;
	if (slot->fault)
		return;
	const char *fault = found->execution.fault;
	slot->fault = arena_format(slot->arena, "%s: %s",
		(kind->label ? kind->label : kind->key)(drive->self, found, slot->arena),
		fault ? fault : "the counts of model and simulator differ");
}

static void refuse(struct slot *slot, const char *why)
{
	slot->effort.refused++;
	refusals_add(&slot->refusals, slot->arena, why, 1);
}

static void take(struct slot *slot, struct found *found)
{
	struct drive *drive = slot->drive;
	const struct drive_kind *kind = drive->kind;
	struct point point = {0};
	const char *why = kind->price(drive->self, found, slot, &point.score);
	if (why && atomic_load(&drive->stopped))
		return; /* it was not finished */
	slot->effort.offered++;
	found->estimate = objective_value(drive->wishes->objectives.at[0], &point.score);
	if (!why && drive->wishes->simulate == SIMULATE_ALL && kind->execute &&
		!kind->executes_kept) {
		why = kind->execute(drive->self, found, slot, false);
		if (!why)
			drive_count(slot, &found->execution);
	}
	if (why) {
		refuse(slot, why);
		return;
	}
	drive_judge(slot, found);
	if (frontier_beats(drive_frontier(drive), &point.score, NULL) ||
		frontier_beats(&slot->frontier, &point.score, "")) {
		slot->effort.pruned++;
		return;
	}
	point.key = kind->key(drive->self, found, slot->scratch);
	if (frontier_beats(&slot->frontier, &point.score, point.key))
		return;
	point.key = arena_text(slot->arena, point.key);
	struct found *kept = kind->keep ? kind->keep(drive->self, found, slot->arena)
					: arena_copy(slot->arena, found, kind->size);
	if (kept->execution.fault)
		kept->execution.fault = arena_text(slot->arena, kept->execution.fault);
	point.payload = kept;
	frontier_add(&slot->frontier, slot->arena, point);
}

void drive_offer(struct slot *slot, struct found *found)
{
	struct arena_mark mark = arena_mark(slot->scratch);
	size_t before = arena_used(slot->scratch);
	take(slot, found);
	uint64_t bytes = arena_used(slot->scratch) - before;
	slot->effort.bytes += bytes;
	if (slot->effort.bytes_most < bytes)
		slot->effort.bytes_most = bytes;
	arena_release(slot->scratch, mark);
}

struct answer drive_ask(struct slot *slot, const struct solver *solver,
	const struct problem *problem, uint64_t ticks, uint64_t seed, struct arena *arena)
{
	struct asker asker = drive_asker(slot->drive);
	struct answer answer = solve_for(&asker, solver, problem, ticks, seed, arena);
	size_t objectives = slot->drive->wishes->objectives.count;
	slot->effort.evaluated += answer.evaluated;
	slot->effort.ticks += answer.ticks;
	effort_add(&slot->effort, &answer.effort);
	slot->complete = answer.status == PROOF_OPTIMAL || answer.status == PROOF_INFEASIBLE;
	slot->bound = answer.status == PROOF_BOUND ? answer.bound : 0;
	slot->within = answer.status == PROOF_NONE ? answer.within : 0;
	if (answer.bounds)
		memcpy(slot->bounds, answer.bounds, objectives * sizeof *slot->bounds);
	if (answer.complaint_count && !slot->complaint)
		slot->complaint = arena_text(slot->arena, answer.complaints[0].text);
	return answer;
}

void drive_nest(struct slot *slot, const struct explored *explored)
{
	effort_add(&slot->effort, &explored->effort);
	slot->complete = explored->complete;
	slot->fault = explored->fault;
	slot->complaint = explored->complaint;
	for (size_t i = 0; i < explored->refusals.count; i++)
		refusals_add(&slot->refusals, slot->arena, explored->refusals.at[i].why,
			explored->refusals.at[i].count);
}
