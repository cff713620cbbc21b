#ifndef LOWER_PROGRAM_H
#define LOWER_PROGRAM_H

#include "model/arch.h"
#include "model/plan.h"

#include <stdint.h>

/*
 * A program is what the machine runs: instructions with operands in addresses
 * and explicit dependences.  Every core has one in-order queue per engine.  An
 * instruction sits in its engine's queue on every core of its mask; it starts
 * when it heads all of those queues and all its dependences are done.
 *
 *	DMA_IN   moves a box of sticks from HBM into LX of every core of the mask:
 *	         one read of HBM, one fill per core, the same LX address on each
 *	DMA_OUT  moves a box from one core's LX to HBM
 *	COMPUTE  one tile of an op on one core
 *	RING     combines the accumulators of the cores of the mask, which follow each
 *	         other on the reduce ring, and leaves the output on the owner
 *	SYNC     takes no time and moves nothing: joins dependences, so that the
 *	         steps of a plan need not name each other's instructions
 */
enum engine { ENGINE_DMA_IN, ENGINE_DMA_OUT, ENGINE_COMPUTE, ENGINE_RING, ENGINE_SYNC, ENGINE_COUNT };
extern const char *const engine_names[];

enum { PROGRAM_CORES_MOST = 64, REGION_RANK_MOST = LAYOUT_RANK_MOST };

/* A box of sticks in a tensor's device coordinates (without the stick itself). */
struct region {
	int tensor;
	int rank; /* device rank - 1 */
	int64_t first[REGION_RANK_MOST], count[REGION_RANK_MOST];
	int64_t sticks; /* product of counts */
};

/*
 * Where a box lies in a memory: the unit at coordinates x of the box is at
 * address + sum (x[d] - first[d]) * stride[d], in bytes.  The unit is one
 * stick; in an accumulator it is the stick's elements as fp32.
 */
struct location {
	int64_t address;
	int64_t stride[REGION_RANK_MOST];
};

/* DMA_IN, DMA_OUT */
struct transfer {
	int operand; /* of the step's op */
	struct region region;
	struct location hbm, lx;
};

struct compute_operand {
	int operand;
	struct region region;
	struct location lx;
};

/* The elements that one tile computes: loop l runs over [first[l], first[l] + count[l]). */
struct compute {
	int op;
	int64_t first[OP_LOOPS_MOST], count[OP_LOOPS_MOST];
	int read_count;
	struct compute_operand reads[OP_READS_MOST];
	struct compute_operand write;       /* its lx is unused unless `finish` */
	bool accumulator_read, accumulator_write;
	struct location accumulator;        /* over write.region, fp32 units */
	bool finish; /* converts to the output's dtype and writes it */
};

struct combine {
	int op;
	enum op_function function;  /* SUM, MAX, MIN */
	int core_count;
	int cores[PROGRAM_CORES_MOST]; /* in ring order; the last is the owner */
	struct region region;       /* of the output */
	struct location accumulator, output;
};

struct instruction {
	enum engine engine;
	int step; /* of the plan */
	int tile; /* within the step; -1 for SYNC */
	uint64_t mask;
	size_t dependence_count;
	const uint32_t *dependences; /* instruction numbers */
	union {
		const struct transfer *transfer;
		const struct compute *compute;
		const struct combine *combine;
	};
};

/*
 * LX bytes that belong to one tensor, or to the tile buffers of a step
 * (tensor -1), during steps [from, to).
 */
struct allotment {
	int tensor;
	int64_t address, size;
	int from, to;
	int in_place_of; /* tensor whose bytes it may take over in step `from`; -1 */
	uint64_t cores;
};

struct program {
	const struct arch *arch;
	const struct workload *workload;
	int step_count;
	const int *step_ops;      /* op of each step */
	const int64_t *hbm;       /* address of every tensor in HBM; -1: has none */
	int64_t hbm_bytes;        /* size of the HBM image */
	int64_t overhead_cycles;  /* of all bundles, added to the finish */
	size_t instruction_count;
	const struct instruction *instructions;
	size_t allotment_count;
	const struct allotment *allotments;
};

#endif
