#include "solvers/divide/core_row.h"

#include "solvers/divide/k_fast.h"

#include "base/number.h"
#include "base/text.h"
#include "constraints/graph.h"

bool core_row_divisible(const struct op *op)
{
	return op_is_tiled(op) && !text_equal(op->type, "topk");
}

int64_t core_row_cores(
	const struct arch *arch, const struct planning *planning, const struct op *op)
{
	int64_t most = number_min(planning->cores, graph_cores(planning->constraints, op));
	return arch->core < 0 ? 1 : number_min(most, arch_cores(arch));
}

int64_t core_row_span(const struct planning *planning, const struct op *op, bool limited)
{
	int64_t limit = graph_span(planning->constraints, op);
	return limited && planning->span_limit ? number_min(planning->span_limit, limit) : limit;
}

struct mapping core_row_mapping(const struct arch *arch, const struct planning *planning,
	const struct op *op, const int64_t *splits)
{
	struct mapping mapping = mapping_make(arch, op);
	if (arch->core < 0)
		return mapping;
	struct mapping_row *row = &mapping.rows[arch->core];
	int first = planning->k_fast ? k_fast_first(op, splits) : -1;
	int at = 0;
	if (first >= 0)
		row->spatial_order[at++] = (uint8_t)first;
	for (int l = 0; l < op->loop_count; l++) {
		row->spatial[l] = (uint32_t)splits[l];
		if (l != first)
			row->spatial_order[at++] = (uint8_t)l;
	}
	return mapping;
}
