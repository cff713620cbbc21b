#ifndef CAMPAIGN_STORE_H
#define CAMPAIGN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The store of a campaign: DIR/campaign.sqlite, in WAL mode, every commit on the disk before it
 * counts.  It holds the points, the tasks that they come down to, and the result of each task that
 * has ended.
 *
 * Any number of processes on one machine work on a store.  One that runs tasks is a runner: it has
 * a number, and locks the byte of that number in DIR/campaign.lock for as long as it lives, however
 * it ends.  A task is leased to a runner; leases of runners that are no more are void.
 *
 * Functions answer NULL, or why not, which lives as long as the store: a full disk, a folder that cannot be
 * written.  After a failure a store does nothing any more, and all functions answer it: callers check
 * once, at the end.  What was committed stays.  An open store belongs to one thread at a time.
 */
struct store;

enum task_state { TASK_OPEN, TASK_LEASED, TASK_DONE };
enum { TASK_CRASHED = 4 }; /* it took the program with it (store_runner.h) */

struct store_head {
	const char *name, *fingerprint, *version;
	const char *columns; /* the targets, a JSON list */
};

struct store_task {
	const char *spec;
	size_t rank;
	double estimate;
};

struct store_point {
	size_t ordinal;                   /* from 1 */
	const char *name, *labels, *spec; /* labels: a JSON list, as the columns */
};

/* The result of a task. */
struct task_result {
	const char *spec;
	int status;            /* as exit statuses, or TASK_CRASHED */
	const char *version;   /* of the program that found it */
	const char *message;   /* what was said to people */
	const char *pareto;    /* pareto.csv; "" where nothing was found */
	const char *plans;     /* a JSON list of texts */
	const char *objective; /* the first one; "" without a best value */
	double best, seconds;
};

struct store_counts {
	size_t points, tasks, done, leased, found, impossible, wrong, nothing, crashed;
	size_t runners; /* alive */
	double seconds; /* of all tasks done */
	const char *objective;
	double best;
	bool has_best;
	const char *message; /* of the first task whose specs are wrong; NULL */
};

/* Which part of the tasks is meant: those of rank r with r % shards == shard. */
struct store_part {
	size_t shard, shards;
};

/* Makes folder and store where there is none, or opens it to be read alone.  Close it after a failure,
 * too. */
const char *store_open(const char *folder, struct store **out);
const char *store_open_read(const char *folder, struct store **out);
void store_close(struct store *store); /* NULL is fine */

const char *store_path(const struct store *store);

/* The texts are NULL in a store that has no points yet; that is a failure for who wants some. */
const char *store_head(struct store *store, struct store_head *out);
const char *store_filled_head(struct store *store, struct store_head *out);

/* --- its points; all between begin and commit is kept, or none */

const char *store_begin(struct store *store);
const char *store_commit(struct store *store); /* or none of it, after a failure */

/* A failure of what the store is for; NULL: there is none. */
const char *store_fail(struct store *store, const char *why);

/* Takes away all points and tasks; results stay. */
const char *store_clear(struct store *store, const struct store_head *head);
const char *store_add_task(struct store *store, const struct store_task *task);
const char *store_add_point(struct store *store, const struct store_point *point);

/* A result of another store.  If a task has two, the one of the greater version stays, then the
 * lesser text; *differ counts those that are not equal. */
const char *store_add_result(struct store *store, const struct task_result *result, size_t *differ);

/* --- running */

/* Becomes a runner.  `alone` asks that no other one is alive. */
const char *store_join(struct store *store, bool alone);

/*
 * In one transaction: keeps the results, voids leases of runners that are no more, and leases the
 * next tasks of a part, at most `want`, by rank; their ranks come out.
 */
const char *store_exchange(struct store *store, const struct task_result *results, size_t count,
	struct store_part part, size_t want, size_t *ranks, size_t *got);

/* Opens tasks that crashed again. */
const char *store_retry(struct store *store);

/* Gives back what is leased and not done. */
const char *store_leave(struct store *store);

/* --- reading */

const char *store_count(struct store *store, struct store_part part, struct store_counts *out);

/* Every point by its ordinal, with its result, NULL where there is none. */
const char *store_each_point(struct store *store,
	void (*visit)(
		void *context, const struct store_point *point, const struct task_result *result),
	void *context);
const char *store_each_task(struct store *store,
	void (*visit)(void *context, const struct store_task *task), void *context);
const char *store_each_result(struct store *store,
	void (*visit)(void *context, const struct task_result *result), void *context);

#endif
