#ifndef SEARCH_CERTIFICATE_CELL_H
#define SEARCH_CERTIFICATE_CELL_H

#include "search/certificate/cells.h"
#include "search/certificate/certificate_floor.h"

/*
 * Whether every mapping of a cell is beaten, by a plain depth-first walk: from the outermost
 * storage level inwards one level's bounds, then its order, as long as the floor of what is
 * chosen is not beaten itself; whole mappings are evaluated by the model and held
 * against the constraints.
 */
struct target {
	size_t count; /* rows of values, of the search's objectives */
	const double *
		values; /* one row at least must be no greater, in each, than (1 + epsilon) times the mapping's */
	double epsilon;
};

/* The value of a mapping, or of a floor. */
bool target_beats(const struct target *target, const struct objectives *objectives,
	const struct score *score);

enum cell_verdict {
	CELL_EXCLUDED,  /* by the floor of the cell alone, or nothing of it can fit */
	CELL_SEARCHED,  /* every mapping of it is beaten */
	CELL_BEATEN,    /* some mapping is not: *witness */
	CELL_UNCOUNTED, /* some mapping, *witness, has no counts */
	CELL_STOPPED,   /* the budget ended */
};

/* What a walk needs besides its cell; made once. */
struct cell_walker {
	const struct nest_search *search;
	struct arena *arena, *scratch;
	struct completions *completions;
	struct floor_frame frame;
	uint64_t budget; /* steps; 0: any number */
	uint64_t steps;  /* bounds and evaluations */
	uint64_t evaluated;
	struct stopper stopper; /* asked now and then */
};

struct cell_walker cell_walker_open(const struct nest_search *search, uint64_t budget);
void cell_walker_close(struct cell_walker *walker);

enum cell_verdict cell_check(struct cell_walker *walker, const struct cell *cell,
	const struct target *target, struct mapping *witness);

#endif
