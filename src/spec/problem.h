#ifndef SPEC_PROBLEM_H
#define SPEC_PROBLEM_H

#include "base/diag.h"

#include <yaml.h>

/* Complains about what stopped the YAML parser, in words for its users. */
void problem_report(const yaml_parser_t *parser, const struct source *source, struct diag *diag);

#endif
