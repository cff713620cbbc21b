#ifndef SUPPORT_NEST_ALL_H
#define SUPPORT_NEST_ALL_H

#include "model/graph/op_mapping.h"
#include "model/nest/constraint.h"

/*
 * Every mapping of a domain by plain recursion: each bound of each loop, each order of all the
 * loops of a row, each split, each residency.  What differs only in where loops of bound 1 stand
 * comes once; what runs along an axis that has no room does not come.  False if there are more
 * than `most`: only some were visited then.
 */
struct nest_all {
	const struct domain *domain;
	uint64_t most;
	void (*visit)(void *user, const struct mapping *mapping);
	void *user;
};
bool nest_all(const struct nest_all *question);

#endif
