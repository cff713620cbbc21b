#ifndef REPORT_PACKING_PLACE_REPORT_H
#define REPORT_PACKING_PLACE_REPORT_H

#include "base/stopper.h"
#include "model/machine/score.h"
#include "model/packing/buffer.h"
#include "model/packing/packing_file.h"
#include "search/packing/packing_search.h"
#include "search/packing/unfit.h"

#include <jansson.h>

/*
 * The outcome of placing buffers as text and JSON, the proof that some do not fit, pictures of placements, and answers
 * to captures.
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

/* The outcome in a line, without its end: "154 buffers fit into ..". */
const char *place_report_line(struct arena *arena, const struct place_report *report);

/* Why they do not fit: the buffers, with file and line. */
const char *place_report_core(struct arena *arena, const struct place_report *report);

/* The whole as a tree, and that tree for people. */
json_t *place_report_json(const struct place_report *report);
const char *place_report_text(
	struct arena *arena, const struct place_report *report, const json_t *tree);

/*
 * A picture of a placement, SVG 1.1: addresses upwards against time, a box for each stay, its name
 * where there is room and its details as a tooltip; reserved bytes; beneath, the load
 * of all buffers and of those kept; beneath that, a bar for each that is spilled, or for the steps
 * between its parts.  At most PLACE_SVG_BOXES_MOST boxes and bars: the largest of bytes x steps;
 * a line says how many are left out.
 */
enum { PLACE_SVG_BOXES_MOST = 20000 };

struct place_svg_words {
	const char *title, *line;
	const char *const
		*steps; /* what steps from 0 on are called, or their numbers; NULL: numbers */
	bool whole;     /* addresses are shown up to the capacity, however low the peak */
};

/* Reads packing, placement, load and has_capacity of the report. */
const char *place_svg(struct arena *arena, const struct place_report *report,
	const struct place_svg_words *words);

/* One case of a file of captures, as it is printed. */
struct capture_row {
	struct capture_question question;
	struct capture_found
		found; /* no answer: the published one was checked, nothing was searched */
	const char *published_fault;   /* why the published answer is illegal; NULL: it is legal */
	struct capture_cost published; /* of the published answer, if there is one */
};

/* A table of all cases: costs, proofs, and the published answers beside them. */
const char *capture_report_text(struct arena *arena, const struct capture_row *rows, size_t count);

/*
 * The file with the answers in the compiler's own format: "solved" of each case is replaced by the
 * answer found; "lxplore" beside it has cost, bound and proof.  Cases that were not asked about are
 * left out.  `source` is the text that the captures were read from.
 */
const char *capture_report_json(struct arena *arena, const struct source *source,
	const struct capture_row *rows, size_t count);

#endif
