#ifndef REPORT_NEST_ARRAY_REPORT_H
#define REPORT_NEST_ARRAY_REPORT_H

#include "model/nest/nest_projection.h"
#include "report/nest/nest_report.h"

/*
 * The projection of a mapping on a systolic array.  As JSON:
 *
 *	{pes: [X, Y], passes, overlap, steps, cycles_per_step, skew_cycles, load_cycles,
 *	 loops: [{dimension, level, bound, allocation: [X, Y], schedule}], innermost first
 *	 channels: {A: {kind: stationary | systolic | direct, along: [X, Y]}}}
 */
json_t *nest_array_json(const struct nest_report *report);

/* In lines, for people. */
struct text;
void nest_array_text(struct text *text, const struct nest_report *report);

#endif
