#include "base/arena.h"
#include "search/drive/drive_state.h"
#include "search/engine/parallel.h"

#include <stdlib.h>

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
 * left with one at the end. */
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
	if (last->count)
		qsort(last->order, last->count, sizeof *last->order, has_more_bytes);
}

static void run(void *context, size_t i, int thread)
{
	struct last *last = context;
	struct drive *drive = last->drive;
	struct found *found = last->order[i]->payload;
	struct slot *slot = &last->slots[i];
	const struct execution before = found->execution;
	bool tried = drive->wishes->simulate == SIMULATE_ALL && !drive->kind->executes_kept;
	if (atomic_load(&drive->stopped) || (tried && !before.finished))
		return;
	found->execution = (struct execution){0};
	*slot = drive_slot(drive);
	drive_open(slot, thread);
	struct arena_mark mark = arena_mark(slot->scratch);
	drive->kind->execute(drive->self, found, slot, true);
	struct execution *execution = &found->execution;
	if (!execution->finished && !execution->fault && atomic_load(&drive->stopped))
		*execution = before;
	else if (!before.finished)
		drive_count(slot, execution);
	if (execution->fault)
		execution->fault = arena_text(slot->arena, execution->fault);
	arena_release(slot->scratch, mark);
}

static void done(void *context, size_t i)
{
	struct last *last = context;
	(void)i;
	if (!atomic_load(&last->drive->stopped))
		drive_tell(last->drive, ++last->done, last->count, NULL);
}

void drive_last(struct drive *drive)
{
	struct last last = {.drive = drive};
	struct parallel work = {&last, run, done};
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
}
