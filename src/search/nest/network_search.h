#ifndef SEARCH_NETWORK_SEARCH_H
#define SEARCH_NETWORK_SEARCH_H

#include "model/nest/network.h"
#include "search/nest/nest_search.h"
#include "search/nest/network_sums.h"

/*
 * Explores the mappings of all layers of a network, equal ones once, each as nest_search does,
 * and the frontier over the network: every occurrence of a layer takes one point of its layer's
 * frontier, not all of them the same one; what a network costs is the sum over the occurrences
 * (network_sums.h).  That frontier is exact if those of the layers are.
 *
 * Sums are for one or two of the objectives latency, energy, hbm_bytes and accesses.  For edp
 * alone every layer has its one point, and the network the sums of these; the least edp of a
 * network is on its frontier of latency and energy.
 *
 * Without a solver layers are proven.  They run in parallel, each in one thread,
 * or one after the other in all threads where they are fewer; the results are the same.  When
 * `stop` says so, layers that did not begin are searched for some hundred mappings only, and once
 * `hurry` does, even fewer.
 */
struct network_search {
	struct wishes wishes; /* of all layers together; who asks is told of the layers */
	const struct network *network;
	/* By layer; NULL where it is the same as one before. */
	const struct nest_search *const *layers;
	struct stopper hurry; /* asked after a stop */
};

/* Sums of the frontier that are kept: more than anybody reads, and few enough that all of their
 * choices together remain a table. */
enum { NETWORK_SUMS_MOST = 1 << 14, NETWORK_CHOICES_MOST = 1 << 19 };

struct network_explored {
	const struct network_search *search;
	struct explored *layers; /* by layer; of the same ones the same */
	struct explored total;   /* of all distinct layers together, without a frontier */
	const char *missing;     /* why there is no sum: a sentence; NULL if there is one */
	struct sums sums;        /* the frontier: points 0 .. sums.count - 1 */
	size_t least_edp;        /* of them; SIZE_MAX: not told by these objectives */
};

struct network_explored network_explore(const struct network_search *search, struct arena *arena);

/* Its first part, the layers: fills in `layers` and `total`. */
void network_layers(struct network_explored *explored, struct arena *arena);

/* A point of the network's frontier. */
struct network_point {
	struct score score; /* sums; utilization as of one mapping */
	/* gap: the last objective's value - its bound; execution: sums, finished and with data if all
	 * are */
	struct found common;
	int64_t *const *taken; /* by layer and point of its frontier: how often */
};

/* What the objectives of networks can be; complains about others. */
bool network_objectives(const struct objectives *objectives, struct diag *diag);

/* In the arena. */
struct network_point network_point(
	const struct network_explored *explored, size_t i, struct arena *arena);

/* Picojoules as whole numbers and back: 2^40 of them are one. */
wide network_energy(double pj);
/* The most that is told as no more than that: a double has fewer digits than a sum. */
wide network_energy_most(double pj);
double network_picojoules(wide energy);

/* What sums add up for an objective; not for edp. */
wide network_value(enum objective objective, const struct score *score);

#endif
