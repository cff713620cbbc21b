#include "campaign/store.h"

#include "base/arena.h"
#include "base/text.h"
#include "campaign/store_database.h"
#include "report/run/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1, APPLICATION = 0x6c787063, WAIT_MS = 60000 }; /* "lxpc" */

static const char schema[] =
	"CREATE TABLE campaign (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE tasks (spec TEXT PRIMARY KEY, rank INTEGER NOT NULL, estimate REAL NOT NULL,"
	" state INTEGER NOT NULL DEFAULT 0, owner INTEGER) WITHOUT ROWID;"
	"CREATE INDEX tasks_next ON tasks (state, rank);"
	"CREATE TABLE points (ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL, labels TEXT NOT NULL,"
	" spec TEXT NOT NULL);"
	"CREATE TABLE results (spec TEXT PRIMARY KEY, status INTEGER NOT NULL, version TEXT NOT NULL,"
	" message TEXT NOT NULL, pareto TEXT NOT NULL, plans TEXT NOT NULL, objective TEXT NOT NULL,"
	" best REAL, seconds REAL NOT NULL);"
	"CREATE TABLE runners (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT, process INTEGER);";

static const char *const sources[STATEMENTS] = {
	[STATEMENT_ADD_TASK] =
		"INSERT INTO tasks (spec, rank, estimate, state) VALUES (?1, ?2, ?3,"
		" CASE WHEN EXISTS (SELECT 1 FROM results WHERE spec = ?1) THEN 2 ELSE 0 END)",
	[STATEMENT_ADD_POINT] =
		"INSERT INTO points (ordinal, name, labels, spec) VALUES (?, ?, ?, ?)",
	[STATEMENT_ADD_RESULT] = "INSERT OR REPLACE INTO results (" RESULT_COLUMNS
				 ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[STATEMENT_END_TASK] = "UPDATE tasks SET state = 2, owner = NULL WHERE spec = ?",
	[STATEMENT_LEASE] = "UPDATE tasks SET state = 1, owner = ?2 WHERE spec = ?1",
};

/* --- the database */

const char *store_fail(struct store *store, const char *why)
{
	store->why = store->why ? store->why : why;
	return store->why;
}

/* Keeps the error of the database in words, and returns it. */
static const char *store_complain(struct store *store)
{
	int code = sqlite3_errcode(store->database) & 0xff;
	int error = sqlite3_system_errno(store->database);
	const char *why = sqlite3_errmsg(store->database);
	if (code == SQLITE_FULL || error == ENOSPC || error == EDQUOT || error == EFBIG)
		why = "the disk is full";
	else if (code == SQLITE_BUSY)
		why = "another process keeps it locked";
	else if (code == SQLITE_READONLY || error == EROFS || error == EACCES)
		why = "it may not be written to";
	else if (code == SQLITE_NOTADB)
		why = "it is not a store of a campaign";
	else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && error)
		why = strerror(error);
	return store_fail(store, arena_format(store->arena, "store '%s': %s", store->path, why));
}

const char *store_do(struct store *store, const char *sql)
{
	if (!store->why && sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK)
		store_complain(store);
	return store->why;
}

sqlite3_stmt *store_query(struct store *store, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	if (!store->why &&
		sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
		store_complain(store);
	return statement;
}

sqlite3_stmt *store_statement(struct store *store, enum store_query which)
{
	if (!store->statements[which])
		store->statements[which] = store_query(store, sources[which]);
	return store->statements[which];
}

/* True if there is a row. */
static bool store_step_statement(struct store *store, sqlite3_stmt *statement)
{
	int code = store->why ? SQLITE_DONE : sqlite3_step(statement);
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		store_complain(store);
	return code == SQLITE_ROW;
}

const char *store_step(struct store *store, sqlite3_stmt *statement)
{
	store_step_statement(store, statement);
	sqlite3_reset(statement);
	return store->why;
}

bool store_row(struct store *store, sqlite3_stmt *statement)
{
	bool there = store_step_statement(store, statement);
	if (!there)
		sqlite3_finalize(statement);
	return there;
}

void store_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

const char *store_column(sqlite3_stmt *statement, int at)
{
	const char *text = (const char *)sqlite3_column_text(statement, at);
	return text ? text : "";
}

int64_t store_number(struct store *store, const char *sql)
{
	sqlite3_stmt *statement = store_query(store, sql);
	int64_t number =
		store_step_statement(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return number;
}

const char *store_begin(struct store *store)
{
	return store_do(store, "BEGIN IMMEDIATE");
}

const char *store_commit(struct store *store)
{
	if (store_do(store, "COMMIT"))
		sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return store->why;
}

/* --- opening */

static struct store *store_new(const char *folder)
{
	struct arena *arena = arena_open();
	struct store *store = arena_new(arena, struct store);
	size_t length = strlen(folder);
	while (length > 1 && folder[length - 1] == '/')
		length--;
	store->arena = arena;
	store->folder = arena_format(arena, "%.*s", (int)length, folder);
	store->path = arena_format(arena, "%s/campaign.sqlite", store->folder);
	store->lock = -1;
	return store;
}

/* While another process does the same, SQLite gives up at once and does not wait. */
static void begin_log(struct store *store)
{
	enum { NAP_MS = 5 };
	for (int waited = 0; waited < WAIT_MS; waited += NAP_MS) {
		store->why = NULL;
		if (!store_do(store, "PRAGMA journal_mode = WAL") ||
			(sqlite3_errcode(store->database) & 0xff) != SQLITE_BUSY)
			break;
		sqlite3_sleep(NAP_MS);
	}
}

/* The tables, where the file is new; in one transaction, for another process may do the same. */
static const char *store_set_up(struct store *store)
{
	begin_log(store);
	store_do(store, "PRAGMA synchronous = FULL");
	store_begin(store);
	int64_t format = store_number(store, "PRAGMA user_version");
	int64_t application = store_number(store, "PRAGMA application_id");
	if (!format && !application)
		store_do(store, arena_format(store->arena,
					"%s PRAGMA application_id = %d; PRAGMA user_version = %d",
					schema, APPLICATION, FORMAT));
	else if (application != APPLICATION || format != FORMAT)
		store_fail(store,
			arena_format(store->arena, "store '%s': it is not a store of this version",
				store->path));
	return store_commit(store);
}

const char *store_open(const char *folder, struct store **out)
{
	struct store *store = store_new(folder);
	*out = store;
	const char *why = folder_parents(store->arena, store->path);
	if (why)
		return why;
	int code = sqlite3_open_v2(store->path, &store->database,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
	if (code != SQLITE_OK)
		return store_complain(store);
	if (sqlite3_db_readonly(store->database, "main"))
		return arena_format(
			store->arena, "store '%s': it may not be written to", store->path);
	sqlite3_extended_result_codes(store->database, 1);
	sqlite3_busy_timeout(store->database, WAIT_MS);
	return store_set_up(store);
}

/* True if nothing was written since the last clean end.  The store then needs no files beside it, and can be read in a
 * folder without write permission. */
static bool is_clean(const struct store *store)
{
	struct stat facts;
	const char *log = arena_format(store->arena, "%s-wal", store->path);
	return stat(log, &facts) != 0 || facts.st_size == 0;
}

static const char *open_read(struct store *store, bool still)
{
	struct text uri_text = text_open(store->arena);
	text_add(&uri_text, "file:");
	for (const char *at = store->path; *at; at++)
		text_add(&uri_text, strchr("%?#", *at) ? "%%%02x" : "%c", *at);
	text_add(&uri_text, "?mode=ro%s", still ? "&immutable=1" : "");
	const char *uri = text_read(&uri_text);
	int code = sqlite3_open_v2(uri, &store->database,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI, NULL);
	if (code != SQLITE_OK)
		return store_complain(store);
	sqlite3_busy_timeout(store->database, WAIT_MS);
	int64_t application = store_number(store, "PRAGMA application_id");
	store_do(store, "SELECT 1 FROM sqlite_master LIMIT 1");
	if (application != APPLICATION)
		store_fail(
			store, arena_format(store->arena,
				       "store '%s': it is not a store of a campaign", store->path));
	return store->why;
}

const char *store_open_read(const char *folder, struct store **out)
{
	struct store *store = store_new(folder);
	struct stat facts;
	*out = store;
	if (stat(store->path, &facts) != 0)
		return arena_format(
			store->arena, "no campaign in '%s': %s", store->folder, strerror(errno));
	const char *why = open_read(store, false);
	if (why && is_clean(store)) {
		sqlite3_close(store->database);
		store->why = NULL;
		why = open_read(store, true);
	}
	return why;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->database);
	if (store->lock >= 0)
		close(store->lock);
	arena_close(store->arena);
}

const char *store_path(const struct store *store)
{
	return store->path;
}

/* --- the head */

static const char *const head_keys[] = {"name", "fingerprint", "version", "columns"};
enum { HEAD_KEYS = sizeof head_keys / sizeof *head_keys };

const char *store_head(struct store *store, struct store_head *out)
{
	const char **fields[] = {&out->name, &out->fingerprint, &out->version, &out->columns};
	*out = (struct store_head){0};
	sqlite3_stmt *statement = store_query(store, "SELECT key, value FROM campaign");
	while (store_row(store, statement))
		for (int i = 0; i < HEAD_KEYS; i++)
			if (text_equal(head_keys[i], store_column(statement, 0)))
				*fields[i] = arena_text(store->arena, store_column(statement, 1));
	return store->why;
}

const char *store_filled_head(struct store *store, struct store_head *out)
{
	const char *why = store_head(store, out);
	if (why || out->fingerprint)
		return why;
	return store_fail(
		store, arena_format(store->arena, "store '%s' has no points", store->path));
}

const char *store_clear(struct store *store, const struct store_head *head)
{
	const char *values[] = {head->name, head->fingerprint, head->version, head->columns};
	store_do(store, "DELETE FROM points; DELETE FROM tasks; DELETE FROM campaign");
	sqlite3_stmt *statement =
		store_query(store, "INSERT INTO campaign (key, value) VALUES (?, ?)");
	for (int i = 0; i < HEAD_KEYS; i++) {
		store_bind_text(statement, 1, head_keys[i]);
		store_bind_text(statement, 2, values[i]);
		store_step(store, statement);
	}
	sqlite3_finalize(statement);
	return store->why;
}

/* --- adding */

const char *store_add_task(struct store *store, const struct store_task *task)
{
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_TASK);
	store_bind_text(statement, 1, task->spec);
	sqlite3_bind_int64(statement, 2, (int64_t)task->rank);
	sqlite3_bind_double(statement, 3, task->estimate);
	return store_step(store, statement);
}

const char *store_add_point(struct store *store, const struct store_point *point)
{
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_POINT);
	sqlite3_bind_int64(statement, 1, (int64_t)point->ordinal);
	store_bind_text(statement, 2, point->name);
	store_bind_text(statement, 3, point->labels);
	store_bind_text(statement, 4, point->spec);
	return store_step(store, statement);
}

struct task_result store_result(sqlite3_stmt *statement, int first)
{
	bool best = sqlite3_column_type(statement, first + 7) != SQLITE_NULL;
	return (struct task_result){
		.spec = store_column(statement, first),
		.status = sqlite3_column_int(statement, first + 1),
		.version = store_column(statement, first + 2),
		.message = store_column(statement, first + 3),
		.pareto = store_column(statement, first + 4),
		.plans = store_column(statement, first + 5),
		.objective = best ? store_column(statement, first + 6) : "",
		.best = sqlite3_column_double(statement, first + 7),
		.seconds = sqlite3_column_double(statement, first + 8),
	};
}

/* Below 0: a stays before b. */
static int task_results_compare(const struct task_result *a, const struct task_result *b)
{
	int order = strcmp(b->version, a->version);
	if (!order)
		order = a->status - b->status;
	if (!order)
		order = strcmp(a->pareto, b->pareto);
	if (!order)
		order = strcmp(a->plans, b->plans);
	return order ? order : strcmp(a->message, b->message);
}

/* True if the store has a result for the task that stays. */
static bool store_is_settled(struct store *store, const struct task_result *result, size_t *differ)
{
	sqlite3_stmt *statement =
		store_query(store, "SELECT " RESULT_COLUMNS " FROM results WHERE spec = ?");
	bool settled = false;
	store_bind_text(statement, 1, result->spec);
	while (store_row(store, statement)) {
		struct task_result known = store_result(statement, 0);
		int order = task_results_compare(&known, result);
		*differ += order != 0;
		settled = order <= 0;
	}
	return settled;
}

const char *store_add_result(struct store *store, const struct task_result *result, size_t *differ)
{
	bool settled = store_is_settled(store, result, differ);
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_RESULT);
	sqlite3_stmt *end = store_statement(store, STATEMENT_END_TASK);
	if (settled)
		return NULL;
	store_bind_text(statement, 1, result->spec);
	sqlite3_bind_int(statement, 2, result->status);
	store_bind_text(statement, 3, result->version);
	store_bind_text(statement, 4, result->message);
	store_bind_text(statement, 5, result->pareto);
	store_bind_text(statement, 6, result->plans);
	store_bind_text(statement, 7, result->objective);
	if (*result->objective)
		sqlite3_bind_double(statement, 8, result->best);
	else
		sqlite3_bind_null(statement, 8);
	sqlite3_bind_double(statement, 9, result->seconds);
	store_step(store, statement);
	store_bind_text(end, 1, result->spec);
	return store_step(store, end);
}

/* --- reading */

const char *store_each_point(struct store *store,
	void (*visit)(
		void *context, const struct store_point *point, const struct task_result *result),
	void *context)
{
	sqlite3_stmt *statement = store_query(store,
		"SELECT p.ordinal, p.name, p.labels, p.spec, r.* FROM points p LEFT JOIN"
		" (SELECT " RESULT_COLUMNS
		" FROM results) r ON r.spec = p.spec ORDER BY p.ordinal");
	while (store_row(store, statement)) {
		struct store_point point = {(size_t)sqlite3_column_int64(statement, 0),
			store_column(statement, 1), store_column(statement, 2),
			store_column(statement, 3)};
		struct task_result result = store_result(statement, 4);
		bool there = sqlite3_column_type(statement, 4) != SQLITE_NULL;
		visit(context, &point, there ? &result : NULL);
	}
	return store->why;
}

const char *store_each_task(struct store *store,
	void (*visit)(void *context, const struct store_task *task), void *context)
{
	sqlite3_stmt *statement =
		store_query(store, "SELECT spec, rank, estimate FROM tasks ORDER BY rank");
	while (store_row(store, statement)) {
		struct store_task task = {store_column(statement, 0),
			(size_t)sqlite3_column_int64(statement, 1),
			sqlite3_column_double(statement, 2)};
		visit(context, &task);
	}
	return store->why;
}

const char *store_each_result(struct store *store,
	void (*visit)(void *context, const struct task_result *result), void *context)
{
	sqlite3_stmt *statement =
		store_query(store, "SELECT " RESULT_COLUMNS " FROM results ORDER BY spec");
	while (store_row(store, statement)) {
		struct task_result result = store_result(statement, 0);
		visit(context, &result);
	}
	return store->why;
}
