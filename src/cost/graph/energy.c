#include "cost/graph/energy.h"

static double traffic_energy(const struct arch *arch, const int64_t *bytes)
{
	const struct level *hbm = &arch->levels[arch->hbm], *lx = &arch->levels[arch->lx];
	double energy = 0;
	energy += (double)bytes[TRAFFIC_HBM_READ] * hbm->read_pj;
	energy += (double)bytes[TRAFFIC_HBM_WRITE] * hbm->write_pj;
	energy += (double)bytes[TRAFFIC_LX_FILL] * lx->write_pj;
	energy += (double)bytes[TRAFFIC_LX_DRAIN] * lx->read_pj;
	energy += (double)bytes[TRAFFIC_LX_READ] * lx->read_pj;
	energy += (double)bytes[TRAFFIC_LX_WRITE] * lx->write_pj;
	energy += (double)bytes[TRAFFIC_RING] * arch->reduce_ring.pj;
	energy += (double)bytes[TRAFFIC_LINK] * arch->link_pj;
	return energy;
}

double energy_of(const struct plan *plan, const struct counts *counts)
{
	const struct level *unit = &plan->arch->levels[plan->arch->compute];
	double energy = 0;
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		const struct step_count *count = &counts->steps[step];
		for (int i = 0; i < op_operands(op); i++)
			energy += traffic_energy(plan->arch, count->bytes[i]);
		energy += (double)count->computes *
			  (op->primitive->unit == UNIT_MAC ? unit->mac_pj : unit->vector_pj);
	}
	return energy;
}
