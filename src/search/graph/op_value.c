#include "search/graph/op_value.h"

#include "base/checked.h"
#include "cost/graph/energy.h"
#include "cost/graph/latency.h"
#include "cost/graph/streaming.h"

/* The slowest core of the phase; all are as fast as the first unless slices differ. */
static int64_t find_core_cycles(
	const struct traffic_op *traffic, const struct op_question *question, bool *fits)
{
	int64_t resources[RESOURCE_COUNT] = {0}, most = 0;
	int64_t cores = traffic_is_even(traffic) ? 1 : traffic->nest.cores;
	for (int64_t core = 0; core < cores; core++) {
		struct core_work work = {.fill = question->moved_fill};
		latency_add(&work, question->arch, traffic, core, fits);
		latency_raise(resources, question->arch, &work, fits);
	}
	for (int r = 0; r < RESOURCE_COUNT; r++)
		most = number_max(most, resources[r]);
	return most;
}

bool op_value_find(
	const struct traffic_op *traffic, const struct op_question *question, struct op_value *out)
{
	struct step_count count;
	struct counts counts = {1, &count};
	bool fits = traffic_count(traffic, &count) && counts_fit(&counts);
	if (!fits)
		return false;
	int64_t read = counts_total(&counts, TRAFFIC_HBM_READ);
	int64_t written = counts_total(&counts, TRAFFIC_HBM_WRITE);
	out->hbm_bytes = checked_add(&fits, read, written);
	out->energy_pj = energy_add(0, question->arch, question->op, &count,
		traffic->inner ? traffic->inner->model : NULL);
	struct bus_load load = {.read = read, .written = written, .moved = question->moved_hbm};
	for (int i = 0; i < op_operands(question->op); i++)
		latency_load(&load, traffic, i,
			count.bytes[i][TRAFFIC_HBM_READ] + count.bytes[i][TRAFFIC_HBM_WRITE],
			&fits);
	out->cycles = number_max(
		find_core_cycles(traffic, question, &fits), latency_bus(traffic, load, &fits));
	fits &= streaming_phase(traffic, out->hbm_bytes, question->moved_hbm, &out->estimate);
	out->estimate = number_max(out->estimate, out->cycles);
	return fits;
}

/* What a byte that computes read or write in the scratchpad costs. */
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
	bool known = level->block_size == 1 && level->cluster_size == 1 && level->leak_pj <= 0;
	*saved = 0;
	for (int i = 0; i <= traffic->op->read_count; i++) {
		struct nest_count *count = &inner->counts.at[inner->scratchpad][i];
		int tensor = op_operand(traffic->op, i)->tensor;
		bool written = i == traffic->op->read_count;
		double bytes = written ? ACCUMULATOR_BYTES
				       : dtype_stored_bytes(
						 traffic->workload->tensors[tensor].layout.dtype);
		double read = bytes * byte_pj(traffic->arch, false) - level->pj[NEST_READ];
		double update = bytes * byte_pj(traffic->arch, true) - level->pj[NEST_UPDATE];
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
