#ifndef SUPPORT_SPELLING_CASE_H
#define SUPPORT_SPELLING_CASE_H

#include "base/random.h"
#include "model/nest/shape.h"

/*
 * A random einsum on a random machine, written twice, as texts of YAML: as a `problem:` with a mapping in
 * one line of Timeloop's terms, and as a `workload:` of one op with the mapping of a step.  Machines have
 * 2 to 5 storages and fan-outs between them, move words or boxes of sticks, and end with multipliers or an
 * ideal array.
 */
struct arena;

struct spelling_case {
	struct arena *arena;
	struct shape shape; /* the written dataspace is the last */
	bool boxes;         /* tiles move in boxes; else the mappings are filled in, too */
	bool described;     /* the array of a machine of boxes has rows and registers, PE and RF */
	int cores;
	const char *machine, *problem, *workload;
	const char *mapping; /* of the problem: the value of `mapping:` */
	const char *step;    /* of the op: the same, operands by number */
};

struct spelling_case spelling_case_draw(struct arena *arena, struct random *random, bool boxes);

/* "mapping: .." of a problem; the same text with dataspaces by their numbers. */
const char *spelling_by_number(struct arena *arena, const struct shape *shape, const char *mapping);

#endif
