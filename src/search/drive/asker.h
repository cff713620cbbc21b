#ifndef SEARCH_ASKER_H
#define SEARCH_ASKER_H

#include "base/stopper.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Who asks for a search: how many threads there are, who may stop it, and what to call now and
 * then, with the stopper's listener; NULL: nothing.
 *
 *	report    how far a proof is: the best value of the first objective and the least that is not
 *	          excluded; by one thread at a time
 *	progress  tasks of a round that are done, and candidates so far; by one thread at a time
 */
struct asker {
	int jobs; /* 0: one */
	struct stopper stopper;
	void (*report)(void *listener, double value, double bound, uint64_t evaluated);
	void (*progress)(void *listener, int round, size_t done, size_t tasks, uint64_t count);
};

#endif
