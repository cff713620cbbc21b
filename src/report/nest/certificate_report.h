#ifndef REPORT_CERTIFICATE_REPORT_H
#define REPORT_CERTIFICATE_REPORT_H

#include "search/certificate/certificate_check.h"

#include <jansson.h>

/* What `check --certificate` prints: the claim, the answer, and how much was looked at. */
const char *certificate_report_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result);
json_t *certificate_report_json(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result);

#endif
