#ifndef REPORT_PLAN_CHECK_REPORT_H
#define REPORT_PLAN_CHECK_REPORT_H

#include "search/claim/plan_claim.h"
#include "search/graph/evaluate.h"

#include <jansson.h>

/* What `check` prints of a plan that was executed without a fault, and whose counts are the model's. */
struct arena;
const char *plan_check_text(struct arena *arena, const struct outcome *outcome);

/*
 * A line for each tensor: "x  0: 8 of n/64  1: 512 of m  stick 2: 64 of n" is of 8 sticks of 64 elements along n,
 * each for 512 of m.
 */
const char *layouts_text(struct arena *arena, const struct workload *workload);

/* Also what the specs are, with the workload as they give it. */
json_t *plan_check_json(const struct workload *workload, const struct outcome *outcome);

/* What `check --certificate` prints of a plan: the claim, the answer, and how much was looked at. */
const char *claim_report_text(struct arena *arena, const struct plan_claim *claim);
json_t *claim_report_json(const struct plan_claim *claim);

#endif
