#ifndef REPORT_PACKING_PLACE_REPORT_H
#define REPORT_PACKING_PLACE_REPORT_H

#include "base/stopper.h"
#include "model/machine/score.h"
#include "model/packing/buffer.h"
#include "model/packing/packing_file.h"
#include "search/packing/unfit.h"

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

/*
 * A proof that some buffers do not fit, as a file:
 *
 *	certificate:
 *	  version: 1
 *	  claim: does not fit
 *	  capacity: 100
 *	  alignment: 1
 *	  reserved: [[0, 8]]
 *	  buffers:                                   # those that do not fit, numbered from 0
 *	  - {id: "a", lower: 0, upper: 4, size: 60}
 *	  forks: 1
 *	  leaves: 2
 *	  proof:                                     # 0/1: a fork between those two; x: a leaf
 *	  - 0/1 x x
 *
 * `packing` is of those buffers alone (packing_of_some).
 */
struct arena;

const char *unfit_yaml(
	struct arena *arena, const struct packing *packing, const struct unfit_proof *proof);

#endif
