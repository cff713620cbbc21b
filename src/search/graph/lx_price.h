#ifndef SEARCH_LX_PRICE_H
#define SEARCH_LX_PRICE_H

#include "search/graph/recipe.h"

/*
 * The price of constraints `residency: lx`: the whole plan of the recipe without them, and what comes of it
 * when their tensors are put into LX by trying, one after the other (lx_trial.h).
 */
struct lx_price {
	const char *tensors; /* "'K', 'V'"; NULL: no constraint asks for LX, nothing else is set */
	const struct plan *free;  /* NULL: none was found */
	const struct plan *start; /* keeps all constraints; NULL: a trial failed */
};

/* The recipe is of a whole plan (recipe_is_whole), with all constraints. */
struct lx_price lx_price_find(const struct recipe *recipe, struct arena *arena);

#endif
