#ifndef IMPORT_AXES_H
#define IMPORT_AXES_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Classes of axes that are split alike.  A split is a product of innermost factors: an axis of 2048
 * with the split 64 is 32 x 64.  The splits of a class divide one another, so that they have one
 * finest refinement.  A fixed class cannot be split: its index is more than one loop.
 */
enum { AXIS_SPLITS_MOST = 6 };

struct axis_class {
	int parent;
	int64_t extent;
	bool fixed;
	int split_count;
	int64_t splits[AXIS_SPLITS_MOST]; /* ascending, above 1 and below the extent */
	int first;                        /* number of its first factor, once counted */
};

struct axis_classes {
	struct arena *arena;
	struct array(struct axis_class) at;
};

int axes_new(struct axis_classes *axes, int64_t extent);
struct axis_class *axes_find(struct axis_classes *axes, int axis);
/* Both have one extent; the caller sees to that. */
void axes_join(struct axis_classes *axes, int a, int b);
void axes_fix(struct axis_classes *axes, int a);

/* Factors of an axis, outermost first; an axis of extent 1 has none, a fixed one always one. */
int axes_factors(struct axis_classes *axes, int a, int64_t *sizes);

/* Refines two lists of axes with the same product so that the factors above 1 are the same.  False:
 * no refinement does it, nothing is changed.  *changed turns true where a class got a split. */
bool axes_align(struct axis_classes *axes, const int *a, int a_count, const int *b, int b_count,
	bool *changed);

#endif
