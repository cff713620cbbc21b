#ifndef CLI_UNFIT_FILE_H
#define CLI_UNFIT_FILE_H

#include "cli/packing_request.h"
#include "search/packing/unfit.h"

/*
 * A certificate that buffers do not fit, read against the table at hand.
 */
struct unfit_file {
	int64_t capacity; /* that it is about: no less than that of the request */
	size_t count;
	const int *buffers; /* of the table */
	struct unfit_proof proof;
	struct span proof_span;
};

enum unfit_reading {
	UNFIT_READ,
	UNFIT_REJECTED, /* it is about other buffers, or another capacity */
	UNFIT_WRONG,    /* it is no certificate */
};

/* Complains unless it is UNFIT_READ. */
enum unfit_reading unfit_file_read(struct arena *arena, const struct place_request *request,
	struct diag *diag, struct unfit_file *out);

#endif
