#ifndef SEARCH_DRIVE_WISHES_H
#define SEARCH_DRIVE_WISHES_H

#include "search/drive/drive.h"

/* What an exploration of any kind of input is asked. */
struct wishes {
	struct objectives objectives;
	enum simulate simulate;
	uint64_t simulate_budget; /* events of one execution; 0: no limit */
	uint64_t budget;          /* candidates; 0: no limit, or the kind's own */
	uint64_t seed;
	struct asker asker;
};

#endif
