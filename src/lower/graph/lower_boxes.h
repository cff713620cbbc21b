#ifndef LOWER_LOWER_BOXES_H
#define LOWER_LOWER_BOXES_H

#include "lower/graph/lower_tiles.h"

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
