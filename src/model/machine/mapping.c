#include "model/machine/mapping.h"

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

uint32_t mapping_kept_by_default(const struct arch *arch)
{
	return (arch->hbm >= 0 ? 1u << arch->hbm : 0) | (arch->lx >= 0 ? 1u << arch->lx : 0);
}

static int64_t multiply(int64_t a, int64_t b)
{
	if (!number_mul(a, b, &a))
		BUG("a mapping's factors multiply to more than an int64_t");
	return a;
}

int64_t mapping_cores(const struct arch *arch, const struct mapping *mapping)
{
	int64_t cores = 1;
	for (int l = 0; l < mapping->loop_count; l++)
		cores = multiply(cores, mapping_split(arch, mapping, l));
	return cores;
}

int64_t mapping_split(const struct arch *arch, const struct mapping *mapping, int l)
{
	return arch->core < 0 ? 1 : mapping->rows[arch->core].spatial[l];
}

int64_t mapping_divisor(const struct arch *arch, const struct mapping *mapping, int l)
{
	if (arch->core < 0)
		return 1;
	const struct mapping_row *row = &mapping->rows[arch->core];
	int64_t divisor = 1;
	for (int i = 0; i < mapping->loop_count && row->spatial_order[i] != l; i++)
		divisor = multiply(divisor, row->spatial[row->spatial_order[i]]);
	return divisor;
}

int64_t mapping_slot(const struct arch *arch, const struct mapping *mapping, int l, int64_t core)
{
	return core / mapping_divisor(arch, mapping, l) % mapping_split(arch, mapping, l);
}

int64_t mapping_reduction_split(
	const struct arch *arch, const struct op *op, const struct mapping *mapping)
{
	int64_t split = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (op->loops[l].reduction)
			split = multiply(split, mapping_split(arch, mapping, l));
	}
	return split;
}

/* The same factors, and those above 1 in the same order. */
static bool same_loops(const uint32_t *a_factors, const uint8_t *a_order, const uint32_t *b_factors,
	const uint8_t *b_order, int count)
{
	int j = 0;
	for (int i = 0; i < count; i++) {
		int l = a_order[i];
		if (a_factors[l] != b_factors[l])
			return false;
		if (a_factors[l] == 1)
			continue;
		while (j < count && b_factors[b_order[j]] == 1)
			j++;
		if (j == count || b_order[j++] != l)
			return false;
	}
	return true;
}

static bool same_axes(const struct mapping_row *a, const struct mapping_row *b, int count)
{
	for (int l = 0; l < count; l++) {
		if (a->spatial[l] > 1 && ((a->spatial_y ^ b->spatial_y) >> l & 1))
			return false;
	}
	return true;
}

enum op_function op_combining(const struct op *op)
{
	if (op->kind == OP_EINSUM)
		return FUNCTION_SUM;
	if (op->kind != OP_REDUCE)
		return FUNCTION_NONE;
	return op->function == FUNCTION_MEAN ? FUNCTION_SUM : op->function;
}

bool ring_combines(const struct ring *ring, const struct op *op)
{
	enum op_function function = op_combining(op);
	return ring->present && ((function == FUNCTION_SUM && ring->sum) ||
					(function == FUNCTION_MAX && ring->max) ||
					(function == FUNCTION_MIN && ring->min));
}

bool mapping_equal(const struct mapping *a, const struct mapping *b)
{
	if (a->loop_count != b->loop_count || a->level_count != b->level_count)
		return false;
	for (int i = 0; i <= OP_READS_MOST; i++) {
		if (a->residency[i] != b->residency[i])
			return false;
	}
	for (int r = 0; r < a->level_count; r++) {
		const struct mapping_row *x = &a->rows[r], *y = &b->rows[r];
		if (!same_loops(x->spatial, x->spatial_order, y->spatial, y->spatial_order,
			    a->loop_count) ||
			!same_loops(x->temporal, x->temporal_order, y->temporal, y->temporal_order,
				a->loop_count) ||
			!same_axes(x, y, a->loop_count))
			return false;
	}
	return true;
}
