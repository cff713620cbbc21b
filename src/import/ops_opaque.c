#include "base/number.h"
#include "base/text.h"
#include "import/ops.h"

#include <string.h>

/* Ops whose work depends on their data stay opaque; their results have shapes all the same, the largest that can be. */

void mean_shape(struct build *b, const struct model_call *call, int i,
	const struct model_shape *shape, const char *dtype)
{
	if (i >= call->output_count || call->outputs[i] < 0 || mean_declared(b, call, i))
		return;
	struct model_value *value = &b->model->values.at[call->outputs[i]];
	value->shape = *shape;
	value->dtype = dtype;
}

int mean_top(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), count = 0;
	int64_t most = call_int(call, "k", 1);
	if (v < 0)
		return -1;
	mean_ints(b, call, "k", 1, 1, &most, &count);
	struct model_shape shape = view_at(b, v)->shape;
	int axis = mean_axis(b, call_int(call, "axis", call_int(call, "dim", -1)), shape.rank);
	if (axis < 0 || most < 1)
		return build_fail(b, "more elements than there are");
	/* lists of places that are found at run time are shorter */
	shape.size[axis] = most < shape.size[axis] ? most : shape.size[axis];
	mean_shape(b, call, 0, &shape, view_at(b, v)->dtype);
	mean_shape(b, call, 1, &shape, "int64");
	return build_fail(b, "it sorts");
}

/* [dimensions, elements] */
static bool shape_of_places(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	const struct model_shape *from = &view_at(b, v)->shape;
	*out = (struct model_shape){2, {from->rank, shape_elements(from)}};
	return from->rank > 0;
}

/* [n, c, h, w] at [n, p, q, 2]: [n, c, p, q] */
static bool shape_of_grid(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	int grid = mean_input(b, call, 1);
	const struct model_shape *at = grid < 0 ? NULL : &view_at(b, grid)->shape;
	*out = view_at(b, v)->shape;
	if (!at || at->rank != out->rank || out->rank < 3)
		return false;
	for (int h = 2; h < out->rank; h++)
		out->size[h] = at->size[h - 1];
	return true;
}

/* [n, c, h, w] at boxes [k, ..]: [k, c, height, width] */
static bool shape_of_regions(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	int boxes = mean_input(b, call, 1), count = 0;
	int64_t size[2] = {call_int(call, "output_height", 1), call_int(call, "output_width", 1)};
	mean_ints(b, call, "pooled_shape", -1, 2, size, &count);
	if (boxes < 0 || view_at(b, boxes)->shape.rank != 2 || view_at(b, v)->shape.rank != 4)
		return false;
	*out = (struct model_shape){4,
		{view_at(b, boxes)->shape.size[0], view_at(b, v)->shape.size[1], size[0], size[1]}};
	return true;
}

/* Boxes [n, k, 4] with scores [n, classes, k]: [n * classes * most, 3] */
static bool shape_of_boxes(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	int scores = mean_input(b, call, 1), count = 0;
	int64_t most = 1, all;
	mean_ints(b, call, NULL, 2, 1, &most, &count);
	if (scores < 0 || view_at(b, scores)->shape.rank != 3 || most < 1)
		return false;
	const struct model_shape *from = &view_at(b, scores)->shape;
	most = most < from->size[2] ? most : from->size[2];
	if (!number_mul(from->size[0] * from->size[1], most, &all))
		return false;
	*out = (struct model_shape){2, {all, 3}};
	return true;
}

int mean_found(struct build *b, const struct model_call *call, const char *argument)
{
	static const struct {
		const char *what;
		bool (*shape)(struct build *b, const struct model_call *call, int v,
			struct model_shape *out);
		const char *dtype;
	} rows[] = {{"places", shape_of_places, "int64"}, {"grid", shape_of_grid, NULL},
		{"regions", shape_of_regions, NULL}, {"suppressed", shape_of_boxes, "int64"}};
	int v = mean_input(b, call, 0);
	struct model_shape shape;
	for (size_t i = 0; v >= 0 && i < sizeof rows / sizeof *rows; i++)
		if (text_equal(rows[i].what, argument) && rows[i].shape(b, call, v, &shape))
			mean_shape(b, call, 0, &shape,
				rows[i].dtype ? rows[i].dtype : view_at(b, v)->dtype);
	return build_fail(b, "what it reads or gives depends on its data");
}
