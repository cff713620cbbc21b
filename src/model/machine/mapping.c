#include "model/machine/mapping.h"

#include "base/fatal.h"
#include "base/number.h"

uint32_t mapping_kept_by_default(const struct arch *arch)
{
	if (arch_moves_boxes(arch))
		return 1u << arch->hbm | 1u << arch->lx;
	uint32_t storages = 0;
	for (int r = 0; r < arch->level_count; r++)
		storages |= arch->levels[r].kind == LEVEL_STORAGE ? 1u << r : 0;
	return storages;
}

int64_t mapping_times(int64_t a, int64_t b)
{
	if (!number_mul(a, b, &a))
		BUG("a mapping's factors multiply to more than an int64_t");
	return a;
}

int64_t mapping_cores(const struct arch *arch, const struct mapping *mapping)
{
	int64_t cores = 1;
	for (int l = 0; l < mapping->loop_count; l++)
		cores = mapping_times(cores, mapping_split(arch, mapping, l));
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
		divisor = mapping_times(divisor, row->spatial[row->spatial_order[i]]);
	return divisor;
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
