#ifndef MODEL_MACHINE_ERT_H
#define MODEL_MACHINE_ERT_H

#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * Action energies for levels without any in the spec, in picojoules.
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

/*
 * Accelergy's table of energies per action, in the form of 0.3 and 0.4, or in
 * that of 0.2, where tables and actions are maps:
 *
 *	ERT:                                            ERT:
 *	  version: 0.4                                    version: 0.2
 *	  tables:                                         tables:
 *	  - name: system.PE[1..168].weights[1..168]         system.PE[1..168].weights:
 *	    actions:                                          read: {arguments: null, energy: 1.7}
 *	    - {name: read, arguments: {..}, energy: 1.7}      write:
 *	    - {name: write, arguments: {..}, energy: 2}       - {arguments: {..}, energy: 2}
 *
 * Names are read as Timeloop reads them: the level is what follows the last dot,
 * without a range such as [0..3] at the very end.  (Two characters before its
 * dots are cut off: the level of `RF[10..17]` is "RF[", that of `RF[3]` is
 * "RF[3]".)  Of several tables for one level later ones win, action by action;
 * two of the same name are one table.
 *
 * An action that is listed for several arguments costs the most of them.  A
 * storage reads at the first of random_read, read that its table has; fills at
 * random_fill, random_write, fill, write; updates at random_update, random_write,
 * update, write; leaks at leak, or not.  A compute level multiplies at mac_random,
 * mult_random, mac, mult, compute.  What the table lacks stays built in under
 * `timeloop`; under `exact` it costs the table's dearest action, by instance of a
 * cluster.  An access energy that a storage gives itself stays, and under
 * `timeloop` it leaks nothing then.
 *
 * Levels without a table keep the energies that they have, tables without a level
 * are skipped, and a note names both; if no table has a level, it is an error.
 *
 * The same machine with these energies; NULL after complaining.
 */
const struct arch *ert_read(
	const struct reading *reading, const struct node *node, const struct arch *arch);

extern const struct noun ert_noun; /* its keys */

#endif
