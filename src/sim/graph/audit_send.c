#include "sim/graph/audit_send.h"

#include "sim/graph/audit_access.h"

#include <inttypes.h>

static void set_up(struct audit *audit, int core)
{
	struct audit_runs *runs = &audit->runs;
	runs->step[core] = audit->instruction->step + 1;
	runs->set_up[core] = audit->instruction->send->runs;
	runs->sent[core] = runs->received[core] = 0;
}

/* Rows of sticks that follow each other in both places. */
static int64_t count_runs(const struct box *from, const struct box *to)
{
	int64_t row = 1, runs = 1;
	for (int d = from->rank - 1; d >= 0; d--) {
		if (from->count[d] == 1)
			continue;
		if (runs == 1 && from->stride[d] == row * STICK_BYTES &&
			to->stride[d] == row * STICK_BYTES)
			row *= from->count[d];
		else
			runs *= from->count[d];
	}
	return runs;
}

static void use_runs(struct audit *audit, int core, int64_t *used, int64_t runs, int64_t address)
{
	bool known = audit->runs.step[core] == audit->instruction->step + 1;
	int64_t most = known ? audit->runs.set_up[core] : 0;
	*used += runs;
	if (*used > most)
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, core, address,
			"core %d moves %" PRId64 " runs over the data ring and has set up %" PRId64,
			core, *used, most);
}

bool audit_send(struct audit *audit)
{
	const struct send *send = audit->instruction->send;
	int sender = __builtin_ctzll(audit->instruction->mask);
	uint64_t cores = arch_cores(audit->program->arch) >= 64
				 ? UINT64_MAX
				 : (UINT64_C(1) << arch_cores(audit->program->arch)) - 1;
	struct box from, to;
	if (!send->from) {
		set_up(audit, sender);
		return true;
	}
	if (!region_equal(&send->from->region, &send->to->region) || send->receivers & ~cores) {
		fault_add(audit->faults, FAULT_BOUNDS, audit->current, sender,
			send->from->lx.address,
			"it sends other sticks than arrive, or to cores that are not there");
		return false;
	}
	if (!audit_lx_box(audit, &send->from->region, &send->from->lx, sender,
		    send->from->region.tensor, STICK_BYTES, &from))
		return false;
	audit_read(audit, &from, sender, from.tensor);
	for (uint64_t m = send->receivers; m; m &= m - 1) {
		int core = __builtin_ctzll(m);
		if (!audit_lx_box(audit, &send->to->region, &send->to->lx, core,
			    send->to->region.tensor, STICK_BYTES, &to))
			return false;
		audit_write(audit, &to, core, to.tensor);
		use_runs(audit, core, &audit->runs.received[core], count_runs(&from, &to), to.low);
	}
	if (send->receivers)
		use_runs(
			audit, sender, &audit->runs.sent[sender], count_runs(&from, &to), from.low);
	return true;
}
