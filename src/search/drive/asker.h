#ifndef SEARCH_ASKER_H
#define SEARCH_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who asks for a search: how many threads there are, and what to call now and then; NULL: nothing.
 *
 *	stop      by any thread, at any time; what it answers once it answers ever after
 *	report    how far a proof is: the best value of the first objective and the least that is not
 *	          excluded; by one thread at a time
 *	progress  tasks of a round that are done, and candidates so far; by one thread at a time
 */
struct asker {
	int jobs; /* 0: one */
	void *listener;
	bool (*stop)(void *listener);
	void (*report)(void *listener, double value, double bound, uint64_t evaluated);
	void (*progress)(void *listener, int round, size_t done, size_t tasks, uint64_t count);
};

static inline bool asker_stops(const struct asker *asker)
{
	return asker->stop && asker->stop(asker->listener);
}

#endif
