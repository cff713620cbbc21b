#ifndef CAMPAIGN_EXPORT_H
#define CAMPAIGN_EXPORT_H

#include "campaign/store.h"

#include <stdbool.h>

/*
 * Reports about stores.  The texts depend on the points and results alone: neither on the order
 * in which tasks ran nor on the machine.  All return NULL, or the reason of a failure.
 */
struct arena;

typedef void print_text(const char *text);

/*
 * A row for each point of each frontier, one for a point without: the point and its values, how it
 * ended (found, impossible, wrong, nothing, crashed; open: not yet), the program's version, then the columns
 * of pareto.csv, whose `point` is called `frontier` here.  As JSON with plans and messages, too.
 */
const char *export_csv(struct arena *arena, struct store *store, print_text *print);
const char *export_json(struct arena *arena, struct store *store, print_text *print);

const char *status_text(struct arena *arena, struct store *store, const char **out);
const char *status_json(struct arena *arena, struct store *store, const char **out);

/* The difference of two campaigns, point by point; points with equal names and values are the same. */
struct campaign_diff {
	size_t equal, changed, only_a, only_b;
};

enum diff_form { DIFF_TEXT, DIFF_CSV, DIFF_JSON };
const char *campaign_diff(struct arena *arena, struct store *a, struct store *b,
	enum diff_form form, struct campaign_diff *counts, const char **out);

/* The points, tasks and results of a store into another one, which is empty or has the same
 * points; *differ counts results that were there and differ. */
const char *campaign_merge(
	struct arena *arena, struct store *into, struct store *from, size_t *differ);

/* "found", ..; "open" for NULL. */
const char *task_status_name(const struct task_result *result);

#endif
