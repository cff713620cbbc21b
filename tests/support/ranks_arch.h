#ifndef SUPPORT_RANKS_ARCH_H
#define SUPPORT_RANKS_ARCH_H

#include "model/machine/arch.h"

/*
 * Ranks of a few cores at 1 GHz, so that GB/s are bytes per cycle and ns cycles: HBM moves 128
 * bytes per cycle, LX's port too.
 */
struct ranks_arch {
	int ranks, cores;
	const char *links;           /* the map's inside: "topology: full, latency: 100ns" */
	int load, store, sync;       /* cycles */
	int64_t lx_bytes, alignment; /* of which half is for tile buffers */
};

struct arena;
const struct arch *ranks_arch(struct arena *arena, const struct ranks_arch *machine);

#endif
