#include "cost/graph/op_price.h"

#include "base/arena.h"
#include "base/checked.h"
#include "cost/graph/energy.h"
#include "cost/graph/latency.h"
#include "cost/graph/streaming.h"

#include <inttypes.h>

const char *op_price_reject(
	const struct traffic_op *op, const struct mapping *mapping, struct arena *arena)
{
	const struct arch *arch = op->arch;
	const char *name = op->op->name;
	int64_t room;
	if (!op_is_tiled(op->op))
		return NULL;
	if (op->inner && op->inner->why)
		return arena_format(arena, "op '%s': %s", name, op->inner->why);
	if (!arch_moves_boxes(arch))
		return NULL;
	if (mapping_reduction_split(arch, op->op, mapping) > 1 &&
		!ring_reduces(&arch->reduce_ring, op->op->primitive->partial))
		return arena_format(arena,
			"op '%s' splits a reduction over cores, and no ring can combine it", name);
	int64_t most = arch_stream_capacity(arch);
	if (!streaming_room(op, &room) || room > most)
		return arena_format(arena,
			"op '%s' has tile buffers of more than the %" PRId64
			" bytes that LX keeps for them",
			name, most);
	return NULL;
}

/* Bytes of the scratchpad that tiles of operands with another home take. */
static int64_t nest_room(const struct traffic_op *op, bool *fits)
{
	int64_t bytes = 0;
	if (!op->inner || op->inner->scratchpad < 0)
		return 0;
	for (int i = 0; i < op_operands(op->op); i++) {
		enum dtype dtype =
			op->workload->tensors[op_operand(op->op, i)->tensor].layout.dtype;
		int64_t words = op->inner->counts.at[op->inner->scratchpad][i].capacity;
		if (!(op->in_lx >> i & 1))
			bytes = checked_add(
				fits, bytes, checked_mul(fits, words, dtype_stored_bytes(dtype)));
	}
	return bytes;
}

bool op_price(const struct inner_question *question, uint32_t arriving, struct arena *arena,
	struct op_price *out)
{
	struct traffic_op *op = arena_new(arena, struct traffic_op);
	*out = (struct op_price){0};
	traffic_open_nest(op, question, arena);
	op->arriving = arriving;
	out->why = op_price_reject(op, question->mapping, arena);
	bool fits = traffic_count(op, &out->counts);
	out->energy_pj =
		energy_add(0, op->arch, op->op, &out->counts, op->inner ? op->inner->model : NULL);
	for (int i = 0; i < op_operands(op->op); i++) {
		const int64_t *bytes = out->counts.bytes[i];
		out->hbm_bytes = checked_add(&fits, out->hbm_bytes, bytes[TRAFFIC_HBM_READ]);
		out->hbm_bytes = checked_add(&fits, out->hbm_bytes, bytes[TRAFFIC_HBM_WRITE]);
	}
	if (!fits || !op_is_tiled(op->op))
		return fits;
	if (arch_moves_boxes(op->arch))
		return streaming_room(op, &out->room) &&
		       streaming_bound(op, out->hbm_bytes, &out->bound) &&
		       streaming_estimate(op, out->hbm_bytes, &out->estimate);
	out->room = nest_room(op, &fits);
	out->bound = out->estimate = latency_nest(op, &fits);
	return fits;
}
