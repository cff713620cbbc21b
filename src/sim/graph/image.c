#include "sim/graph/image.h"

#include "base/number.h"

#include <string.h>

struct image_stick image_find(const struct layout *layout, int64_t stick)
{
	struct image_stick found = {.lanes = 1};
	for (int d = layout->rank - 2; d >= 0; d--) {
		int64_t at = stick % layout->size[d];
		stick /= layout->size[d];
		if (layout->part[d] == PART_WHOLE)
			found.coordinates[layout->host_dim[d]] = at;
		else if (layout->part[d] == PART_STICK_OUTER)
			found.coordinates[layout->host_dim[d]] = at * layout->per_stick;
	}
	for (int h = 0; h < layout->host_rank; h++)
		found.host += found.coordinates[h] * layout->host_stride[h];
	int along = layout->stick_dim;
	if (along >= 0) {
		int64_t left = layout->host_size[along] - found.coordinates[along];
		found.lanes = (int)number_min(left, layout->per_stick);
		found.step = layout->host_stride[along];
	}
	return found;
}

void image_pack(const struct layout *layout, int64_t stick, const void *array, void *memory)
{
	struct image_stick at = image_find(layout, stick);
	size_t bytes = (size_t)dtype_stored_bytes(layout->dtype);
	for (int lane = 0; lane < at.lanes; lane++)
		memcpy((char *)memory + (size_t)lane * bytes,
			(const char *)array + (size_t)(at.host + lane * at.step) * bytes, bytes);
}

void image_unpack(const struct layout *layout, int64_t stick, const void *memory, void *array)
{
	struct image_stick at = image_find(layout, stick);
	size_t bytes = (size_t)dtype_stored_bytes(layout->dtype);
	for (int lane = 0; lane < at.lanes; lane++)
		memcpy((char *)array + (size_t)(at.host + lane * at.step) * bytes,
			(const char *)memory + (size_t)lane * bytes, bytes);
}
