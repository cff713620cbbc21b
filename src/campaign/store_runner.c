#include "campaign/store_runner.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/canon.h"
#include "campaign/export.h"
#include "campaign/store_database.h"
#include "report/run/json.h"
#include "search/drive/frontier.h"
#include "search/engine/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void running_commit(struct running *running, bool more)
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
static bool task_take(struct running *running, size_t *rank)
{
	bool there = false;
	pthread_mutex_lock(&running->mutex);
	if (running->taken == running->leased && !running->empty)
		running_commit(running, true);
	if (running->taken < running->leased && !atomic_load(&running->failed)) {
		*rank = running->ranks[running->taken++];
		there = true;
	}
	pthread_mutex_unlock(&running->mutex);
	return there;
}

static void running_keep(struct running *running, const struct task_result *result)
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
		running_commit(running, false);
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
		running_commit(running, false);
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
		running_keep(running, &result);
	arena_close(arena);
}

static void run_one(void *context, size_t i, int thread)
{
	struct running *running = context;
	size_t rank;
	if (!is_stopped(running) && task_take(running, &rank))
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
	running_commit(&running, false);
	running.outcome.stopped = is_stopped(&running) && !running.outcome.why;
	arena_close(running.pending_arena);
	pthread_mutex_destroy(&running.mutex);
	arena_close(arena);
	return running.outcome;
}

/* --- who is alive */

static struct flock lock_of(int64_t runner)
{
	return (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = runner, .l_len = 1};
}

/* Opened by each process for itself: the lock belongs to what was opened. */
static const char *open_locks(struct store *store, int flags)
{
	const char *path = arena_format(store->arena, "%s/campaign.lock", store->folder);
	if (store->lock < 0)
		store->lock = open(path, flags | O_CLOEXEC, 0666);
	return store->lock >= 0
		       ? NULL
		       : arena_format(store->arena, "cannot open '%s': %s", path, strerror(errno));
}

bool store_is_alive(struct store *store, int64_t runner)
{
	struct flock lock = lock_of(runner);
	if (runner == store->runner)
		return true;
	if (open_locks(store, O_RDWR) != NULL)
		return false;
	return fcntl(store->lock, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --- leases */

void store_void_leases(struct store *store)
{
	sqlite3_stmt *statement =
		store_query(store, "SELECT DISTINCT owner FROM tasks WHERE state = 1");
	struct array(int64_t) gone = {0};
	while (store_row(store, statement))
		if (!store_is_alive(store, sqlite3_column_int64(statement, 0)))
			*array_add(store->arena, &gone) = sqlite3_column_int64(statement, 0);
	for (size_t i = 0; i < gone.count; i++)
		store_do(store,
			arena_format(store->arena,
				"UPDATE tasks SET state = 0, owner = NULL WHERE state = 1 AND "
				"owner = %" PRId64 "; DELETE FROM runners WHERE id = %" PRId64,
				gone.at[i], gone.at[i]));
}

/* --- joining and leaving */

/* Returns the number of other runners alive. */
static size_t count_others(struct store *store)
{
	sqlite3_stmt *statement = store_query(store, "SELECT id FROM runners");
	size_t count = 0;
	while (store_row(store, statement))
		count += store_is_alive(store, sqlite3_column_int64(statement, 0));
	return count;
}

static void store_runner_enter(struct store *store)
{
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	sqlite3_stmt *statement =
		store_query(store, "INSERT INTO runners (host, process) VALUES (?, ?)");
	store_bind_text(statement, 1, host);
	sqlite3_bind_int64(statement, 2, getpid());
	store_step(store, statement);
	sqlite3_finalize(statement);
	if (store->why)
		return;
	store->runner = sqlite3_last_insert_rowid(store->database);
	struct flock lock = lock_of(store->runner);
	if (fcntl(store->lock, F_OFD_SETLK, &lock) != 0)
		store_fail(store, arena_format(store->arena, "cannot lock '%s/campaign.lock': %s",
					  store->folder, strerror(errno)));
}

const char *store_join(struct store *store, bool alone)
{
	store_fail(store, open_locks(store, O_RDWR | O_CREAT));
	if (alone && count_others(store))
		store_fail(store,
			arena_format(store->arena,
				"store '%s': another process runs this campaign by other "
				"specs or options; wait, or give this one a folder of its own",
				store->path));
	store_runner_enter(store);
	store_void_leases(store);
	return store->why;
}

const char *store_retry(struct store *store)
{
	return store_do(store,
		arena_format(store->arena,
			"BEGIN IMMEDIATE; UPDATE tasks SET state = 0, owner = NULL WHERE spec IN (SELECT "
			"spec FROM results WHERE status = %d); DELETE FROM results WHERE status = %d; "
			"COMMIT",
			TASK_CRASHED, TASK_CRASHED));
}

const char *store_leave(struct store *store)
{
	store_begin(store);
	store_do(store, arena_format(store->arena,
				"UPDATE tasks SET state = 0, owner = NULL WHERE owner = %" PRId64
				" AND state = 1; DELETE FROM runners WHERE id = %" PRId64,
				store->runner, store->runner));
	return store_commit(store);
}

/* --- work */

/* Leases tasks; returns their number. */
static size_t store_lease(struct store *store, struct store_part part, size_t want, size_t *ranks)
{
	sqlite3_stmt *next =
		store_query(store, "SELECT spec, rank FROM tasks WHERE state = 0 AND rank % ?1 = ?2"
				   " ORDER BY rank LIMIT ?3");
	sqlite3_stmt *take = store_statement(store, STATEMENT_LEASE);
	const char **specs = arena_array(store->arena, const char *, want);
	size_t got = 0;
	sqlite3_bind_int64(next, 1, (int64_t)part.shards);
	sqlite3_bind_int64(next, 2, (int64_t)part.shard);
	sqlite3_bind_int64(next, 3, (int64_t)want);
	while (store_row(store, next)) {
		specs[got] = arena_text(store->arena, store_column(next, 0));
		ranks[got++] = (size_t)sqlite3_column_int64(next, 1);
	}
	for (size_t i = 0; i < got; i++) {
		store_bind_text(take, 1, specs[i]);
		sqlite3_bind_int64(take, 2, store->runner);
		store_step(store, take);
	}
	return got;
}

const char *store_exchange(struct store *store, const struct task_result *results, size_t count,
	struct store_part part, size_t want, size_t *ranks, size_t *got)
{
	struct arena_mark mark = arena_mark(store->arena);
	size_t differ = 0;
	store_begin(store);
	for (size_t i = 0; i < count; i++)
		store_add_result(store, &results[i], &differ);
	*got = want ? store_lease(store, part, want, ranks) : 0;
	if (want && !*got) {
		store_void_leases(store);
		*got = store_lease(store, part, want, ranks);
	}
	if (!store_commit(store))
		arena_release(store->arena, mark);
	return store->why;
}

/* --- how far it is */

const char *store_count(struct store *store, struct store_part part, struct store_counts *out)
{
	const char *of_part = arena_format(
		store->arena, "FROM tasks WHERE rank %% %zu = %zu", part.shards, part.shard);
	*out = (struct store_counts){.objective = ""};
	out->points = (size_t)store_number(store, "SELECT count(*) FROM points");
	sqlite3_stmt *statement = store_query(
		store, arena_format(store->arena,
			       "SELECT count(*), total(state = 2), total(state = 1) %s", of_part));
	while (store_row(store, statement)) {
		out->tasks = (size_t)sqlite3_column_int64(statement, 0);
		out->done = (size_t)sqlite3_column_int64(statement, 1);
		out->leased = (size_t)sqlite3_column_int64(statement, 2);
	}
	statement = store_query(
		store, arena_format(store->arena,
			       "SELECT status, count(*), sum(seconds), min(best), objective FROM "
			       "results WHERE spec IN (SELECT spec %s) GROUP BY status",
			       of_part));
	while (store_row(store, statement)) {
		size_t *by_status[] = {
			&out->found, &out->impossible, &out->wrong, &out->nothing, &out->crashed};
		int status = sqlite3_column_int(statement, 0);
		if (status >= 0 && status <= TASK_CRASHED)
			*by_status[status] = (size_t)sqlite3_column_int64(statement, 1);
		out->seconds += sqlite3_column_double(statement, 2);
		if (sqlite3_column_type(statement, 3) == SQLITE_NULL)
			continue;
		double best = sqlite3_column_double(statement, 3);
		if (!out->has_best || best < out->best) {
			out->best = best;
			out->objective = arena_text(store->arena, store_column(statement, 4));
		}
		out->has_best = true;
	}
	statement = store_query(
		store, arena_format(store->arena,
			       "SELECT message FROM results JOIN (SELECT spec, rank %s) USING "
			       "(spec) WHERE status = 2 ORDER BY rank LIMIT 1",
			       of_part));
	while (store_row(store, statement))
		out->message = arena_text(store->arena, store_column(statement, 0));
	out->runners = count_others(store);
	return store->why;
}

const char *status_tree(struct store *store, json_t **out)
{
	const struct store_part all = {0, 1};
	struct store_head head;
	struct store_counts counts;
	store_filled_head(store, &head);
	const char *why = store_count(store, all, &counts);
	if (why)
		return why;
	*out = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, "
			 "s:o, s:o}",
		"campaign", head.name, "fingerprint", head.fingerprint, "version", head.version,
		"points", (json_int_t)counts.points, "different", (json_int_t)counts.tasks, "done",
		(json_int_t)counts.done, "running", (json_int_t)counts.leased, "found",
		(json_int_t)counts.found, "impossible", (json_int_t)counts.impossible, "wrong",
		(json_int_t)counts.wrong, "nothing", (json_int_t)counts.nothing, "crashed",
		(json_int_t)counts.crashed, "processes", (json_int_t)counts.runners, "seconds",
		counts.seconds, "objective",
		counts.has_best ? json_string(counts.objective) : json_null(), "best",
		counts.has_best ? json_real(counts.best) : json_null());
	return NULL;
}

const char *status_text(struct arena *arena, const json_t *tree)
{
	static const char *const keys[] = {"points", "different", "done", "running", "found",
		"impossible", "wrong", "nothing", "crashed", "processes"};
	enum {
		POINTS,
		TASKS,
		DONE,
		RUNNING,
		FOUND,
		IMPOSSIBLE,
		WRONG,
		NOTHING,
		CRASHED,
		PROCESSES,
		KEYS
	};
	long long count[KEYS];
	struct text text = text_open(arena);
	for (int i = 0; i < KEYS; i++)
		count[i] = json_integer_value(json_object_get(tree, keys[i]));
	text_add(&text, "%s: %lld points, %lld of them different\n",
		json_string_value(json_object_get(tree, "campaign")), count[POINTS], count[TASKS]);
	text_add(&text, "done %lld (%.1f %%), running %lld, open %lld\n", count[DONE],
		100 * (double)count[DONE] / (double)(count[TASKS] ? count[TASKS] : 1),
		count[RUNNING], count[TASKS] - count[DONE] - count[RUNNING]);
	text_add(&text, "found %lld, impossible %lld, wrong %lld, nothing %lld\n", count[FOUND],
		count[IMPOSSIBLE], count[WRONG], count[NOTHING]);
	if (count[CRASHED])
		text_add(&text, "crashed %lld\n", count[CRASHED]);
	text_add(&text, "%.1f s of exploring", json_real_value(json_object_get(tree, "seconds")));
	const char *objective = json_string_value(json_object_get(tree, "objective"));
	if (objective)
		text_add(&text, ", best %s %s", objective,
			objective_value_text(arena, objective_find(objective),
				json_real_value(json_object_get(tree, "best"))));
	text_add(&text, "; %lld process%s at work\n", count[PROCESSES],
		count[PROCESSES] == 1 ? "" : "es");
	return text_read(&text);
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
enum { SIGNALS = sizeof signals / sizeof *signals, STACK = 1 << 16, SPEC_MOST = 64 };

static char *crash_path;  /* of the record */
static char **crash_line; /* of arguments; NULL: not known, the program ends */

static _Thread_local char crash_spec[SPEC_MOST];
static _Thread_local void
	*spare; /* a stack for handlers: the thread's own may be what has run out */

/* "SPEC SIGNAL\n"; only what is allowed in a handler. */
static bool store_runner_record(int number)
{
	char text[SPEC_MOST + 8];
	size_t length = strlen(crash_spec);
	memcpy(text, crash_spec, length);
	text[length++] = ' ';
	text[length++] = (char)('0' + number / 10);
	text[length++] = (char)('0' + number % 10);
	text[length++] = '\n';
	int file = open(crash_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	bool good = file >= 0 && write(file, text, length) == (ssize_t)length && fsync(file) == 0;
	if (file >= 0)
		close(file);
	return good;
}

/* The signal stays caught meanwhile, for other threads may crash, too: each records its own point. */
static void on_crash(int number)
{
	static _Thread_local volatile sig_atomic_t crashing;
	sigset_t all;
	sigfillset(&all);
	if (!crashing) {
		crashing = 1;
		if (*crash_spec && store_runner_record(number) && crash_line) {
			sigprocmask(SIG_UNBLOCK, &all, NULL);
			execv("/proc/self/exe", crash_line);
		}
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* The arguments of the program without one of them. */
static char **runner_read_line(const char *without)
{
	static struct arena *arena;
	struct array(char *) words = {0};
	char *text = NULL;
	size_t room = 0;
	FILE *file = fopen("/proc/self/cmdline", "re");
	arena = arena ? arena : arena_open();
	while (file && getdelim(&text, &room, '\0', file) > 0)
		if (strcmp(text, without) != 0)
			*array_add(arena, &words) = arena_text(arena, text);
	free(text);
	if (file)
		fclose(file);
	*array_add(arena, &words) = NULL;
	return words.count > 1 ? words.at : NULL;
}

void crash_guard(const char *folder, const char *without)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
	free(crash_path);
	if (asprintf(&crash_path, "%s/campaign.crashed", folder) < 0)
		crash_path = NULL;
	crash_line = runner_read_line(without);
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < SIGNALS && crash_path; i++)
		sigaction(signals[i], &action, NULL);
}

void crash_begin(const char *spec)
{
	if (!spare && (spare = malloc(STACK)))
		sigaltstack(&(stack_t){.ss_sp = spare, .ss_size = STACK}, NULL);
	strncpy(crash_spec, spec, sizeof crash_spec - 1);
}

void crash_end(void)
{
	crash_spec[0] = 0;
}

/* The tasks of a record that this store has. */
static void keep_crash(struct store *store, const char *version, const char *text, size_t *count)
{
	char spec[SPEC_MOST];
	int number, length;
	for (; sscanf(text, "%63s %2d\n%n", spec, &number, &length) == 2; text += length) {
		size_t differ = 0;
		struct task_result result = {.spec = spec,
			.status = TASK_CRASHED,
			.version = version,
			.message = arena_format(store->arena,
				"lxplore: the program ended by signal %d (%s)\n", number,
				strsignal(number)),
			.pareto = "",
			.plans = "[]",
			.objective = ""};
		store_add_result(store, &result, &differ);
		++*count;
	}
}

const char *crash_collect(struct store *store, const char *version, size_t *count)
{
	const char *from = arena_format(store->arena, "%s/campaign.crashed", store->folder);
	const char *taken = arena_format(store->arena, "%s.%d", from, (int)getpid());
	*count = 0;
	if (access(from, F_OK) != 0 || rename(from, taken) != 0)
		return NULL;
	const char *text = text_of_file(store->arena, taken);
	store_begin(store);
	keep_crash(store, version, text ? text : "", count);
	const char *why = store_commit(store);
	if (why)
		rename(taken, from);
	else
		unlink(taken);
	return why;
}
