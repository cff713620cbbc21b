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
	sqlite3_stmt *statement = NULL;
	*out = (struct store_head){0};
	const char *why = store_query(store, "SELECT key, value FROM campaign", &statement);
	while (store_row(store, statement, &why))
		for (int i = 0; i < HEAD_KEYS; i++)
			if (text_equal(head_keys[i], store_column(statement, 0)))
				*fields[i] = arena_text(store->arena, store_column(statement, 1));
	return why;
}

const char *store_clear(struct store *store, const struct store_head *head)
{
	const char *values[] = {head->name, head->fingerprint, head->version, head->columns};
	sqlite3_stmt *statement = NULL;
	const char *why =
		store_do(store, "DELETE FROM points; DELETE FROM tasks; DELETE FROM campaign");
	if (!why)
		why = store_query(
			store, "INSERT INTO campaign (key, value) VALUES (?, ?)", &statement);
	for (int i = 0; i < HEAD_KEYS && !why; i++) {
		store_bind_text(statement, 1, head_keys[i]);
		store_bind_text(statement, 2, values[i]);
		why = store_step(store, statement);
	}
	sqlite3_finalize(statement);
	return why;
}

/* --- adding */

const char *store_add_task(struct store *store, const struct store_task *task)
{
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_TASK);
	if (!statement)
		return store_why(store);
	store_bind_text(statement, 1, task->spec);
	sqlite3_bind_int64(statement, 2, (int64_t)task->rank);
	sqlite3_bind_double(statement, 3, task->estimate);
	return store_step(store, statement);
}

const char *store_add_point(struct store *store, const struct store_point *point)
{
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_POINT);
	if (!statement)
		return store_why(store);
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
static const char *is_settled(
	struct store *store, const struct task_result *result, size_t *differ, bool *settled)
{
	sqlite3_stmt *statement = NULL;
	const char *why = store_query(
		store, "SELECT " RESULT_COLUMNS " FROM results WHERE spec = ?", &statement);
	*settled = false;
	if (!why) {
		store_bind_text(statement, 1, result->spec);
		int code = sqlite3_step(statement);
		if (code == SQLITE_ROW) {
			struct task_result known = store_result(statement, 0);
			int order = compare(&known, result);
			*differ += order != 0;
			*settled = order <= 0;
		} else if (code != SQLITE_DONE) {
			why = store_why(store);
		}
	}
	sqlite3_finalize(statement);
	return why;
}

const char *store_add_result(struct store *store, const struct task_result *result, size_t *differ)
{
	bool settled;
	const char *why = is_settled(store, result, differ, &settled);
	sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_RESULT);
	sqlite3_stmt *end = store_statement(store, STATEMENT_END_TASK);
	if (why || settled)
		return why;
	if (!statement || !end)
		return store_why(store);
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
	why = store_step(store, statement);
	if (why)
		return why;
	store_bind_text(end, 1, result->spec);
	return store_step(store, end);
}

/* --- reading */

const char *store_each_point(struct store *store,
	void (*visit)(
		void *context, const struct store_point *point, const struct task_result *result),
	void *context)
{
	sqlite3_stmt *statement = NULL;
	const char *why = store_query(store,
		"SELECT p.ordinal, p.name, p.labels, p.spec, r.* FROM points p LEFT JOIN"
		" (SELECT " RESULT_COLUMNS " FROM results) r ON r.spec = p.spec ORDER BY p.ordinal",
		&statement);
	while (store_row(store, statement, &why)) {
		struct store_point point = {(size_t)sqlite3_column_int64(statement, 0),
			store_column(statement, 1), store_column(statement, 2),
			store_column(statement, 3)};
		struct task_result result = store_result(statement, 4);
		bool there = sqlite3_column_type(statement, 4) != SQLITE_NULL;
		visit(context, &point, there ? &result : NULL);
	}
	return why;
}

const char *store_each_task(struct store *store,
	const char *(*visit)(void *context, const struct store_task *task), void *context)
{
	sqlite3_stmt *statement = NULL;
	const char *why = store_query(
		store, "SELECT spec, rank, estimate FROM tasks ORDER BY rank", &statement);
	while (store_row(store, statement, &why)) {
		struct store_task task = {store_column(statement, 0),
			(size_t)sqlite3_column_int64(statement, 1),
			sqlite3_column_double(statement, 2)};
		why = visit(context, &task);
	}
	return why;
}

const char *store_each_result(struct store *store,
	const char *(*visit)(void *context, const struct task_result *result), void *context)
{
	sqlite3_stmt *statement = NULL;
	const char *why = store_query(
		store, "SELECT " RESULT_COLUMNS " FROM results ORDER BY spec", &statement);
	while (store_row(store, statement, &why)) {
		struct task_result result = store_result(statement, 0);
		why = visit(context, &result);
	}
	return why;
}
