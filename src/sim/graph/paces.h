#ifndef SIM_PACES_H
#define SIM_PACES_H

#include "base/number.h"
#include "sim/graph/chip.h"
#include "sim/transfer/schedule.h"

/*
 * Times in ticks: a cycle has as many as make the times of all units of work whole, up to a limit
 * above which times round up instead.
 */

struct arena;
struct nests;
struct program;

/* Kinds of ops that turn the bus round: where one operand repeats, and where the stick moves. */
enum turn { TURN_ONCE, TURN_REPEATED, TURN_RESTICKIFY };

/* Ticks of one unit of work, as a fraction; 0: no time at all. */
struct pace {
	int64_t num, den;
};

/*
 * The demand of an instruction on the machine, in ticks: a fraction of a cycle chosen so that a stick takes
 * a whole number of them at every rate of the machine; if no small fraction does, times round up.
 */
/* Paces of all servers. */
struct paces {
	const struct program *program;
	const struct nests *nests;
	int64_t ticks;              /* of a cycle */
	int64_t longest;            /* an instruction takes no more: sums stay far from overflow */
	bool hbm_shared, lx_shared; /* one server for reads and writes */
	struct pace hbm_read, hbm_write, port, lx_read, lx_write, link; /* of a stick */
	struct pace mac[FP32_BYTES + 1]; /* of a multiply-add, by bytes of an element */
	struct ratio mac_rate,
		strided_rate; /* of one core; where rows of an operand lie in strides */
	struct pace vector, reduction, restickify; /* of an element */
	struct pace stream; /* of an element of one operand of a map, or its result */
	int64_t tile;       /* ticks that fill and drain the array */
	struct pace lane;   /* of a stick */
	struct pace
		run; /* of a contiguous run of sticks in HBM, before it, for the core that waits */
	struct pace page; /* of a miss, where a run begins in a page that is not open, likewise */
	int64_t *step_cores;            /* by step: the cores that compute */
	struct pace plane;              /* of a stick from a bank where planes meet, besides */
	struct pace write_far;          /* of a stick written, for each doubling of the tensor */
	struct pace turn[3];            /* of a stick read beside one written, by enum turn */
	struct pace ring;               /* of a stick, the data ring's links */
	int64_t link_stick, ring_stick; /* ticks of a stick on a link */
	struct pace copy_in, copy_out, copy_link; /* of a stick, for roots of broadcasts */
	int64_t in_latency, out_latency, link_latency, sync;
	struct hops hops; /* found as they are asked for */
};

struct paces *paces_open(
	const struct program *program, const struct nests *nests, struct arena *arena);

/* Returns the pace of units of `work` at a rate, with as many ticks to a cycle. */
struct pace pace_find(int64_t ticks, int64_t work, struct ratio rate);

/* Returns the ticks of this many units, at most `longest`; 0: it takes none, and no server sees it. */
int64_t pace_time(struct pace pace, int64_t work, int64_t longest);

/* The same, at most the longest time of an instruction. */
int64_t paces_time(const struct paces *paces, struct pace pace, int64_t work);

int64_t paces_ticks(const struct paces *paces, struct ratio cycles);

#endif
