#include "cost/transfer/broadcast.h"
#include "cost/transfer/course.h"

/* What the other ranks do in a handshake: each reads its block or writes it. */
static void count_handshake(const struct broadcast *b, int64_t bytes, struct broadcast_counts *out)
{
	bool pulls = operation_pulls(b->operation);
	int64_t others = operation_is_pair(b->operation) ? b->peer != b->root : b->ranks - 1;
	if (!b->handshake.notifies && !b->handshake.waits)
		return;
	out->loads += others * out->chunks;
	out->bytes_loaded += others * bytes;
	if (!pulls)
		return;
	out->stores += others * out->chunks;
	out->flags += 2 * others * out->chunks;
	out->bytes_stored += others * bytes;
}

static int64_t count_flags(const struct broadcast *b, const struct broadcast_counts *counts)
{
	if (course_combines(b))
		return counts->chunks * (2 * (b->ranks - 1) + 2);
	if (b->operation == OPERATION_BROADCAST && counts->path != PATH_CHUNKED)
		return counts->loads + counts->stores;
	return 2 * counts->loads;
}

bool broadcast_count(const struct broadcast *broadcast, const struct topology *topology,
	struct broadcast_counts *out)
{
	int64_t elements, bytes, most;
	if (!broadcast_elements(broadcast_block(broadcast), &elements) ||
		!number_mul(elements, element_bytes(broadcast->source.element), &bytes) ||
		!number_mul(bytes, RANKS_MOST, &most) || !number_mul(most, RANKS_MOST, &most))
		return false;
	struct course course = course_open(broadcast, topology);
	int64_t chunks = course_chunks(&course), ranks = broadcast->ranks;
	int64_t stores = broadcast->operation == OPERATION_BROADCAST ? ranks : course.legs;
	int64_t loads = course_combines(broadcast) ? ranks : course.legs, hops = 0;
	for (int64_t r = 0; r < ranks; r++)
		if (!operation_is_pair(broadcast->operation) || r == broadcast->peer)
			hops += course.hops[r];
	*out = (struct broadcast_counts){
		.path = broadcast_path(broadcast),
		.chunks = chunks,
		.loads = chunks * loads,
		.stores = chunks * stores,
		.combines = course_combines(broadcast) ? chunks * (ranks - 1) : 0,
		.bytes_loaded = bytes * loads,
		.bytes_stored = bytes * stores,
		.link_bytes = bytes * hops,
	};
	course_close(&course);
	out->flags = count_flags(broadcast, out);
	count_handshake(broadcast, bytes, out);
	return out->path == PATH_EMPTY || number_mul(broadcast_tile_bytes(broadcast),
						  broadcast_tiles(broadcast), &out->staging_bytes);
}
