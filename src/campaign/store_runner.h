#ifndef CAMPAIGN_STORE_RUNNER_H
#define CAMPAIGN_STORE_RUNNER_H

#include "base/stopper.h"
#include "campaign/expand.h"
#include "campaign/store.h"

/*
 * Runs the open tasks of a store, several at a time.  Results are committed together, at most a
 * tenth of a second after they are there: so the time that the disk takes stays small beside that
 * of short tasks.  A task that the end of the program, or a stop, takes away is open again.
 */
struct campaign_progress {
	size_t done, tasks; /* of the part, with what was done before */
	size_t begun_with;  /* done before this run */
	const char *objective;
	double best;
	bool has_best;
};

struct campaign {
	const struct sweep_spec *sweep;
	const struct sweep_expansion *expansion;
	struct store *store; /* with the points, joined */
	struct store_part part;
	int jobs;
	struct stopper stopper;
	void *context;
	/* Explores a point: fills the result but for `spec` and `seconds`, in the arena; the name of
	 * the objective stays.  False where it was stopped.  By several threads at a time; asks the
	 * stopper now and then. */
	bool (*explore)(void *context, const struct sweep_point *point,
		const struct stopper *stopper, struct arena *arena, struct task_result *out);
	void (*progress)(void *context, const struct campaign_progress *progress);
};

struct campaign_outcome {
	const char *why; /* what failed; NULL: nothing */
	bool stopped;
	size_t ran; /* tasks that were committed here */
};

/* This process becomes a runner of a store, which gets the points of an expansion unless they are there; NULL, or why
 * not. */
const char *campaign_join(struct arena *arena, const struct sweep_spec *sweep,
	const struct sweep_expansion *expansion, const char *version, struct store *store);

struct campaign_outcome campaign_run(const struct campaign *campaign);

/*
 * Points that end the program.  When a signal such as SIGSEGV or SIGABRT ends a thread that explores a point, its task
 * and the signal are written into DIR/campaign.crashed, and the program starts again with the same arguments.  The next
 * runner of the campaign keeps TASK_CRASHED as the result of such tasks, so that each of them is tried once.  SIGKILL
 * leaves no record: tasks that it ends are open again.
 */

/* From here on, for the campaign of a folder; `without` is an argument that the program does not get again. */
void crash_guard(const char *folder, const char *without);

/* The thread at hand explores a task, or none. */
void crash_begin(const char *spec);
void crash_end(void);

/* Keeps what was written by those before, as results of this version; how many. */
const char *crash_collect(struct store *store, const char *version, size_t *count);

#endif
