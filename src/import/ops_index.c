#include "base/text.h"
#include "import/ops.h"

#include <string.h>

/* 0, 1, 2 .. along one axis of a tensor of that rank, a table in memory. */
static int count_up(struct build *b, int64_t size, int axis, int rank)
{
	int v = view_stored(b, "count", "fp32", &(struct model_shape){1, {size}});
	if (v < 0)
		return -1;
	b->views.at[v].weight = true;
	return mean_along(b, v, axis, rank);
}

/* The least (or greatest) number of those elements that are the extreme; numbers are below the extent. */
static int pick_number(
	struct build *b, int same, int numbers, uint32_t axes, int64_t size, bool last, bool keep)
{
	if (same < 0 || numbers < 0)
		return -1;
	int index = build_map2(b, "where", same, numbers);
	if (!last)
		index = build_map2(b, "add", index,
			build_map_constant(
				b, "mul", build_map_constant(b, "eq", same, 0), (double)size));
	if (index < 0)
		return -1;
	b->views.at[index].dtype = "fp32";
	return build_reduce(b, last ? "max" : "min", index, axes, keep);
}

/* Pairs of a value and its number, of which that with the greater (or less) value is kept: "compare GT". */
int mean_reduce_pairs(struct build *b, const struct model_call *call, const char *argument)
{
	const char *body = call_text(call, "body");
	bool most = strstr(body, "compare G") != NULL;
	uint32_t axes = 0;
	int v = mean_input(b, call, 0), at = 1;
	while (at < call->input_count && mean_has(call, at) &&
		b->model->values.at[call->inputs[at]].shape.rank == 0)
		at++;
	int numbers = mean_input(b, call, at);
	if (v < 0 || numbers < 0 || !mean_reduced_axes(b, call, view_at(b, v)->shape.rank, &axes))
		return -1;
	if (call->output_count != 2 || (!most && !strstr(body, "compare L")))
		return build_fail(b, "a reduction of its own");
	int64_t size = 1;
	for (int h = 0; h < view_at(b, v)->shape.rank; h++)
		size *= axes >> h & 1 ? view_at(b, v)->shape.size[h] : 1;
	int best = build_reduce(b, most ? "max" : "min", v, axes, true);
	int index = pick_number(b, build_map2(b, "eq", v, best), numbers, axes, size, false, false);
	mean_give(b, call, 1, index);
	return view_squeeze(b, best, axes);
}

/* The least index of the extreme: that of the elements equal to it, the extent elsewhere. */
int mean_extreme_index(struct build *b, const struct model_call *call, const char *function)
{
	int v = mean_input(b, call, 0);
	int64_t list[MODEL_RANK_MOST] = {call_int(call, "axis", 0)};
	int count = 1;
	if (v < 0)
		return -1;
	if (!mean_is_onnx(call) &&
		!mean_ints(b, call, "dim_arg", -1, MODEL_RANK_MOST, list, &count)) {
		struct model_shape flat = {1, {shape_elements(&view_at(b, v)->shape)}};
		v = view_reshape(b, v, &flat);
		list[0] = 0;
		count = 1;
		if (v < 0)
			return -1;
	}
	if (count != 1)
		return build_fail(b, "an index over several dimensions");
	int rank = view_at(b, v)->shape.rank, axis = mean_axis(b, list[0], rank);
	bool keep = call_int(
		     call, mean_is_onnx(call) ? "keepdims" : "keep_dim", mean_is_onnx(call)),
	     last = call_int(call, "select_last_index", 0);
	if (axis < 0)
		return -1;
	int64_t size = view_at(b, v)->shape.size[axis];
	uint32_t axes = UINT32_C(1) << axis;
	int same = build_map2(b, "eq", v, build_reduce(b, function, v, axes, true));
	return pick_number(b, same, count_up(b, size, axis, rank), axes, size, last, keep);
}

/* Parts of the front half combined with those of the back half, until one is left. */
int mean_reduce_product(struct build *b, const struct model_call *call, const char *argument)
{
	uint32_t axes = 0;
	int v = mean_input(b, call, 0);
	if (v < 0 || !mean_reduced_axes(b, call, view_at(b, v)->shape.rank, &axes))
		return -1;
	for (int h = 0; h < view_at(b, v)->shape.rank; h++)
		while (axes >> h & 1 && view_at(b, v)->shape.size[h] > 1) {
			int64_t size = view_at(b, v)->shape.size[h], half = size / 2;
			int rest = size % 2 ? mean_slice_one(b, v, h, size - 1, 1) : -1;
			v = build_map2(b, "mul", mean_slice_one(b, v, h, 0, half),
				mean_slice_one(b, v, h, half, half));
			if (v < 0)
				return -1;
			if (rest >= 0 && half == 1)
				v = build_map2(b, "mul", v, rest);
			else if (rest >= 0)
				v = build_concat(b, (int[]){v, rest}, 2, h);
			if (v < 0)
				return -1;
		}
	return mean_keeps(call) ? v : view_squeeze(b, v, axes);
}

/* v moved by some elements along an axis, 0 where it was. */
static int moved(struct build *b, int v, int axis, int64_t by, bool back)
{
	int64_t low[MODEL_RANK_MOST] = {0}, high[MODEL_RANK_MOST] = {0};
	low[axis] = back ? -by : by;
	high[axis] = -low[axis];
	return build_pad(b, v, low, high);
}

/* Sums of 1, 2, 4 .. neighbours, until each has all before it. */
int mean_running_sum(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), count = 0;
	int64_t at = call_int(call, "dim", 0);
	if (v < 0)
		return -1;
	if (mean_is_onnx(call) && !mean_ints(b, call, NULL, 1, 1, &at, &count))
		return build_fail(b, "an axis that is computed");
	int axis = mean_axis(b, at, view_at(b, v)->shape.rank);
	if (axis < 0)
		return -1;
	bool back = call_int(call, "reverse", 0);
	int64_t size = view_at(b, v)->shape.size[axis];
	if (call_int(call, "exclusive", 0))
		v = size == 1 ? build_map_constant(b, "mul", v, 0) : moved(b, v, axis, 1, back);
	for (int64_t by = 1; by < size && v >= 0; by *= 2)
		v = build_map2(b, "add", v, moved(b, v, axis, by, back));
	return v;
}

/* [n, c, h, w]: blocks of channels are blocks of the image. */
int mean_depth_to_space(struct build *b, const struct model_call *call, const char *argument)
{
	static const int dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3},
			 back[] = {0, 3, 5, 1, 2, 4};
	int v = mean_input(b, call, 0);
	int64_t n = call_int(call, "blocksize", 1);
	if (v < 0)
		return -1;
	struct model_shape s = view_at(b, v)->shape;
	if (s.rank != 4 || n < 1 || n > 1000)
		return build_fail(b, "no blocks of an image");
	if (argument[0]) {
		if (s.size[2] % n || s.size[3] % n)
			return build_fail(b, "an image that blocks do not divide");
		v = view_reshape(b, v,
			&(struct model_shape){
				6, {s.size[0], s.size[1], s.size[2] / n, n, s.size[3] / n, n}});
		return view_reshape(b, view_permute(b, v, back),
			&(struct model_shape){
				4, {s.size[0], s.size[1] * n * n, s.size[2] / n, s.size[3] / n}});
	}
	if (s.size[1] % (n * n))
		return build_fail(b, "channels that blocks do not divide");
	int64_t c = s.size[1] / (n * n);
	bool columns = text_equal(call_text(call, "mode"), "CRD");
	struct model_shape wide =
		columns ? (struct model_shape){6, {s.size[0], c, n, n, s.size[2], s.size[3]}}
			: (struct model_shape){6, {s.size[0], n, n, c, s.size[2], s.size[3]}};
	return view_reshape(b, view_permute(b, view_reshape(b, v, &wide), columns ? crd : dcr),
		&(struct model_shape){4, {s.size[0], c, s.size[2] * n, s.size[3] * n}});
}

/* A table of what is kept. */
int mean_triangle(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	struct model_shape s = view_at(b, v)->shape;
	if (s.rank < 2 || (mean_has(call, 1) && !mean_constant(b, call, 1)))
		return build_fail(b, "a diagonal that is computed");
	int mask = view_stored(b, "triangle", "bool",
		&(struct model_shape){2, {s.size[s.rank - 2], s.size[s.rank - 1]}});
	if (mask < 0)
		return -1;
	b->views.at[mask].weight = true;
	mask = view_broadcast_to(b, mask, &s);
	return view_at(b, v)->kind == VIEW_SPLAT
		       ? build_map_constant(b, "mul", mask, view_at(b, v)->splat)
		       : build_map2(b, "where", mask, v);
}

/* (index == count) * (on - off) + off */
int mean_one_hot(struct build *b, const struct model_call *call, const char *argument)
{
	int index = mean_input(b, call, 0);
	const struct constant *depth = mean_constant(b, call, 1), *both = mean_constant(b, call, 2);
	if (index < 0)
		return -1;
	if (!depth || !depth->count || !both || both->count != 2)
		return build_fail(b, "a depth or values that are computed");
	struct model_shape from = view_at(b, index)->shape, to = {.rank = from.rank + 1};
	int axis =
		to.rank > MODEL_RANK_MOST ? -1 : mean_axis(b, call_int(call, "axis", -1), to.rank);
	if (axis < 0)
		return build_fail(b, "too many dimensions");
	for (int h = 0; h < to.rank; h++)
		to.size[h] = h == axis ? 1 : from.size[h - (h > axis)];
	int numbers = count_up(b, constant_int(depth, 0), axis, to.rank);
	double off = constant_number(both, 0), on = constant_number(both, 1);
	int v = build_map2(b, "eq", view_reshape(b, index, &to), numbers);
	if (v >= 0)
		b->views.at[v].dtype = "fp32";
	if (on - off != 1)
		v = build_map_constant(b, "mul", v, on - off);
	return off != 0 ? build_map_constant(b, "add", v, off) : v;
}

/* A scatter into a tensor in memory is a copy of the updates; places in a computed tensor are not known. */
int mean_scatter(struct build *b, const struct model_call *call, const char *argument)
{
	int data = mean_input(b, call, 0);
	const char *how = call_text(call, "reduction");
	if (data < 0)
		return -1;
	while (view_at(b, data)->kind == VIEW_RESHAPED || view_at(b, data)->kind == VIEW_MAPPED)
		data = view_at(b, data)->source;
	if (view_at(b, data)->kind == VIEW_SPLAT || view_at(b, data)->written ||
		(how[0] && !text_equal(how, "none")))
		return build_fail(b, "it writes to places that are computed");
	return mean_cache(b, call, "2");
}

/* Opaque, but with the shapes of its results. */
int mean_top(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), count = 0;
	int64_t most = call_int(call, "k", 1);
	if (v < 0)
		return -1;
	mean_ints(b, call, "k", 1, 1, &most, &count);
	struct model_shape shape = view_at(b, v)->shape;
	int axis = mean_axis(b, call_int(call, "axis", call_int(call, "dim", -1)), shape.rank);
	if (axis < 0 || most < 1 || most > shape.size[axis])
		return build_fail(b, "more elements than there are");
	shape.size[axis] = most;
	for (int i = 0; i < call->output_count && mean_is_onnx(call); i++)
		if (call->outputs[i] >= 0) {
			b->model->values.at[call->outputs[i]].shape = shape;
			b->model->values.at[call->outputs[i]].dtype =
				i ? "int64" : view_at(b, v)->dtype;
		}
	return build_fail(b, "it sorts");
}

/* x / (sum |x|^p)^(1/p) along an axis, or the norm over an image */
int mean_lp(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	int64_t p = call_int(call, "p", 2);
	if (v < 0)
		return -1;
	int rank = view_at(b, v)->shape.rank;
	int axis = argument[0] ? 0 : mean_axis(b, call_int(call, "axis", -1), rank);
	if (axis < 0 || p < 1 || p > 2)
		return build_fail(b, "a norm other than the first and second");
	uint32_t axes =
		argument[0] ? ((UINT32_C(1) << rank) - 1) & ~UINT32_C(3) : UINT32_C(1) << axis;
	int sum = build_reduce(
		b, "sum", p == 1 ? build_map(b, "abs", v) : build_map2(b, "mul", v, v), axes, true);
	if (p == 2)
		sum = build_map(b, "sqrt", sum);
	return argument[0] ? sum : build_map2(b, "div", v, sum);
}
