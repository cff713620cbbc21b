#ifndef CLI_PACKING_REQUEST_H
#define CLI_PACKING_REQUEST_H

#include "cli/command.h"
#include "cli/listener.h"
#include "cli/settings.h"
#include "model/packing/packing_file.h"
#include "report/packing/place_report.h"

/*
 * What `lxplore place` is asked: a table of buffers, and options.
 */
struct place_request {
	struct packing_file file; /* the packing with capacity, goal and reserved ranges */
	bool has_capacity;        /* else the capacity is as good as none */
	bool check;               /* the offsets of the table, instead of finding some */
	const struct solver *solver;
	uint64_t budget; /* nodes; 0: no limit */
	int64_t seconds; /* 0: no limit */
	int jobs;        /* threads */
	uint64_t seed;
	bool quiet;
	enum format format;
	const char *output, *svg, *certificate,
		*check_certificate; /* files; NULL: none asked for */
};

/* False after complaining. */
bool place_request_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct place_request *out);

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
