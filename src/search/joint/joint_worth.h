#ifndef SEARCH_JOINT_WORTH_H
#define SEARCH_JOINT_WORTH_H

#include "search/graph/recipe.h"

/*
 * The worth of each kind of decision (enum joint_kind): whole plans of least latency, solved again without it.
 */
struct joint_worth {
	const char *kind; /* that is not decided; NULL: nothing more than in the question */
	const char *why;  /* there is no plan; NULL */
	double cycles;    /* as the price says */
	bool proven;
};

enum { JOINT_WORTHS_MOST = 16 };
struct joint_worths {
	size_t count;
	struct joint_worth at[JOINT_WORTHS_MOST];
};

/* First all kinds that the aim of the recipe, a whole plan, leaves free, then one less at a time.  The first is no
 * more than the others, whose plans it may take, too. */
struct joint_worths joint_worths(const struct recipe *recipe, struct arena *arena);

#endif
