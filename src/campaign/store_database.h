#ifndef CAMPAIGN_STORE_DATABASE_H
#define CAMPAIGN_STORE_DATABASE_H

#include "campaign/store.h"

#include <sqlite3.h>

/* The database of a store and its statements, for the files of this folder that use SQLite. */
enum store_query {
	STATEMENT_ADD_TASK,
	STATEMENT_ADD_POINT,
	STATEMENT_ADD_RESULT,
	STATEMENT_END_TASK,
	STATEMENT_LEASE,
	STATEMENTS
};

struct store {
	struct arena *arena;
	const char *folder, *path;
	const char *why; /* the first failure, after which nothing is done any more; NULL: none */
	sqlite3 *database;
	sqlite3_stmt *statements[STATEMENTS];
	int lock;       /* of the file of locks; -1: none */
	int64_t runner; /* 0: none */
};

/* Statements without parameters. */
const char *store_do(struct store *store, const char *sql);

/* A prepared one, made when it is first asked for; and one that is finalized by its user.  NULL after a
 * failure, which all that follows bears. */
sqlite3_stmt *store_statement(struct store *store, enum store_query which);
sqlite3_stmt *store_query(struct store *store, const char *sql);

/* The next row of a query; false at the end, where it is finalized. */
bool store_row(struct store *store, sqlite3_stmt *statement);

/* Carries out a bound statement that has no rows, and resets it. */
const char *store_step(struct store *store, sqlite3_stmt *statement);

void store_bind_text(sqlite3_stmt *statement, int at, const char *text);
const char *store_column(sqlite3_stmt *statement, int at); /* "" for NULL */

/* One number of a query with one row; 0 after a failure. */
int64_t store_number(struct store *store, const char *sql);

/* Columns of a result from `first` on, as store_add_result binds them. */
#define RESULT_COLUMNS "spec, status, version, message, pareto, plans, objective, best, seconds"
struct task_result store_result(sqlite3_stmt *statement, int first);

/* Runners (store_runner.c). */
bool store_is_alive(struct store *store, int64_t runner);
void store_void_leases(struct store *store);

#endif
