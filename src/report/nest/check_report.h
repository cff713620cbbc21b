#ifndef NEST_CHECK_REPORT_H
#define NEST_CHECK_REPORT_H

#include "search/certificate/certificate_check.h"
#include "search/nest/mapspace_check.h"

#include <jansson.h>

/*
 * The output of `check` for a problem.  As JSON one object:
 *
 *	feasible   true, false, or null: not decided
 *	witness    a mapping that fits, in a line; only if feasible
 *	reasons    why none fits, each with kind, text, given, alone, enough (-1: none; see
 *	           search/nest/mapspace_check.h), and what it is about: level, dimension or dataspace
 *	reasons_open     true: a question about limits was too hard, so that one may be missing
 *	undecided_steps  steps of the search for a mapping if it found out nothing
 *	contradictory    true: constraints contradict each other; nothing else is known
 *	conflict   minimal (false: it may be larger than it must be), constraints (file,
 *	           line, column, text) and machine (texts)
 *	mapspace   machine, constraints, fanouts: each has dimensions (by name), factors,
 *	           orders, splits, residency, all; the numbers are texts, as they exceed 2^53
 *	mapping    of one that was given: feasible, and why (a list) if it is not
 */
struct mapspace_check_report {
	const struct mapspace_check *check;
	bool mapping;           /* one was given */
	const char *const *why; /* what stands against it; NULL ends the list */
};

struct arena;
json_t *mapspace_check_json(struct arena *arena, const struct mapspace_check_report *report);

/* That tree for people; and of VERDICT_NO alone why nothing fits, and the constraints in conflict. */
const char *mapspace_check_text(struct arena *arena, const json_t *tree);
const char *mapspace_conflict_text(struct arena *arena, const json_t *tree);

/* The output of `check --certificate`: the claim, the answer, and the number of cells examined. */
json_t *certificate_report_json(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate, const struct certificate_result *result);
const char *certificate_report_text(struct arena *arena, const json_t *tree);

#endif
