#ifndef SIM_NEST_NEST_LAY_H
#define SIM_NEST_NEST_LAY_H

#include "sim/nest/nest_run.h"

/*
 * A nest before it runs, and after: the places of loops, instances and buffers, the words of homes,
 * groups of instances that move the same words, and the numbers.
 *
 * Homes of dataspaces: before the run the words that their first instance needs, found by marking them
 * tile after tile; after it the instances that have a part of one sum.
 */

/* The loops of one dimension as seen from a level: indices in its tile, and what temporal loops
 * outside add, those of other instances being 0. */
struct nest_reach {
	int64_t tile, extent;
	int count;
	int64_t bound[ARCH_LEVELS_MOST], stride[ARCH_LEVELS_MOST];
};

/* Distinct words of all tiles that the loops make of a dataspace.  NEST_FITS; NEST_UNCOUNTABLE:
 * too many to mark. */
enum nest_verdict nest_homes_mark(
	const struct shape *shape, int space, const struct nest_reach *reaches, int64_t *words);

/* True if two instances of a home that no ring joins have a part of the same sum, after the last
 * drain. */
bool nest_homes_apart(struct nest_run *run);

/*
 * Lays out a mapping on its machine: the temporal loops in order, the instances of all levels
 * with their places, and for each dataspace where it is kept, who its parent is, and when it
 * moves.
 */
enum { NEST_MULTIPLIER_BYTES = 512 }; /* of each, for each dataspace; about */

/* Returns NULL, or the reason: more instances than EXECUTION_BYTES_MOST can take. */
const char *nest_run_lay_out(struct nest_run *run);

/*
 * Opens the buffers of all instances that a nest was laid out for; empty, but for the homes, which hold
 * the words that they need from the start.  Returns NULL, or the reason: they need more than
 * EXECUTION_BYTES_MOST.
 */
const char *nest_buffers_open(struct nest_run *run);

/*
 * Children of one parent instance, by number from 0, that move the identical set of words at the same
 * time.  A group is a chain of children, lowest first.
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

/* Children whose set is empty or whose bit in `without` (NULL: of none) is set are in no group;
 * those with different numbers in `apart` (NULL: all the same) are in different ones. */
void nest_groups_find(struct nest_groups *groups, int ranks, const struct nest_words *sets,
	int64_t children, const int64_t *apart, const bool *without);

/*
 * The numbers: those of the options (struct nest_values), or whole dataspaces as doubles that hold
 * small integers, so that sums are exact in any order, and the einsum by plain loops over the
 * dimensions.
 */
struct nest_tensors;

/* Returns tensors of the sizes of a shape; their memory comes with the buffers.  `values` (NULL: drawn from
 * {-2 .. 2}) take the place of the tensors that are read. */
struct nest_tensors *nest_tensors_name(
	const struct shape *shape, const struct nest_values *values, struct arena *arena);

/* Checks drawn tensors: computes the einsum, adds up the homes' instances, and complains about the first
 * element that differs.  Of given values: returns the results to their owner. */
void nest_tensors_end(struct nest_run *run);

#endif
