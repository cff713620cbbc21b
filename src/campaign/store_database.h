#ifndef CAMPAIGN_STORE_DATABASE_H
#define CAMPAIGN_STORE_DATABASE_H

#include "campaign/store.h"

#include <sqlite3.h>

/* What the files of the store share: the database, and statements of it. */
enum statement {
	STATEMENT_ADD_TASK,
	STATEMENT_ADD_POINT,
	STATEMENT_ADD_RESULT,
	STATEMENT_END_TASK,
	STATEMENT_NEXT,
	STATEMENT_LEASE,
	STATEMENTS
};

struct store {
	struct arena *arena;
	const char *folder, *path;
	sqlite3 *database;
	sqlite3_stmt *statements[STATEMENTS];
	int lock;       /* of the file of locks; -1: none */
	int64_t runner; /* 0: none */
};

/* What the database complains of, in words. */
const char *store_why(struct store *store);

/* Statements without parameters. */
const char *store_do(struct store *store, const char *sql);

/* A prepared one, made when it is first asked for; NULL: store_why tells. */
sqlite3_stmt *store_statement(struct store *store, enum statement which);

/* One that is finalized by its user. */
const char *store_query(struct store *store, const char *sql, sqlite3_stmt **out);

/* Its next row; false at the end, where it is finalized, and *why says if something is wrong.  It may be
 * wrong before. */
bool store_row(struct store *store, sqlite3_stmt *statement, const char **why);

/* Carries out a bound statement that has no rows, and resets it. */
const char *store_step(struct store *store, sqlite3_stmt *statement);

void store_bind_text(sqlite3_stmt *statement, int at, const char *text);
const char *store_column(sqlite3_stmt *statement, int at); /* "" for NULL */

/* One number of a query with one row. */
const char *store_number(struct store *store, const char *sql, int64_t *out);

/* Columns of a result from `first` on, as store_add_result binds them. */
#define RESULT_COLUMNS "spec, status, version, message, pareto, plans, objective, best, seconds"
struct task_result store_result(sqlite3_stmt *statement, int first);

/* Runners (store_runner.c). */
bool store_is_alive(struct store *store, int64_t runner);
const char *store_void_leases(struct store *store);

#endif
