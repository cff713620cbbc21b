#include "model/graph/staging.h"

#include "base/arena.h"
#include "model/machine/topology.h"

#include <inttypes.h>

struct sliding sliding_make(const struct layout *layout)
{
	int dims = layout->rank - 1;
	struct sliding sliding = {.row_dim = -1, .stick_dim = dims - 1, .rows = 1};
	int64_t most = 0;
	for (int a = dims - 1; a >= 0; a--)
		for (int b = dims - 1; b > a; b--)
			if (layout->size[a] * layout->size[b] > most) {
				most = layout->size[a] * layout->size[b];
				sliding.row_dim = a;
				sliding.stick_dim = b;
			}
	if (sliding.row_dim >= 0)
		sliding.rows = layout->size[sliding.row_dim];
	sliding.sticks = layout->size[sliding.stick_dim];
	sliding.outer = layout->sticks / (sliding.rows * sliding.sticks);
	return sliding;
}

int64_t staging_bytes(const struct staging *staging)
{
	return staging->rows * staging->sticks * STICK_BYTES;
}

bool staging_is_whole(const struct sliding *sliding, const struct staging *staging)
{
	return staging->sticks == sliding->sticks &&
	       staging->rows == sliding->outer * sliding->rows;
}

int64_t staging_chunks(const struct sliding *sliding, const struct staging *staging)
{
	if (staging_is_whole(sliding, staging))
		return 1;
	return sliding->outer * number_ceil_div(sliding->rows, staging->rows) *
	       number_ceil_div(sliding->sticks, staging->sticks);
}

const char *staging_check(
	struct arena *arena, const struct layout *layout, const struct staging *staging)
{
	struct sliding sliding = sliding_make(layout);
	if (staging->rows < 1 || staging->sticks < 1)
		return "a staging tile has at least one row and one stick";
	if (staging->sticks > sliding.sticks ||
		(staging->rows > sliding.rows && !staging_is_whole(&sliding, staging)))
		return arena_format(arena,
			"a staging tile has at most %" PRId64 " rows of %" PRId64
			" sticks, or all %" PRId64 " x %" PRId64,
			sliding.rows, sliding.sticks, sliding.outer * sliding.rows, sliding.sticks);
	int64_t chunks = staging_chunks(&sliding, staging);
	if (staging->count < 1 || staging->count > STAGING_MOST)
		return arena_format(arena, "a broadcast has 1 to %d staging tiles", STAGING_MOST);
	if (staging->count > chunks)
		return arena_format(arena, "it has %d staging tiles for %" PRId64 " chunk%s",
			staging->count, chunks, chunks == 1 ? "" : "s");
	return NULL;
}

const char *broadcast_misfit(struct arena *arena, const struct arch *arch, const struct op *op)
{
	if (arch->ranks < 2)
		return arena_format(arena,
			"broadcast '%s' needs several ranks; '%s' has one ('ranks' of its "
			"outermost container says how many)",
			op->name, arch->name);
	if (op->root >= arch->ranks)
		return arena_format(arena,
			"broadcast '%s' has rank %d as its root; '%s' has ranks 0 to %" PRId64,
			op->name, op->root, arch->name, arch->ranks - 1);
	return NULL;
}

bool broadcasts_fit(const struct arch *arch, const struct workload *workload, struct diag *diag)
{
	struct arena *arena = arena_open();
	bool fit = true;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		const char *why = op->primitive->kind == OP_BROADCAST
					  ? broadcast_misfit(arena, arch, op)
					  : NULL;
		if (why)
			diag_error(diag, op->span, "%s", why);
		fit &= !why;
	}
	arena_close(arena);
	return fit;
}

int workload_ranks(const struct workload *workload, const struct arch *arch)
{
	return workload_has_broadcast(workload) ? (int)arch->ranks : 1;
}

const struct topology *arch_topology(struct arena *arena, const struct arch *arch, int root)
{
	return topology_make(arena, arch->copying.topology, arch->copying.ports, (int)arch->ranks,
		root, arch->rank_columns);
}
