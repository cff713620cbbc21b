#ifndef REPORT_CLAIM_REPORT_H
#define REPORT_CLAIM_REPORT_H

#include "search/claim/plan_claim.h"

/* What `check --certificate` prints of a plan: the claim, the answer, and how much was looked at. */
const char *claim_report_text(struct arena *arena, const struct plan_claim *claim);
const char *claim_report_json(struct arena *arena, const struct plan_claim *claim, bool csv);

#endif
