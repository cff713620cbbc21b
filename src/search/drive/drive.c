#include "search/drive/drive.h"

#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/engine/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Counts an execution of what was not executed before. */
static void drive_count(struct slot *slot, const struct execution *execution)
{
	slot->effort.events += execution->events;
	slot->effort.simulated += execution->finished;
	slot->effort.unsimulated += !execution->finished && !execution->fault;
}

/* Counts disagreements and keeps the text of the first. */
static void drive_judge(struct slot *slot, const struct found *found)
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

/* `count` more of them; the sentence is copied. */
static void refusals_add(
	struct refusals *refusals, struct arena *arena, const char *why, uint64_t count)
{
	for (size_t i = 0; i < refusals->count; i++)
		if (strcmp(refusals->at[i].why, why) == 0) {
			refusals->at[i].count += count;
			return;
		}
	*array_add(arena, refusals) = (struct refusal){arena_text(arena, why), count};
}

static void slot_refuse(struct slot *slot, const char *why)
{
	slot->effort.refused++;
	refusals_add(&slot->refusals, slot->arena, why, 1);
}

static void slot_take(struct slot *slot, struct found *found)
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
		slot_refuse(slot, why);
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
	slot_take(slot, found);
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
	slot->limit = explored->limit;
	slot->fault = explored->fault;
	slot->complaint = explored->complaint;
	for (size_t i = 0; i < explored->refusals.count; i++)
		refusals_add(&slot->refusals, slot->arena, explored->refusals.at[i].why,
			explored->refusals.at[i].count);
}

static int more_frequent(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->why, y->why);
}

/* The most frequent first. */
static void refusals_sort(struct refusals *refusals)
{
	if (refusals->count)
		qsort(refusals->at, refusals->count, sizeof *refusals->at, more_frequent);
}

const char **refusals_lines(const struct refusals *refusals, struct arena *arena)
{
	const char **lines = arena_array(arena, const char *, refusals->count);
	for (size_t i = 0; i < refusals->count; i++)
		lines[i] = arena_format(arena, "%s (%llu candidates)", refusals->at[i].why,
			(unsigned long long)refusals->at[i].count);
	return lines;
}

void effort_add(struct effort *sum, const struct effort *effort)
{
	sum->evaluated += effort->evaluated;
	sum->ticks += effort->ticks;
	sum->states += effort->states;
	sum->edges += effort->edges;
	sum->labels += effort->labels;
	sum->offered += effort->offered;
	sum->refused += effort->refused;
	sum->pruned += effort->pruned;
	sum->simulated += effort->simulated;
	sum->unsimulated += effort->unsimulated;
	sum->events += effort->events;
	sum->disagreed += effort->disagreed;
	sum->asked += effort->asked;
	sum->known += effort->known;
	sum->bytes += effort->bytes;
	if (sum->bytes_most < effort->bytes_most)
		sum->bytes_most = effort->bytes_most;
	sum->bytes_kept += effort->bytes_kept;
}

struct last {
	struct drive *drive;
	struct point **points, **order;
	size_t count, done;
	struct slot *slots; /* by the order of the frontier */
};

static int has_more_bytes(const void *a, const void *b)
{
	const struct point *const *x = a, *const *y = b;
	int64_t p = (*x)->score.hbm_bytes, q = (*y)->score.hbm_bytes;
	return p != q ? (p < q) - (p > q) : (*x > *y) - (*x < *y);
}

/* The frontier and what stands beside it; those that take longest run first, so that no thread is
 * left with one at the end, or the best first where time may not be enough for all. */
static void list_points(struct last *last, struct arena *arena)
{
	struct explored *explored = last->drive->explored;
	size_t most = explored->frontier.count + explored->beside_count;
	last->points = arena_array(arena, struct point *, most);
	for (size_t i = 0; i < explored->frontier.count; i++)
		last->points[last->count++] = &explored->frontier.points[i];
	for (size_t i = 0; i < explored->beside_count; i++)
		if (explored->beside[i].payload)
			last->points[last->count++] = &explored->beside[i];
	last->order = arena_copy(arena, last->points, last->count * sizeof *last->order);
	last->slots = arena_array(arena, struct slot, last->count);
	if (last->count && !last->drive->hurried)
		qsort(last->order, last->count, sizeof *last->order, has_more_bytes);
}

static struct slot drive_slot(struct drive *drive)
{
	return (struct slot){.drive = drive, .most = UINT64_MAX};
}

static struct frontier open_frontier(const struct drive_kind *kind, const struct wishes *wishes)
{
	struct frontier frontier = frontier_open(wishes->objectives);
	frontier.thrifty = kind->thrifty;
	return frontier;
}

static void drive_open(struct slot *slot, int thread)
{
	slot->arena = arena_open();
	slot->scratch = slot->drive->scratch[thread];
	slot->frontier = open_frontier(slot->drive->kind, slot->drive->wishes);
}

static void run(void *context, size_t i, int thread)
{
	struct last *last = context;
	struct drive *drive = last->drive;
	struct found *found = last->order[i]->payload;
	struct slot *slot = &last->slots[i];
	const struct execution before = found->execution;
	bool tried = drive->wishes->simulate == SIMULATE_ALL && !drive->kind->executes_kept;
	bool wanted =
		drive->hurried ? !before.finished && !before.fault : !tried || before.finished;
	if (atomic_load(&drive->stopped) || !wanted)
		return;
	found->execution = (struct execution){0};
	*slot = drive_slot(drive);
	drive_open(slot, thread);
	struct arena_mark mark = arena_mark(slot->scratch);
	drive->kind->execute(drive->self, found, slot, true);
	struct execution *execution = &found->execution;
	if (!execution->finished && !execution->fault && atomic_load(&drive->stopped))
		*execution = before;
	else if (!before.finished) {
		drive_count(slot, execution);
		slot->effort.unsimulated -= tried; /* it was counted when the stop ended it */
	}
	if (execution->fault)
		execution->fault = arena_text(slot->arena, execution->fault);
	arena_release(slot->scratch, mark);
}

/* Reports how far the round is, and asks whether to stop. */
static void drive_report(
	struct drive *drive, size_t done, size_t count, const struct effort *effort)
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

static void done(void *context, size_t i)
{
	struct last *last = context;
	(void)i;
	if (!atomic_load(&last->drive->stopped))
		drive_report(last->drive, ++last->done, last->count, NULL);
}

/* After a stop only what was never executed runs, as long as the stopper of executions lets it. */
static void drive_last(struct drive *drive)
{
	struct last last = {.drive = drive};
	struct parallel work = {&last, run, done};
	drive->last = true;
	drive->hurried = atomic_load(&drive->stopped);
	if (drive->wishes->asker.execution.stop) {
		atomic_store(&drive->stopped, false);
		drive_stops(drive);
	}
	list_points(&last, drive->own);
	drive->round++;
	parallel_each(&work, last.count, drive->wishes->asker.jobs);
	struct slot judge = drive_slot(drive);
	judge.arena = drive->arena;
	for (size_t i = 0; i < last.count; i++)
		drive_judge(&judge, last.points[i]->payload);
	for (size_t i = 0; i < last.count; i++) {
		if (!last.slots[i].arena)
			continue;
		effort_add(&judge.effort, &last.slots[i].effort);
		arena_adopt(drive->arena, last.slots[i].arena);
	}
	effort_add(&drive->explored->effort, &judge.effort);
	if (!drive->explored->fault)
		drive->explored->fault = judge.fault;
	if (drive->hurried)
		atomic_store(&drive->stopped, true);
}

const char *const simulate_names[] = {"all", "frontier", "none", NULL};

bool drive_stops(void *at)
{
	struct drive *drive = at;
	const struct asker *asker = &drive->wishes->asker;
	if (!atomic_load(&drive->stopped) &&
		stopper_stops(drive->last ? asker_execution(asker) : &asker->stopper))
		atomic_store(&drive->stopped, true);
	return atomic_load(&drive->stopped);
}

const struct frontier *drive_frontier(const struct drive *drive)
{
	return &drive->explored->frontier;
}

/* Passes progress on without the rounds of an exploration within this one. */
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

/* Keeps a proof only if all tasks proved something; a task that did not
 * run proves nothing, and a bound holds only if there is one task. */
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

/* In the order of tasks. */
static void drive_merge(struct drive *drive, struct slot *slot)
{
	struct explored *explored = drive->explored;
	const struct drive_kind *kind = drive->kind;
	struct arena *arena = drive->arena;
	merge_proof(explored, slot);
	bool kept = !kind->merge && slot->left;
	if (kind->merge)
		kind->merge(drive->self, slot->left);
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

static void drive_start(struct drive *drive)
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
	drive_report(drive, 0, 0, NULL);
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
	drive_report(round->drive, ++round->done, round->count, &round->effort);
}

/* Returns how many of the tasks, in their order, the rest of the
 * budget is enough for; the last of them may be limited. */
static size_t drive_limit(struct drive *drive, size_t first, struct slot *slots, size_t count)
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
		round.count = drive_limit(drive, done, round.slots, count - done);
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
	drive_start(&drive);
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
