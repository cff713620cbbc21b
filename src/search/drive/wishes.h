#ifndef SEARCH_DRIVE_WISHES_H
#define SEARCH_DRIVE_WISHES_H

#include "search/drive/asker.h"
#include "search/drive/frontier.h"

#include <stdint.h>

/* Which candidates are executed where they are made; `frontier`: those of the last round alone. */
enum simulate { SIMULATE_ALL, SIMULATE_FRONTIER, SIMULATE_NONE };
extern const char *const simulate_names[];

/* What an exploration of any kind of input is asked; the request of each kind begins with it. */
struct wishes {
	struct objectives objectives;
	enum simulate simulate;
	uint64_t simulate_budget; /* events of one execution; 0: no limit */
	uint64_t budget;          /* candidates; 0: no limit, or the kind's own */
	uint64_t seed;
	double ceiling; /* known from elsewhere: the least of the single objective is no more; 0: nothing is */
	struct asker asker;
};

#endif
