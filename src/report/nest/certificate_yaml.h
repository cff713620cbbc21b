#ifndef REPORT_CERTIFICATE_YAML_H
#define REPORT_CERTIFICATE_YAML_H

#include "search/certificate/certificate.h"

/*
 * certificate.yaml of a results folder; inputs_certificate.h reads it.  A line of `cells` is a
 * choice: its spatial bounds in the notation of mappings, what it keeps as bits of `residency`, and
 * what is said of it.
 */
const char *certificate_yaml(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate);

#endif
