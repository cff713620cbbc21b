#ifndef SEARCH_FRONTIER_H
#define SEARCH_FRONTIER_H

#include "model/machine/score.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The points of which none is beaten in every objective by another.  Order and
 * contents depend on the set of points offered, never on the order of offers:
 * of points equal in all objectives the one with the least key stays.  A thrifty frontier first
 * looks at energy x latency: the least stays, for all objectives.
 */
struct arena;

/* All are minimised. */
enum objective {
	OBJECTIVE_LATENCY,
	OBJECTIVE_ENERGY,
	OBJECTIVE_EDP,
	OBJECTIVE_HBM_BYTES,
	OBJECTIVE_LX_PEAK,
	OBJECTIVE_CORES,
	OBJECTIVE_PES,
	OBJECTIVE_REGISTERS,
	OBJECTIVE_PORTS,
	OBJECTIVE_WIRE,
	OBJECTIVE_LINK_BYTES,
	OBJECTIVE_BUFFER_BYTES,
	OBJECTIVE_ROUNDS,
	OBJECTIVE_ACCESSES, /* and with a level of the hierarchy added to it */
	OBJECTIVE_COUNT = OBJECTIVE_ACCESSES + ARCH_LEVELS_MOST,
};
extern const char *const objective_names[]; /* accesses once, for all; NULL ends them */
extern const char *const objective_summaries[];

/* The kind of input that is explored. */
enum subject { SUBJECT_GRAPH, SUBJECT_PROBLEM, SUBJECT_SPACE_TIME, SUBJECT_BROADCAST };
extern const char *const subject_names[]; /* "a workload graph", in messages */

/* Returns the number of a name in objective_names, or -1.  OBJECTIVE_ACCESSES for those of any level. */
int objective_find(const char *name);

/* A value for people: "20687 cycles", "539.46 uJ", "50 KiB", "12".  Of objective -1 the number alone. */
const char *objective_value_text(struct arena *arena, int objective, double value);

/* True if an objective says anything about one. */
bool objective_applies(enum objective objective, enum subject subject);

struct objectives {
	size_t count;
	enum objective at[OBJECTIVE_COUNT];
};

bool objectives_have(const struct objectives *objectives, enum objective objective);

/* All are minimised: cycles, pJ, bytes, words, and numbers of things. */
double objective_value(enum objective objective, const struct score *score);

/* "latency", ..; NULL ends them.  Accesses have texts of their own (search/nest/nest_search.h). */
const char *const *objectives_texts(struct arena *arena, const struct objectives *objectives);

struct point {
	struct score score;
	const char *key; /* the plan as text: canonical */
	void *payload;   /* the caller's */
};

struct frontier {
	struct objectives objectives;
	bool thrifty;
	size_t count, capacity;
	struct point *points; /* by objectives in order, then key */
};

struct frontier frontier_open(struct objectives objectives);

/* Is there a point at least as good in every objective (and better in one, or
 * equal in all with a key not greater)?  key NULL: equal in all counts. */
bool frontier_beats(const struct frontier *frontier, const struct score *score, const char *key);

/* False if it is beaten; else the point is in and those that it beats are out. */
bool frontier_add(struct frontier *frontier, struct arena *arena, struct point point);

#endif
