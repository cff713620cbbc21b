#ifndef SEARCH_NEST_OFFERS_H
#define SEARCH_NEST_OFFERS_H

#include "search/drive/solver.h"
#include "search/nest/nest_search.h"

/*
 * What solvers of the stage `map` share: a mapping is evaluated, and of those that fit
 * and keep the constraints the ones that no other beats are offered at the end.  (Not every
 * constraint is in the space: the loop over a dataspace may be any of several.)  Of mappings
 * equal in all objectives the one of least energy x latency stays, and of those the first one.  The search's start, if it has one, is the first
 * of all, costs nothing, and is not offered again.
 */
struct nest_offers {
	struct run *run;
	const struct nest_search *search;
	struct frontier kept;
	/* Some mapping has counts that nobody knows, and may be better than all: nothing is proven.
	 * Where Timeloop's counting has no meaning there is no value either, and none to beat. */
	bool uncounted;
};

struct nest_offers nest_offers_open(struct run *run, const struct nest_search *search);

/* With what others have kept, whose mappings must live as long. */
struct nest_offers nest_offers_resume(
	struct run *run, const struct nest_search *search, const struct frontier *kept);

/* Charges one tick; false when the budget is spent, and nothing is evaluated then. */
bool nest_offers_try(
	struct nest_offers *offers, const struct mapping *mapping, enum nest_verdict *verdict);

/* The same, and what came of it: the score if it fits. */
struct nest_price {
	enum nest_verdict verdict;
	int level, dimension; /* where the verdict applies; -1: nowhere in particular */
	bool kept;            /* nothing beat it before */
	bool broken; /* nothing would, but it breaks a constraint that is not in the space */
	struct score score;
};
bool nest_offers_price(
	struct nest_offers *offers, const struct mapping *mapping, struct nest_price *price);

/* What another solver has found: the same, but it is evaluated even if there is to be an end. */
void nest_offers_adopt(struct nest_offers *offers, const struct mapping *mapping);

/* The least value of the first objective; INFINITY if nothing is kept. */
double nest_offers_best(const struct nest_offers *offers);

void nest_offers_close(struct nest_offers *offers);

#endif
