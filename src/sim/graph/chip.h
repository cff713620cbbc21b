#ifndef GRAPH_CHIP_H
#define GRAPH_CHIP_H

#include "lower/graph/program.h"
#include "model/machine/layout.h"
#include "sim/graph/sim.h"
#include "sim/machine/kernel.h"
#include "sim/machine/order.h"
#include "sim/nest/nest.h"

#include <stdbool.h>

/*
 * Declarations of the chip's own files, in this order: order.c, memory.c, nests.c, audit.c, data.c, machine.c.
 *
 * The order of instructions (sim/machine/order.h): dependences, and the queues of all cores.  A dependence on an
 * instruction that does not exist is never done.
 */
struct arena;

struct order order_make(const struct program *program, struct arena *arena);

/*
 * Happens-before among the instructions.  One queue identifies an instruction, that on the lowest core of its mask;
 * one without a mask is in none.
 */
struct race *race_make(
	const struct program *program, const struct order *order, struct arena *arena);

/*
 * Instructions that wait for each other, each for the next and the last for the
 * first, among those that are not done; or a single one that waits for what does
 * not exist.  Returns how many; at most `most` are written.
 */
int order_stuck(const struct program *program, const struct order *order, struct arena *scratch,
	int most, uint32_t *stuck);

/*
 * The parts with which audit.c and data.c follow instructions on the memories of one rank: faults,
 * boxes of units, the elements that a tile touches, fingerprints of reductions, and the content of
 * every stick.
 */

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

/* Goes on to the next of the indices low[d] <= at[d] <= high[d], the last dimension fastest; false: back to the first. */
static inline bool touch_next(int dimensions, const int64_t *low, const int64_t *high, int64_t *at)
{
	for (int d = dimensions - 1; d >= 0; d--) {
		if (++at[d] <= high[d])
			return true;
		at[d] = low[d];
	}
	return false;
}

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

/*
 * The content of one memory, byte by byte, of a machine whose tiles do not move in boxes.  Pieces are disjoint and
 * in the order of their addresses; neighbours that continue each other are one piece.  Accesses near the latest
 * one take constant time, others a binary search.
 */
struct pieces;

/* Bytes [low, high) of a memory: of the array of a tensor that begins at `base`, or would if all of it were
 * there: of a part of a tensor each row has a base of its own. */
struct written_piece {
	int64_t low, high, base;
	int tensor, step; /* who wrote it; -1: it was there before */
	uint64_t part;    /* of the reduction that is in it (struct cover); 0: it is finished */
};

struct pieces *pieces_open(struct arena *arena); /* no byte is written */
void pieces_clear(struct pieces *pieces);        /* likewise */

/* Replaces what lies in the bytes of the piece. */
void pieces_write(struct pieces *pieces, struct written_piece piece);

/* The piece that has a byte, until the next write; NULL: the byte was never written. */
const struct written_piece *pieces_find(struct pieces *pieces, int64_t address);

/*
 * The arithmetic of one tile.  Operands are dense fp32 arrays over the box of
 * the host array that the tile touches, row-major; they are unpacked from sticks
 * before and packed after, so that the nest is plain affine indexing.
 */
struct tile_operand {
	struct touch touch;
	int64_t stride[LAYOUT_HOST_RANK_MOST]; /* of `values` */
	int64_t size;
	float *values; /* the caller's to allot */
};

/* False when the tile leaves the operand's host array. */
bool tile_open(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct tile_operand *out);

/* Lanes `lane`, lane + 1, .. of a stick are elements `at`, at + step, .. of the values. */
struct tile_lanes {
	int lane, count;
	int64_t at, step;
};
struct tile_lanes tile_find(const struct tile_operand *operand, int64_t stick);

/* The output before the first pass; one pass, added to what it holds; after the last. */
void tile_start(const struct op *op, struct tile_operand *output);
/* `kernel`: kernel_apply, or what a test computes in its place. */
void tile_run(const struct op *op, const struct compute *compute, const struct tile_operand *reads,
	struct tile_operand *output, kernel_function kernel);
float tile_finish(const struct op *op, float value);

/*
 * The nests that computes of a program carry out.  Each distinct one is executed once for its counts
 * and its cycles, which all tiles and steps that carry it out have; with values it is executed
 * every time.
 */
struct executed_nest {
	const struct inner_nest *nest;
	int home, scratchpad; /* levels of its hierarchy; -1: it does not reach so far */
	struct nest_sim sim;
};

struct nests {
	const struct program *program;
	const struct sim_options *options;
	struct arena *arena;
	int count, step_count;
	struct executed_nest *
		*by_step; /* of a step's computes that begin, then of those that resume; NULL */
	struct executed_nest **distinct;
	int64_t tiles;        /* computes that carry one out */
	const char *too_long; /* why they were not executed; NULL: they were */
};

struct nests *nests_open(
	const struct program *program, const struct sim_options *options, struct arena *arena);

/* The nest of those computes of a step that resume sums, or of the others; NULL if they carry none out. */
const struct executed_nest *nests_find(const struct nests *nests, int step, bool resumes);

/* The nest of a compute. */
const struct executed_nest *nests_of(
	const struct nests *nests, int step, const struct compute *compute);

/* Bytes of LX that a compute with a nest moves if tiles move in boxes: of all reads, of the output, and of
 * all. */
struct nest_bytes {
	int64_t reads[OP_READS_MOST]; /* by operand */
	int64_t again, read, written; /* again: of read, what is of the output */
};
struct nest_bytes nests_bytes(const struct nests *nests, int step, const struct compute *compute);

/* Returns the fault of an executed nest, or NULL. */
const char *nests_wrong(const struct nests *nests, const struct executed_nest *nest);

/*
 * A tile's values through its nest: tile_run of such computes.  `output` holds sums that are there if the
 * compute reads an accumulator.  NULL, or why it could not be done.
 */
const char *nests_compute(const struct nests *nests, int step, const struct compute *compute,
	const struct tile_operand *reads, struct tile_operand *output, kernel_function kernel);

/*
 * Follows every instruction on the memories of one rank and says what it does wrong:
 * where its boxes lie, whether they are what its loops touch, what it finds there, who
 * else uses the place without being ordered, and whether a finished output holds the
 * whole reduction.
 */
struct audit;

/* NULL after a fault: nothing can be said where tensors have no places in HBM.  The poll may end the run within an
 * instruction that is a whole op. */
struct audit *audit_open(const struct program *program, int rank, struct race *race,
	const struct nests *nests, const struct sim_options *options, struct faults *faults,
	struct stop_poll *poll, struct arena *arena);

/* Instruction i, which the race has begun, runs on the rank; false when it cannot be carried out
 * at all. */
bool audit_run(struct audit *audit, uint32_t i);

/* After the last: every tensor that belongs in HBM is there. */
void audit_end(struct audit *audit);

int audit_sampled(const struct audit *audit); /* tiles computed for real */

/*
 * The elements of a stick in the host array: `lanes` of them from linear index
 * `host` on, `step` apart; the stick's other lanes are padding.  `coordinates`
 * are the host coordinates of the first.
 */
struct image_stick {
	int64_t host, step;
	int lanes;
	int64_t coordinates[LAYOUT_HOST_RANK_MOST];
};

struct image_stick image_find(const struct layout *layout, int64_t stick);

/* Between the host array and STICK_BYTES of a memory; packing leaves padding alone. */
void image_pack(const struct layout *layout, int64_t stick, const void *array, void *memory);
void image_unpack(const struct layout *layout, int64_t stick, const void *memory, void *array);

/*
 * The bytes of HBM and of every LX, and what instructions do to them.  HBM
 * begins with the graph's inputs in it.  Only instructions whose boxes are
 * right (sim/graph/audit.c) may be run.
 */
struct data;

/* The data of one rank; each draws inputs of its own (reference.h). */
struct data *data_open(const struct program *program, int rank, const struct nests *nests,
	const struct sim_options *options, struct arena *arena);

/* Scratchpads alone, for computes and rings; and the bytes of one. */
struct data *data_open_lx(
	const struct program *program, const struct nests *nests, struct arena *arena);
char *data_lx(struct data *data, int core);

/* NULL, or why it could not be done. */
const char *data_run(struct data *data, const struct instruction *instruction);

/* A broadcast's store, from LX of the root to HBM of another rank, or of its own. */
void data_store(struct data *root, struct data *to, const struct instruction *instruction);

/* Host arrays of all tensors that have a place in HBM, as they are there now. */
void **data_outputs(const struct data *data, struct arena *arena);

/* Host arrays of what ops have made, as it was when they made it; NULL where none has. */
void **data_made(const struct data *data);

/*
 * In identity mode no memory has bytes; yet of every op the first output tile is computed for real.
 * An operand's elements are drawn from the identities in its box: a small integer for every element
 * of every tensor.  The computes and the ring run on them as on data.  Some elements of the result are
 * compared with the op's loops over the same numbers.
 */
struct sample;

struct sample *sample_open(const struct program *program, const struct nests *nests, uint64_t seed,
	struct shadow *shadow, struct faults *faults, struct arena *arena);

/* Before the shadow knows what the instruction writes; its boxes are known to be right. */
void sample_compute(struct sample *sample, uint32_t instruction, const struct box *reads,
	const struct box *write);
void sample_combine(struct sample *sample, uint32_t instruction, const struct box *output);

int sample_count(const struct sample *sample); /* tiles compared */

/*
 * The clock and the servers that instructions compete for.  Time counts in ticks, fractions of a cycle.
 *
 * Every shared thing is a server that takes work in the order in which
 * instructions become ready: HBM (one for reads and writes, or one each); per
 * core the port of its transfers, the read and the write port of LX (or one for
 * both), its arithmetic, its link to the next core on the reduce ring, and those of the data ring, one each
 * way.  An instruction asks all the servers that it needs at once and ends when the last
 * is through: transfers stream, so a busy port of one core keeps no other core from HBM.
 *
 *	DMA      HBM for its bytes once, and while the bus turns round for them; of what is read, the lanes
 *	         of the cores of the mask, in equal parts; the port of every core of the mask
 *	COMPUTE  the ports of LX and the arithmetic, which takes as long as its nest, if it has one
 *	RING     the ports of LX, and the links: a core sends a stick on as soon
 *	         as it has received it and added to it, so that every link
 *	         begins one stick after the one before
 *	UP, DOWN the read port of the sender's LX, the links that way, each a stick behind the one before
 *	         (and busy with others until the box comes), and the write port of every receiver; or
 *	         no server, while runs are set up
 *	SYNC     ends at the next whole cycle
 *
 * The clock is that of the root of the broadcast at work, and of any rank in between.  Its DMAs
 * stream at the queue's rate, or the links', beside the servers, and end so much later as the queue
 * has latency, and the links that a DMA_OUT crosses.  Other ranks' HBM takes bytes as
 * fast as its own.  What waits for the other queue sees its end a flag later.
 */
struct machine;

struct machine *machine_open(
	const struct program *program, const struct nests *nests, struct arena *arena);
int64_t machine_ticks(const struct machine *machine); /* of one cycle */

/*
 * Adds every instruction once, in their order, before any runs, and computes its demand on the
 * servers.
 */
void machine_add(struct machine *machine, const struct instruction *instruction);

/* Carries out instruction i, ready at a tick; returns when it ends. */
int64_t machine_run(struct machine *machine, uint32_t i, int64_t ready);

/* The delay from the end of an instruction until those of another engine that wait for it see that end. */
int64_t machine_delay(const struct machine *machine, uint32_t i);

/* By step: the tick of its latest end. */
const int64_t *machine_step_ends(const struct machine *machine);

#endif
