#ifndef LOWER_PROGRAM_H
#define LOWER_PROGRAM_H

#include "model/arch.h"
#include "model/plan.h"

#include <stdint.h>

/*
 * A program is what the machine runs: instructions with operands in addresses
 * and explicit dependences.  An instruction runs on every core of its mask,
 * with the same LX addresses on each.  Every core has one in-order queue per
 * engine; an instruction waits, on each of its cores, for the instructions
 * ahead of it in that queue and for its dependences.
 */
enum engine { ENGINE_DMA_IN, ENGINE_DMA_OUT, ENGINE_COMPUTE, ENGINE_RING, ENGINE_SYNC, ENGINE_COUNT };
extern const char *const engine_names[];

enum { PROGRAM_CORES_MOST = 64, REGION_RANK_MOST = LAYOUT_RANK_MOST };

/*
 * Sticks of one tensor: a box in its device coordinates (all but the last
 * dimension, which is the stick).
 */
struct region {
	int tensor;
	int rank;
	int32_t first[REGION_RANK_MOST], count[REGION_RANK_MOST];
	int64_t sticks; /* product of counts */
};

/*
 * Where a box lies in a memory: the stick at coordinates x of the box is at
 * address + sum (x - first)[d] * stride[d], in bytes.
 */
struct location {
	int64_t address;
	int64_t stride[REGION_RANK_MOST];
};

/* To be completed by lower/: see there. */
struct program;

#endif
