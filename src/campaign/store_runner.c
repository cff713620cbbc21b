#include "base/array.h"
#include "campaign/store_database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

/* How many runners are alive. */
static size_t count_others(struct store *store)
{
	sqlite3_stmt *statement = store_query(store, "SELECT id FROM runners");
	size_t count = 0;
	while (store_row(store, statement))
		count += store_is_alive(store, sqlite3_column_int64(statement, 0));
	return count;
}

static void enter(struct store *store)
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
	enter(store);
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

/* How many there were. */
static size_t lease(struct store *store, struct store_part part, size_t want, size_t *ranks)
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
	*got = want ? lease(store, part, want, ranks) : 0;
	if (want && !*got) {
		store_void_leases(store);
		*got = lease(store, part, want, ranks);
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
