#ifndef MODEL_CONSTRAINT_H
#define MODEL_CONSTRAINT_H

#include "base/diag.h"
#include "model/nest/shape.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One wish about mappings, as a spec states it.  What a kind means, how it is
 * read, checked and explained stands in constraints/, one file a kind; this is
 * the plain value that they share.
 */
enum constraint_part {
	PART_SPATIAL,   /* of the block that row fans out into (v4: the node below the fan-out) */
	PART_TEMPORAL,  /* of the loops at the level `row` */
	PART_DATASPACE, /* of what the level `row` keeps */
	PART_MACHINE,   /* of the multipliers: utilization */
	PART_GRAPH,     /* of a workload graph: cores, span, residency */
	PART_COUNT,
};
/* "spatial", "temporal", "dataspace", "machine", "graph" */
extern const char *const constraint_part_names[];

enum relation {
	RELATION_EQUAL,
	RELATION_LESS,
	RELATION_AT_MOST,
	RELATION_GREATER,
	RELATION_AT_LEAST
};

struct constraint_factor {
	int dimension;
	enum relation relation;
	int64_t bound; /* 0 with RELATION_EQUAL: the full extent, resolved when read */
	int64_t tail;  /* of `P=4,3`: 3; 0: not given */
	struct span span;
};

struct constraint_kind; /* constraints/kind.h */

struct constraint {
	const struct constraint_kind *kind;
	enum constraint_part part;
	int row;            /* level of the architecture; -1: the whole machine or graph */
	const char *target; /* as the spec names it */
	struct span span;   /* of the value that states it */
	bool architecture;  /* from the architecture: fixed for every workload */

	/* Payload; which of these a kind uses is its business. */
	uint32_t spaces; /* bit t: dataspace t */
	int factor_count;
	const struct constraint_factor *factors;
	int order_count; /* permutation: innermost first */
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	int suffix_count; /* permutation `AB_CD`: CD are the outermost */
	uint8_t suffix[SHAPE_DIMENSIONS_MOST];
	int group_count;                        /* maximize_dims: lists in order of precedence */
	uint32_t groups[SHAPE_DIMENSIONS_MOST]; /* order inside a group: `order`, concatenated */
	int64_t number;                         /* split, capacity, cores, span; -1: none given */
	double least;                           /* utilization */
	const char *subject; /* graph constraints: the op or tensor meant; NULL: all */
	bool lx;             /* residency: must live there, or must not */
};

struct domain;

struct constraints {
	size_t count;
	struct constraint *at;
	/* The mappings that constraints of problems are about, where a graph was written as one; NULL:
	 * it was not. */
	const struct domain *problem;
};

#endif
