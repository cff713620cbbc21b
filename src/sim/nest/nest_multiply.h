#ifndef SIM_NEST_NEST_MULTIPLY_H
#define SIM_NEST_NEST_MULTIPLY_H

#include "sim/nest/nest_run.h"

/*
 * The systolic array of a machine while a nest runs.  Its PEs have no wires but those to the PE
 * before and the one after along X and Y.  A word that several of them need at one step enters at
 * the first of them; each of the others takes it from the PE before it that has it, along X
 * if there is one, else along Y, a cycle per PE on the way.  Sums go the same ways, from PE to PE,
 * and leave the array at the last.  What PEs need of their own passes through those before them:
 * a link carries what one PE needs in a step in a cycle, so that steps take as long as the links of a
 * row, or of a column if that is sooner, are busy with them.
 *
 * Every PE has a clock of its own: it does a step when it has done the one before, what it takes has
 * come, and the PE before it, along an axis on which anything is handed on, has begun that
 * step.  Between passes it waits for all others, or, where PEs buffer tiles twice, goes on: then the
 * next ones come during a pass, and a pass that has fewer steps takes as long as others.  Tiles that are to stay enter each column at its
 * head, a word per cycle, and go on from PE to PE; each takes what is its own.
 */
struct nest_array;

/* NULL: the machine has none. */
struct nest_array *nest_array_open(struct nest_run *run);

/* All PEs do a step. */
void nest_array_step(struct nest_array *array);

/* Tiles move: if any that PEs hold does, the pass ends, and those that come are loaded. */
void nest_array_turn(struct nest_array *array);

/* Periods of loop k (sim/nest/nest_moves.h): what the next ones depend on; the numbers that grow alike with
 * each; whether they grow so `times` more, after one since they were so. */
void nest_array_draw(const struct nest_array *array, int k, struct nest_picture *picture);
struct nest_numbers nest_array_numbers(struct nest_array *array);
bool nest_array_goes_on(const struct nest_array *array, const int64_t *since, int k, int64_t times);

/* Cycles so far beyond one for each step. */
int64_t nest_array_lag(const struct nest_array *array);

/*
 * The multipliers at one step: operands are read, products add up in the network and into the
 * level that they belong to.  Two multipliers whose words are the same at one step have the
 * same at every step, as all take the same steps: their groups are found once.
 */
struct nest_multipliers;

struct nest_multipliers *nest_multipliers_open(struct nest_run *run);
void nest_multipliers_step(struct nest_multipliers *multipliers);

#endif
