#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Two plans side by side: what they chose, and what comes of it.  Each side is a pair of JSON
 * values of the same shape; lists in them have elements with a `name`, `op` or `tensor`.
 * What only one side has is missing on the other.
 *
 * As text a table of each, as CSV and JSON every value with its path: "RF.A.total_reads".
 * Counts have a ratio, b / a, where a is not 0.
 */
struct diff_side {
	const char *name; /* of the file */
	const char *line; /* the plan, if one line says it; NULL */
	json_t *choices, *counts;
};

struct diff {
	const char *counting; /* NULL: of a graph */
	struct diff_side a, b;
	bool all; /* show what is equal, too */
};

struct arena;
bool diff_equal(struct arena *arena, const struct diff *diff);
const char *diff_text(struct arena *arena, const struct diff *diff);
const char *diff_csv(struct arena *arena, const struct diff *diff);
const char *diff_json(struct arena *arena, const struct diff *diff);

#endif
