#include "campaign/runner.h"

#include "base/arena.h"
#include "base/array.h"
#include "campaign/crash.h"
#include "search/engine/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { LEASES_MOST = 512 };

/* Seconds that results wait for others, and the part of the time that committing may take. */
static const double patience = 0.1, share = 0.03;

struct running {
	const struct campaign *campaign;
	struct expander **expanders; /* by thread */
	pthread_mutex_t mutex;       /* of all below, and of the store */
	struct arena *pending_arena;
	struct array(struct task_result) pending; /* not yet committed */
	size_t ranks[LEASES_MOST];
	size_t leased, taken;
	double flushed, pause; /* when it was committed last, how long to wait from then on */
	double started;
	struct campaign_outcome outcome;
	struct campaign_progress progress;
	bool empty; /* there is nothing more to lease */
	atomic_bool failed;
	_Atomic double due; /* when what is pending shall be committed; 0: nothing is */
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_stopped(struct running *running)
{
	const struct stopper *stopper = &running->campaign->stopper;
	return atomic_load(&running->failed) || (stopper->stop && stopper->stop(stopper->listener));
}

/* --- the store; with the mutex */

/* As many as end until the next commit, if they go on as before. */
static size_t leases_wanted(const struct running *running)
{
	double seconds = now() - running->started;
	double rate = seconds > 0 ? (double)running->outcome.ran / seconds : 0;
	size_t want = (size_t)running->campaign->jobs + (size_t)(rate * running->pause);
	return want < LEASES_MOST ? want : LEASES_MOST;
}

static void commit(struct running *running, bool more)
{
	const struct campaign *campaign = running->campaign;
	size_t count = running->pending.count, want = more ? leases_wanted(running) : 0, got = 0;
	if (atomic_load(&running->failed) || (!count && !want))
		return;
	double start = now();
	const char *why = store_exchange(campaign->store, running->pending.at, count,
		campaign->part, want, running->ranks, &got);
	if (why) {
		running->outcome.why = why;
		atomic_store(&running->failed, true);
		return;
	}
	if (more) {
		running->leased = got;
		running->taken = 0;
		running->empty = !got;
	}
	running->outcome.ran += count;
	running->progress.done += count;
	running->flushed = now();
	running->pause = (running->flushed - start) / share;
	if (running->pause < patience)
		running->pause = patience;
	running->pending.count = 0;
	running->pending.capacity = 0;
	running->pending.at = NULL;
	arena_close(running->pending_arena);
	running->pending_arena = arena_open();
	atomic_store(&running->due, 0);
	if (count && campaign->progress)
		campaign->progress(campaign->context, &running->progress);
}

/* The next task's rank; false where there is none, or no time. */
static bool take(struct running *running, size_t *rank)
{
	bool there = false;
	pthread_mutex_lock(&running->mutex);
	if (running->taken == running->leased && !running->empty)
		commit(running, true);
	if (running->taken < running->leased && !atomic_load(&running->failed)) {
		*rank = running->ranks[running->taken++];
		there = true;
	}
	pthread_mutex_unlock(&running->mutex);
	return there;
}

static void keep(struct running *running, const struct task_result *result)
{
	pthread_mutex_lock(&running->mutex);
	struct arena *arena = running->pending_arena;
	struct task_result *kept = array_add(arena, &running->pending);
	*kept = *result;
	kept->spec = arena_text(arena, result->spec);
	kept->version = arena_text(arena, result->version);
	kept->message = arena_text(arena, result->message);
	kept->pareto = arena_text(arena, result->pareto);
	kept->plans = arena_text(arena, result->plans);
	kept->objective = arena_text(arena, result->objective);
	struct campaign_progress *progress = &running->progress;
	if (*kept->objective && (!progress->has_best || kept->best < progress->best)) {
		progress->best = kept->best;
		progress->objective = result->objective;
		progress->has_best = true;
	}
	double due = running->flushed + running->pause;
	if (now() >= due)
		commit(running, false);
	else
		atomic_store(&running->due, due);
	pthread_mutex_unlock(&running->mutex);
}

/* --- tasks */

/* Asked by searches now and then: results of other threads do not wait for them to end. */
static bool poll_running(void *at)
{
	struct running *running = at;
	double due = atomic_load(&running->due);
	if (due > 0 && now() >= due && pthread_mutex_trylock(&running->mutex) == 0) {
		commit(running, false);
		pthread_mutex_unlock(&running->mutex);
	}
	return is_stopped(running);
}

static void explore_task(struct running *running, size_t rank, int thread)
{
	const struct campaign *campaign = running->campaign;
	const struct sweep_expansion *expansion = campaign->expansion;
	const struct expanded_task *task = &expansion->tasks[rank];
	struct stopper stopper = {running, poll_running};
	struct arena *arena = arena_open();
	struct sweep_point point;
	struct task_result result = {0};
	char spec[DIGEST_TEXT];
	double start = now();
	digest_print(task->spec, spec);
	expander_point(running->expanders[thread], expansion->combinations[task->first], arena,
		diag_open(arena), &point);
	crash_begin(spec);
	bool whole = campaign->explore(campaign->context, &point, &stopper, arena, &result);
	crash_end();
	result.spec = spec;
	result.seconds = now() - start;
	if (whole)
		keep(running, &result);
	arena_close(arena);
}

static void run_one(void *context, size_t i, int thread)
{
	struct running *running = context;
	size_t rank;
	if (!is_stopped(running) && take(running, &rank))
		explore_task(running, rank, thread);
}

static void done_one(void *context, size_t i)
{
}

struct campaign_outcome campaign_run(const struct campaign *campaign)
{
	struct arena *arena = arena_open();
	struct running running = {.campaign = campaign,
		.pending_arena = arena_open(),
		.pause = patience,
		.started = now()};
	struct store_counts counts;
	running.outcome.why = store_count(campaign->store, campaign->part, &counts);
	if (running.outcome.why)
		return running.outcome;
	running.progress = (struct campaign_progress){.done = counts.done,
		.tasks = counts.tasks,
		.begun_with = counts.done,
		.objective = counts.objective,
		.best = counts.best,
		.has_best = counts.has_best};
	pthread_mutex_init(&running.mutex, NULL);
	running.expanders = arena_array(arena, struct expander *, campaign->jobs);
	for (int i = 0; i < campaign->jobs; i++)
		running.expanders[i] = expander_open(arena, campaign->sweep);
	struct parallel work = {&running, run_one, done_one};
	parallel_each(&work, counts.tasks - counts.done, campaign->jobs);
	commit(&running, false);
	running.outcome.stopped = is_stopped(&running) && !running.outcome.why;
	arena_close(running.pending_arena);
	pthread_mutex_destroy(&running.mutex);
	arena_close(arena);
	return running.outcome;
}
