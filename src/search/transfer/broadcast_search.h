#ifndef SEARCH_BROADCAST_SEARCH_H
#define SEARCH_BROADCAST_SEARCH_H

#include "search/drive/drive.h"
#include "search/transfer/broadcast_outcome.h"

/*
 * Explores the ways to carry out one broadcast (drive.h):
 *
 *	as given; as published with tiles of halved rows and columns that fit into the scratchpad,
 *	one to four of them, chunks sliding or, where they are of several sizes, in the best
 *	order for two tiles or for many; with every algorithm of the stage `broadcast`, in 1, 2, 3, 4, 6, 8, 12, .. segments;
 *	with one that proves only if it is asked for alone, in at most eight
 */
struct broadcast_search {
	struct wishes wishes;
	const struct broadcast *broadcast; /* legal */
	const struct solver
		*solver; /* its schedules alone; NULL: the usual ones, and as published */
};

/* The payload of a frontier point; its outcome has no order, and no large schedule. */
struct broadcast_found {
	struct found common;
	struct broadcast_outcome outcome;
};

/* `more` is the broadcast as given, a struct broadcast_outcome; NULL: it cannot be. */
struct explored broadcast_explore(const struct broadcast_search *search, struct arena *arena);

/* "64 x 512 x 2 sliding", "chain in 16" */
const char *broadcast_way(struct arena *arena, const struct broadcast *broadcast);

#endif
