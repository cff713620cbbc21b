#ifndef SEARCH_NEST_NEST_SEARCH_H
#define SEARCH_NEST_NEST_SEARCH_H

#include "base/array.h"
#include "constraints/constraints.h"
#include "cost/nest/nest.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"
#include "search/nest/space.h"
#include "sim/nest/nest.h"

enum { NEST_SEQUENCES_MOST = 1 << 16 };

/* To be worse by more than this part of the best says nothing. */
#define NEST_EPSILON_MOST 1e6

/* When a sequence of draws ends by itself, as a thread of Timeloop does; 0: it does not. */
struct patience {
	uint64_t victory; /* mappings in a row that fit and are no better */
	uint64_t timeout; /* mappings in a row that do not fit */
	uint64_t
		sequences; /* their number, each with its part of the budget; 0: one; up to the most */
};

/*
 * Explores the mappings of one shape (drive.h): shares of the mapspace go to a solver of the stage `map`, each in a
 * task of its own; its offers are checked against every constraint, priced again, executed where they were made,
 * and kept if nothing beats them.  The points of the frontier run once more with numbers and timing.
 *
 * Without a solver the whole mapspace is enumerated if it has no more mappings than the budget; a frontier that was
 * enumerated to the end is proven: no mapping of the space beats it.  Else the solver for problems proves it
 * without pricing them all; cut short by the budget, it leaves a bound and a gap for a single objective.
 */
struct nest_search {
	/* simulate_budget: steps x instances of one execution; budget: mappings evaluated; of proofs:
	 * ticks, 0: no limit */
	struct wishes wishes;
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct constraints *constraints;
	const struct domain *domain;
	const struct space *space;
	enum counting counting;         /* asked for */
	const struct nest_model *model; /* of that counting */
	const struct nest_model *exact; /* what the simulator must agree with */
	const struct solver *solver;    /* of the stage; NULL: chosen as above */
	/* Known to fit: offered first, and every solver begins with it as the best known.  NULL:
	 * none is known. */
	const struct mapping *start;
	struct patience patience; /* of draws */
	double epsilon; /* of proofs: points may be worse than the best by this part, which is
			 * below NEST_EPSILON_MOST */
};

enum { NEST_BUDGET = 1000000 }; /* what a search without a budget gets */

/* The payload of a frontier point; common.gap is of the first objective. */
struct nest_found {
	struct found common; /* solver: "map/linear"; "start" of search->start */
	struct mapping mapping;
	struct nest_counts counts; /* of the counting asked for */
	struct nest_score score;
};

/* No mapping is below, because of its multiplications alone.  0: they bound nothing. */
double nest_floor(const struct nest_search *search, enum objective objective);

/* A frontier of mappings: of those equal in all objectives the one of least energy x latency. */
struct frontier nest_frontier(const struct nest_search *search);

struct explored nest_explore(const struct nest_search *search, struct arena *arena);

/* Returns the values that the frontier compares: cycles, energy, bytes of the
 * outermost storage, accesses of the levels that the objectives name. */
struct score nest_summary(const struct nest_search *search, const struct nest_counts *counts,
	const struct nest_score *score);

/* "latency", "accesses:GLB" */
const char *nest_objective_text(
	struct arena *arena, enum objective objective, const struct hierarchy *hierarchy);
const char *const *nest_objectives_texts(struct arena *arena, const struct nest_search *search);

/* True if an objective means anything for a problem. */
bool nest_objective(enum objective objective);

/*
 * The offers of solvers of the stage `map`: a mapping is evaluated, and of those that fit and keep the constraints
 * the ones that no other beats are offered at the end.  (Not every constraint is in the space: the loop over a
 * dataspace may be any of several.)  Of mappings equal in all objectives the one of least energy x latency stays,
 * and of those the first one.  The search's start, if it has one, is the first of all, costs nothing, and is not
 * offered again.
 */
struct nest_offers {
	struct run *run;
	const struct nest_search *search;
	struct frontier kept;
	/* The counts of some mapping are unknown, and it may be better than all: nothing is
	 * proven. If Timeloop's counting has no meaning, the mapping has no value to beat. */
	bool uncounted;
};

struct nest_offers nest_offers_open(struct run *run, const struct nest_search *search);

/* With what others have kept, whose mappings must live as long. */
struct nest_offers nest_offers_resume(
	struct run *run, const struct nest_search *search, const struct frontier *kept);

/* The outcome of a mapping: the score if it fits. */
struct offer_price {
	enum nest_verdict verdict;
	int level, dimension; /* where the verdict applies; -1: nowhere in particular */
	bool kept;            /* nothing beat it before */
	bool broken; /* nothing would, but it breaks a constraint that is not in the space */
	struct score score;
};

/* Charges one tick; false when the budget is spent, and nothing is evaluated then. */
bool nest_offers_price(
	struct nest_offers *offers, const struct mapping *mapping, struct offer_price *price);

/* The same of another solver's mapping, which is evaluated even after a stop. */
void nest_offers_adopt(struct nest_offers *offers, const struct mapping *mapping);

/* The least value of the first objective; INFINITY if nothing is kept. */
double nest_offers_best(const struct nest_offers *offers);

void nest_offers_close(struct nest_offers *offers);

#endif
