#ifndef CLI_PACKING_REQUEST_H
#define CLI_PACKING_REQUEST_H

#include "base/option.h"
#include "cli/command.h"
#include "model/packing/packing_file.h"

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

#endif
