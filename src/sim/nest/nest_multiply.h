#ifndef SIM_NEST_MULTIPLY_H
#define SIM_NEST_MULTIPLY_H

#include "sim/nest/nest_run.h"

/*
 * The multipliers at one step: operands are read, products add up in the network and into the
 * level that they belong to.  Two multipliers whose words are the same at one step have the
 * same at every step, as all take the same steps: their groups are found once.
 */
struct nest_multipliers;

struct nest_multipliers *nest_multipliers_open(struct nest_run *run);
void nest_multipliers_step(struct nest_multipliers *multipliers);

#endif
