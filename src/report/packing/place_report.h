#ifndef REPORT_PLACE_REPORT_H
#define REPORT_PLACE_REPORT_H

#include "base/verdict.h"
#include "model/machine/proof.h"
#include "model/packing/packing_file.h"
#include "model/packing/packing_sums.h"

/*
 * What came of placing buffers, as it is printed.
 */
struct place_report {
	const struct packing_file *file;
	const struct packing *packing;
	bool has_capacity;
	enum verdict outcome;
	const struct placement *placement; /* VERDICT_YES */
	struct load_curve load;            /* of all buffers */
	enum proof_status proof;
	int64_t bound;      /* PROOF_OPTIMAL, PROOF_BOUND: no peak is lower, or no more is saved */
	const char *method; /* "place/exact" */
	uint64_t nodes;
	const char *limit; /* what cut the search short; NULL */
	size_t core_count; /* VERDICT_NO: buffers that do not fit even alone; 0: not known */
	const int *core;
	bool core_by_load; /* they live at once, from `core_from` on until before `core_to` */
	int64_t core_from, core_to;
};

/* The highest load; 0 if nothing lives. */
int64_t place_report_load(const struct place_report *report);

/* A line of what came of it, without its end: "154 buffers fit into ..". */
const char *place_report_line(struct arena *arena, const struct place_report *report);

/* Why they do not fit: the buffers, with file and line. */
const char *place_report_core(struct arena *arena, const struct place_report *report);

/* The whole, as a table for people and as JSON. */
const char *place_report_text(struct arena *arena, const struct place_report *report);
const char *place_report_json(struct arena *arena, const struct place_report *report);

#endif
