#include "base/arena.h"
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

const char *store_void_leases(struct store *store)
{
	sqlite3_stmt *statement = NULL;
	const char *why =
		store_query(store, "SELECT DISTINCT owner FROM tasks WHERE state = 1", &statement);
	int64_t gone[64];
	size_t count = 0;
	while (!why && count < 64 && sqlite3_step(statement) == SQLITE_ROW)
		if (!store_is_alive(store, sqlite3_column_int64(statement, 0)))
			gone[count++] = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	for (size_t i = 0; i < count && !why; i++)
		why = store_do(store,
			arena_format(store->arena,
				"UPDATE tasks SET state = 0, owner = NULL WHERE state = 1 AND "
				"owner = %" PRId64 "; DELETE FROM runners WHERE id = %" PRId64,
				gone[i], gone[i]));
	return why;
}

/* --- joining and leaving */

/* How many runners are alive. */
static const char *count_others(struct store *store, size_t *count)
{
	sqlite3_stmt *statement = NULL;
	const char *why = store_query(store, "SELECT id FROM runners", &statement);
	*count = 0;
	while (store_row(store, statement, &why))
		*count += store_is_alive(store, sqlite3_column_int64(statement, 0));
	return why;
}

static const char *enter(struct store *store, bool alone)
{
	size_t others = 0;
	const char *why = alone ? count_others(store, &others) : NULL;
	if (!why && others)
		why = arena_format(store->arena,
			"store '%s': another process runs this campaign by other specs or options; "
			"wait, or give this one a folder of its own",
			store->path);
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	sqlite3_stmt *statement = NULL;
	if (!why)
		why = store_query(
			store, "INSERT INTO runners (host, process) VALUES (?, ?)", &statement);
	if (!why) {
		store_bind_text(statement, 1, host);
		sqlite3_bind_int64(statement, 2, getpid());
		why = store_step(store, statement);
	}
	sqlite3_finalize(statement);
	if (why)
		return why;
	store->runner = sqlite3_last_insert_rowid(store->database);
	struct flock lock = lock_of(store->runner);
	if (fcntl(store->lock, F_OFD_SETLK, &lock) != 0)
		return arena_format(store->arena, "cannot lock '%s/campaign.lock': %s",
			store->folder, strerror(errno));
	return NULL;
}

const char *store_join(struct store *store, bool alone)
{
	const char *why = open_locks(store, O_RDWR | O_CREAT);
	if (!why)
		why = enter(store, alone);
	return why ? why : store_void_leases(store);
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
	const char *why = store_begin(store);
	if (!why)
		why = store_do(store,
			arena_format(store->arena,
				"UPDATE tasks SET state = 0, owner = NULL WHERE owner = %" PRId64
				" AND state = 1; DELETE FROM runners WHERE id = %" PRId64,
				store->runner, store->runner));
	const char *end = store_commit(store);
	return why ? why : end;
}

/* --- work */

static const char *lease(
	struct store *store, struct store_part part, size_t want, size_t *ranks, size_t *got)
{
	sqlite3_stmt *next = store_statement(store, STATEMENT_NEXT);
	sqlite3_stmt *take = store_statement(store, STATEMENT_LEASE);
	char(*specs)[64] = arena_alloc_array(store->arena, want, sizeof *specs);
	int code;
	if (!next || !take)
		return store_why(store);
	sqlite3_bind_int64(next, 1, (int64_t)part.shards);
	sqlite3_bind_int64(next, 2, (int64_t)part.shard);
	sqlite3_bind_int64(next, 3, (int64_t)want);
	for (*got = 0; (code = sqlite3_step(next)) == SQLITE_ROW; ++*got) {
		strncpy(specs[*got], store_column(next, 0), sizeof *specs - 1);
		ranks[*got] = (size_t)sqlite3_column_int64(next, 1);
	}
	const char *why = code == SQLITE_DONE ? NULL : store_why(store);
	sqlite3_reset(next);
	for (size_t i = 0; i < *got && !why; i++) {
		store_bind_text(take, 1, specs[i]);
		sqlite3_bind_int64(take, 2, store->runner);
		why = store_step(store, take);
	}
	return why;
}

static const char *exchange(struct store *store, const struct task_result *results, size_t count,
	struct store_part part, size_t want, size_t *ranks, size_t *got)
{
	const char *why = NULL;
	size_t differ = 0;
	*got = 0;
	for (size_t i = 0; i < count && !why; i++)
		why = store_add_result(store, &results[i], &differ);
	if (!why && want)
		why = lease(store, part, want, ranks, got);
	if (!why && want && !*got) {
		why = store_void_leases(store);
		if (!why)
			why = lease(store, part, want, ranks, got);
	}
	return why;
}

const char *store_exchange(struct store *store, const struct task_result *results, size_t count,
	struct store_part part, size_t want, size_t *ranks, size_t *got)
{
	struct arena_mark mark = arena_mark(store->arena);
	const char *why = store_begin(store);
	if (why)
		return why;
	why = exchange(store, results, count, part, want, ranks, got);
	if (why) {
		store_rollback(store);
		return why;
	}
	why = store_commit(store);
	if (!why)
		arena_release(store->arena, mark);
	return why;
}

/* --- how far it is */

const char *store_count(struct store *store, struct store_part part, struct store_counts *out)
{
	const char *of_part = arena_format(
		store->arena, "FROM tasks WHERE rank %% %zu = %zu", part.shards, part.shard);
	const struct {
		const char *sql;
		size_t *out;
	} counts[] = {
		{"SELECT count(*) FROM points", &out->points},
		{arena_format(store->arena, "SELECT count(*) %s", of_part), &out->tasks},
		{arena_format(store->arena, "SELECT count(*) %s AND state = 2", of_part),
			&out->done},
		{arena_format(store->arena, "SELECT count(*) %s AND state = 1", of_part),
			&out->leased},
	};
	const char *why = NULL;
	*out = (struct store_counts){.objective = ""};
	for (size_t i = 0; i < sizeof counts / sizeof *counts && !why; i++) {
		int64_t number = 0;
		why = store_number(store, counts[i].sql, &number);
		*counts[i].out = (size_t)number;
	}
	sqlite3_stmt *statement = NULL;
	if (!why)
		why = store_query(store,
			arena_format(store->arena,
				"SELECT status, count(*), sum(seconds), min(best), objective FROM "
				"results WHERE spec IN (SELECT spec %s) GROUP BY status",
				of_part),
			&statement);
	while (store_row(store, statement, &why)) {
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
	statement = NULL;
	if (!why && out->wrong)
		why = store_query(store,
			arena_format(store->arena,
				"SELECT message FROM results JOIN (SELECT spec, rank %s) USING "
				"(spec) WHERE status = 2 ORDER BY rank LIMIT 1",
				of_part),
			&statement);
	if (statement && sqlite3_step(statement) == SQLITE_ROW)
		out->message = arena_text(store->arena, store_column(statement, 0));
	sqlite3_finalize(statement);
	return why ? why : count_others(store, &out->runners);
}
