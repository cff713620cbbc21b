#ifndef LOWER_PROGRAM_H
#define LOWER_PROGRAM_H

#include "model/graph/box_nest.h"

#include <stdint.h>

/*
 * A program is what the machine runs: instructions with operands in addresses
 * and explicit dependences.  Every core has one in-order queue per engine.  An
 * instruction sits in its engine's queue on every core of its mask; it starts
 * when it heads all of those queues and all its dependences are done, and it
 * heads its queues until it is done.  So "happens before" is the closure of the
 * dependences and of the order in every queue.
 *
 *	DMA_IN   moves a box of sticks from HBM into LX of every core of the mask:
 *	         one read of HBM, one fill per core, the same LX address on each
 *	DMA_OUT  moves a box from one core's LX to HBM
 *	COMPUTE  one tile of an op on one core
 *	RING     combines the accumulators of the cores of the mask, which follow each
 *	         other on the reduce ring, and leaves the output on the owner
 *	UP, DOWN the data ring's two directions: a core sends a box of its LX that way round to the cores of
 *	         `receivers`, where it comes to lie at one address on each; or it sets up runs
 *	SYNC     takes no time and moves nothing: joins dependences, so that the
 *	         steps of a plan need not name each other's instructions
 *
 * Instructions are listed in an order in which they could run one by one.
 * Every instruction of a phase (model/graph/plan.h, point 7) happens after every
 * instruction of the phases before it: a SYNC stands between any two.  No
 * dependence is implied by the others; each is needed.  A relayout has a SYNC of its own, between the
 * setting up of runs and what is sent.
 *
 * Several ranks carry out one program, each on its own memories.  The instructions of a
 * broadcast's step are those of its root alone, in queues of their own beside the engines', and
 * its DMA_OUTs go to HBM of the rank that they name.  A SYNC is one of all ranks.
 *
 * An opaque op is one COMPUTE on core 0, whose inside is unknown: it reads
 * its operands where they lie in HBM, and writes the results of the reference there.  By point 8
 * of model/graph/plan.h only HBM bytes count, and it takes the time that those take.
 */
enum engine {
	ENGINE_DMA_IN,
	ENGINE_DMA_OUT,
	ENGINE_COMPUTE,
	ENGINE_RING,
	ENGINE_UP,
	ENGINE_DOWN,
	ENGINE_SYNC,
	ENGINE_COUNT
};
extern const char *const engine_names[];

enum { PROGRAM_CORES_MOST = 64, REGION_RANK_MOST = LAYOUT_RANK_MOST - 1 };

/* A box of sticks in a tensor's device coordinates (without the stick itself). */
struct region {
	int tensor;
	int rank;       /* device rank - 1 */
	int64_t sticks; /* product of counts */
	int32_t first[REGION_RANK_MOST], count[REGION_RANK_MOST];
};

/* The same box, of one tensor or of two that are laid out alike. */
bool region_equal(const struct region *a, const struct region *b);

/*
 * The place of a box in a memory: the unit at coordinates x of the box is at
 * address + sum (x[d] - first[d]) * stride[d], in bytes.  The unit is one
 * stick; in an accumulator it is the stick's elements as fp32.
 */
struct location {
	int64_t address;
	int64_t stride[REGION_RANK_MOST];
};

/* A box of an operand of the step's op in LX; all who use it where it lies share it. */
struct operand_box {
	int operand;
	struct region region;
	struct location lx;
};

/* DMA_IN, DMA_OUT */
struct transfer {
	/* whose bytes they are in LX: a clone's output, what is evicted, else the box's */
	int lx_tensor;
	const struct operand_box *box; /* of the tensor in HBM; a copy has the same boxes */
	struct location hbm;
	int rank; /* of a broadcast's DMA_OUT: in whose HBM */
};

/* The place of an operand of a whole op in its home: a box of the host array, row by row from the address on;
 * all of the array, or in the scratchpad the part that an iteration has. */
struct whole_operand {
	int tensor;
	bool in_lx; /* resident in the scratchpad; else in HBM */
	int64_t address, bytes;
	int64_t first[LAYOUT_HOST_RANK_MOST], size[LAYOUT_HOST_RANK_MOST];
};

/*
 * The elements that one tile computes: loop l runs over [first[l],
 * first[l] + count[l]).  A nest begins at the first and goes on to the end of the
 * last unit.  If it updates a word of the output more often than once, sums are in
 * the accumulator in between, which is then written even by a tile that finishes.
 *
 * If tiles do not move in boxes a compute is a whole op, or its part in an iteration, on core 0: it names
 * its operands alone, and the nest moves the words that it needs.  An opaque op is whole on all machines, and has
 * no nest.  A compute that does not finish leaves sums where the output lies; one that reads an accumulator
 * adds to those.
 */
struct compute {
	int op;
	int read_count;
	bool accumulator_read, accumulator_write;
	bool finish;                       /* converts to the output's dtype and writes it */
	const int64_t *first, *count;      /* by loop */
	const struct inner_nest *nest;     /* all of a step that read an accumulator share it, and
					* all others; NULL: there is none */
	const struct whole_operand *whole; /* by operand, read_count 0; NULL: of boxes */
	const struct operand_box *write; /* its lx is unused unless `finish`; NULL: of a whole op */
	const struct location *accumulator; /* over write->region, fp32 units; NULL: none */
	const struct operand_box *reads[];
};

/* The owner folds the others' accumulators, finishes the op's function and writes. */
struct combine {
	int op;
	const struct primitive *primitive; /* how two accumulators become one */
	int core_count;
	int cores[PROGRAM_CORES_MOST]; /* in ring order; the last is the owner */
	struct region region;          /* of the output */
	struct location accumulator, output;
};

/* UP, DOWN: from core c to c + 1, c + 2, ..., or to c - 1, c - 2, ..., up to the last receiver; the first core
 * of the machine follows the last. */
struct send {
	const struct operand_box *from,
		*to;         /* the same box at the sender and at all receivers, or */
	uint64_t receivers;  /* bit c: core c; the sender may be one */
	int64_t runs, parts; /* NULL: the core sets up so many runs of slices that are cut so */
};

struct instruction {
	enum engine engine;
	int step; /* of the plan */
	int tile; /* within the step; -1 for SYNC */
	uint32_t dependence_count;
	uint64_t mask;               /* bit c: core c */
	const uint32_t *dependences; /* instruction numbers */
	union {
		const struct transfer *transfer;
		const struct compute *compute;
		const struct combine *combine;
		const struct send *send;
	};
};

/*
 * LX bytes that belong to one tensor, or to the tile buffers of a step
 * (tensor -1), during steps [from, to).
 */
struct allotment {
	int tensor;
	int64_t address, size; /* bytes */
	int from, to;
	int in_place_of; /* tensor whose bytes it may take over in step `from`; -1 */
	uint64_t cores;  /* bit c: on core c */
};

struct program {
	const struct arch *arch;
	const struct workload *workload;
	int step_count;
	const int *step_ops;     /* op of each step */
	const int64_t *hbm;      /* address of every tensor in HBM; -1: has none */
	int64_t hbm_bytes;       /* size of the HBM image */
	int64_t overhead_cycles; /* of all bundles, added to the finish */
	int ranks;               /* that carry it out, each on a machine of its own */
	size_t instruction_count;
	const struct instruction *instructions;
	size_t allotment_count;
	const struct allotment *allotments;
};

/* The op, if the instruction is one of a broadcast's root; else NULL. */
const struct op *program_broadcast(
	const struct program *program, const struct instruction *instruction);

bool program_has_relayouts(const struct program *program);

/* Which of a core's queues an instruction is in: its engine's, or one of a broadcast's root. */
enum { PROGRAM_QUEUES = ENGINE_COUNT + 2 };
int program_queue(const struct program *program, const struct instruction *instruction);

#endif
