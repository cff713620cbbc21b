#include "model/graph/op_mapping.h"

#include "base/fatal.h"
#include "base/number.h"

struct mapping mapping_make(const struct arch *arch, const struct op *op)
{
	struct mapping mapping = {
		.loop_count = (uint8_t)op->loop_count,
		.level_count = (uint8_t)arch->level_count,
	};
	for (int i = 0; i < op_operands(op) && i <= OP_READS_MOST; i++)
		mapping.residency[i] = mapping_kept_by_default(arch);
	for (int r = 0; r < arch->level_count; r++) {
		struct mapping_row *row = &mapping.rows[r];
		for (int l = 0; l < op->loop_count; l++) {
			row->spatial[l] = row->temporal[l] = 1;
			row->spatial_order[l] = row->temporal_order[l] = (uint8_t)l;
		}
	}
	return mapping;
}

int64_t mapping_reduction_split(
	const struct arch *arch, const struct op *op, const struct mapping *mapping)
{
	int64_t split = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (op->loops[l].reduction)
			split = mapping_times(split, mapping_split(arch, mapping, l));
	}
	return split;
}
