#ifndef LIB_LIBRARY_H
#define LIB_LIBRARY_H

#include "lib/lxplore.h"
#include "report/run/pareto.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* What a handle holds.  What is asked is on the heap of C, the results are in an arena. */
struct folder;

/* A path, a name with the text of a spec in memory, or a setting with its value. */
struct library_item {
	struct library_item *next;
	const char *name;
	size_t length;    /* of the text */
	const char *text; /* NULL: there is none */
	char bytes[];     /* of both */
};

struct library_list {
	struct library_item *first, **end;
};

struct library_table {
	size_t row_count;
	struct csv_cells columns, cells; /* row by row */
};

struct lxplore {
	atomic_flag busy;
	atomic_bool working, stopped; /* stopped: while it was working */
	struct library_list specs, settings;
	void (*tell)(void *context, const struct lxplore_progress *progress);
	void *context;

	struct arena *arena;
	const char *output, *message;
	size_t complaint_count;
	const struct lxplore_complaint *complaints;
	struct library_table points;
	const struct folder *files;
	char *write_message; /* of the last lxplore_write that failed; NULL */
};

/* What a handle is to do on a thread of its own. */
struct library_work;
struct library_task {
	enum lxplore_status (*run)(struct lxplore *run, const struct library_task *task);
	enum lxplore_status (*work)(
		struct library_work *work); /* with what is printed kept; NULL */
	const char *folder;                 /* to write to; NULL */
};

/* Runs a task apart, and waits for its end or that of all work in this process. */
enum lxplore_status library_call(struct lxplore *run, struct library_task task);

/* Why no work is possible in this process any more; NULL: it is. */
const char *library_failure(void);

/* Takes away what the last work left, and begins anew; the arena of what comes. */
struct arena *library_renew(struct lxplore *run);

/* The rows of a pareto.csv. */
struct library_table library_read_table(struct arena *arena, const char *text);

#endif
