#ifndef SEARCH_CHUNK_ORDER_H
#define SEARCH_CHUNK_ORDER_H

#include <stdint.h>

/*
 * Orders of chunks between the two copy queues, which are a flow shop of two machines.
 *
 *	johnson         those that load faster than they store by growing load, then the others by
 *	                falling store: nothing is faster with a tile for every chunk
 *	                (S. M. Johnson, Optimal two- and three-stage production schedules, 1954)
 *	gilmore_gomory  a cheapest tour where chunk j after chunk i costs max(load j, store i):
 *	                nothing is faster with two tiles and no time for flags
 *	                (P. C. Gilmore, R. E. Gomory, Sequencing a one state-variable machine, 1964)
 *
 * Both break ties by number; `order[i]` comes i-th.
 */
struct chunk_job {
	int64_t load, store;
};

struct arena;
const int64_t *order_johnson(const struct chunk_job *jobs, int64_t count, struct arena *arena);
const int64_t *order_gilmore_gomory(
	const struct chunk_job *jobs, int64_t count, struct arena *arena);

#endif
