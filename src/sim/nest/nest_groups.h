#ifndef SIM_NEST_GROUPS_H
#define SIM_NEST_GROUPS_H

#include "sim/nest/nest_words.h"

/*
 * Who moves the identical set of words at the same time: children of one parent instance, by
 * number from 0.  A group is a chain of children, lowest first.
 */
struct nest_groups {
	int64_t *leader; /* by child: the lowest of its group; -1: in none */
	int64_t *behind; /* by child: the next of its group; -1: the last */
	int64_t words;   /* of all groups, each once */
	int64_t *tail;
	int64_t *slots; /* hash table: leaders, or -1 */
	int64_t slot_count;
};

struct arena;
void nest_groups_open(struct nest_groups *groups, int64_t children, struct arena *arena);

/* Children whose set is empty or whose bit in `without` (NULL: nobody's) is set are in no group;
 * those with different numbers in `apart` (NULL: all the same) are in different ones. */
void nest_groups_find(struct nest_groups *groups, int ranks, const struct nest_words *sets,
	int64_t children, const int64_t *apart, const bool *without);

#endif
