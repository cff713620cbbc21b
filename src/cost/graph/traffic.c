#include "cost/graph/traffic.h"

#include "base/checked.h"
#include "cost/graph/staging.h"
#include "model/graph/move.h"

static void open_footprints(struct traffic_op *traffic)
{
	for (int i = 0; i < op_operands(traffic->op); i++)
		traffic->operands[i] =
			footprint_make(&traffic->nest, traffic->workload, traffic->op, i);
}

void traffic_open(struct traffic_op *traffic, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx)
{
	*traffic =
		(struct traffic_op){.arch = arch, .workload = workload, .op = op, .in_lx = in_lx};
	if (op->primitive->kind == OP_BROADCAST) {
		traffic->ranks = arch->ranks;
		traffic->hops = staging_hops(arch, op->root);
	}
	if (!op_is_tiled(op))
		return;
	traffic->nest = loopnest_make(arch, workload, op, mapping);
	traffic->moves = op_copies_sticks(workload, op) && in_lx == 2;
	traffic->evicts = op->move == MOVE_EVICT && op_copies_sticks(workload, op) && in_lx == 1;
	open_footprints(traffic);
}

void traffic_open_step(struct traffic_op *traffic, const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	uint32_t in_lx = 0;
	if (op_is_tiled(op))
		for (int i = 0; i < op_operands(op); i++)
			if (plan_lx(plan, op_operand(op, i)->tensor, step))
				in_lx |= 1u << i;
	traffic_open(traffic, plan->arch, plan->workload, op, &plan->steps[step].mapping, in_lx);
	if (traffic->moves || traffic->evicts) {
		struct move move = move_find(plan, step);
		loopnest_move(&traffic->nest, &move);
	}
}

int64_t traffic_passes(const struct traffic_op *traffic, bool *fits)
{
	return loopnest_tiles(&traffic->nest, traffic->nest.reductions, fits);
}

int64_t traffic_output_tiles(const struct traffic_op *traffic, bool *fits)
{
	return loopnest_tiles(&traffic->nest, traffic->nest.all & ~traffic->nest.reductions, fits);
}

static int64_t bytes_of(int64_t sticks, bool *fits)
{
	return checked_mul(fits, sticks, STICK_BYTES);
}

int64_t traffic_accumulator(const struct traffic_op *traffic, int64_t sticks, bool *fits)
{
	const struct access *write = op_operand(traffic->op, traffic->op->read_count);
	int stored = dtype_stored_bytes(traffic->workload->tensors[write->tensor].layout.dtype);
	return checked_mul(fits, bytes_of(sticks, fits), 4 / stored);
}

static void count_fetches(const struct footprint *footprint, const int64_t *slots,
	int64_t bytes[TRAFFIC_COUNT], bool *fits)
{
	struct footprint_fetch fetch = footprint_fetch(footprint, slots, fits);
	bytes[TRAFFIC_HBM_READ] = bytes_of(fetch.transfers, fits);
	bytes[TRAFFIC_LX_FILL] = bytes_of(fetch.fills, fits);
}

static void count_reads(
	const struct traffic_op *traffic, const int64_t *slots, struct step_count *out, bool *fits)
{
	for (int i = 0; i < traffic->op->read_count; i++) {
		const struct footprint *footprint = &traffic->operands[i];
		if (!(traffic->in_lx >> i & 1))
			count_fetches(footprint, slots, out->bytes[i], fits);
		out->bytes[i][TRAFFIC_LX_READ] =
			bytes_of(footprint_sum(footprint, traffic->nest.all, slots, fits), fits);
	}
}

/*
 * `finished` sticks are what the output tiles take, each once: of all slices,
 * or of one core's.  As many as `split` cores work on the same slice; one of
 * them owns it.
 */
static void count_output(
	const struct traffic_op *traffic, const int64_t *slots, struct step_count *out, bool *fits)
{
	const struct loopnest *nest = &traffic->nest;
	int operand = traffic->op->read_count;
	int64_t *bytes = out->bytes[operand];
	int64_t finished = footprint_sum(
		&traffic->operands[operand], nest->all & ~nest->reductions, slots, fits);
	int64_t split = loopnest_splits(nest, nest->reductions),
		passes = traffic_passes(traffic, fits);
	bool owned = true;
	for (int l = 0; slots && l < nest->loop_count; l++)
		if (nest->reductions >> l & 1 && slots[l] != 0)
			owned = false;

	int64_t written = owned ? bytes_of(finished, fits) : 0;
	int64_t partial = traffic_accumulator(traffic, finished, fits);
	int64_t partials = checked_mul(fits, partial, slots ? 1 : split);
	int64_t again = checked_mul(fits, partials, passes - 1);
	bytes[TRAFFIC_LX_READ] = bytes[TRAFFIC_LX_WRITE] = again;
	if (split > 1) {
		bytes[TRAFFIC_LX_READ] = checked_add(fits, bytes[TRAFFIC_LX_READ], partials);
		bytes[TRAFFIC_LX_WRITE] = checked_add(fits, bytes[TRAFFIC_LX_WRITE], partials);
		bytes[TRAFFIC_RING] = checked_mul(fits, partial, split - 1);
	}
	bytes[TRAFFIC_LX_WRITE] = checked_add(fits, bytes[TRAFFIC_LX_WRITE], written);
	if (!(traffic->in_lx >> operand & 1))
		bytes[TRAFFIC_HBM_WRITE] = bytes[TRAFFIC_LX_DRAIN] = written;
}

static void count_opaque(const struct traffic_op *traffic, struct step_count *out)
{
	for (int i = 0; i < op_operands(traffic->op); i++) {
		const struct access *access = op_operand(traffic->op, i);
		int64_t bytes = traffic->workload->tensors[access->tensor].layout.bytes;
		bool read = i < traffic->op->read_count;
		out->bytes[i][read ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE] = bytes;
	}
}

/* One load, a store for each rank. */
static void count_broadcast(const struct traffic_op *traffic, struct step_count *out, bool *fits)
{
	const struct access *read = &traffic->op->reads[0];
	int64_t bytes = traffic->workload->tensors[read->tensor].layout.bytes;
	out->bytes[0][TRAFFIC_HBM_READ] = out->bytes[0][TRAFFIC_LX_FILL] = bytes;
	out->bytes[1][TRAFFIC_HBM_WRITE] = bytes;
	out->bytes[1][TRAFFIC_LX_DRAIN] = checked_mul(fits, bytes, traffic->ranks);
	out->bytes[1][TRAFFIC_LINK] = checked_mul(fits, bytes, traffic->hops);
}

/* Every slice once: `sends` is false on a core that has another's slice. */
static void count_eviction(const struct traffic_op *traffic, const int64_t *slots, bool sends,
	struct step_count *out, bool *fits)
{
	int to = traffic->op->writes[0].tensor;
	int64_t *bytes = out->bytes[1];
	if (!sends || traffic->workload->tensors[to].copy_of)
		return;
	bytes[TRAFFIC_LX_DRAIN] = bytes[TRAFFIC_HBM_WRITE] = bytes_of(
		footprint_sum(&traffic->operands[1], traffic->nest.all, slots, fits), fits);
}

/* Of the cores with the same slots, is it the least? */
static bool is_least(const struct loopnest *nest, const int64_t *slots, int64_t core)
{
	int64_t least = 0;
	for (int l = 0; l < nest->loop_count; l++)
		least += slots[l] * nest->loops[l].divisor;
	return core == least;
}

/* Of all cores, or with the slots of one core. */
static bool count(const struct traffic_op *traffic, const int64_t *slots, int64_t core,
	struct step_count *out)
{
	bool fits = true;
	*out = (struct step_count){0};
	if (traffic->op->primitive->kind == OP_OPAQUE) {
		count_opaque(traffic, out);
	} else if (traffic->op->primitive->kind == OP_BROADCAST) {
		count_broadcast(traffic, out, &fits);
	} else if (traffic->moves) {
		count_fetches(&traffic->operands[0], slots, out->bytes[0], &fits);
	} else if (traffic->evicts) {
		bool sends = !slots || is_least(&traffic->nest, slots, core);
		count_eviction(traffic, slots, sends, out, &fits);
	} else {
		count_reads(traffic, slots, out, &fits);
		count_output(traffic, slots, out, &fits);
		out->computes = checked_mul(&fits, loopnest_computes(&traffic->nest, slots, &fits),
			traffic->op->primitive->work);
	}
	return fits;
}

bool traffic_count(const struct traffic_op *traffic, struct step_count *out)
{
	return count(traffic, NULL, 0, out);
}

bool traffic_count_core(const struct traffic_op *traffic, int64_t core, struct step_count *out)
{
	int64_t slots[OP_LOOPS_MOST] = {0};
	if (traffic->op->primitive->kind == OP_BROADCAST && core == 0)
		return count(traffic, slots, core, out);
	if (core < traffic->nest.cores) {
		loopnest_slots(&traffic->nest, core, slots);
		return count(traffic, slots, core, out);
	}
	*out = (struct step_count){0};
	return true;
}

bool traffic_is_even(const struct traffic_op *traffic)
{
	for (int i = 0; i < op_operands(traffic->op); i++)
		if (traffic->operands[i].joint)
			return false;
	return true;
}
