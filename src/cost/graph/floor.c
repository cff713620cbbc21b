#include "cost/graph/floor.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/latency.h"
#include "model/graph/plan.h"

#include <math.h>
#include <stdlib.h>

/* Cycles of an op by its computes. */
static double compute_cycles(
	const struct arch *arch, const struct workload *workload, const struct op *op, int cores)
{
	if (!op_is_tiled(op) || op->move || op_copies_sticks(workload, op) ||
		op_has_inner_nest(arch, op))
		return 0;
	double rate = ratio_double(latency_rate(arch, workload, op));
	double work = (double)op->primitive->work;
	for (int l = 0; l < op->loop_count; l++)
		work *= (double)op->loops[l].extent;
	return rate > 0 ? floor(work / rate / cores * (1 - 1e-12)) : 0;
}

/*
 * Bytes of the distinct elements that an access touches, at least.  For each host coordinate take the longest loop that
 * moves it and no coordinate before it: the other loops fixed, no two values of these loops touch the same element.
 */
static double distinct_bytes(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	double bytes = dtype_stored_bytes(layout->dtype);
	uint32_t used = 0;
	for (int d = 0; d < layout->host_rank; d++) {
		int64_t most = 1;
		uint32_t moving = 0;
		for (int l = 0; l < op->loop_count; l++) {
			if (!access->host[d].coefficient[l])
				continue;
			moving |= UINT32_C(1) << l;
			if (!(used & UINT32_C(1) << l))
				most = number_max(most, op->loops[l].extent);
		}
		used |= moving;
		bytes *= (double)most;
	}
	return bytes;
}

double latency_compulsory_bytes(const struct workload *workload, int tensor)
{
	const struct tensor *what = &workload->tensors[tensor];
	double most = 0;
	if (what->copy_of || what->role == TENSOR_INTERMEDIATE)
		return 0;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (!op_is_tiled(op))
			continue;
		if (what->role == TENSOR_OUTPUT) {
			if (what->producer == (int)o)
				most = fmax(most, distinct_bytes(workload, op, &op->writes[0]));
			continue;
		}
		for (int i = 0; i < op->read_count; i++)
			if (op->reads[i].tensor == tensor)
				most = fmax(most, distinct_bytes(workload, op, &op->reads[i]));
	}
	return most;
}

/* True if two values of a loop touch a common index, because another loop reaches as far as one step of it. */
static bool op_overlaps(const struct op *op, const struct affine *index)
{
	for (int l = 0; l < op->loop_count; l++)
		for (int k = 0; k < op->loop_count; k++) {
			int64_t step = llabs(index->coefficient[l]),
				other = llabs(index->coefficient[k]);
			if (k != l && other && other <= step && op->loops[l].extent > 1 &&
				other * (op->loops[k].extent - 1) >= step)
				return true;
		}
	return false;
}

/* True if no scratchpad holds what each core needs of a tensor to read it there. */
static bool is_too_large(
	const struct arch *arch, const struct workload *workload, const struct op *op, int read)
{
	const struct access *access = &op->reads[read];
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	double bytes = STICK_BYTES;
	for (int d = 0; d < layout->rank; d++) {
		bool counts = layout->part[d] == PART_WHOLE || layout->part[d] == PART_STICK_OUTER;
		if (counts && op_overlaps(op, &access->host[layout->host_dim[d]]))
			bytes *= (double)layout->size[d];
	}
	return bytes > (double)arch_lx_capacity(arch);
}

/* Bytes of the sticks that an access touches, at least: of all if it touches every element. */
static double touched_bytes(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	double elements = dtype_stored_bytes(layout->dtype);
	double touched = distinct_bytes(workload, op, access);
	for (int h = 0; h < layout->host_rank; h++)
		elements *= (double)layout->host_size[h];
	for (int d = 0; d < layout->rank; d++)
		if (layout->part[d] == PART_SYNTHETIC)
			return touched;
	return touched >= elements ? (double)layout->bytes : touched;
}

/* True if an op reads a tensor from HBM in its own phase, whatever the plan. */
static bool is_streamed(const struct arch *arch, const struct workload *workload, int o, int read)
{
	const struct op *op = &workload->ops[o];
	int t = op->reads[read].tensor;
	for (int k = 0; k < read; k++)
		if (op->reads[k].tensor == t)
			return false; /* counted already */
	return op_is_tiled(op) && !op->move && !op_copies_sticks(workload, op) &&
	       !workload->tensors[t].copy_of && is_too_large(arch, workload, op, read);
}

/* Bytes that pass HBM. */
struct floor_bytes {
	double *read, *written; /* by op: in its phase, or in that of an evict of its result */
	double *left;           /* by tensor: in any phase */
};

/* Adds a read that must come from HBM, and the write before it. */
static void add_streamed(
	const struct workload *workload, int o, int read, struct floor_bytes *bytes)
{
	const struct op *op = &workload->ops[o];
	int t = op->reads[read].tensor, producer = workload->tensors[t].producer;
	double once = touched_bytes(workload, op, &op->reads[read]);
	bytes->read[o] += once;
	if (producer >= 0) {
		const struct op *maker = &workload->ops[producer];
		if (!op_is_tiled(maker) || maker->move || bytes->written[producer] > 0)
			return;
		once = bytes->written[producer] = touched_bytes(workload, maker, &maker->writes[0]);
	}
	bytes->left[t] = fmax(0, bytes->left[t] - once);
}

static struct floor_bytes find_bytes(
	const struct arch *arch, const struct workload *workload, struct arena *arena)
{
	struct floor_bytes bytes = {arena_array(arena, double, workload->op_count),
		arena_array(arena, double, workload->op_count),
		arena_array(arena, double, workload->tensor_count)};
	for (size_t t = 0; t < workload->tensor_count; t++)
		bytes.left[t] = latency_compulsory_bytes(workload, (int)t);
	for (int o = 0; o < (int)workload->op_count; o++)
		for (int i = 0; i < workload->ops[o].read_count; i++)
			if (is_streamed(arch, workload, o, i))
				add_streamed(workload, o, i, &bytes);
	return bytes;
}

static double hbm_cycles(const struct arch *arch, double read, double written)
{
	bool fits = true;
	if (read + written > 9e15) /* doubles are not exact above */
		return 0;
	int64_t cycles = latency_hbm(arch, (int64_t)read, (int64_t)written, &fits);
	return fits ? (double)cycles : 0;
}

int64_t latency_floor(const struct arch *arch, const struct workload *workload, int cores)
{
	struct arena *arena = arena_open();
	struct floor_bytes bytes = find_bytes(arch, workload, arena);
	double phases = 0, read = 0, written = 0;
	for (size_t t = 0; t < workload->tensor_count; t++)
		*(workload->tensors[t].role == TENSOR_OUTPUT ? &written : &read) += bytes.left[t];
	for (size_t o = 0; o < workload->op_count; o++) {
		double own = compute_cycles(arch, workload, &workload->ops[o], cores);
		phases += fmax(own, hbm_cycles(arch, bytes.read[o], bytes.written[o]));
		read += bytes.read[o];
		written += bytes.written[o];
	}
	double cycles = fmax(phases, hbm_cycles(arch, read, written));
	arena_close(arena);
	return cycles < 9e15 ? (int64_t)cycles : 0;
}
