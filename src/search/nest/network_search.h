#ifndef SEARCH_NEST_NETWORK_SEARCH_H
#define SEARCH_NEST_NETWORK_SEARCH_H

#include "base/wide.h"
#include "model/nest/network.h"
#include "search/nest/nest_search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The frontier of a sum.  A part is one of some points, taken `count` times; each time may take
 * another of the points.  What is added up is two whole numbers, x and y, neither below 0; the
 * frontier has of all choices the sums that no other is below in one and not above in the other.
 *
 * It is made part by part, occurrence by occurrence, and of the sums so far only those are kept
 * that no other beats: after any addition they stay the better ones.  Whole numbers have no
 * rounding, so that no order of adding changes a result.  Parts of a count above some hundreds are
 * doubled up first.
 *
 * When more than `most` sums are left, some go: every one that went has another with an x that is
 * not above its own, and a y at most (1 + excess) times its own.  The least x and the least y of
 * all always stay.
 */
struct sums_point {
	wide x, y;
};

struct sums_part {
	int64_t count; /* at least 1 */
	size_t point_count;
	const struct sums_point *points; /* at least one */
};

struct sums {
	bool counted; /* false: a sum exceeds what can be counted, and nothing else holds */
	size_t count; /* of the frontier */
	struct sums_point *at; /* x ascending, y descending */
	uint64_t formed;       /* sums that were made */
	double excess;         /* 0: nothing went */

	size_t part_count;
	const struct sums_part *parts;
	size_t step_count; /* additions, the last one made the frontier */
	const struct sums_step *steps;
};

struct arena;
struct sums sums_make(
	struct arena *arena, const struct sums_part *parts, size_t part_count, size_t most);

/* Counts how often sum i takes each point of each part: taken[part][point], all 0 at first. */
void sums_choice(const struct sums *sums, size_t i, int64_t *const *taken, struct arena *scratch);

/*
 * Returns the sum to take under limits (SUMS_NO_LIMIT: none).  Under a limit of x the least y, under a limit
 * of y the least x, under both or none the least product; of several the first.  Without `excess`
 * no choice is better.  SIZE_MAX: no sum keeps to them.
 */
enum { SUMS_NO_LIMIT = -1 };
size_t sums_within(const struct sums *sums, wide x_most, wide y_most);

/* The sum that exceeds the limits least: by the larger of the two factors. */
size_t sums_nearest(const struct sums *sums, wide x_most, wide y_most);

/*
 * Explores the mappings of all layers of a network, equal ones once, each as nest_search does,
 * and the frontier over the network: every occurrence of a layer takes one point of its layer's
 * frontier, not all of them the same one; what a network costs is the sum over the occurrences.
 * That frontier is exact if those of the layers are.
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
	struct wishes wishes; /* of all layers together; progress counts layers */
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
	const char *missing;     /* why no sum exists: a sentence; NULL if one does */
	struct sums sums;        /* the frontier: points 0 .. sums.count - 1 */
	size_t least_edp;        /* of them; SIZE_MAX: not known from these objectives */
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

/* True if networks have these objectives; complains about others. */
bool network_objectives(const struct objectives *objectives, struct diag *diag);

/* In the arena. */
struct network_point network_point(
	const struct network_explored *explored, size_t i, struct arena *arena);

/* Picojoules as whole numbers and back: 2^40 of them are one. */
wide network_energy(double pj);
/* Returns the largest energy that rounds to no more than `pj`: a double has fewer digits than a sum. */
wide network_energy_most(double pj);
double network_picojoules(wide energy);

/* Returns the value that sums add up for an objective; not for edp. */
wide network_value(enum objective objective, const struct score *score);

#endif
