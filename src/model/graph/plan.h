#ifndef MODEL_GRAPH_PLAN_H
#define MODEL_GRAPH_PLAN_H

#include "model/graph/op_mapping.h"
#include "model/graph/view.h"
#include "model/graph/workload.h"
#include "model/machine/arch.h"
#include "model/machine/score.h"
#include "model/nest/nest_score.h"
#include "model/transfer/broadcast.h"

struct arena;
struct staging;

/*
 * A plan is everything that is decided about a workload: what runs when, on
 * which cores, in which tiles, and where every tensor lies.  Its workload is
 * the one that the passes left behind: inserted clones are ops of it.
 *
 * The meaning of a plan follows in numbered points.  cost/ computes it in closed form, lower/ and
 * sim/ execute it; neither calls the other.
 *
 *  1. Steps run in order; step i is op `steps[i].op`.  The used cores of a step
 *     are 0 .. mapping_cores-1.
 *  2. Core c works on the units of its slots: loop l of `units` units, split s
 *     ways, tiled t times: units / s / t units in each tile.  Tiles run in the
 *     order of LX's temporal row.  Reduction loops are innermost there, so an
 *     output tile is finished before the next begins.
 *  3. A tile touches, of each operand, the box in device coordinates around
 *     its elements: whole sticks, padding included.
 *  4. An operand that lies in HBM is moved: reads come through a tile buffer,
 *     fetched whenever its box changes from one tile to the next (and not
 *     otherwise), the output leaves once, when finished.  Cores that ask for
 *     the identical box in the same tile share one transfer (a DMA with a core
 *     mask): one read of HBM, one fill of LX per core.  Only cores whose box
 *     changed ask.  Boxes that overlap in part count each.  An output, also of
 *     a reduction split over cores, is written only by the core that owns the
 *     slice (the one whose reduction slots are all 0).
 *  5. An operand resident in LX is used where it lies.
 *  6. The compute of a tile reads each operand's box from LX once and writes
 *     the output's box once.  If the output takes more than one pass (reduction
 *     loops tiled p times), every pass but the last writes an fp32 accumulator
 *     box instead (4 / stored-bytes times the output box), and every pass but
 *     the first reads it.  If the reduction is split over r > 1 cores the last
 *     pass too writes the accumulator; then the reduce ring reads r
 *     accumulators of every output slice, moves r-1 of them one hop each, every
 *     hop a stick behind the one before, and the owner writes the output box.
 *  7. A clone from HBM whose output lies in LX has no compute, and counts none:
 *     its transfer goes straight to the resident address, tile by tile, counts
 *     as the read's, and overlaps the step that follows it.  The slices of its
 *     mapping go to the cores that the view of its output names, several for
 *     one slice if it does (model/graph/run.h).  Such clones and the next op of
 *     their bundle form one phase, unless that is a broadcast, an evict or a relayout, or stands in
 *     a run; behind the last clone a phase ends if no such op follows.  Every other op is
 *     a phase of its own.  Phases do not overlap.  What the op reads comes first, whatever the order of the moves.
 *  8. An opaque op has no counts but the HBM bytes of its operands.
 *  9. Bundles are runs of phases: no phase reaches over the end of a bundle.  Each costs
 *     its overhead once: arch's bundle_cycles plus core_cycles for each core of its widest
 *     step.  A bundle uses at most arch's bundle_tensors tensors in HBM, unless
 *     it is a single phase, which cannot be cut.
 * 10. A tensor that leaves LX and comes back is a tensor for each stay.  An
 *     evict copies it to HBM, where it goes on; a reload is a clone from there
 *     into LX (point 7).  An evict has no compute: of each slice one core that
 *     holds it, the least, sends it.  It is a phase of its own.  Nothing is sent if HBM has the sticks already
 *     (tensor.copy_of): of a tensor that was reloaded, or cloned from an input
 *     or from a clone of one.  An output of the graph lies in LX only if an evict
 *     sends it: what that leaves in HBM is the output then.
 * 11. A broadcast runs on several ranks, machines like this one with links between
 *     them, which carry out the same plan, each with inputs of its own.  Only the
 *     root has what is read; it alone works, on core 0: chunk by chunk it loads
 *     into the staging tiles of the step, in turn, and stores from there to HBM
 *     of every rank in the order of ranks, its own too.  All ranks begin and end
 *     the step together, so it is a phase of its own; what ranks do between
 *     broadcasts takes all of them as long.  Counts, energy and cycles of a plan
 *     are those of the one rank that is the root of all its broadcasts; links
 *     count each byte once for each link that it crosses.
 * 12. The steps of a run share outer tile loops, the first outermost: each is a
 *     loop of that name in every op of the run, cut into `tiles` equal numbers of
 *     units (the last may be ragged), outside the division over cores and the
 *     streaming tiles.  An iteration carries out the steps of the run as phases, one
 *     after the other, each as if its op had but this part of the loops;
 *     iterations follow each other without overlap, and nothing is kept in tile
 *     buffers from one to the next.  A tensor that only steps of the run make and
 *     read, all of them part by part alike, has the bytes of one part in LX, at the
 *     same address in all iterations; its view is of the part.  All other
 *     tensors are whole, and stay where they are for the whole run.  An iteration
 *     writes its part of each output and nothing else.  Where tiles do not move in
 *     boxes a step may reduce over a shared loop: each part of that loop but the first
 *     adds to the sums that lie where the output does, which is whole after the last
 *     iteration, so that only steps behind the run read it.  All steps of a run are of
 *     one bundle, and none is a move.
 * 13. A relayout copies a tensor in LX from one view to another, over the data
 *     ring that joins all cores of the machine: what a core needs of another's slice comes
 *     from the nearest core that holds that slice, the least of those, or stays if it is its own.
 *     A core sends a box up to all cores with the same slice of the new view that are at most half of the
 *     ring away that way, itself among them, and down to the others: it is read once for each way,
 *     leaves a copy at each, and counts on every link that it crosses.  Before any box moves, every core sets up
 *     its contiguous runs (struct ring).  It is a phase of its own, divided as the new view is, and as wide in its
 *     bundle as the one of the two views with more slices.
 * 14. A view can say that some cores hold nothing (view.h).  A step whose
 *     reduction is split over cores leaves its output in LX on the owners alone.  No view names a slice on a
 *     core that does not write it there.
 */
enum place { PLACE_HBM, PLACE_LX };

/* One stay of a tensor: steps [from, to). */
struct residency {
	int tensor;
	enum place place;
	struct view view; /* LX only */
	int64_t address;  /* LX only: bytes, the same on every core */
	int64_t size;     /* LX only: bytes on each core */
	int from, to;     /* half-open step indices */
	int in_place_of;  /* the tensor whose bytes it takes over; -1 */
};

struct step {
	int op;
	int bundle;
	struct mapping mapping;
	const struct staging *staging; /* of a broadcast; else NULL */
	struct span span;              /* of a step that a file gives */
};

struct proof {
	enum proof_status status; /* over the space that `space` names */
	const char *method;       /* "place/greedy", "divide/spyre+place/bestfit" */
	const char *space;        /* what was free */
	double value, bound;      /* of what the method minimises, in its unit */
};

/* Steps [first, end) with the loops that they share: point 12. */
enum { RUN_LOOPS_MOST = 4 };
struct run_loop {
	const char *name;
	int64_t tiles;
};
struct tile_run {
	int first, end;
	int loop_count;
	struct run_loop loops[RUN_LOOPS_MOST]; /* outermost first */
};

struct plan {
	const struct arch *arch;
	const struct workload *workload;
	int cores; /* the limit that it was made for */
	int step_count, residency_count;
	struct step *steps;
	struct residency *residencies; /* by tensor, then from */
	int run_count;
	struct tile_run *runs; /* in the order of steps; they do not overlap */
	struct proof proof;
};

/* A plan of a workload, with the moves that were put into it: all that it does not share with the workload lives
 * in the arena. */
struct plan *plan_copy(struct arena *arena, const struct plan *plan, const struct workload *given);

/* The LX stay of a tensor at a step; NULL when it lies in HBM there. */
const struct residency *plan_lx(const struct plan *plan, int tensor, int step);

/* True if a step uses an operand in HBM: not if it lies in LX, nor as a copy that is there anyway. */
bool plan_is_argument(const struct plan *plan, int step, int operand);

/* Cycles that all bundles of the plan cost (point 9); false when they cannot be counted. */
bool plan_overhead(const struct plan *plan, int64_t *cycles);

/* A clone that keeps every stick as it is, so that whole boxes of it can be moved. */
bool op_copies_sticks(const struct workload *workload, const struct op *op);

/* A step that only moves something into LX: point 7 above. */
bool plan_is_move(const struct plan *plan, int step);

/* A move that is of one phase with the step behind it: of the same bundle, not in a run, nor with a broadcast, an
 * evict, a relayout or a run. */
bool plan_joins_next(const struct plan *plan, int step);

/* A step that only moves something out of LX: point 10. */
bool plan_is_evict(const struct plan *plan, int step);

/* A step that only moves something from LX to LX: point 13. */
bool plan_is_relayout(const struct plan *plan, int step);

/* Any of these three: nothing is computed. */
bool plan_only_moves(const struct plan *plan, int step);

/*
 * Puts evictions, reloads and relayouts (points 10 and 13 of plan.h) into a plan in which every
 * tensor has one stay for all of its life; it still has afterwards, with new
 * tensors for the later stays.  A move takes the bundle of the step before
 * which it is put, or of the last one, and is divided as the slices lie.
 */
struct plan_wish {
	enum move_kind kind;   /* MOVE_EVICT, MOVE_RELOAD or MOVE_RELAYOUT */
	int tensor;            /* of the given plan: what it is by then is moved */
	int before;            /* right before this step of the given plan */
	struct residency stay; /* of a reload or relayout: view, address and size in LX */
	const int *
		readers; /* ops of the given plan that use what it makes, while all others go on with */
	size_t reader_count; /* what there was; NULL: all do from there on */
};

/*
 * Returns the plan with its moves.  Entry i of `wishes` makes tensor i behind those of the given plan.  Before a
 * step, evictions come first, the last entry first, then the others in order.
 */
struct plan *plan_with_moves(
	struct arena *arena, const struct plan *plan, const struct plan_wish *wishes, size_t count);

/*
 * The way of the tensor of a broadcast op through LX of core 0 of the root.  Of its device
 * array a tile cuts two dimensions, the two that make the largest chunks; it slides over them row
 * by row for every coordinate of the others, the last chunks smaller.  Or it holds everything.
 */
struct sliding {
	int row_dim;                 /* -1: there is one row */
	int stick_dim;               /* behind row_dim */
	int64_t outer, rows, sticks; /* of all other dimensions together, of these two */
};

struct sliding sliding_make(const struct layout *layout);

/* The staging tiles of one step of a plan, there in that step. */
struct staging {
	int64_t rows, sticks; /* of a tile: at most the sliding's, or outer x rows and sticks */
	int count;            /* 1 single, 2 ping-pong, or more; at most as many as chunks */
	int64_t addresses[STAGING_MOST]; /* bytes in LX */
};

int64_t staging_bytes(const struct staging *staging); /* of one tile */
bool staging_is_whole(const struct sliding *sliding, const struct staging *staging);
int64_t staging_chunks(const struct sliding *sliding, const struct staging *staging);

/* Returns the fault of the tiles, addresses apart, or NULL. */
const char *staging_check(
	struct arena *arena, const struct layout *layout, const struct staging *staging);

/* Tiles that a broadcast may take: bytes of all of them, aligned, and what it takes with them. */
struct staging_option {
	int64_t rows, sticks;
	int count;
	int64_t bytes, cycles;
};

struct staging_menu {
	const char *op; /* the broadcast's name; NULL ends menus */
	size_t count;
	const struct staging_option *options; /* fewest bytes first, each faster than the last */
};

/* Why the ranks of a machine cannot carry out a broadcast; NULL if they can. */
const char *broadcast_misfit(struct arena *arena, const struct arch *arch, const struct op *op);

/* Complains about broadcasts that the machine's ranks cannot carry out. */
bool broadcasts_fit(const struct arch *arch, const struct workload *workload, struct diag *diag);

/* Ranks that run a graph: one, unless it has a broadcast. */
int workload_ranks(const struct workload *workload, const struct arch *arch);

/* The ranks of a machine and their links, as a root sees them. */
struct topology;
const struct topology *arch_topology(struct arena *arena, const struct arch *arch, int root);

/*
 * Counts of a plan on one rank (point 11 above): integers per step and operand, totals over all
 * cores, in bytes of whole sticks.  cost/ and sim/ both fill these structs, in different ways;
 * equality of all integers is `sim_agrees`.
 */
enum traffic {
	TRAFFIC_HBM_READ,  /* bytes that leave HBM */
	TRAFFIC_HBM_WRITE, /* bytes that enter HBM */
	TRAFFIC_LX_FILL,   /* transfers writing LX, each core's copy counted */
	TRAFFIC_LX_DRAIN,  /* transfers reading LX */
	TRAFFIC_LX_READ,   /* computes and rings reading LX */
	TRAFFIC_LX_WRITE,  /* computes and rings writing LX */
	TRAFFIC_RING,      /* bytes over reduce-ring links */
	TRAFFIC_DATA_RING, /* bytes over links of the data ring, each link counted */
	TRAFFIC_LINK,      /* bytes over links between ranks, each link counted */
	TRAFFIC_COUNT,
};

extern const char *const traffic_names[]; /* in the order of the enum, NULL ends them */

struct step_count {
	int64_t bytes[OP_READS_MOST + 1][TRAFFIC_COUNT]; /* by operand number */
	int64_t computes; /* scalar operations of all cores together */
	/* Counts of the inner nests (model/graph/box_nest.h), in words at the levels of their hierarchy: every
	 * integer summed over all tiles and cores (nest_counts_add); NULL: the step has none. */
	const struct nest_counts *nests;
};

/* By step.  What accumulators cost counts for the output operand. */
struct counts {
	int step_count;
	struct step_count *steps;
};

/* As many steps, and every integer the same. */
bool counts_equal(const struct counts *a, const struct counts *b);

/* True if the totals over all steps and operands can be counted. */
bool counts_fit(const struct counts *counts);

/* Over all steps and operands, of counts that fit; else BUG. */
int64_t counts_total(const struct counts *counts, enum traffic traffic);

/* The distinct tensors that steps use in HBM, in the order of use. */
struct plan_arguments {
	const struct plan *plan;
	int count, *tensors;
	int list, *lists; /* by tensor: the last list that it was on */
};
struct plan_arguments plan_arguments_open(const struct plan *plan, struct arena *arena);
void plan_arguments_clear(struct plan_arguments *arguments);
void plan_arguments_add(
	struct plan_arguments *arguments, int first, int end); /* of steps [first, end) */

#endif
