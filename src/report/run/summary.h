#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "search/drive/drive.h"

/*
 * The first lines that end an exploration: its fastest and its leanest point, each with its values,
 * the proof beside the latency, and what bounds that latency:
 *
 *	fastest: point 1, 159.04 us (proven), 25127 uJ; HBM 61 %, overhead 21 %
 *	leanest: point 18, 510.6 us (within 33.7 %), 12740 uJ; array 50 %, HBM 30 %
 */
struct arena;

struct summary_point {
	size_t number; /* from 1 */
	double nanoseconds, energy_pj;
	const char *proof; /* summary_proof */
	const char *bound; /* "HBM 61 %, overhead 21 %"; "": not known */
};

/* One line where both are the same point, and where only the latency counts (leanest NULL). */
const char *summary_text(struct arena *arena, const struct summary_point *fastest,
	const struct summary_point *leanest);

/* "proven", "within 3.1 %" of its value (rounded up), "not proven". */
const char *summary_proof(struct arena *arena, const struct found *found, double value);

/* The point of a frontier with the least of an objective, the first of several; frontier->count > 0. */
size_t summary_least(const struct frontier *frontier, enum objective objective);

/* Points of a frontier that are proven. */
size_t summary_proven(const struct frontier *frontier);

/* "least latency: point 1 (12 cycles), pes: point 5 (3)": the best value of each objective, by their names. */
const char *summary_bests(
	struct arena *arena, const struct frontier *frontier, const char *const *names);

/* The points of `count` that a table shows, at most SUMMARY_ROWS: the first ones and the best of each
 * objective.  shown: one flag for each point. */
enum { SUMMARY_ROWS = 12 };
void summary_choose(const struct frontier *frontier, bool *shown);

#endif
