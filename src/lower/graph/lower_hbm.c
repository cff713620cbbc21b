#include "lower/graph/lower_step.h"

#include <inttypes.h>

/* Gives a tensor the next bytes, unless it has some, or is a copy and has those. */
static bool place_tensor(struct lowering *lowering, int t)
{
	const struct tensor *tensor = &lowering->plan->workload->tensors[t];
	int home = tensor_home(lowering->plan->workload, t);
	if (home != t) {
		lowering->hbm[t] = lowering->hbm[home];
		return lowering->hbm[home] >= 0 ||
		       refuse(lowering, "nothing of '%s' lies in HBM that '%s' could be",
			       lowering->plan->workload->tensors[home].name, tensor->name);
	}
	if (lowering->hbm[t] >= 0)
		return true;
	lowering->hbm[t] = lowering->hbm_bytes;
	if (!number_add(lowering->hbm_bytes, tensor->layout.bytes, &lowering->hbm_bytes))
		return refuse(lowering, "the tensors take more bytes than can be counted");
	return true;
}

/* In the order of use: what no step finds in LX lies in HBM, all its life at one address. */
bool hbm_place(struct lowering *lowering)
{
	const struct plan *plan = lowering->plan;
	lowering->hbm = arena_array(lowering->queues.arena, int64_t, plan->workload->tensor_count);
	for (size_t t = 0; t < plan->workload->tensor_count; t++)
		lowering->hbm[t] = -1;
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		for (int i = 0; i < op_operands(op); i++) {
			int t = op_operand(op, i)->tensor;
			if (!plan_lx(plan, t, s) && !place_tensor(lowering, t))
				return false;
		}
	}
	const struct level *hbm = &plan->arch->levels[plan->arch->hbm];
	if (hbm->capacity > 0 && lowering->hbm_bytes > hbm->capacity)
		return refuse(lowering,
			"the tensors take %" PRId64 " bytes of '%s', which has %" PRId64,
			lowering->hbm_bytes, hbm->name, hbm->capacity);
	return true;
}

static struct location hbm_location(const struct lowering *lowering, const struct region *box)
{
	static const int64_t origin[REGION_RANK_MOST];
	const struct layout *layout = &lowering->plan->workload->tensors[box->tensor].layout;
	return location_within(box, lowering->hbm[box->tensor], layout->size, origin);
}

struct transfer *hbm_transfer(
	const struct lowering *lowering, const struct operand_box *box, int lx_tensor)
{
	struct transfer *transfer = arena_new(lowering->queues.arena, struct transfer);
	*transfer = (struct transfer){
		.lx_tensor = lx_tensor,
		.box = box,
		.hbm = hbm_location(lowering, &box->region),
	};
	return transfer;
}
