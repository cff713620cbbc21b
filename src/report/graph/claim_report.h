#ifndef REPORT_CLAIM_REPORT_H
#define REPORT_CLAIM_REPORT_H

#include "search/claim/plan_claim.h"

#include <jansson.h>

/* What `check --certificate` prints of a plan: the claim, the answer, and how much was looked at. */
const char *claim_report_text(struct arena *arena, const struct plan_claim *claim);
json_t *claim_report_json(const struct plan_claim *claim);

#endif
