#include "search/graph/op_map.h"

#include "base/number.h"
#include "cost/graph/cost.h"
#include "cost/graph/latency.h"
#include "cost/graph/streaming.h"

/*
 * Returns the class of a core: the slots of loops that walk joint dimensions; of other loops, if the
 * slice is the first one, which owns a reduction, and if it is the last one, which may be ragged.
 */
static int64_t class_of(const struct traffic_op *traffic, uint32_t joint, int64_t core)
{
	int64_t slots[OP_LOOPS_MOST], class = 0;
	loopnest_slots(&traffic->nest, core, slots);
	for (int l = 0; l < traffic->nest.loop_count; l++) {
		int64_t split = traffic->nest.loops[l].split, slot = slots[l];
		if (!(joint >> l & 1) && slot && slot < split - 1)
			slot = 1;
		class = class * split + slot;
	}
	return class;
}

/* The slowest core of the phase, of each class of equal ones the first. */
static int64_t find_core_cycles(
	const struct traffic_op *traffic, const struct op_question *question, bool *fits)
{
	int64_t resources[RESOURCE_COUNT] = {0}, most = 0, seen[LOOPNEST_CORES_MOST];
	uint32_t joint = 0;
	int count = 0;
	for (int i = 0; i < op_operands(traffic->op); i++)
		joint |= traffic->operands[i].joint;
	for (int64_t core = 0; core < (joint ? traffic->nest.cores : 1); core++) {
		struct core_work work = {.fill = question->moved.fill};
		int64_t class = class_of(traffic, joint, core);
		int known = 0;
		while (known < count && seen[known] != class)
			known++;
		if (known < count)
			continue;
		seen[count++] = class;
		latency_add(&work, question->arch, traffic, core, fits);
		latency_raise(resources, question->arch, &work, fits);
	}
	for (int r = 0; r < RESOURCE_COUNT; r++)
		most = number_max(most, resources[r]);
	return most;
}

bool op_value_least_cycles(const struct traffic_op *traffic, const struct op_question *question,
	struct step_count *count, struct op_value *out)
{
	struct counts counts = {1, count};
	bool fits = traffic_count(traffic, count) && counts_fit(&counts);
	if (!fits)
		return false;
	int64_t read = counts_total(&counts, TRAFFIC_HBM_READ);
	int64_t written = counts_total(&counts, TRAFFIC_HBM_WRITE);
	out->hbm_bytes = checked_add(&fits, read, written);
	out->energy_pj = energy_add(0, question->arch, question->op, count,
		traffic->inner ? traffic->inner->model : NULL);
	struct bus_load load = {.read = read, .written = written, .moved = question->moved};
	for (int i = 0; i < op_operands(question->op); i++)
		latency_load(&load, traffic, i,
			count->bytes[i][TRAFFIC_HBM_READ] + count->bytes[i][TRAFFIC_HBM_WRITE],
			&fits);
	out->cycles = out->estimate = latency_bus(traffic, &load, &fits);
	return fits;
}

bool op_value_estimate(const struct traffic_op *traffic, const struct op_question *question,
	const struct step_count *count, struct op_value *value)
{
	int64_t estimate;
	bool fits = streaming_phase(traffic, count, &question->moved, &estimate);
	value->estimate = number_max(estimate, value->cycles);
	return fits;
}

bool op_value_raise(const struct traffic_op *traffic, const struct op_question *question,
	struct op_value *value)
{
	bool fits = true;
	value->cycles = number_max(value->cycles, find_core_cycles(traffic, question, &fits));
	value->estimate = number_max(value->estimate, value->cycles);
	return fits;
}

bool op_value_find(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out)
{
	struct step_count count;
	return op_value_least_cycles(traffic, question, &count, out) &&
	       op_value_estimate(traffic, question, &count, out) &&
	       op_value_raise(traffic, question, out);
}

/* Returns the energy of a byte that computes read or write in the scratchpad. */
static double byte_pj(const struct arch *arch, bool writes)
{
	int64_t bytes[TRAFFIC_COUNT] = {0};
	bytes[writes ? TRAFFIC_LX_WRITE : TRAFFIC_LX_READ] = 1;
	return energy_of_traffic(arch, bytes);
}

/* Every word of a tile is read once, and one of the result updated: *saved is what that is less by, as
 * far as the nest's own energy does not say it. */
static bool move_least(const struct traffic_op *traffic, struct inner_cost *inner, double *saved)
{
	const struct nest_level *level = &inner->nest.hierarchy->levels[inner->scratchpad];
	bool known = level->store.block_words == 1 && level->store.cluster_size == 1 &&
		     level->energies.leak_pj <= 0;
	*saved = 0;
	for (int i = 0; i <= traffic->op->read_count; i++) {
		struct nest_count *count = &inner->counts.at[inner->scratchpad][i];
		int tensor = op_operand(traffic->op, i)->tensor;
		bool written = i == traffic->op->read_count;
		double bytes = written ? ACCUMULATOR_BYTES
				       : dtype_stored_bytes(
						 traffic->workload->tensors[tensor].layout.dtype);
		double read = bytes * byte_pj(traffic->arch, false) - level->energies.pj[NEST_READ];
		double update =
			bytes * byte_pj(traffic->arch, true) - level->energies.pj[NEST_UPDATE];
		int64_t reads = written ? 0 : count->capacity;
		known &= read > -1e-9 && (!written || update > -1e-9);
		*saved += (double)(count->reads - reads) * read;
		if (written)
			*saved += (double)(count->updates - count->capacity) * update;
		count->reads = reads;
		count->updates = written ? count->capacity : 0;
	}
	return known;
}

bool op_value_least(struct traffic_op *traffic, const struct op_question *question,
	const struct op_value *value, struct op_value *out)
{
	const struct inner_cost *inner = traffic->inner;
	struct inner_cost least = *inner;
	double saved = 0;
	if (inner->scratchpad < 0 || !move_least(traffic, &least, &saved))
		return false;
	traffic->inner = &least;
	bool found = op_value_find(traffic, question, out);
	traffic->inner = inner;
	out->energy_pj =
		value->energy_pj - saved * (double)inner->tiles * (double)traffic->nest.cores;
	return found;
}
