#include "sim/transfer/hops.h"

#include "base/arena.h"
#include "model/machine/topology.h"

struct hops hops_open(const struct program *program, struct arena *arena)
{
	return (struct hops){program, arena, arena_array(arena, int *, program->ranks)};
}

int hops_find(struct hops *hops, int root, int rank)
{
	if (rank < 0 || rank >= hops->program->ranks)
		return 0;
	if (!hops->from[root]) {
		const struct topology *topology =
			arch_topology(hops->arena, hops->program->arch, root);
		hops->from[root] = arena_array(hops->arena, int, topology->ranks);
		topology_distances(topology, root, hops->from[root]);
	}
	return hops->from[root][rank];
}
