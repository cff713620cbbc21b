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
	out->cycles = number_max(find_core_cycles(traffic, question, &fits),
		latency_hbm(question->arch, checked_add(&fits, read, question->moved_hbm), written,
			&fits));
	fits &= streaming_phase(traffic, out->hbm_bytes, question->moved_hbm, &out->estimate);
	out->estimate = number_max(out->estimate, out->cycles);
	return fits;
}
