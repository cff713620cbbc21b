#ifndef COST_NEST_WINDOWS_H
#define COST_NEST_WINDOWS_H

#include "cost/nest/nest_loops.h"

/*
 * Imperfect factors, a read-only dataspace with ranks of two or more dimensions.
 * Children are looked at one by one, those alone that may share with each other; steps,
 * and places that do not share, in the few contexts that are different (see
 * cost/nest/nest_contexts.h).  So the time does not depend on the extents, but on the children that
 * slide or that may be without work, and grows with the imperfect dimensions.
 */
enum { NEST_CHILDREN_MOST = 1024, NEST_LOOKS_MOST = 1 << 21 };

struct nest_windows {
	int64_t entering; /* words that all instances of the child enter */
	int64_t groups;   /* words that groups enter, over all instances of the level */
	int64_t links;    /* words handed on */
};

/* Children in one instance of a level; `links`: they may hand on. */
struct nest_windows nest_windows_count(const struct nest_passage *passage, int level, bool links);

#endif
