#ifndef MODEL_ERT_H
#define MODEL_ERT_H

#include "model/arch.h"
#include "spec/reader.h"

/*
 * Accelergy's table of energies per action:
 *
 *	ERT:
 *	  version: 0.4
 *	  tables:
 *	  - name: system.PE[1..168].weights[1..168]
 *	    actions:
 *	    - {name: read, arguments: {..}, energy: 1.7}
 *
 * The last part of a name, without its range, is the level.  An action that is
 * listed for several arguments costs the most of them.  A storage reads at the
 * first of random_read, read; fills at random_fill, random_write, fill, write;
 * updates at random_update, random_write, update, write; leaks at leak, or not.
 * A compute level multiplies at compute.  What is not listed costs the level's
 * dearest action, by instance of a cluster.  An access energy that the level
 * gives itself stays.
 *
 * The same machine with these energies; NULL after complaining.
 */
const struct arch *ert_read(
	const struct reading *reading, const struct node *node, const struct arch *arch);

#endif
