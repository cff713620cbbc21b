#include "sim/graph/box.h"

enum { FP32_BYTES = 4 };

int64_t box_accumulator_unit(const struct layout *layout)
{
	return (int64_t)layout->per_stick * FP32_BYTES;
}

static const char *check_region(const struct workload *workload, const struct region *region)
{
	if (region->tensor < 0 || (size_t)region->tensor >= workload->tensor_count)
		return "no such tensor";
	const struct layout *layout = &workload->tensors[region->tensor].layout;
	if (region->rank != layout->rank - 1)
		return "the box has another rank than its tensor";
	int64_t sticks = 1;
	for (int d = 0; d < region->rank; d++) {
		if (region->first[d] < 0 || region->count[d] < 1 ||
			region->count[d] > layout->size[d] ||
			region->first[d] > layout->size[d] - region->count[d])
			return "the box leaves its tensor";
		sticks *= region->count[d];
	}
	return sticks == region->sticks ? NULL : "the box has another number of sticks";
}

/* The bytes that the units span; false if no int64_t counts them. */
static bool find_span(
	const struct region *region, const struct location *location, int64_t unit, struct box *box)
{
	int64_t span;
	box->low = location->address;
	if (!number_add(location->address, unit, &box->high))
		return false;
	for (int d = 0; d < region->rank; d++) {
		int64_t *side = location->stride[d] < 0 ? &box->low : &box->high;
		if (!number_mul((int64_t)region->count[d] - 1, location->stride[d], &span) ||
			!number_add(*side, span, side))
			return false;
	}
	return true;
}

static bool is_aligned(const struct region *region, const struct location *location)
{
	bool aligned = location->address % STICK_BYTES == 0;
	for (int d = 0; d < region->rank; d++)
		aligned &= region->count[d] == 1 || location->stride[d] % STICK_BYTES == 0;
	return aligned;
}

const char *box_make(const struct workload *workload, const struct region *region,
	const struct location *location, int64_t unit, int64_t memory_size, struct box *out,
	int64_t *at)
{
	*at = location->address;
	const char *why = check_region(workload, region);
	if (why)
		return why;
	struct box box = {.tensor = region->tensor, .rank = region->rank, .unit = unit};
	if (!find_span(region, location, unit, &box))
		return "the box lies beyond all addresses";
	*at = box.low < 0 ? box.low : box.high;
	if (box.low < 0 || box.high > memory_size)
		return "the box leaves the memory";
	*at = location->address;
	if (!is_aligned(region, location))
		return "the box does not lie on sticks";
	int64_t step = 1;
	for (int d = region->rank - 1; d >= 0; d--) {
		box.first[d] = region->first[d];
		box.count[d] = region->count[d];
		box.stride[d] = region->count[d] == 1 ? 0 : location->stride[d];
		box.step[d] = step;
		box.stick += region->first[d] * step;
		step *= workload->tensors[region->tensor].layout.size[d];
	}
	box.address = location->address;
	*out = box;
	return NULL;
}
