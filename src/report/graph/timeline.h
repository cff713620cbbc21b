#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "search/graph/evaluate.h"

#include <jansson.h>

/*
 * When each engine worked on each step of an execution, all cores together, for drawings.  A list by step, then
 * engine: {step, engine, from, to, busy}, in nanoseconds; `busy` is the mean over the cores that have the
 * engine at work.  The simulation must have kept its trace.
 */
struct arena;
json_t *timeline_json(struct arena *arena, const struct outcome *outcome);

/* What the machine of a plan can do at most: HBM bytes and operations of all cores each nanosecond, bytes of LX. */
json_t *timeline_machine(const struct outcome *outcome);

#endif
