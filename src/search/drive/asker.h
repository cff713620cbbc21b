#ifndef SEARCH_ASKER_H
#define SEARCH_ASKER_H

#include "base/stopper.h"

#include <stddef.h>
#include <stdint.h>

/* How far an exploration is, or, in round 0, a proof within it: then `done` and `tasks` are not known. */
struct progress {
	int round;
	size_t done, tasks; /* of the round */
	uint64_t count;     /* candidates, or mappings evaluated, so far */
	double best;        /* least value of the first objective that was met; 0: none yet */
	double bound;       /* no candidate is below; 0: not known */
};

/*
 * Who asks for a search: how many threads there are, who may stop it, and what to call now and
 * then, with the stopper's listener, by one thread at a time; NULL: nothing.
 */
struct asker {
	int jobs; /* 0: one */
	struct stopper stopper;
	void (*progress)(void *listener, const struct progress *progress);
};

#endif
