#ifndef SEARCH_BROADCAST_SEARCH_H
#define SEARCH_BROADCAST_SEARCH_H

#include "search/broadcast_outcome.h"
#include "search/explore.h"

/*
 * Ways to carry out one broadcast, all priced, executed as wished, and their frontier:
 *
 *	as given; as published with tiles of halved rows and columns that fit into the scratchpad,
 *	one to four of them, chunks sliding or, where they are of several sizes, in the best
 *	order for two tiles or for many; with every algorithm of the stage `broadcast`, in 1, 2, 3, 4, 6, 8, 12, .. segments;
 *	with one that proves only if it is asked for alone, in at most eight
 *
 * Nothing depends on threads: there is one.
 */
struct broadcast_search {
	const struct broadcast *broadcast; /* legal */
	const struct exploration *wishes;  /* objectives, simulate, budgets, seed, stop */
	const char *algorithm;             /* this one alone; NULL: all, and as published */
};

struct broadcast_explored {
	struct frontier
		frontier; /* payloads: struct broadcast_outcome, without order and a large schedule */
	struct broadcast_outcome given; /* likewise; its broadcast NULL: it cannot be */
	uint64_t evaluated, refused, simulated, unsimulated, disagreed, steps;
	const char *fault; /* of the first execution that disagreed; NULL */
	bool stopped, cut;
};

struct broadcast_explored broadcast_explore(
	const struct broadcast_search *search, struct arena *arena);

/* "64 x 512 x 2 sliding", "chain in 16" */
const char *broadcast_way(struct arena *arena, const struct broadcast *broadcast);

#endif
