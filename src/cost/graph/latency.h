#ifndef COST_LATENCY_H
#define COST_LATENCY_H

#include "cost/graph/cost.h"
#include "cost/graph/traffic.h"

/*
 * Cycles.  A phase takes as long as its busiest resource; phases follow each
 * other; a bundle adds its overhead.  See cost.h and points 7 and 9 of
 * model/graph/plan.h.
 */
struct arena;

/* The phases of a plan, without times. */
int latency_phases(const struct plan *plan, struct arena *arena, struct phase_cost **out);

/* The resources of one phase; false when a count does not fit.  `ops` by step. */
bool latency_phase(const struct plan *plan, const struct counts *counts,
	const struct traffic_op *ops, struct arena *arena, struct phase_cost *phase);

/* Cycles of a whole op whose tiles do not move in boxes. */
int64_t latency_nest(const struct traffic_op *op, bool *fits);

/*
 * Operations per cycle of the unit that an op runs on, on one core: the array for
 * einsums, the vector unit for the others.  0: unlimited.  A rate too large to be
 * multiplied stays as it is.
 */
struct ratio latency_rate(
	const struct arch *arch, const struct workload *workload, const struct op *op);

/* Cycles that HBM, or the ports of one core's LX, take for this many bytes. */
int64_t latency_lx(const struct arch *arch, int64_t read, int64_t written, bool *fits);
int64_t latency_hbm(const struct arch *arch, int64_t read, int64_t written, bool *fits);

/* Cycles of the lanes over which so many cores read, with equal parts on each; 0 if the machine describes none. */
int64_t latency_lanes(const struct arch *arch, int64_t read, int64_t cores, bool *fits);

/* Bytes over each lane, rounded down. */
struct lane_load {
	int64_t of[LANES_MOST];
};

/* Adds bytes that an op reads of an operand. */
void latency_load_lanes(struct lane_load *load, const struct traffic_op *op, int operand,
	int64_t bytes, bool *fits);

/* The sum over the moves into LX of a phase. */
struct moved {
	int64_t hbm;  /* bytes read from HBM */
	int64_t fill; /* bytes written into LX of core 0 */
	struct lane_load lanes;
};

/* Adds one move, which reads so many bytes. */
void moved_add(
	struct moved *sum, const struct traffic_op *move, int64_t hbm, int64_t fill, bool *fits);
void moved_join(struct moved *sum, const struct moved *other, const struct arch *arch, bool *fits);

/* Cycles in which HBM and the lanes bring it. */
int64_t latency_moved(const struct arch *arch, const struct moved *moved, bool *fits);

/*
 * Cycles of HBM in a phase of an op: its own bytes, and those of the moves before it.  A shared bus turns
 * round for each byte read beside one written (level.turn); what is read comes over the lanes of the cores in
 * use.  Rounded so that no execution is faster.
 */
struct bus_load {
	int64_t read, written;  /* bytes of the op */
	struct lane_load lanes; /* its reads as far as they are known by operand */
	struct moved moved;
	int64_t far;     /* bytes read x doublings of the distance of their planes */
	int64_t doubled; /* bytes written x doublings of their tensor (arch_write_doublings) */
	int64_t runs;    /* short contiguous pieces of what is read and written, at least */
	int64_t misses; /* of longer ones and of blocks, those that begin in a closed page, at least */
};

/* Adds the bytes that operand i of the op reads or writes to all fields but the first two and `moved`; moves add
 * none. */
void latency_load(
	struct bus_load *load, const struct traffic_op *op, int i, int64_t bytes, bool *fits);

/* Cycles in which the bus turns round for so many bytes that an op reads and writes, rounded down. */
int64_t latency_turns(const struct traffic_op *op, int64_t bytes, bool *fits);

int64_t latency_bus(const struct traffic_op *op, const struct bus_load *load, bool *fits);

/* Work of one core, summed over ops before it is divided by rates. */
struct core_work {
	int64_t fill, lx_read, lx_write; /* bytes */
	int64_t link;                    /* bytes over its link to the next core of the ring */
	int64_t compute_cycles;
};

void latency_add(struct core_work *work, const struct arch *arch, const struct traffic_op *op,
	int64_t core, bool *fits);

/* The same without the boxes that an op reads from HBM. */
void latency_add_inside(struct core_work *work, const struct arch *arch,
	const struct traffic_op *op, int64_t core, bool *fits);

/* Raises the cycles of the resources of a core to those that the work takes. */
void latency_raise(
	int64_t *resources, const struct arch *arch, const struct core_work *work, bool *fits);

#endif
