#ifndef MODEL_BUFFER_H
#define MODEL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Packing: buffers with lifetimes into one address range.  Two buffers whose
 * lifetimes [start, end) meet may not share bytes, except that a child may
 * take the very address of a declared parent that ends in the child's first step
 * (parent.end == child.start + 1), if it is no larger.
 */
struct buffer {
	const char *name;
	int64_t size;       /* bytes, >= 0 */
	int64_t start, end; /* half-open */
	size_t parent_count;
	const int *parents; /* indices of buffers whose slot it may take over */
};

struct packing {
	int64_t capacity, alignment; /* bytes; addresses are multiples of the alignment */
	size_t count;
	const struct buffer *buffers;
};

enum { UNPLACED = -1 };

struct placement {
	size_t count;       /* of buffers, as in the packing */
	int64_t *addresses; /* bytes; UNPLACED: stays in HBM */
	int *in_place_of;   /* the parent whose address it took; -1 */
};

struct packing_fault {
	int a, b; /* buffers; b is -1 when the fault is a's alone */
	const char *why;
};

/*
 * The independent checker: every placed buffer aligned and inside the
 * capacity, no two live buffers share bytes unless the one takes the other's
 * place lawfully.  Answers the first fault, or a.a == -1 for none.
 */
struct packing_fault packing_check(
	const struct packing *packing, const struct placement *placement);

#endif
