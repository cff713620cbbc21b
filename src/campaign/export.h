#ifndef CAMPAIGN_EXPORT_H
#define CAMPAIGN_EXPORT_H

#include "campaign/store.h"

#include <jansson.h>
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

/* The progress of a campaign as a tree that the caller releases; and that tree as a text for people. */
const char *status_tree(struct store *store, json_t **out);
const char *status_text(struct arena *arena, const json_t *tree);

/* The difference of two campaigns, point by point, as a tree that the caller releases: how many points are equal,
 * differ, are in A or B alone, and all that are not equal.  Points with equal names and values are the
 * same.  Then that tree as a text for people and as CSV. */
const char *campaign_diff(struct arena *arena, struct store *a, struct store *b, json_t **out);
const char *campaign_diff_text(struct arena *arena, const json_t *tree);
const char *campaign_diff_csv(struct arena *arena, const json_t *tree);

/* The points, tasks and results of a store into another one, which is empty or has the same
 * points; *differ counts results that were there and differ. */
const char *campaign_merge(
	struct arena *arena, struct store *into, struct store *from, size_t *differ);

/* "found", ..; "open" for NULL. */
const char *task_status_name(const struct task_result *result);

#endif
