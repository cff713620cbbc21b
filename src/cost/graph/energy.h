#ifndef COST_ENERGY_H
#define COST_ENERGY_H

#include "cost/graph/loopnest.h"
#include "model/graph/plan.h"

/*
 * Picojoules of counts, the model's or the simulator's: every count times its entry of the machine's
 * table, added in a fixed order (steps, operands, then the order of the traffics), so that equal
 * counts give equal sums.  The levels inside the scratchpad and the multiply-adds of inner nests
 * cost what a nest's do; where tiles do not move in boxes a step costs what its nest does.
 */
struct arena;
double energy_of_counts(const struct plan *plan, const struct counts *counts, struct arena *arena);

/* `energy`, and what one op adds to it; `model` is that of its nest, NULL: it has none. */
double energy_add(double energy, const struct arch *arch, const struct op *op,
	const struct step_count *count, const struct nest_model *model);

/* What the bytes of one operand cost. */
double energy_of_traffic(const struct arch *arch, const int64_t bytes[TRAFFIC_COUNT]);

/*
 * The energy of counts by place and tensor.  Places are the levels of the machine and its wires; what
 * belongs to no tensor (computes, leakage, networks) is a row of its own.  Bytes are added up
 * first, as integers; their sum in picojoules is energy_of_counts, up to the rounding of doubles.
 */
enum energy_place {
	ENERGY_REDUCE_RING = ARCH_LEVELS_MOST, /* before them: levels of the machine, by number */
	ENERGY_DATA_RING,
	ENERGY_LINKS,
	ENERGY_PLACES,
};
struct energy_parts {
	const struct plan *plan;
	size_t row_count;            /* tensors of the workload, and one of no tensor, the last */
	double (*at)[ENERGY_PLACES]; /* by row and place, pJ */
};
/* `counts` fit (counts_fit). */
struct energy_parts energy_parts(
	const struct plan *plan, const struct counts *counts, struct arena *arena);
double energy_of_place(const struct energy_parts *parts, int place);
double energy_of_row(const struct energy_parts *parts, size_t row);
/* The name of a level or of wires. */
const char *energy_place_name(const struct energy_parts *parts, int place);
/* Where the machine file has that energy from, in a sentence; NULL: it does not say. */
const char *energy_place_source(const struct energy_parts *parts, int place);

/* The energies of all nests of a step together, level by level, and the cycles of one of them.  How many
 * they are; 0: none, or not whole ones. */
int64_t energy_of_nests(
	const struct nest_model *model, const struct nest_counts *all, struct nest_score *score);

#endif
