#ifndef LOWER_GRAPH_LOWER_TRANSFERS_H
#define LOWER_GRAPH_LOWER_TRANSFERS_H

#include "base/array.h"
#include "lower/graph/lower_tiles.h"
#include "lower/graph/program.h"

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

/* The payload is the caller's to set.  Answers the instruction's number. */
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

/* Can two classes of cores (tiling_group of the projection's loops) have one box? */
bool projection_may_meet(
	const struct operand_projection *projection, const struct step_tiling *tiling);

struct region region_whole(const struct layout *layout, int tensor);

/* A box of its own, row-major without holes; `unit` bytes for a stick. */
struct location location_dense(const struct region *box, int64_t address, int64_t unit);

/* In an array of `size` whose element 0 is at the address and at coordinates `origin`. */
struct location location_within(
	const struct region *box, int64_t address, const int64_t *size, const int64_t *origin);

/* What each core holds of a tensor that is resident in LX, in an iteration of the run of which it has a part. */
struct slices {
	const struct residency *stay;
	uint64_t holders; /* bit c: core c */
	int64_t size[REGION_RANK_MOST];
	int64_t origin[PROGRAM_CORES_MOST][REGION_RANK_MOST];
};

uint64_t holders_of(const struct view *view);
void slices_make(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct slices *slices);

/* The first device dimension in which the box leaves the core's slice; -1: it does not. */
int slices_miss(const struct slices *slices, const struct region *box, int core);

#endif
