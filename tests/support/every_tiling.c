#include "tests/support/every_tiling.h"

/* Position i gets any loop not yet used. */
static void try_orders(const struct every_tiling *every, int i, uint32_t used)
{
	const struct op *op = every->question->op;
	struct mapping_row *row = &every->mapping->rows[every->question->arch->lx];
	bool reductions_left = false;
	if (i == op->loop_count) {
		every->visit(every->user);
		return;
	}
	for (int l = 0; l < op->loop_count; l++)
		reductions_left |= op->loops[l].reduction && !(used >> l & 1);
	for (int l = 0; l < op->loop_count; l++) {
		if (used >> l & 1 || op->loops[l].reduction != reductions_left)
			continue;
		row->temporal_order[i] = (uint8_t)l;
		try_orders(every, i + 1, used | 1u << l);
	}
}

static void try_factors(const struct every_tiling *every, int l)
{
	const struct op_question *q = every->question;
	if (l == q->op->loop_count) {
		try_orders(every, 0, 0);
		return;
	}
	int64_t units = op_units(q->workload, q->op, l) / mapping_split(q->arch, q->mapping, l);
	for (int64_t t = 1; t <= (every->whole >> l & 1 ? 1 : units); t++) {
		if (units % t)
			continue;
		every->mapping->rows[q->arch->lx].temporal[l] = (uint32_t)t;
		try_factors(every, l + 1);
	}
}

void every_tiling_visit(const struct every_tiling *every)
{
	try_factors(every, 0);
}
