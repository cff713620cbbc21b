#include "cost/graph/staging.h"

#include "base/arena.h"
#include "base/wide.h"
#include "cost/transfer/broadcast.h"
#include "model/machine/topology.h"

int64_t staging_hops(const struct arch *arch, int root)
{
	struct arena *arena = arena_open();
	const struct topology *topology = arch_topology(arena, arch, root);
	int *distances = arena_array(arena, int, topology->ranks);
	int64_t hops = 0;
	topology_distances(topology, root, distances);
	for (int r = 0; r < topology->ranks; r++)
		hops += distances[r];
	arena_close(arena);
	return hops;
}

/* The slower of two; 0 is no limit. */
static struct ratio slower(struct ratio a, struct ratio b)
{
	if (!a.num || !b.num)
		return a.num ? a : b;
	return (wide)a.num * b.den < (wide)b.num * a.den ? a : b;
}

static struct copying find_copying(const struct arch *arch)
{
	const struct level *hbm = &arch->levels[arch->hbm], *lx = &arch->levels[arch->lx];
	struct copying copying = arch->copying;
	struct ratio write = hbm->shared_rate ? hbm->read_rate : hbm->write_rate;
	struct ratio link = copying.link.rate.num ? copying.link.rate : copying.out.rate;
	write = slower(write, lx->fill_rate);
	copying.in.rate = slower(copying.in.rate, slower(hbm->read_rate, lx->fill_rate));
	copying.out.rate = slower(copying.out.rate, write);
	copying.link.rate = slower(link, write);
	return copying;
}

bool staging_cycles(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct staging *staging, struct arena *arena, int64_t *cycles)
{
	const struct layout *layout = &workload->tensors[op->reads[0].tensor].layout;
	struct sliding sliding = sliding_make(layout);
	struct broadcast_times times;
	struct broadcast broadcast = {
		.ranks = arch->ranks,
		.root = op->root,
		.source = {.element = ELEMENT_UINT8,
			.shape = {1, 1, sliding.outer, sliding.rows, sliding.sticks * STICK_BYTES}},
		.tile = {.element = ELEMENT_UINT8,
			.valid_rows = staging->rows,
			.valid_cols = staging->sticks * STICK_BYTES},
		.copying = find_copying(arch),
	};
	struct arena_mark mark = arena_mark(arena);
	bool fits = broadcast_time(
		&broadcast, arch_topology(arena, arch, op->root), staging->count, &times);
	arena_release(arena, mark);
	if (fits)
		*cycles = number_ceil_div(times.tiles, times.per_cycle);
	return fits;
}
