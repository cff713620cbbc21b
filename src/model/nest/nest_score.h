#ifndef MODEL_NEST_SCORE_H
#define MODEL_NEST_SCORE_H

#include "base/array.h"
#include "model/nest/hierarchy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The price of a nest: integer counts first, then time and energy derived from
 * them.  cost/ and sim/ both fill these structs, in different ways.
 */
extern const char *const counting_names[]; /* "exact", "timeloop", NULL */

/* Words of one dataspace at one level, all instances together. */
struct nest_count {
	/* Words of the largest tile; 0 where it is not kept.  Exactly, at the home: all words that
	 * come into an instance's tile. */
	int64_t capacity;
	int64_t reads, fills, updates;
	int64_t links; /* of reads and of fills: handed on between neighbours */
	/* Reads of sums, in exact counting: those that leave for the parent, and those that others are added to as
	 * they come from inside. */
	int64_t drains;
};

struct nest_counts {
	int64_t computes;
	int64_t compute_cycles;
	int64_t array_cycles; /* that a systolic array takes longer: loads, fill and drain skew */
	int64_t utilized_computes;          /* multipliers that ever work */
	int64_t utilized[ARCH_LEVELS_MOST]; /* instances that ever have work, by level */
	/* By level; 0 unless the level gives them a time: rounds in which instance 0 has work, and rows of tiles
	 * that all instances together serve. */
	int64_t rounds[ARCH_LEVELS_MOST], rows[ARCH_LEVELS_MOST];
	struct nest_count at[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST]; /* by level, dataspace */
	/* Words x hops, and words x routers, of the network below each level; only of `timeloop`
	 * counting, and where some network has a price.  `exact` derives them from the counts. */
	double hops[ARCH_LEVELS_MOST], routers[ARCH_LEVELS_MOST];
};

/* The integers come first, one after the other. */
enum { NEST_INTEGERS = offsetof(struct nest_counts, hops) / sizeof(int64_t) };

/* Adds every integer of `one`, this many times; false when one does not fit. */
bool nest_counts_add(struct nest_counts *sum, const struct nest_counts *one, int64_t times);

bool nest_counts_equal(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct nest_counts *a, const struct nest_counts *b);
/* The same of all levels and dataspaces that there can be. */
bool nest_totals_equal(const struct nest_counts *a, const struct nest_counts *b);

/* The share of one of `instances` (at least 1) in a total: "3", or exactly "7/2". */
const char *nest_share_text(struct arena *arena, int64_t total, int64_t instances);

enum nest_verdict {
	NEST_FITS,
	NEST_FACTORS,     /* the bounds of a dimension do not make its extent */
	NEST_FANOUT,      /* more instances mapped than there are */
	NEST_CAPACITY,    /* a tile exceeds its level */
	NEST_UTILIZATION, /* tiles too small, or too few multipliers busy */
	NEST_IDLE,        /* spatial loops take too few instances of a block */
	NEST_SUMS_APART,  /* exactly: instances of a home end with a part of a sum each */
	NEST_HOMELESS,    /* a dataspace is kept nowhere */
	NEST_OVERFLOW,    /* a count does not fit an int64_t */
	NEST_MEANINGLESS, /* Timeloop's rules give a count below 0, or beyond its doubles: 2^53 */
	NEST_UNCOUNTABLE, /* exact counting does not cover it: see the end of specs/counting.md */
};

struct nest_score {
	enum nest_verdict verdict;
	int level, dimension, space; /* where the verdict applies; -1: nowhere in particular */
	int64_t asked, given;        /* of the verdict: words, instances, or factors */
	int64_t cycles;
	int64_t level_cycles[ARCH_LEVELS_MOST]; /* what each level needs alone */
	double level_pj[ARCH_LEVELS_MOST];      /* accesses + leakage */
	double space_pj[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	double leak_pj[ARCH_LEVELS_MOST];
	double network_pj[ARCH_LEVELS_MOST]; /* of the block below; 0 unless given */
	double compute_pj;
	double energy_pj;
	double utilization; /* 0 to 1: computes / (cycles * multipliers of the machine) */
};

/* True if counts come with a verdict. */
static inline bool nest_verdict_counts(enum nest_verdict verdict)
{
	return verdict == NEST_FITS || verdict == NEST_CAPACITY || verdict == NEST_UTILIZATION ||
	       verdict == NEST_IDLE || verdict == NEST_SUMS_APART;
}

/* The verdict in a sentence, with names; NULL for NEST_FITS. */
const char *nest_verdict_text(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, const struct nest_score *score);

/*
 * A mapping's loops on the systolic array of a machine: the place in space and time of each loop of
 * one pass.  An iteration of them runs on PE (X, Y) at step s, counted from when the
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

/*
 * When the parts of a nest's execution ran, for drawings: what keeps the multipliers busy or waiting, one after the
 * other, and between them the tiles of each level, from one to the next.  In ticks, as the simulator's clock has them.
 */
enum nest_work {
	NEST_COMPUTES, /* the multipliers; steps that follow each other are one span */
	NEST_FILLING,  /* work waits for a tile that comes, NEST_DRAINING for one that leaves, .. */
	NEST_DRAINING,
	NEST_WAITING, /* .. for what a level does in the background, and for latencies */
	NEST_TILE,    /* from one change of a level's tiles to the next */
};

struct nest_span {
	enum nest_work work;
	int level; /* of the hierarchy; of NEST_COMPUTES -1 */
	int64_t from, to;
};

struct nest_trace {
	struct arena *arena;
	size_t most; /* spans that are kept */
	bool cut;    /* there were more */
	int64_t ticks_per_cycle;
	struct nest_spans array(struct nest_span) spans;
};

#endif
