#include "base/arena.h"
#include "base/text.h"
#include "campaign/store_database.h"
#include "report/run/folder_files.h"

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

/* What the database complains of, in words. */
static const char *complain(struct store *store)
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
		why = "it is no store of a campaign";
	else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && error)
		why = strerror(error);
	return store_fail(store, arena_format(store->arena, "store '%s': %s", store->path, why));
}

const char *store_do(struct store *store, const char *sql)
{
	if (!store->why && sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK)
		complain(store);
	return store->why;
}

sqlite3_stmt *store_query(struct store *store, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	if (!store->why &&
		sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
		complain(store);
	return statement;
}

sqlite3_stmt *store_statement(struct store *store, enum statement which)
{
	if (!store->statements[which])
		store->statements[which] = store_query(store, sources[which]);
	return store->statements[which];
}

/* Whether there is a row. */
static bool step(struct store *store, sqlite3_stmt *statement)
{
	int code = store->why ? SQLITE_DONE : sqlite3_step(statement);
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		complain(store);
	return code == SQLITE_ROW;
}

const char *store_step(struct store *store, sqlite3_stmt *statement)
{
	step(store, statement);
	sqlite3_reset(statement);
	return store->why;
}

bool store_row(struct store *store, sqlite3_stmt *statement)
{
	bool there = step(store, statement);
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
	int64_t number = step(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
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

static struct store *make(const char *folder)
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
static const char *set_up(struct store *store)
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
		store_fail(
			store, arena_format(store->arena,
				       "store '%s': it is no store of this version", store->path));
	return store_commit(store);
}

const char *store_open(const char *folder, struct store **out)
{
	struct store *store = make(folder);
	*out = store;
	const char *why = folder_parents(store->arena, store->path);
	if (why)
		return why;
	int code = sqlite3_open_v2(store->path, &store->database,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
	if (code != SQLITE_OK)
		return complain(store);
	if (sqlite3_db_readonly(store->database, "main"))
		return arena_format(
			store->arena, "store '%s': it may not be written to", store->path);
	sqlite3_extended_result_codes(store->database, 1);
	sqlite3_busy_timeout(store->database, WAIT_MS);
	return set_up(store);
}

/* Where nobody has written since the last clean end, nobody needs files beside the store: so it is
 * read in a folder that may not be written to. */
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
		return complain(store);
	sqlite3_busy_timeout(store->database, WAIT_MS);
	int64_t application = store_number(store, "PRAGMA application_id");
	store_do(store, "SELECT 1 FROM sqlite_master LIMIT 1");
	if (application != APPLICATION)
		store_fail(store, arena_format(store->arena,
					  "store '%s': it is no store of a campaign", store->path));
	return store->why;
}

const char *store_open_read(const char *folder, struct store **out)
{
	struct store *store = make(folder);
	struct stat facts;
	*out = store;
	if (stat(store->path, &facts) != 0)
		return arena_format(store->arena, "there is no campaign in '%s': %s", store->folder,
			strerror(errno));
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
