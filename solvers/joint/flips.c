#include "solvers/joint/flips.h"

static bool indexes_output(const struct op *op, int l)
{
	return op->writes[0].linear.loop[l] != 0;
}

/* The one loop of the output that is divided; -1 when there are none or several. */
static int find_divided_loop(const struct op *op, const struct mapping_row *row)
{
	int divided = -1;
	for (int l = 0; l < op->loop_count; l++) {
		if (row->spatial[l] <= 1 || !indexes_output(op, l))
			continue;
		if (divided >= 0)
			return -1;
		divided = l;
	}
	return divided;
}

struct flips flips_find(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *given)
{
	struct flips flips = {.count = 1, .at = {*given}};
	if (!op_is_tiled(op) || arch->core < 0)
		return flips;
	int from = find_divided_loop(op, &given->rows[arch->core]);
	if (from < 0)
		return flips;
	uint32_t factor = given->rows[arch->core].spatial[from];
	for (int l = 0; l < op->loop_count && flips.count < FLIPS_MOST; l++) {
		if (l == from || !indexes_output(op, l) || op->loops[l].extent % factor ||
			op_units(workload, op, l) % factor)
			continue;
		struct mapping *flip = &flips.at[flips.count++];
		*flip = *given;
		flip->rows[arch->core].spatial[from] = 1;
		flip->rows[arch->core].spatial[l] = factor;
	}
	return flips;
}
