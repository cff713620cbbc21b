#ifndef CLI_PACKING_PROOF_H
#define CLI_PACKING_PROOF_H

#include "cli/listener.h"
#include "cli/packing_request.h"
#include "report/packing/place_report.h"

/* What `lxplore place` checks instead of searching; the answer is the exit status. */
int packing_check_offsets(
	struct arena *arena, const struct place_request *request, struct diag *diag);
int packing_check_certificate(
	struct arena *arena, const struct place_request *request, struct diag *diag);

/* The picture, if one was asked for. */
void packing_write_picture(struct arena *arena, const struct place_request *request,
	const struct place_report *report);

/* For buffers that do not fit: fewer of them that do not either, as far as a proof of that is
 * soon found. */
void packing_proof_core(
	struct arena *arena, struct listener *listener, struct place_report *report);

/* For buffers that do not fit: the certificate that was asked for.  A reason on stderr, if there is
 * none to be had. */
void packing_proof_write(struct arena *arena, const struct place_request *request,
	struct listener *listener, const struct place_report *report);

#endif
