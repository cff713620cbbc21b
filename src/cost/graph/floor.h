#ifndef COST_GRAPH_FLOOR_H
#define COST_GRAPH_FLOOR_H

#include "model/graph/workload.h"
#include "model/machine/arch.h"

/*
 * A lower bound of the cycles of every plan with at most this many cores where tiles move in boxes, before anything is
 * searched.  Phases follow each other, so their sum is no less than
 *
 *	the time of HBM with all bytes that must pass it;
 *	the sum over ops of the longer of their computes and of HBM with the bytes that only the op's own phase, or an
 *	evict of its result, can move.
 *
 *	compute  the busiest core of an op computes no less than the mean; nests have rates of their own and count 0
 *	HBM      inputs are read once and outputs written once, the distinct elements that ops touch; and tensors that
 *	         no scratchpad can hold as an op reads them are written once and read by each such op
 *
 * A window that overlaps the next one (2*p + r with three r) cannot be cut between cores, nor between the iterations
 * of a run: each core holds such a dimension whole.
 */
int64_t latency_floor(const struct arch *arch, const struct workload *workload, int cores);

/* Returns the bytes of an input or output of the graph that tiled ops must read from HBM, or write to it, once. */
double latency_compulsory_bytes(const struct workload *workload, int tensor);

#endif
