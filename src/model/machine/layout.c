#include "model/machine/layout.h"

#include "base/number.h"

#include <stddef.h>

const char *const dtype_names[] = {
	"fp16", "bf16", "fp32", "int8", "int32", "bool", "int64", "fp8", NULL};

static const struct {
	int host, stored;
} dtype_bytes[DTYPE_COUNT] = {
	[DTYPE_FP16] = {2, 2},
	[DTYPE_BF16] = {2, 2},
	[DTYPE_FP32] = {4, 4},
	[DTYPE_INT8] = {1, 1},
	[DTYPE_INT32] = {4, 4},
	[DTYPE_BOOL] = {1, 2},
	[DTYPE_INT64] = {8, 4},
	[DTYPE_FP8] = {1, 1},
};

int dtype_host_bytes(enum dtype dtype)
{
	return dtype_bytes[dtype].host;
}

int dtype_stored_bytes(enum dtype dtype)
{
	return dtype_bytes[dtype].stored;
}

int dtype_per_stick(enum dtype dtype)
{
	return STICK_BYTES / dtype_bytes[dtype].stored;
}

bool dtype_of_word(int64_t bits, enum dtype *out)
{
	*out = bits == 8 ? DTYPE_INT8 : bits == 32 ? DTYPE_FP32 : DTYPE_FP16;
	return bits == 8 || bits == 16 || bits == 32;
}

/* The kind of a type on the device: types that are stored alike are one kind. */
static enum dtype stored_kind(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_BOOL:
		return DTYPE_FP16;
	case DTYPE_INT64:
		return DTYPE_INT32;
	default:
		return dtype;
	}
}

/* Also that every step of stride_map will be a number: at most the elements times a stick's. */
static bool find_host_strides(struct layout *layout)
{
	int64_t stride = 1, most;
	for (int h = layout->host_rank - 1; h >= 0; h--) {
		if (layout->host_size[h] < 1)
			return false;
		layout->host_stride[h] = stride;
		if (!number_mul(stride, layout->host_size[h], &stride))
			return false;
	}
	return number_mul(stride, layout->per_stick, &most);
}

/* `order` with its -1 taken off must name every host dimension once. */
static bool order_is_permutation(const int *order, int count, int host_rank)
{
	unsigned seen = 0;
	if (count > 0 && order[count - 1] == -1)
		count--;
	if (count != host_rank)
		return false;
	for (int i = 0; i < count; i++) {
		if (order[i] < 0 || order[i] >= host_rank || seen >> order[i] & 1)
			return false;
		seen |= 1u << order[i];
	}
	return true;
}

static void add_dimension(struct layout *layout, enum layout_part part, int h)
{
	int d = layout->rank++;
	int64_t per_stick = layout->per_stick;
	layout->part[d] = part;
	layout->host_dim[d] = h;
	layout->stride_map[d] = -1;
	switch (part) {
	case PART_SYNTHETIC:
		layout->size[d] = 1;
		return;
	case PART_WHOLE:
		layout->size[d] = layout->host_size[h];
		break;
	case PART_STICK_OUTER:
		layout->size[d] = number_ceil_div(layout->host_size[h], per_stick);
		break;
	case PART_STICK_INNER:
		layout->size[d] = per_stick;
		break;
	}
	if (layout->host_size[h] > 1)
		layout->stride_map[d] =
			layout->host_stride[h] * (part == PART_STICK_OUTER ? per_stick : 1);
}

/* The whole dimensions of order[1 ..], the stick's outer half, order[0], the stick. */
static void add_dimensions(struct layout *layout, const int *order, int count)
{
	int stick = layout->stick_dim;
	for (int i = 1; i + 1 < count; i++)
		add_dimension(layout, PART_WHOLE, order[i]);
	add_dimension(layout, stick < 0 ? PART_SYNTHETIC : PART_STICK_OUTER, stick);
	if (count > 1)
		add_dimension(layout, PART_WHOLE, order[0]);
	add_dimension(layout, stick < 0 ? PART_SYNTHETIC : PART_STICK_INNER, stick);
	layout->size[layout->rank - 1] = layout->per_stick;
}

static bool count_sticks(struct layout *layout)
{
	layout->sticks = 1;
	for (int d = 0; d + 1 < layout->rank; d++) {
		if (!number_mul(layout->sticks, layout->size[d], &layout->sticks))
			return false;
	}
	return number_mul(layout->sticks, layout->stick_bytes, &layout->bytes);
}

bool layout_make(enum dtype dtype, const int64_t *host_size, int host_rank, const int *order,
	int order_count, struct layout *out)
{
	static const int in_order[LAYOUT_HOST_RANK_MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct layout layout = {
		.dtype = dtype,
		.host_rank = host_rank,
		.per_stick = dtype_per_stick(dtype),
		.stick_bytes = STICK_BYTES,
		.stick_dim = -1,
	};
	if (host_rank < 0 || host_rank > LAYOUT_HOST_RANK_MOST)
		return false;
	if (!order) {
		order = in_order;
		order_count = host_rank;
	}
	for (int h = 0; h < host_rank; h++)
		layout.host_size[h] = host_size[h];
	if (!order_is_permutation(order, order_count, host_rank) || !find_host_strides(&layout))
		return false;
	/* a stick along an extent of 1 holds one element: such a layout is as sparse as -1 */
	int last = order_count > 0 ? order[order_count - 1] : -1;
	layout.sparse = order_count > 1 && (last < 0 || host_size[last] == 1);
	layout.stick_dim = layout.sparse ? -1 : last;
	add_dimensions(&layout, order, order_count);
	if (!count_sticks(&layout))
		return false;
	*out = layout;
	return true;
}

bool layout_linear(enum dtype dtype, const int64_t *host_size, int host_rank, struct layout *out)
{
	struct layout layout = {
		.dtype = dtype,
		.host_rank = host_rank,
		.per_stick = 1,
		.stick_bytes = dtype_stored_bytes(dtype),
		.stick_dim = -1,
	};
	if (host_rank < 0 || host_rank > LAYOUT_HOST_RANK_MOST)
		return false;
	for (int h = 0; h < host_rank; h++)
		layout.host_size[h] = host_size[h];
	if (!find_host_strides(&layout))
		return false;
	for (int h = 0; h < host_rank; h++)
		add_dimension(&layout, PART_WHOLE, h);
	add_dimension(&layout, PART_SYNTHETIC, -1);
	if (!count_sticks(&layout))
		return false;
	*out = layout;
	return true;
}

bool layout_is_linear(const struct layout *layout)
{
	return layout->per_stick == 1;
}

bool layout_equal(const struct layout *a, const struct layout *b)
{
	if (stored_kind(a->dtype) != stored_kind(b->dtype) || a->rank != b->rank)
		return false;
	for (int d = 0; d < a->rank; d++) {
		if (a->size[d] != b->size[d] || a->stride_map[d] != b->stride_map[d])
			return false;
	}
	return true;
}

int64_t layout_elements(const struct layout *layout)
{
	int64_t count = 1;
	for (int h = 0; h < layout->host_rank; h++)
		count *= layout->host_size[h];
	return count;
}
