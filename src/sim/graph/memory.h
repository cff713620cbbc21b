#ifndef SIM_GRAPH_MEMORY_H
#define SIM_GRAPH_MEMORY_H

#include "lower/graph/program.h"
#include "sim/graph/order.h"
#include "sim/graph/sim.h"

/*
 * The parts with which audit.h and data.h follow instructions on the memories of one rank: faults,
 * boxes of units, the elements that a tile touches, fingerprints of reductions, and the content of
 * every stick.
 */
struct arena;

/*
 * Faults of a program: of each kind the first one of an instruction, up to SIM_FAULTS_MOST.
 */

enum { FAULT_IN_HBM = -1 }; /* in place of a core */

struct faults {
	const struct program *program;
	struct arena *arena;
	int64_t cycle; /* the clock */
	int rank;      /* of the memories that are followed */
	int count;
	struct sim_fault *at; /* SIM_FAULTS_MOST */
};

/* The sentence goes behind "op 'sub' (step 1, instruction 7), core 3, address 4096, cycle 12: ". */
void fault_add(struct faults *faults, enum sim_fault_kind kind, uint32_t instruction, int core,
	int64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A fault of no instruction; step -1: of the program as a whole. */
void fault_add_step(struct faults *faults, enum sim_fault_kind kind, int step, int core,
	int64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));

static inline bool faults_full(const struct faults *faults)
{
	return faults->count == SIM_FAULTS_MOST;
}

enum { FP32_BYTES = 4 };

/*
 * Allotments: the owners of bytes of LX by step, as the program gives them.  Two allotments that
 * live in one step on one core share no bytes; but a tensor may take over the
 * very place of a dying one, in the step in which the one is born and the other
 * is last read.
 */
/*
 * Those inside of LX, in the order of the program: of tensor t they are at[first[t]] ..
 * at[first[t + 1] - 1], tile buffers of step s the same with t = tensor_count + s.
 */
struct allotment_index {
	size_t tensor_count, step_count;
	size_t *first;
	const struct allotment **at;
};

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena);

/* Complains about allotments that share bytes or leave LX. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena);

/* The allotment of a tensor or of tile buffers that has bytes [low, high) in a step on a core; NULL: none. */
const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high);

/*
 * A box of units at its place in a memory.  Programs can be wrong, so a box is
 * made by a check: afterwards every unit of it is a stick of its tensor and lies,
 * aligned, inside the memory.
 */
struct box {
	int tensor, rank;
	int64_t unit; /* bytes: one stick, or a stick's elements as fp32 */
	int64_t first[REGION_RANK_MOST], count[REGION_RANK_MOST], stride[REGION_RANK_MOST];
	int64_t step[REGION_RANK_MOST]; /* stick numbers from one unit to the next */
	int64_t address, stick;         /* of the first unit */
	int64_t low, high;              /* the bytes between its first and last */
	int since;                      /* the step from which on the bytes are its own */
};

/* Returns NULL, or the fault of the box; *at is then its address. */
const char *box_make(const struct workload *workload, const struct region *region,
	const struct location *location, int64_t unit, int64_t memory_size, struct box *out,
	int64_t *at);

/* Bytes of one unit of an accumulator of a tensor. */
int64_t box_accumulator_unit(const struct layout *layout);

/*
 * Unit after unit, in the order of their sticks:
 *
 *	struct box_walk walk = box_first(&box);
 *	do
 *		use(walk.address, walk.stick);
 *	while (box_next(&box, &walk));
 */
struct box_walk {
	int64_t at[REGION_RANK_MOST]; /* coordinates inside the box */
	int64_t address, stick;
};

static inline struct box_walk box_first(const struct box *box)
{
	return (struct box_walk){.address = box->address, .stick = box->stick};
}

static inline bool box_next(const struct box *box, struct box_walk *walk)
{
	for (int d = box->rank - 1; d >= 0; d--) {
		walk->address += box->stride[d];
		walk->stick += box->step[d];
		if (++walk->at[d] < box->count[d])
			return true;
		walk->address -= box->stride[d] * box->count[d];
		walk->stick -= box->step[d] * box->count[d];
		walk->at[d] = 0;
	}
	return false;
}

/*
 * The part of an operand that the elements of a tile touch, from the loops alone: a box
 * of the host array, [low, high] in each of its dimensions, and the box of sticks
 * around it.  Indices go from `from` to `to`: of a padded operand beyond the array, else low and high.
 */
struct touch {
	const struct layout *layout;
	int64_t low[LAYOUT_HOST_RANK_MOST], high[LAYOUT_HOST_RANK_MOST];
	int64_t from[LAYOUT_HOST_RANK_MOST], to[LAYOUT_HOST_RANK_MOST];
	int64_t first[REGION_RANK_MOST], count[REGION_RANK_MOST];
};

/* True if the tile's loops stay inside the op's. */
bool touch_loops(const struct op *op, const struct compute *compute);

/* False when the tile, whose loops are right, leaves the host array. */
bool touch_make(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct touch *out);

bool touch_within(const struct touch *touch, const struct region *region);
bool touch_equals(const struct touch *touch, const struct region *region);

/* Elements of the tensor, padding apart, in the sticks; and in the host box. */
int64_t touch_stick_elements(const struct touch *touch);
int64_t touch_elements(const struct touch *touch);

/*
 * Fingerprints of parts of a reduction: every point of an op's reduction loops
 * has a random 64-bit number, the product of one for each loop's index, and a
 * part has the sum over its points.  Sums of disjoint parts are the sum of all
 * exactly when every point is in them once (but for one chance in some 2^60).
 */
struct cover;

struct cover *cover_open(const struct workload *workload, struct arena *arena);
uint64_t cover_part(struct cover *cover, const struct compute *compute); /* its loops are right */
uint64_t cover_whole(struct cover *cover, int op);

/*
 * The content of every stick of every memory, and the instructions that wrote and read it.  Memories
 * begin unwritten, but HBM holds the graph's inputs, as far as the rank has them.
 */
struct shadow;

/*
 * The content of a place: a stick of a tensor, or one of the pieces of its
 * accumulator, with a fingerprint of the part of the reduction that is in it.
 */
struct content {
	int tensor;
	int piece; /* 0: the stick itself; 1, 2, ..: of the accumulator */
	int64_t stick;
	uint64_t part; /* of an accumulator; 0 for sticks */
};

struct shadow *shadow_open(const struct program *program, int rank, struct race *race,
	struct faults *faults, struct arena *arena);

/* Accesses by the current instruction of the race, inside the memory and aligned. */

/*
 * False after a fault, when something else lies there than a stick or a piece of
 * its tensor, or when it was left there before step `since`.
 */
bool shadow_read(struct shadow *shadow, int core, int64_t address, int since,
	const struct content *expected, uint64_t *part);
void shadow_write(struct shadow *shadow, int core, int64_t address, const struct content *content);

/* The stick in place of it: tensor -1 if none was ever written. */
struct content shadow_find(struct shadow *shadow, int core, int64_t address);

#endif
