#ifndef MODEL_ENERGY_BUILTIN_H
#define MODEL_ENERGY_BUILTIN_H

#include "model/machine/arch.h"

/*
 * Action energies for levels that nobody gave any, in picojoules.
 *
 * `exact`.  Of memories: 200 pJ for 16 bits of DRAM, and for 16 bits of SRAM a
 * line through 1 pJ at 0.5 KB and 6 pJ at 100 KB, all at the cost of a whole row.
 * Multipliers: M. Horowitz, Computing's energy problem, ISSCC 2014, fig.
 * 1.1.9, 45 nm (specs/energy/horowitz.yaml), between 8 and 32 bits by the square
 * of the bits for a product and by the bits for a sum.
 *
 * `timeloop`.  What Timeloop takes without an ERT (its "PAT"): the same line for
 * memories, but a row of a cluster is divided by the instances that it serves,
 * and a memory without a size is free; and for multipliers of b bits (b / 16)^2.
 */

/* One access of a storage: of a row, which serves a whole cluster. */
double energy_of_access(const struct level *level);
double energy_of_access_timeloop(const struct level *level);

/* One multiply-add of factors of this many bits, floating if the device's name has "fp". */
double energy_of_mac(const char *device, int64_t bits);
double energy_of_mac_timeloop(int64_t bits);

#endif
