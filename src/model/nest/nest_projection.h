#ifndef MODEL_NEST_PROJECTION_H
#define MODEL_NEST_PROJECTION_H

#include "model/nest/hierarchy.h"

/*
 * How a mapping's loops run on the systolic array of a machine: what the loops of one pass
 * are in space and time.  An iteration of them runs on PE (X, Y) at step s, counted from when the
 * pass has loaded its tiles.
 */
enum { NEST_PROJECTED_MOST = 64 };

struct nest_projected_loop {
	int row; /* of the mapping */
	int dimension;
	int64_t bound;
	int64_t index;    /* what an iteration adds to the dimension's index */
	int64_t space[2]; /* P: PEs along X and Y from one iteration to the next */
	int64_t time;     /* s: and steps */
};

enum nest_channel {
	NEST_STATIONARY, /* PEs hold it for the pass */
	NEST_SYSTOLIC,   /* goes from PE to PE, a step each */
	NEST_DIRECT,     /* every PE has its own, which passes through those before it */
};
extern const char *const nest_channel_names[]; /* NULL ends them */

struct nest_projection {
	int64_t extent[2]; /* PEs busy along X and Y */
	int64_t rate;      /* cycles that a step takes */
	int64_t steps;     /* of a pass, the longest */
	int64_t passes;
	int64_t skew_cycles; /* of a pass: the last PE begins this many after the first */
	int64_t load_cycles; /* that all passes together wait for their tiles */
	bool overlap;        /* passes follow one another: skew only once */
	int loop_count;      /* of a pass, the innermost first: space before time */
	struct nest_projected_loop loops[NEST_PROJECTED_MOST];
	struct {
		enum nest_channel channel;
		bool along
			[2]; /* handed on along X, Y: of what is stationary when it comes or goes */
	} spaces[SHAPE_SPACES_MOST];
};

#endif
