#ifndef REPORT_NEST_CERTIFICATE_REPORT_H
#define REPORT_NEST_CERTIFICATE_REPORT_H

#include "search/certificate/certificate_check.h"

#include <jansson.h>

/* What `check --certificate` prints: the claim, the answer, and how much was looked at. */
const char *certificate_report_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result);
json_t *certificate_report_json(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result);

/*
 * certificate.yaml of a results folder; inputs_certificate.h reads it.  A line of `cells` is a
 * choice: its spatial bounds in the notation of mappings, what it keeps as bits of `residency`, and
 * what is said of it.
 */
const char *certificate_yaml(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate);

#endif
