#ifndef LOWER_LOWER_STEP_H
#define LOWER_LOWER_STEP_H

#include "lower/graph/lower_transfers.h"

/*
 * The state of lowering a plan, one step at a time.  What each file does:
 *
 *	lower_hbm        where tensors lie in HBM
 *	lower_buffers    tile buffers in the reserve of LX
 *	lower_transfers  reads: fetched into buffers, or used where they lie
 *	lower_nests      what computes carry out inside
 *	lower_computes   one per tile and core
 *	lower_outputs    what leaves: the reduce ring, DMA_OUT
 *	lower_clones     steps that only move into LX
 *	lower_evicts     steps that only move out of it
 *	lower_relayouts  steps that only move from LX to LX
 *	lower_staging    broadcasts
 *	lower_whole      ops as one nest, where tiles do not move in boxes; ops that nobody looks into
 *
 * Functions that answer bool say false after `refuse`, or when the list is full.
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

/* What the cores of one class have of a read operand. */
struct held {
	int slot;                      /* in which the box lies that was fetched last */
	const struct operand_box *box; /* NULL: nothing yet */
	int64_t arrived;               /* the transfer that brought it; -1 */
	int64_t fetches;
	int64_t last_readers[SLOTS_MOST]; /* of a slot: core 0's compute; core c's is c later */
};

/* Where a read operand comes from. */
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

bool hbm_place(struct lowering *lowering);
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

void computes_add(struct lowering *lowering); /* of the current tile */

bool clone_lower(struct lowering *lowering);
int64_t clone_arrival(const struct clone *clone, const struct region *box, int core);

bool evict_lower(struct lowering *lowering);

bool relayout_lower(struct lowering *lowering);

bool whole_lower(struct lowering *lowering);

bool staging_lower(struct lowering *lowering);
int64_t staging_size(const struct plan *plan, int step); /* instructions */

#endif
