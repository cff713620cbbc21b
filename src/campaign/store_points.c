#include "base/arena.h"
#include "base/text.h"
#include "campaign/store_database.h"

#include <string.h>

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
static int compare(const struct task_result *a, const struct task_result *b)
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

/* Whether the store has a result for the task that stays. */
static bool is_settled(struct store *store, const struct task_result *result, size_t *differ)
{
	sqlite3_stmt *statement =
		store_query(store, "SELECT " RESULT_COLUMNS " FROM results WHERE spec = ?");
	bool settled = false;
	store_bind_text(statement, 1, result->spec);
	while (store_row(store, statement)) {
		struct task_result known = store_result(statement, 0);
		int order = compare(&known, result);
		*differ += order != 0;
		settled = order <= 0;
	}
	return settled;
}

const char *store_add_result(struct store *store, const struct task_result *result, size_t *differ)
{
	bool settled = is_settled(store, result, differ);
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
