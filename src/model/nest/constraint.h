#ifndef MODEL_CONSTRAINT_H
#define MODEL_CONSTRAINT_H

#include "base/diag.h"
#include "model/nest/hierarchy.h"
#include "model/nest/shape.h"
#include "spec/reader.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A constraint on mappings, as a spec gives it; the directives that mappings and constraints share; and
 * the domain of mappings that constraints leave.
 *
 * A kind of constraint is one file of constraints/, which reads, checks and explains it; this is the
 * plain value that they share.
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

/*
 * Readers of factors, loop orders and dataspaces as Timeloop's files spell them, in mappings and in
 * constraints.  All complain about every name that is unknown, with the nearest one and the list,
 * and then return false.
 */

/*
 * "R=1 S=1, C<=4", a list of such texts, or a map {R: 1, S: 1}: relations = < <= > >=, R12 for
 * R=12, P=4,3 for an imperfect bound.  P=0 is the full extent, and comes out as that.  Nothing
 * at all and comments (# up to the end of the line) name no factor.  *out lives in the reading's
 * arena.
 */
bool directive_factors(const struct reading *reading, const struct node *node,
	const struct shape *shape, const struct constraint_factor **out, int *count);

/* Dimensions innermost first: a list of names, "P, Q", or "PQ" when names have one letter.  What
 * stands after a `_` is outermost; what is not listed goes between. */
struct directive_order {
	int count, suffix_count;
	uint8_t at[SHAPE_DIMENSIONS_MOST], suffix[SHAPE_DIMENSIONS_MOST];
};
bool directive_order(const struct reading *reading, const struct node *node,
	const struct shape *shape, struct directive_order *out);

/* A list of dataspaces, or one; "*" is all of them. */
bool directive_spaces(const struct reading *reading, const struct node *node,
	const struct shape *shape, uint32_t *out);

/* Reads the number of loops of a permutation that run along X: a whole number, or timeloopfe's
 * len(spec.problem.instance); at most all of them. */
bool directive_split(const struct reading *reading, const struct node *node,
	const struct shape *shape, int64_t *out);

/* "unknown level 'X'", with the nearest of `known` (NULL ends it) and all of them.  Always false. */
bool directive_refuse(const struct reading *reading, struct span span, const char *what,
	const char *name, const char *const *known);

/* The sign of a relation: "=", "<", "<=", ">", ">=". */
const char *relation_text(enum relation relation);

/*
 * The legal choices for one mapping, after constraints have narrowed them.
 * Every bound remembers the constraint that set it (an index, -1: none), so
 * that a contradiction can show both places.
 */
struct factor_domain {
	int64_t least, most; /* of one loop bound; exact when equal */
	int least_by, most_by;
};

struct row_domain {
	struct factor_domain spatial[SHAPE_DIMENSIONS_MOST];
	struct factor_domain temporal[SHAPE_DIMENSIONS_MOST];
	/* dataspaces each of which must have a loop with a bound above 1; no bound says so alone */
	uint32_t spatial_over, temporal_over;
	/* loops that must be innermost, in that order, and those that must be outermost */
	int spatial_inner, spatial_outer, temporal_inner, temporal_outer;
	uint8_t spatial_order[SHAPE_DIMENSIONS_MOST], temporal_order[SHAPE_DIMENSIONS_MOST];
	uint8_t spatial_last[SHAPE_DIMENSIONS_MOST], temporal_last[SHAPE_DIMENSIONS_MOST];
	int spatial_order_by, temporal_order_by;
	double least_usage; /* part of the row's fan-out that spatial loops must take */
	int split;          /* entries of the spatial order that run along X; -1: free */
	int split_by;
	uint32_t keep, bypass; /* by dataspace; neither: free */
	int keep_by[SHAPE_SPACES_MOST];
};

struct domain {
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct constraints *constraints; /* NULL: none yet */
	uint32_t imperfect;                    /* bit d: factors of dimension d need not divide */
	bool whole_homes; /* homes hold what comes into their tiles: exact counting asks that */
	double least_parallelism; /* part of the multipliers that must be busy */
	int least_parallelism_by;
	struct row_domain rows[ARCH_LEVELS_MOST];
};

/* True if a level of the architecture has loops and keeps words, or only fans out. */
bool domain_stores(const struct arch *arch, int row);

/* True if it can have temporal loops: storage, and dummy levels that keep nothing. */
bool domain_iterates(const struct arch *arch, int row);

/* The storage level that has no other outside. -1 without one. */
int domain_outermost(const struct arch *arch);

/* Instances of a row in one of its parent. */
int64_t domain_fanout(const struct arch *arch, int row);

/*
 * Everything that the machine allows: storage rows have temporal factors 1 .. extent, rows
 * with a fan-out spatial ones, dummy levels temporal ones if the hierarchy says so, all
 * other factors are 1; the outermost storage keeps everything, and so does the one around an ideal array, every
 * other storage level may keep or bypass; levels that only fan out and storage without room bypass.
 */
struct domain *domain_make(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct hierarchy *hierarchy);

#endif
