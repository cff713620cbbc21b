#ifndef COMMAND_PLACE_H
#define COMMAND_PLACE_H

#include "cli/inputs_place.h"
#include "cli/listener.h"
#include "report/packing/place_report.h"

/* What `lxplore place` checks instead of searching; the answer is the exit status. */
int command_place_offsets(
	struct arena *arena, const struct place_request *request, struct diag *diag);
int command_place_certificate(
	struct arena *arena, const struct place_request *request, struct diag *diag);

/* The picture, if one was asked for. */
void command_place_picture(struct arena *arena, const struct place_request *request,
	const struct place_report *report);

/* Of buffers that do not fit: fewer of them that do not either, as far as a proof of that is
 * soon found. */
void command_place_core(
	struct arena *arena, struct listener *listener, struct place_report *report);

/* Of buffers that do not fit: the certificate that was asked for.  A reason on stderr, if there is
 * none to be had. */
void command_place_prove(struct arena *arena, const struct place_request *request,
	struct listener *listener, const struct place_report *report);

#endif
