#ifndef LOWER_LOWER_STEP_H
#define LOWER_LOWER_STEP_H

#include "base/array.h"
#include "lower/graph/program.h"

/*
 * The loops of one step: which elements a core computes in each of its tiles.
 * Tiles are walked like the digits of a number, the innermost loop fastest.
 */
struct step_tiling {
	int cores, loop_count;
	int64_t tiles;  /* of one core */
	int64_t passes; /* tiles in a row that work on one output tile */
	int64_t reduction_split;
	int order[OP_LOOPS_MOST];      /* innermost first */
	int64_t factor[OP_LOOPS_MOST]; /* tiles along the loop */
	int64_t first[OP_LOOPS_MOST];  /* element of the op in this iteration of its run */
	int64_t extent[OP_LOOPS_MOST]; /* elements of that, a core, a tile */
	int64_t share[OP_LOOPS_MOST];
	int64_t span[OP_LOOPS_MOST];
	int64_t start[PROGRAM_CORES_MOST][OP_LOOPS_MOST]; /* first element of a core */
};

struct tile {
	int64_t number, at[OP_LOOPS_MOST];
};

/* In one iteration of the step's run.  NULL, or why the step's mapping cannot be carried out. */
struct arena;
const char *tiling_make(const struct plan *plan, int step, int64_t iteration, struct arena *arena,
	struct step_tiling *tiling);

/* Goes to the next tile; returns which loops moved, a bit each, 0 after the last tile. */
uint32_t tile_next(const struct step_tiling *tiling, struct tile *tile);

static inline int64_t tile_first(
	const struct step_tiling *tiling, const struct tile *tile, int core, int l)
{
	return tiling->start[core][l] + tile->at[l] * tiling->span[l];
}

static inline int64_t tile_count(
	const struct step_tiling *tiling, const struct tile *tile, int core, int l)
{
	int64_t end = tiling->first[l] + tiling->extent[l];
	return number_min(tiling->span[l], end - tile_first(tiling, tile, core, l));
}

/* Cores in classes: cores of one class start alike in all of the given loops. */
struct grouping {
	int count;
	int of[PROGRAM_CORES_MOST];     /* class of a core */
	int leader[PROGRAM_CORES_MOST]; /* least core of a class */
	uint64_t mask[PROGRAM_CORES_MOST];
};

void tiling_group(const struct step_tiling *tiling, uint32_t loops, struct grouping *grouping);

/* for (uint64_t m = mask; m; m &= m - 1) use(least_core(m)); */
static inline int least_core(uint64_t mask)
{
	return __builtin_ctzll(mask);
}

/* The mask of cores 0 .. count-1. */
static inline uint64_t cores_below(int64_t count)
{
	return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/*
 * The list of instructions in the making, and which dependences are needed.
 *
 * An instruction is made between queue_open and queue_close; queue_need names
 * an instruction that must be done before it, and a core in both masks.  A need
 * is dropped when an earlier instruction of the same queue had it or a later
 * one of that engine: the queue's order implies it then.  So of two needs on
 * one engine of one core name the later one only.
 *
 * A phase begins after a SYNC: an instruction without any predecessor in its
 * phase depends on the SYNC, and the next SYNC depends on all instructions
 * without a successor.  All others follow.
 */
enum { QUEUE_COUNT = ENGINE_SYNC }; /* per core; SYNC needs none */

struct queues {
	struct arena *arena;   /* of what the program keeps */
	struct arena *scratch; /* of what it does not */
	struct array(struct instruction) list;
	uint32_t *pool; /* of the arena: where dependences go next */
	size_t pool_left;
	struct array(bool) followed; /* per instruction: has a successor in its phase */
	int64_t sync;                /* the SYNC that began the phase; -1: none */
	size_t phase;                /* number of the phase's first instruction */

	/* Instruction numbers plus 1; 0: none in this phase. */
	size_t tail[PROGRAM_CORES_MOST][QUEUE_COUNT];
	size_t known[PROGRAM_CORES_MOST][QUEUE_COUNT][QUEUE_COUNT];

	enum engine engine; /* of the instruction being made */
	uint64_t mask;
	size_t need_count;
	uint32_t needs[PROGRAM_CORES_MOST * QUEUE_COUNT];
};

void queue_open(struct queues *queues, enum engine engine, uint64_t mask);
void queue_need(struct queues *queues, int core, int64_t number); /* -1: nothing */

/* The payload is the caller's to set.  Returns the instruction's number. */
int64_t queue_close(struct queues *queues, int step, int tile, struct instruction **out);

/* Ends the phase with a SYNC. */
void queue_sync(struct queues *queues, int step);

/*
 * Boxes of operands and where they lie.  An operand's index into its host
 * array is affine in the loops, so a tile's elements lie between two host
 * coordinates in every dimension; the sticks around them are its box.
 */
struct operand_projection {
	int operand, tensor;
	const struct layout *layout;
	const struct access *access;
	uint32_t loops; /* a bit for each loop that moves the box */
	int term_count;
	struct projection_term {
		int host, loop;
		int64_t factor;
	} terms[LAYOUT_HOST_RANK_MOST * OP_LOOPS_MOST];
};

void projection_make(const struct workload *workload, const struct op *op, int operand,
	struct operand_projection *projection);
void projection_box(const struct operand_projection *projection, const struct step_tiling *tiling,
	const struct tile *tile, int core, struct region *box);

/* Do all tiles begin at the first element of a stick? */
bool projection_begins_at_sticks(
	const struct operand_projection *projection, const struct step_tiling *tiling);

struct region region_whole(const struct layout *layout, int tensor);

/* A box of its own, row-major without holes; `unit` bytes for a stick. */
struct location location_dense(const struct region *box, int64_t address, int64_t unit);

/* In an array of `size` whose element 0 is at the address and at coordinates `origin`. */
struct location location_within(
	const struct region *box, int64_t address, const int64_t *size, const int64_t *origin);

/* The slice of each core of a tensor that is resident in LX, in an iteration of the run of which it has a part. */
struct slices {
	const struct residency *stay;
	uint64_t holders; /* bit c: core c */
	int64_t size[REGION_RANK_MOST];
	int64_t origin[PROGRAM_CORES_MOST][REGION_RANK_MOST];
};

uint64_t holders_of(const struct view *view);
void slices_make(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct slices *slices);

/*
 * The state of lowering a plan, one step at a time.
 *
 *	lower_transfers.c  tiles of a step, the list of instructions, boxes, slices, reads: fetched into
 *	                   buffers, or used where they lie
 *	lower_buffers.c    tile buffers in the reserve of LX, staging tiles, outputs: the reduce ring, DMA_OUT
 *	lower.c            computes, addresses in HBM, moves (clone, evict, relayout), whole ops, steps
 *
 * Functions that return a bool return false after `refuse`, or when the list is full.
 */
enum { SLOTS_MOST = 2 };

/* The tile buffers of one operand; they alternate. */
struct slots {
	int count;
	int64_t address[SLOTS_MOST];
};

/* The slot of the n-th box. */
static inline int turn(const struct slots *slots, int64_t n)
{
	return (int)(n % slots->count);
}

/* The boxes of a read operand that the cores of one class have. */
struct held {
	int slot;                      /* in which the box lies that was fetched last */
	const struct operand_box *box; /* NULL: nothing yet */
	int64_t arrived;               /* the transfer that brought it; -1 */
	int64_t fetches;
	int64_t last_readers[SLOTS_MOST]; /* of a slot: core 0's compute; core c's is c later */
};

/* The source of a read operand. */
struct supply {
	int64_t moves; /* tiles for which any class fetched */
	struct operand_projection projection;
	struct grouping classes;
	bool may_meet;        /* several classes can ask for one box */
	bool fetched;         /* by transfers of this step */
	bool resident;        /* in LX where slices say; else in slots */
	struct slices slices; /* where it lies, or where a clone puts it */
	struct slots slots;
	const struct clone *clone; /* brings it in this very phase; NULL */
	struct held held[PROGRAM_CORES_MOST];
};

struct output {
	struct operand_projection projection;
	struct grouping classes; /* several cores in a class: a split reduction */
	bool ring;
	bool resident;
	struct slices slices;
	struct slots slots;
	struct slots accumulators; /* two where the ring still reads the one before */
	int64_t finished;          /* output tiles so far */
	/* by class: of the output tile at work; the last RING and DMA_OUT, -1 */
	const struct operand_box *box[PROGRAM_CORES_MOST];
	const struct location *accumulator[PROGRAM_CORES_MOST]; /* NULL: none */
	int64_t combined[PROGRAM_CORES_MOST][SLOTS_MOST];
	int64_t sent[PROGRAM_CORES_MOST][SLOTS_MOST];
};

struct step_state {
	int number;
	int64_t iteration; /* of the step's run; 0 of a step by itself */
	const struct op *op;
	struct step_tiling tiling;
	struct tile tile;
	const int64_t *counts;         /* of the latest compute, by loop; NULL: none yet */
	int64_t computes;              /* core 0's of the tile before; core c's is c later */
	const struct inner_nest *nest; /* of every tile; NULL: there is none */
	bool adds_up; /* the nest updates a word of the output more often than once */
	struct supply supplies[OP_READS_MOST];
	struct output output;
};

/* A clone into LX, until its phase ends: which transfer brought which tile. */
struct clone {
	int tensor; /* its output */
	struct step_tiling tiling;
	struct operand_projection projection;
	struct grouping classes;
	int64_t *arrived; /* [tile * class count + class] */
};

struct lowering {
	const struct plan *plan;
	struct queues queues;
	int64_t *hbm; /* address of every tensor; -1 */
	int64_t hbm_bytes;
	struct array(struct allotment) allotments;
	struct array(const struct clone *) clones; /* of this phase */
	struct step_state step;
	uint64_t most; /* instructions */
	const char *why;
};

/* Tiles are numbered through all iterations of a run. */
static inline int tile_in_step(const struct step_state *step)
{
	return (int)(step->iteration * step->tiling.tiles + step->tile.number);
}

/* fp32 bytes of a stick of the output. */
static inline int64_t accumulator_unit(const struct output *output)
{
	return 4 * (int64_t)dtype_per_stick(output->projection.layout->dtype);
}

bool refuse(struct lowering *lowering, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

bool is_full(const struct lowering *lowering); /* more instructions than there may be */

struct transfer *hbm_transfer(
	const struct lowering *lowering, const struct operand_box *box, int lx_tensor);

bool buffers_place(struct lowering *lowering);

bool nest_open(struct lowering *lowering); /* the step's */

/* The cores of the mask must hold the box. */
bool slices_open(struct lowering *lowering, const struct residency *stay, struct slices *slices);
bool slices_hold(struct lowering *lowering, const struct slices *slices, const struct region *box,
	uint64_t mask);

bool supplies_open(struct lowering *lowering);
bool supply_move(struct lowering *lowering, struct supply *supply); /* to the current tile */

bool output_open(struct lowering *lowering);
bool output_begin(struct lowering *lowering); /* an output tile */
void output_end(struct lowering *lowering);   /* after its last pass */

bool staging_lower(struct lowering *lowering);
int64_t staging_size(const struct plan *plan, int step); /* instructions */

#endif
