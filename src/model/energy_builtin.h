#ifndef MODEL_ENERGY_BUILTIN_H
#define MODEL_ENERGY_BUILTIN_H

#include "model/arch.h"

/*
 * Action energies of levels that nobody gave any.  Of memories: those that
 * Timeloop assumes without an ERT, 200 pJ for 16 bits of DRAM, and for 16 bits
 * of SRAM a line through 1 pJ at 0.5 KB and 6 pJ at 100 KB, all at the cost of a
 * whole row.  Of multipliers: M. Horowitz, Computing's energy problem, ISSCC
 * 2014, fig. 1.1.9, 45 nm (specs/energy/horowitz.yaml), between 8 and 32 bits
 * by the square of the bits for a product and by the bits for a sum.
 *
 * Sets `energy_source` too.
 */
void energy_builtin(struct arch *arch);

/* Of one access of a storage, and of one multiply-add; picojoules. */
double energy_of_access(const struct level *level);
double energy_of_mac(const struct level *level);

#endif
