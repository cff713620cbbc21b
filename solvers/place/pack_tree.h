#ifndef PLACE_PACK_TREE_H
#define PLACE_PACK_TREE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * All orders of some leaves in which certain sets lie together (the PQ-trees of Booth and Lueker,
 * 1976).  The children of one kind of node may come in any order, those of the other form a row
 * that may be read from either end; a row has at least three.  Trees are never changed: what is
 * made of one shares its parts.
 */
enum tree_kind { TREE_LEAF, TREE_ANY, TREE_ROW };

struct tree {
	enum tree_kind kind;
	int leaf; /* TREE_LEAF: its number, >= 0 */
	int count;
	int leaves;
	uint64_t some;  /* bit (number % 64) of each leaf */
	uint64_t hash;  /* equal for trees that differ by leaves of equal hashes */
	double freedom; /* natural logarithm of the number of orders */
	const struct tree *const *children;
};

const struct tree *tree_leaf(struct arena *arena, int leaf, uint64_t hash);

/* `count` >= 1; of a single child, the child itself. */
const struct tree *tree_any(struct arena *arena, const struct tree *const *children, int count);

/* A set of leaves, as a test by number. */
struct tree_set {
	const bool *has;
	uint64_t some; /* bit (number % 64) of each that is in it */
	int count;
};

/*
 * The orders of the tree in which the set, which is not empty, lies together, with all of it
 * replaced by `instead` (NULL: it stays).  NULL if there are none.  *inside gets the logarithm of
 * how many orders the set itself has there.
 */
const struct tree *tree_together(struct arena *arena, const struct tree *tree,
	const struct tree_set *set, const struct tree *instead, double *inside);

/*
 * One order: leaves with lower ranks come first.  Fine where each node's children can be sorted
 * so, or where ranks are equal.  Returns the count.
 */
int tree_order(const struct tree *tree, const int *ranks, int *leaves);

const struct tree *tree_copy(struct arena *arena, const struct tree *tree);

#endif
