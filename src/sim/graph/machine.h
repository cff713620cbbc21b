#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "sim/graph/nests.h"

/*
 * The clock and the servers that instructions compete for.  Time counts in ticks, fractions of a cycle.
 *
 * Every shared thing is a server that takes work in the order in which
 * instructions become ready: HBM (one for reads and writes, or one each); per
 * core the port of its transfers, the read and the write port of LX (or one for
 * both), its arithmetic, its link to the next core on the reduce ring, and those of the data ring, one each
 * way.  An instruction asks all the servers that it needs at once and ends when the last
 * is through: transfers stream, so a busy port of one core keeps no other core from HBM.
 *
 *	DMA      HBM for its bytes once, and while the bus turns round for them; of what is read, the lanes
 *	         of the cores of the mask, in equal parts; the port of every core of the mask
 *	COMPUTE  the ports of LX and the arithmetic, which takes as long as its nest, if it has one
 *	RING     the ports of LX, and the links: a core sends a stick on as soon
 *	         as it has received it and added to it, so that every link
 *	         begins one stick after the one before
 *	UP, DOWN the read port of the sender's LX, the links that way, each a stick behind the one before
 *	         (and busy with others until the box comes), and the write port of every receiver; or
 *	         no server, while runs are set up
 *	SYNC     ends at the next whole cycle
 *
 * The clock is that of the root of the broadcast at work, and of any rank in between.  Its DMAs
 * stream at the queue's rate, or the links', beside the servers, and end so much later as the queue
 * has latency, and the links that a DMA_OUT crosses.  Other ranks' HBM takes bytes as
 * fast as its own.  What waits for the other queue sees its end a flag later.
 */
struct arena;
struct machine;

struct machine *machine_open(
	const struct program *program, const struct nests *nests, struct arena *arena);
int64_t machine_ticks(const struct machine *machine); /* of one cycle */

/*
 * Adds every instruction once, in their order, before any runs, and computes its demand on the
 * servers.
 */
void machine_add(struct machine *machine, const struct instruction *instruction);

/* Carries out instruction i, ready at a tick; returns when it ends. */
int64_t machine_run(struct machine *machine, uint32_t i, int64_t ready);

/* The delay from the end of an instruction until those of another engine that wait for it see that end. */
int64_t machine_delay(const struct machine *machine, uint32_t i);

/* By step: the tick of its latest end. */
const int64_t *machine_step_ends(const struct machine *machine);

#endif
