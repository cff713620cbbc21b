#include "search/drive/drive.h"

#include "base/arena.h"
#include "search/drive/drive_state.h"
#include "search/engine/parallel.h"

#include <string.h>

const char *const simulate_names[] = {"all", "frontier", "none", NULL};

bool drive_stops(void *at)
{
	struct drive *drive = at;
	if (!atomic_load(&drive->stopped) && stopper_stops(&drive->wishes->asker.stopper))
		atomic_store(&drive->stopped, true);
	return atomic_load(&drive->stopped);
}

const struct frontier *drive_frontier(const struct drive *drive)
{
	return &drive->explored->frontier;
}

/* Rounds of an exploration within this one are nobody's. */
static void pass_on(void *at, const struct progress *progress)
{
	const struct asker *asker = &((struct drive *)at)->wishes->asker;
	if (asker->progress && !progress->round)
		asker->progress(asker->stopper.listener, progress);
}

struct asker drive_asker(struct drive *drive)
{
	return (struct asker){.jobs = drive->wishes->asker.jobs,
		.stopper = {drive, drive_stops},
		.progress = pass_on};
}

static struct frontier open_frontier(const struct drive_kind *kind, const struct wishes *wishes)
{
	struct frontier frontier = frontier_open(wishes->objectives);
	frontier.thrifty = kind->thrifty;
	return frontier;
}

struct slot drive_slot(struct drive *drive)
{
	return (struct slot){.drive = drive, .most = UINT64_MAX};
}

void drive_open(struct slot *slot, int thread)
{
	slot->arena = arena_open();
	slot->scratch = slot->drive->scratch[thread];
	slot->frontier = open_frontier(slot->drive->kind, slot->drive->wishes);
}

void drive_tell(struct drive *drive, size_t done, size_t count, const struct effort *effort)
{
	const struct asker *asker = &drive->wishes->asker;
	struct effort sum = drive->explored->effort;
	if (effort)
		effort_add(&sum, effort);
	struct progress progress = {.round = drive->round,
		.done = done,
		.tasks = count,
		.count = drive->kind->counts_offers ? sum.offered : sum.evaluated,
		.best = drive->best,
		.bound = drive->bound};
	if (asker->progress)
		asker->progress(asker->stopper.listener, &progress);
	drive_stops(drive);
}

/* The best point of a task, with its bound where that is about the first objective. */
static void note_best(struct drive *drive, size_t i, const struct slot *slot)
{
	if (drive->kind->worth)
		drive->kind->worth(drive->self, i, slot, &drive->best, &drive->bound);
	if (!slot->frontier.count)
		return;
	const struct point *point = &slot->frontier.points[0];
	const struct found *found = point->payload;
	double value = objective_value(slot->frontier.objectives.at[0], &point->score);
	bool bounded = found->proof == PROOF_BOUND && found->bound + found->gap == value;
	if (slot->bound > 0 || bounded)
		drive->bound = slot->bound > 0 ? slot->bound : found->bound;
	if (drive->best <= 0 || value < drive->best)
		drive->best = value;
}

/* What a task proved is worth nothing unless all did, and one that did not run proved nothing; a
 * bound is of the one task that there is. */
static void merge_proof(struct explored *explored, const struct slot *slot)
{
	explored->complete &= slot->complete;
	if (!slot->arena)
		return;
	explored->bound = slot->bound;
	explored->within = slot->within;
	memcpy(explored->bounds, slot->bounds, sizeof explored->bounds);
}

static const char *keep_first(struct arena *arena, const char *known, const char *text)
{
	return known || !text ? known : arena_text(arena, text);
}

void drive_merge(struct drive *drive, struct slot *slot)
{
	struct explored *explored = drive->explored;
	const struct drive_kind *kind = drive->kind;
	struct arena *arena = drive->arena;
	merge_proof(explored, slot);
	bool kept = kind->merge ? kind->merge(drive->self, slot->left) : slot->left != NULL;
	if (!slot->arena)
		return;
	effort_add(&explored->effort, &slot->effort);
	explored->limit = keep_first(arena, explored->limit, slot->limit);
	explored->fault = keep_first(arena, explored->fault, slot->fault);
	explored->complaint = keep_first(arena, explored->complaint, slot->complaint);
	for (size_t i = 0; i < slot->refusals.count; i++)
		refusals_add(&explored->refusals, arena, slot->refusals.at[i].why,
			slot->refusals.at[i].count);
	for (size_t i = 0; i < slot->frontier.count; i++)
		kept |= frontier_add(&explored->frontier, arena, slot->frontier.points[i]);
	if (kept) {
		explored->effort.bytes_kept += arena_used(slot->arena);
		arena_adopt(arena, slot->arena);
	} else {
		arena_close(slot->arena);
	}
}

static void start(struct drive *drive)
{
	struct slot slot = drive_slot(drive);
	if (!drive->kind->start)
		return;
	drive_open(&slot, 0);
	slot.complete = true;
	struct arena_mark mark = arena_mark(slot.scratch);
	drive->kind->start(drive->self, &slot);
	arena_release(slot.scratch, mark);
	note_best(drive, 0, &slot);
	bool found = slot.frontier.count;
	drive_merge(drive, &slot);
	if (!found)
		return;
	drive->round = 1; /* of which nothing is done */
	drive_tell(drive, 0, 0, NULL);
	drive->round = 0;
}

struct round {
	struct drive *drive;
	struct slot *slots;
	size_t first, count, done; /* tasks first + i, of all of them */
	struct effort effort;
};

static void run_task(void *context, size_t i, int thread)
{
	struct round *round = context;
	struct drive *drive = round->drive;
	struct slot *slot = &round->slots[i];
	if (atomic_load(&drive->stopped) && !drive->kind->runs_late)
		return;
	drive_open(slot, thread);
	struct arena_mark mark = arena_mark(slot->scratch);
	drive->kind->run(drive->self, round->first + i, slot);
	arena_release(slot->scratch, mark);
}

static void task_done(void *context, size_t i)
{
	struct round *round = context;
	if (!round->slots[i].arena)
		return;
	effort_add(&round->effort, &round->slots[i].effort);
	note_best(round->drive, round->first + i, &round->slots[i]);
	drive_tell(round->drive, ++round->done, round->count, &round->effort);
}

/* How many of the tasks, in their order, the rest of the budget is enough for; the last of them may
 * be limited. */
static size_t limit(struct drive *drive, size_t first, struct slot *slots, size_t count)
{
	const struct drive_kind *kind = drive->kind;
	uint64_t budget = kind->counts_offers ? drive->wishes->budget : 0;
	uint64_t left = budget - drive->explored->effort.offered;
	for (size_t i = 0; i < count && budget; i++) {
		uint64_t wants = kind->wants ? kind->wants(drive->self, first + i) : 1;
		if (wants > left) {
			slots[i].most = left;
			return left ? i + 1 : i;
		}
		left -= wants;
	}
	return count;
}

/* Tasks may offer less than they want: then the budget is enough for others. */
static void run_round(struct drive *drive, size_t count)
{
	struct round round = {.drive = drive};
	struct parallel work = {&round, run_task, task_done};
	bool limited = false;
	drive->round++;
	for (size_t done = 0; done < count && !limited; done += round.count) {
		round = (struct round){.drive = drive,
			.slots = arena_array(drive->own, struct slot, count - done),
			.first = done};
		for (size_t i = 0; i < count - done; i++)
			round.slots[i] = drive_slot(drive);
		round.count = limit(drive, done, round.slots, count - done);
		parallel_each(&work, round.count, drive->wishes->asker.jobs);
		for (size_t i = 0; i < round.count; i++)
			drive_merge(drive, &round.slots[i]);
		limited = !round.count ||
			  (round.slots[round.count - 1].most != UINT64_MAX &&
				  drive->explored->effort.offered == drive->wishes->budget);
	}
	if (limited) {
		drive->explored->limit = "budget";
		drive->explored->complete = false;
	}
}

static void run_rounds(struct drive *drive)
{
	size_t count = 0;
	for (int round = 1;; round++) {
		bool late = atomic_load(&drive->stopped) && !drive->kind->runs_late;
		drive->explored->complete &= !late;
		if (late || !drive->kind->tasks(drive->self, round, drive, &count))
			return;
		if (count)
			run_round(drive, count);
	}
}

/* For points whose solver said nothing itself. */
static void note_proof(struct explored *explored)
{
	for (size_t i = 0; i < explored->frontier.count; i++) {
		const struct point *point = &explored->frontier.points[i];
		struct found *found = point->payload;
		double value = objective_value(explored->frontier.objectives.at[0], &point->score);
		double bound = explored->within > 0 ? value / explored->within : explored->bound;
		if (explored->complete)
			found->proof = PROOF_OPTIMAL;
		if (explored->complete || bound <= 0)
			continue;
		found->proof = PROOF_BOUND;
		found->bound = bound;
		found->gap = value - bound;
	}
}

struct explored drive_explore(
	const struct drive_kind *kind, void *self, const struct wishes *wishes, struct arena *arena)
{
	struct explored explored = {.frontier = open_frontier(kind, wishes), .complete = true};
	struct drive drive = {.kind = kind,
		.self = self,
		.wishes = wishes,
		.explored = &explored,
		.arena = arena,
		.own = arena_open()};
	int jobs = wishes->asker.jobs > 1 ? wishes->asker.jobs : 1;
	drive.scratch = arena_array(drive.own, struct arena *, jobs);
	for (int i = 0; i < jobs; i++)
		drive.scratch[i] = arena_open();
	start(&drive);
	run_rounds(&drive);
	note_proof(&explored);
	if (kind->finish)
		kind->finish(self, &explored, arena);
	if (wishes->simulate != SIMULATE_NONE && kind->execute)
		drive_last(&drive);
	for (int i = 0; i < jobs; i++)
		arena_close(drive.scratch[i]);
	arena_close(drive.own);
	refusals_sort(&explored.refusals);
	explored.stopped = atomic_load(&drive.stopped);
	return explored;
}
