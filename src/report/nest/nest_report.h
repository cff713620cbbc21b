#ifndef REPORT_NEST_NEST_REPORT_H
#define REPORT_NEST_NEST_REPORT_H

#include "model/nest/nest_mapping.h"
#include "model/nest/nest_score.h"

#include <jansson.h>

/*
 * The output of `score` and `simulate` for one problem under one mapping: one JSON
 * object of the same shape for both.
 *
 *	feasible, why (when it is not), counting, cycles, latency_ns, computes, energy_pj,
 *	utilization, energy_source, mapping (in a line),
 *	projection, where there is a systolic array,
 *	levels   innermost first, the multipliers before them: name, instances,
 *	         utilized_instances, cycles, energy_pj, leak_pj, network_pj,
 *	         latency: {fill, drain, skew}, and of each dataspace that is kept there:
 *	         utilized_capacity; reads, fills, updates of one utilized instance, whole
 *	         numbers or, where they do not come out even, texts such as "7/2";
 *	         total_reads, total_fills, total_updates; energy_pj
 *
 * A run adds: finished, agrees, right, wrong (when it is not), events and the times of
 * `run`.  Levels that only fan out are left out, and so are, as in Timeloop's statistics,
 * those that keep nothing and take no energy.
 */
struct nest_outcome {
	bool finished; /* false: nothing else holds, and `wrong` says why */
	bool agrees;   /* all integer counts are those of the exact model */
	bool data;     /* numbers were computed */
	bool right;    /* every move could be done; with numbers: the result is the einsum's */
	const char *wrong;
	uint64_t events;
	/* of the whole run; before the first multiply-add; after the last; waiting between */
	int64_t cycles, fill_cycles, drain_cycles, stall_cycles;
	int64_t stall_by_level[ARCH_LEVELS_MOST];
};

struct nest_report {
	const struct arch *arch;
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	const struct mapping *mapping;
	enum counting counting;
	const struct nest_counts *counts;
	const struct nest_score *score;
	const char *why;                          /* infeasible; NULL if it can be carried out */
	bool counted;                             /* counts and score hold, feasible or not */
	const struct nest_outcome *run;           /* NULL: not executed */
	const struct nest_projection *projection; /* NULL: no systolic array, or not counted */
};

/* True if a level of the hierarchy is shown. */
bool nest_report_shows(const struct nest_report *report, int level);

/* The levels without the multipliers, and without times and energies: words only. */
json_t *nest_json_words(struct arena *arena, const struct nest_report *report);

/* The levels alone, with times and energies. */
json_t *nest_json_levels(struct arena *arena, const struct nest_report *report);

/* Adds them as a table for people. */
struct text;
void nest_text_levels(struct text *text, const json_t *levels);

json_t *nest_json(struct arena *arena, const struct nest_report *report);

/*
 * The text of Timeloop's statistics (timeloop-mapper.stats.txt) at 4cf6d4c, for scripts that read such files: the same
 * lines in the same order, without those of partition sizes, and with the counts of the report's counting.
 * Machines have no area here.  What is not even among instances is an average, rounded.
 */
const char *nest_timeloop(struct arena *arena, const struct nest_report *report);

/* The tree of nest_json for people: totals, the loops as they nest, a row for each level and dataspace. */
const char *nest_text(struct arena *arena, const struct nest_report *report, const json_t *tree);

/*
 * An execution in the trace-event format (report/run/json.h): rows for the whole run, for the multipliers, for
 * each level that they wait for, and for the tiles of each level.
 */
const char *nest_trace_json(struct arena *arena, const struct hierarchy *hierarchy,
	const struct nest_trace *trace, int64_t cycles);

#endif
