#ifndef REPORT_CAPTURE_REPORT_H
#define REPORT_CAPTURE_REPORT_H

#include "search/packing/packing_search.h"

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
