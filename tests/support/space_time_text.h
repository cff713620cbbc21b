#ifndef SUPPORT_SPACE_TIME_TEXT_H
#define SUPPORT_SPACE_TIME_TEXT_H

#include "model/recurrence/recurrence.h"

/*
 * Recurrences from YAML: what stands under `space_time`, which may have a `problem` or a `workload`
 * beside it.
 */
struct arena;
struct space_time_text {
	const char *spec;
	const char *plan;        /* with a `projection`; NULL: none */
	const char *constraints; /* a list of targets; NULL: none */
};

/* False after complaining. */
bool space_time_of_text(struct arena *arena, struct diag *diag, const struct space_time_text *text,
	struct space_time *out);

/* One that is right; the test fails with the complaints if it is refused. */
struct space_time space_time_given(struct arena *arena, const struct space_time_text *text);
struct space_time space_time_alone(struct arena *arena, const char *spec);

#endif
