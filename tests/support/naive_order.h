#ifndef SUPPORT_NAIVE_ORDER_H
#define SUPPORT_NAIVE_ORDER_H

#include "lower/graph/program.h"

/*
 * Order of a program, the slow way: the transitive closure over queues and dependences, and the
 * list of all sticks that all instructions touch.  For small programs whose boxes are right.
 */
struct arena;
struct naive_order;

struct naive_order *naive_order(struct arena *arena, const struct program *program);

/*
 * The worst that became of the pairs of conflicting accesses: all keep the
 * order that they have in the original; some have it the other way round; some
 * have none, or the program waits for itself.  `origin[i]` is the original's
 * number of instruction i.
 */
enum order_change { ORDER_KEPT, ORDER_REVERSED, ORDER_LOST };
enum order_change naive_order_compare(const struct naive_order *mutant, const uint32_t *origin,
	const struct naive_order *original);

#endif
