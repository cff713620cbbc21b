#ifndef SUPPORT_COPY_WAITS_H
#define SUPPORT_COPY_WAITS_H

#include "lower/transfer/copy_program.h"

/*
 * Reasons for the waits of a copy program, found without running it: all pairs of instructions, and
 * which come before which by queues, flags and signals.
 */
struct arena;

/* The program without its n-th wait for a flag or a signal, over all streams; false if it has
 * fewer. */
bool copy_without_wait(
	struct arena *arena, const struct copy_program *program, int n, struct copy_program *out);

/* Not 0 if two accesses to a tile, one of them a write, come in no order, or a chunk is loaded
 * that was not surely stored before.  -1: it has too many instructions. */
int copy_needs_order(const struct copy_program *program);

#endif
