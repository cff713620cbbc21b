#ifndef CLI_PLACE_CAPTURES_H
#define CLI_PLACE_CAPTURES_H

#include "cli/command.h"
#include "cli/settings.h"
#include "model/packing/capture.h"
#include "search/drive/wishes.h"

/*
 * `lxplore place CAPTURE.json`: divisions, residency and addresses of captured graphs.
 */
struct arena;

struct captures_request {
	struct captures captures;
	const struct source *source; /* the file */
	int64_t capacity;            /* bytes; -1: `share` of the footprint */
	double share;
	int64_t alignment, budget, seconds; /* budget, seconds 0: no limit */
	bool is_check;                      /* of the answers in the file; nothing is searched */
	bool is_quiet;
	enum format format;
	const char *output; /* NULL: standard output */
};

/* True if the argument names a file of captures: its name ends in .json. */
bool place_is_capture(const struct arguments *arguments);

/* `source` is the file, or NULL: the argument names it.  False after complaining. */
bool captures_request_read(struct arena *arena, const struct arguments *arguments,
	const struct source *source, struct diag *diag, struct captures_request *out);

/* Answers all cases; one for each, in the arena.  `limit` says why the asker stops a search. */
struct capture_row *captures_answer(struct arena *arena, const struct captures_request *request,
	const struct asker *asker, const char *(*limit)(const void *context), const void *context);

/* An exit status. */
int place_captures(struct arena *arena, const struct arguments *arguments, struct diag *diag);

#endif
