#ifndef SEARCH_PLANS_H
#define SEARCH_PLANS_H

#include "search/drive/frontier.h"
#include "search/drive/solver.h"

/*
 * Whole plans: for what sums of latency, energy and HBM bytes the solvers of joint spaces are asked, and what
 * their proofs say about a frontier.
 *
 * A proven bound V of a sum with weights w >= 0 holds for every plan: w_latency L + w_energy E + w_hbm H >= V.
 * So a plan with no more energy and HBM bytes than a point has at least the latency
 * (V - w_energy E - w_hbm H) / w_latency; the largest of these, over all sums, is the point's bound.  Energy x
 * latency is at least its least value where these half-planes leave off.  A sum that was asked about with some
 * limit of cores binds plans of no more cores.
 */
struct arena;

/* One question: a sum, and the cores that a plan may use. */
struct plan_aim {
	int cores;
	struct joint_aim aim;
};

/* The answer to a plan_aim. Energies are in pJ. */
struct planned {
	struct plan_aim asked;
	double bound; /* of the sum, its energy in pJ / 1024; 0: none */
	bool cut;     /* the search hit its limit */
	bool found;
	const char *space; /* of the plan: which plans the bound is about (joint_claim_text) */
	int cores;         /* that the plan uses */
	double latency, energy, hbm_bytes; /* of it */
};

struct planned_list {
	size_t count, capacity;
	struct planned *at;
};

struct plan_aims {
	size_t count, capacity;
	struct plan_aim *at;
};

/* Adds each objective alone with a limit of cores, unless it is known: it was asked about, or a best plan within
 * more cores takes no more than these. */
void plans_alone(struct plan_aims *aims, const struct objectives *objectives,
	const struct planned_list *planned, int cores, struct arena *arena);

/* Sums of latency and energy of which two neighbours among the plans found within a limit of cores are worth the
 * same, if the objectives have a use for them; none that is known. */
struct plan_aims plans_between(const struct objectives *objectives,
	const struct planned_list *planned, struct arena *arena);

/* Returns the sums of this round. The first round has each objective alone; later ones have sums
 * between the plans found so far, and once each objective alone with each of the limits of cores. */
struct plan_aims plans_next(const struct objectives *objectives, const struct planned_list *planned,
	const int *cores, size_t core_count, int round, struct arena *arena);

/* Returns the lower bound of the first objective of all plans that
 * are no worse than a point in the others; 0: not known. */
double plans_bound(const struct planned_list *planned, const struct objectives *objectives,
	const struct score *point);

/* Bound, gap and proof of each point of a frontier, and what is proven of each objective alone.  Where a point is
 * below, as it has decisions that the spaces leave out, nothing is said. */
struct explored;
void plans_note(const struct planned_list *planned, struct explored *explored);

/* The spaces that bounds are about, each once; NULL ends them.  List and texts live in the arena. */
const char *const *plans_spaces(const struct planned_list *planned, struct arena *arena);

/* Returns the lower bound of an objective alone, for all plans; 0: not known. */
double plans_least(const struct planned_list *planned, enum objective objective);

/* True if a sum is of this objective alone. */
bool plans_is_alone(const struct joint_aim *aim, enum objective objective);

/* Returns the units of a sum in one unit of the proof: a cycle, a pJ, a byte, or one of the sum. */
double plans_unit(const struct joint_aim *aim);

#endif
