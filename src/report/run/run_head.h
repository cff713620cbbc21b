#ifndef REPORT_RUN_HEAD_H
#define REPORT_RUN_HEAD_H

#include "report/run/run_json.h"

#include <jansson.h>

/* What every run.json begins with. */
struct arena;
json_t *run_head(const struct run_record *record, struct arena *arena);

/* Its `counters`, of every kind the same. */
json_t *run_counters(const struct effort *effort);

json_t *run_texts(const char *const *at, size_t count);

/* The text of a file; takes the object over. */
const char *run_dump(struct arena *arena, json_t *root);

#endif
