#ifndef DRIVE_WISHES_H
#define DRIVE_WISHES_H

#include "base/stopper.h"
#include "search/drive/frontier.h"

#include <stddef.h>
#include <stdint.h>

/* Progress of an exploration, or, in round 0, of a proof within it: then `done` and `tasks` are not known. */
struct progress {
	int round;
	size_t done, tasks; /* of the round */
	uint64_t count;     /* candidates, or mappings evaluated, so far */
	double best;        /* least value of the first objective that was met; 0: none yet */
	double bound;       /* no candidate is below; 0: not known */
};

/*
 * The caller of a search: its threads, its stopper, and a function to call now and then, with the stopper's
 * listener, by one thread at a time; NULL: none.
 */
struct asker {
	int jobs; /* 0: one */
	struct stopper stopper;
	void (*progress)(void *listener, const struct progress *progress);
	/* Of the last round, which executes what was kept; without `stop`: that of the search. */
	struct stopper execution;
};

static inline const struct stopper *asker_execution(const struct asker *asker)
{
	return asker->execution.stop ? &asker->execution : &asker->stopper;
}

/* Which candidates are executed where they are made; `frontier`: those of the last round alone. */
enum simulate { SIMULATE_ALL, SIMULATE_FRONTIER, SIMULATE_NONE };
extern const char *const simulate_names[];

/* The request to an exploration of any kind of input; the request of each kind begins with it. */
struct wishes {
	struct objectives objectives;
	enum simulate simulate;
	uint64_t simulate_budget; /* events of one execution; 0: no limit */
	uint64_t budget;          /* candidates; 0: no limit, or the kind's own */
	uint64_t seed;
	struct asker asker;
};

#endif
