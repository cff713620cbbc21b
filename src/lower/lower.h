#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "lower/program.h"
#include "model/plan.h"

/*
 * Plan to program.  NULL when the plan cannot be carried out (tile buffers
 * that do not fit the reserve, a slice that its view cannot hold); *why then
 * says so in one sentence.
 */
struct arena;
const struct program *lower_plan(const struct plan *plan, struct arena *arena, const char **why);

/*
 * How many instructions the program will have at most, without making it: what
 * to ask before lowering a plan of unknown size.  INT64_MAX: too many to count.
 */
int64_t lower_size(const struct plan *plan);

#endif
