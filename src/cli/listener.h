#ifndef CLI_LISTENER_H
#define CLI_LISTENER_H

#include "base/stopper.h"
#include "search/drive/wishes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program that runs a search through the library. */
struct listener_host {
	void *context;
	bool (*stop)(void *context);
	void (*progress)(void *context, double seconds, const struct progress *progress);
};

/*
 * The person in front of a long search: progress on a terminal, Ctrl-C, the time
 * limit.  listener_stop and listener_progress are the callbacks of explorers.
 */
struct listener {
	double start, limit;  /* seconds; limit 0: none */
	_Atomic double shown; /* when there was progress last */
	bool quiet;           /* no progress at all */
	bool terminal;        /* progress is one line, which is rewritten; else a line a minute */
	atomic_bool late;
	const char *what; /* that is counted: "candidates" */
	int objective;    /* enum objective of the best value; -1: a number without a unit */
	const struct listener_host *host; /* NULL: there is a person */
};

/* From here on Ctrl-C asks for the end; a second one ends the program. */
struct listener listener_open(int64_t limit_seconds, bool quiet, const char *what);

/* The same for a host, without signals. */
struct listener listener_hosted(int64_t limit_seconds, const struct listener_host *host);

bool listener_stop(void *listener);

/* The same of the last round, which executes what was found: it may take half of the time limit more. */
bool listener_stop_execution(void *listener);

/* The asker of a search on this many threads, with progress and gaps shown. */
struct asker listener_asker(struct listener *listener, int jobs);

/* The same, and shows how long it has been, where nothing else is shown. */
bool listener_wait(void *listener);

/* True if the request to stop is some time ago. */
bool listener_hurry(void *listener);

void listener_progress(void *listener, const struct progress *progress);

/* The same of layers of a network, each of which is searched in two rounds. */
void listener_layers(void *listener, const struct progress *progress);

/* Takes the line of progress away. */
void listener_clear(const struct listener *listener);

bool listener_interrupted(void);

/* The same, by a signal or by the host. */
bool listener_stopped(const struct listener *listener);

/* "interrupted", "time limit", or NULL: nothing cut the search short. */
const char *listener_limit(const struct listener *listener);

/* The exit status of a question that was decided so, or was not. */
int listener_status(enum verdict verdict);

double listener_seconds(const struct listener *listener);

#endif
