#ifndef COST_RECURRENCE_PROJECTION_H
#define COST_RECURRENCE_PROJECTION_H

#include "base/stopper.h"
#include "model/recurrence/recurrence.h"

/*
 * The facts of a projection of a recurrence, in closed form if the domain is a box; a domain
 * with a condition is walked point by point, up to PROJECTION_POINTS_MOST points of its box.  The same
 * number is searched for points at which the condition of a dependence holds.
 *
 * Legal (Quinton 1984, Moldovan and Fortes 1986): every value arrives after it was made,
 * s e >= 1, or s e = 0 on streams declared as wires; and no two points have the same PE and time.
 *
 * Lanes of a vector unit work in lock step: what is only handed on reaches all of them in the step
 * that makes it, without a wire being declared, and no register moves from lane to lane but of
 * streams that may be shuffled.
 */
enum { PROJECTION_POINTS_MOST = 20000000 };

struct grid_point {
	int64_t at[RECURRENCE_LOOPS_MOST];
};

enum channel_kind {
	CHANNEL_STATIONARY, /* stays in its PE, in registers */
	CHANNEL_SYSTOLIC,   /* moves from PE to PE through registers */
	CHANNEL_WIRE,       /* reaches another PE in the step that makes it: multicast or fan-in */
	CHANNEL_CHAIN,      /* the same within a PE: logic after logic */
	CHANNEL_SHARED,     /* only handed on, to lanes of the same vector unit */
};
extern const char *const channel_names[];

struct channel {
	bool is_live; /* some point of the domain uses the dependence */
	enum channel_kind kind;
	int64_t move[RECURRENCE_LOOPS_MOST]; /* P e, by row of space */
	int64_t delay;                       /* s e */
};

struct bounds {
	int64_t least, extent;
};

/* The first fault, in this order. */
enum projection_fault {
	PROJECTION_FINE,
	PROJECTION_LATE,     /* `dependence` arrives at `late` before it can have been made */
	PROJECTION_CONFLICT, /* the points of `meeting` have one PE and one time */
	PROJECTION_SHUFFLE,  /* `dependence` moves between lanes of row `axis` */
	PROJECTION_LANES,    /* more lanes along row `axis` than a vector unit has */
	PROJECTION_FAR,      /* `dependence` moves farther than links reach in its delay */
	PROJECTION_MOVES,    /* `dependence` is of a stream that must stay, and moves */
	PROJECTION_LINK,     /* `dependence` moves along row `axis`, where no link carries it */
	PROJECTION_WIRE,     /* `dependence` is a wire along row `axis`, where it has none */
	PROJECTION_LARGE,    /* more PEs along row `axis` than the array has */
	PROJECTION_REVERSE,  /* the reverse transform takes `astray` elsewhere, in loop `axis` */
	PROJECTION_UNKNOWN,  /* numbers do not fit, or too many points to look at */
};

struct projection_facts {
	enum projection_fault fault;
	int dependence, axis; /* -1: none */
	bool causal;          /* no dependence is late; else the first point that uses it */
	struct grid_point late;
	int64_t conflicts;            /* points less pairs of PE and time; -1: not counted */
	struct grid_point meeting[2]; /* of all pairs that meet: the later point comes first */
	struct grid_point astray;
	int64_t points, pes, cycles;
	/* Vector units, all lanes of one PE together, and the steps in which they have a point, summed
	 * up; 0 without lanes, -1: not counted. */
	int64_t units, issues;
	int64_t schedule[RECURRENCE_LOOPS_MOST]; /* s, all rows of time flattened */
	struct bounds space[RECURRENCE_LOOPS_MOST], rows[RECURRENCE_LOOPS_MOST]; /* of the box */
	struct bounds time; /* of the box, flattened; extent 0: it does not fit */
	struct channel channels[RECURRENCE_DEPENDENCES_MOST]; /* by dependence */
	int64_t registers[RECURRENCE_STREAMS_MOST];           /* per PE: the largest delay */
	int vector_count; /* projection vectors: what the allocation sends to PE 0 */
	int64_t vectors[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST];
	int64_t busy[RECURRENCE_LOOPS_MOST]; /* |s d| for each of them: steps between two points */
};

/* True if a value of a stream that is only handed on (recurrence_copies) goes, in the step that makes
 * it, to lanes of one vector unit alone: then it needs no wire.  `move` is P e, by row of space. */
bool projection_shares(
	const struct projection *projection, uint32_t copies, int stream, const int64_t *move);

/* Dependences that some point uses, as bits; one of which this takes too long to find out counts as used. */
uint64_t projection_used(const struct recurrence *recurrence);

/* `limits` for reach, array, streams that stay and rows without links or wires; may be NULL. */
struct projection_facts projection_facts(const struct recurrence *recurrence,
	const struct projection *projection, const struct space_time *limits);

/*
 * Ports of the array: pairs of a PE and a dependence that brings it a value from outside the
 * domain, of a PE and an input that it reads, of a PE and an output that it writes.  Walks the
 * points; -1: too many of them or of PEs, or the stopper ended the walk; NULL: none does.
 */
enum { PROJECTION_PORT_POINTS_MOST = 10000000 };
int64_t projection_ports(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, const struct stopper *stopper);

/*
 * Which point, if any, a PE computes at a time: loops from rows of space and time, one after the
 * other.
 *
 *	z = base + sign * floor((numerator) / divisor)
 *
 * The numerator is a sum over the rows (space first, then time) and the loops that are known by
 * then.  Where rows that are combined leave one unknown loop, it is a division, which must come out
 * even if `even` (with one row of each kind this is the inverse matrix, and the check is that of
 * parity).  Where a row has several unknown loops each of which steps farther than all smaller ones
 * together, they are digits of a mixed radix, largest first.  Where neither helps, a loop is
 * scanned.  At the end, every row must be what the loops make of it.
 */
enum reverse_kind { REVERSE_DIVIDE, REVERSE_DIGIT, REVERSE_SCAN };

struct reverse_step {
	enum reverse_kind kind;
	int loop;
	int64_t base, sign;
	int64_t constant, rows[2 * RECURRENCE_LOOPS_MOST], loops[RECURRENCE_LOOPS_MOST];
	int64_t divisor; /* > 0 */
	bool even;
};

struct reverse {
	int step_count; /* one for each loop */
	struct reverse_step steps[RECURRENCE_LOOPS_MOST];
	uint32_t checked; /* by row: the steps do not make sure of it */
	const char *why;  /* numbers do not fit; NULL */
};

struct reverse projection_reverse(
	const struct recurrence *recurrence, const struct projection *projection);

#endif
