#include "sim/graph/touch.h"

bool touch_loops(const struct op *op, const struct compute *compute)
{
	for (int l = 0; l < op->loop_count; l++) {
		int64_t extent = op->loops[l].extent;
		if (compute->first[l] < 0 || compute->count[l] < 1 || compute->count[l] > extent ||
			compute->first[l] > extent - compute->count[l])
			return false;
	}
	return true;
}

static bool find_host_box(
	const struct op *op, const struct compute *compute, int operand, struct touch *touch)
{
	const struct access *access = op_operand(op, operand);
	for (int h = 0; h < touch->layout->host_rank; h++) {
		const struct affine *index = &access->host[h];
		touch->low[h] = touch->high[h] = index->offset;
		for (int l = 0; l < op->loop_count; l++) {
			int64_t length = (compute->count[l] - 1) * index->loop[l];
			touch->low[h] += compute->first[l] * index->loop[l] + number_min(length, 0);
			touch->high[h] +=
				compute->first[l] * index->loop[l] + number_max(length, 0);
		}
		touch->from[h] = touch->low[h];
		touch->to[h] = touch->high[h];
		access_clip(access, touch->layout->host_size[h], &touch->low[h], &touch->high[h]);
		if (touch->low[h] < 0 || touch->high[h] >= touch->layout->host_size[h])
			return false;
	}
	return true;
}

bool touch_make(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct touch *out)
{
	const struct layout *layout = &workload->tensors[op_operand(op, operand)->tensor].layout;
	out->layout = layout;
	if (!find_host_box(op, compute, operand, out))
		return false;
	for (int d = 0; d < layout->rank - 1; d++) {
		int h = layout->host_dim[d];
		out->first[d] = 0;
		out->count[d] = 1;
		if (layout->part[d] == PART_SYNTHETIC)
			continue;
		int64_t step = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		out->first[d] = out->low[h] / step;
		out->count[d] = out->high[h] / step - out->first[d] + 1;
	}
	return true;
}

bool touch_within(const struct touch *touch, const struct region *region)
{
	for (int d = 0; d < region->rank; d++) {
		if (touch->first[d] < region->first[d] ||
			touch->first[d] + touch->count[d] >
				(int64_t)region->first[d] + region->count[d])
			return false;
	}
	return true;
}

bool touch_equals(const struct touch *touch, const struct region *region)
{
	for (int d = 0; d < region->rank; d++) {
		if (touch->first[d] != region->first[d] || touch->count[d] != region->count[d])
			return false;
	}
	return true;
}

int64_t touch_stick_elements(const struct touch *touch)
{
	const struct layout *layout = touch->layout;
	int64_t elements = 1;
	for (int d = 0; d < layout->rank - 1; d++) {
		int64_t count = touch->count[d];
		if (layout->part[d] == PART_STICK_OUTER) {
			int64_t first = touch->first[d] * layout->per_stick;
			int64_t size = layout->host_size[layout->host_dim[d]];
			count = number_min(size - first, count * layout->per_stick);
		}
		elements *= count;
	}
	return elements;
}

int64_t touch_elements(const struct touch *touch)
{
	int64_t elements = 1;
	for (int h = 0; h < touch->layout->host_rank; h++)
		elements *= touch->high[h] - touch->low[h] + 1;
	return elements;
}
