#ifndef SEARCH_FACTORS_STORE_H
#define SEARCH_FACTORS_STORE_H

#include "search/nest/factors.h"

/*
 * Factorizations that were made once: who asks many similar questions about the
 * same dimensions makes their tables once.  All of it lives in one arena and
 * belongs to one thread.
 */
struct factors_store {
	struct arena *arena;
	size_t count, capacity;
	const struct factors **at;
	struct stopper stopper;
};

/* As factors_make.  `store` NULL: made anew in `arena`, to the end. */
const struct factors *factors_store_get(struct factors_store *store, struct arena *arena,
	int64_t extent, bool imperfect, int loop_count, const struct factor_bounds *bounds);

#endif
