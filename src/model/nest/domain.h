#ifndef MODEL_DOMAIN_H
#define MODEL_DOMAIN_H

#include "model/nest/constraint.h"
#include "model/nest/hierarchy.h"

/*
 * The legal choices for one mapping, after constraints have narrowed them.
 * Every bound remembers the constraint that set it (an index, -1: nobody), so
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
