#include "base/text.h"
#include "import/ops.h"

#include <string.h>

/* Gives the result of a statement another type; views and constants keep theirs. */
static int retype(struct build *b, int v, const char *dtype)
{
	if (v >= 0 && view_at(b, v)->kind == VIEW_STORED && view_at(b, v)->written)
		b->views.at[v].dtype = dtype;
	return v;
}

/* v function operand i, which stands along one axis of v or is one number. */
static int with(struct build *b, const struct model_call *call, const char *function, int v, int i,
	int axis)
{
	int by = mean_input(b, call, i);
	if (v < 0 || by < 0)
		return -1;
	return build_map2(b, function, v, mean_along(b, by, axis, view_at(b, v)->shape.rank));
}

/* v less its zero point, operand i. */
static int centre(struct build *b, const struct model_call *call, int v, int i, int axis)
{
	if (v < 0 || !mean_has(call, i))
		return v;
	int zero = mean_input(b, call, i);
	if (zero >= 0 && view_at(b, zero)->kind == VIEW_SPLAT && view_at(b, zero)->splat == 0)
		return v;
	return retype(b, with(b, call, "sub", v, i, axis), "int32");
}

static int numbers_of(
	struct build *b, const struct model_call *call, int i, int scale, int zero, int axis)
{
	int v = mean_input(b, call, i);
	return retype(b, with(b, call, "mul", centre(b, call, v, zero, axis), scale, axis), "fp32");
}

/* The axis of scales that are more than one. */
static int scale_axis(struct build *b, const struct model_call *call, int v)
{
	int rank = v < 0 ? 0 : view_at(b, v)->shape.rank;
	int64_t axis = call_int(call, "axis", 1);
	return rank < 2 || axis < -rank || axis >= rank ? 0 : (int)(axis < 0 ? axis + rank : axis);
}

/* How value i is quantised; NULL: it is not. */
static const struct quantization *quantization_of(
	const struct build *b, const int *values, int count, int i)
{
	return i < count && values[i] >= 0 ? b->model->values.at[values[i]].quantization : NULL;
}

/* Integers within limits, in the type that holds them. */
static int limited(struct build *b, int v, int64_t low, int64_t high)
{
	v = low == 0 ? build_map(b, "relu", v) : build_map_constant(b, "maximum", v, (double)low);
	v = build_map_constant(b, "minimum", v, (double)high);
	return retype(b, v, high > 255 ? "int32" : "int8");
}

/* v function the scales (or zero points) of its type, one number or a table along an axis. */
static int with_pairs(struct build *b, const char *function, int v, const struct quantization *q,
	const double *numbers, const char *name)
{
	if (v < 0 || q->axis < 0)
		return v < 0 || numbers[0] == (text_equal(name, "zeros") ? 0 : 1)
			       ? v
			       : build_map_constant(b, function, v, numbers[0]);
	if (q->axis >= view_at(b, v)->shape.rank ||
		(int64_t)q->count != view_at(b, v)->shape.size[q->axis])
		return build_fail(b, "scales that are not one for each element");
	bool zero = text_equal(name, "zeros");
	for (size_t i = 0; i < q->count; i++)
		zero &= numbers[i] == 0;
	int table =
		zero ? -1
		     : view_stored(b, name, "fp32", &(struct model_shape){1, {(int64_t)q->count}});
	if (zero || table < 0)
		return zero ? v : -1;
	b->views.at[table].weight = true;
	return build_map2(b, function, v, mean_along(b, table, q->axis, view_at(b, v)->shape.rank));
}

/* From one type to another, of which either may be quantised. */
int mean_requantize(struct build *b, const struct model_call *call, const char *argument)
{
	const struct quantization *from = quantization_of(b, call->inputs, call->input_count, 0),
				  *to = quantization_of(b, call->outputs, call->output_count, 0);
	int v = mean_input(b, call, 0);
	if (!from && !to)
		return build_fail(b, "neither type is quantised");
	if (from) {
		v = retype(b, with_pairs(b, "sub", v, from, from->zeros, "zeros"), "int32");
		v = retype(b, with_pairs(b, "mul", v, from, from->scales, "scales"), "fp32");
	}
	if (!to)
		return v;
	v = retype(b, with_pairs(b, "div", v, to, to->scales, "scales"), "fp32");
	v = with_pairs(b, "add", build_map(b, "round", v), to, to->zeros, "zeros");
	return limited(b, v, to->low, to->high);
}

/* Numbers divided by their scale (-1: they are) as integers of the type of the zero point. */
static int levels_of(
	struct build *b, const struct model_call *call, int v, int scale, int zero, int axis)
{
	if (scale >= 0)
		v = retype(b, with(b, call, "div", v, scale, axis), "fp32");
	v = build_map(b, "round", v);
	bool is_signed =
		mean_has(call, zero) && !b->model->values.at[call->inputs[zero]].is_unsigned;
	if (mean_has(call, zero)) {
		int at = mean_input(b, call, zero);
		if (at >= 0 && (view_at(b, at)->kind != VIEW_SPLAT || view_at(b, at)->splat != 0))
			v = with(b, call, "add", v, zero, axis);
	}
	const struct quantization *q = quantization_of(b, call->outputs, call->output_count, 0);
	return limited(b, v,
		q           ? q->low
		: is_signed ? -128
			    : 0,
		q           ? q->high
		: is_signed ? 127
			    : 255);
}

/* Operands: tensor, scale and zero point of its own, then those of the result. */
int mean_requantize_by(struct build *b, const struct model_call *call, const char *argument)
{
	int axis = scale_axis(b, call, mean_input(b, call, 0));
	return levels_of(b, call, numbers_of(b, call, 0, 1, 2, axis), 3, 4, axis);
}

int mean_quantize(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), axis = scale_axis(b, call, v);
	return argument[0] ? numbers_of(b, call, 0, 1, 2, axis) : levels_of(b, call, v, 1, 2, axis);
}

/* y, its scale and its zero point, of the least and greatest number of x and 0 */
int mean_quantize_dynamic(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0);
	if (x < 0)
		return -1;
	uint32_t all = (UINT32_C(1) << view_at(b, x)->shape.rank) - 1;
	int high = build_map(b, "relu", build_reduce(b, "max", x, all, false));
	int low = build_map_constant(b, "minimum", build_reduce(b, "min", x, all, false), 0);
	int scale = build_map_constant(b, "mul", build_map2(b, "sub", high, low), 1.0 / 255);
	int zero = build_map(b, "round", build_map(b, "neg", build_map2(b, "div", low, scale)));
	zero = build_map_constant(b, "minimum", build_map(b, "relu", zero), 255);
	int v = build_map(b, "round", build_map2(b, "div", x, scale));
	v = build_map(b, "relu", build_map2(b, "add", v, zero));
	v = retype(b, build_map_constant(b, "minimum", v, 255), "int8");
	mean_give(b, call, 1, scale);
	mean_give(b, call, 2, retype(b, zero, "int8"));
	return v;
}

/* Products of integers: operands 0 and 1 (or 0 and 3), less zero points. */
int mean_matmul_integer(struct build *b, const struct model_call *call, const char *argument)
{
	int second = text_equal(argument, "scaled") ? 3 : 1;
	int zero_a = second == 3 ? 2 : argument[0] ? 4 : 2, zero_c = second == 3 ? 5 : zero_a + 1;
	int a = mean_input(b, call, 0), c = mean_input(b, call, second);
	if (a < 0 || c < 0)
		return -1;
	int rank_a = view_at(b, a)->shape.rank, rank_c = view_at(b, c)->shape.rank;
	a = centre(b, call, a, zero_a, rank_a > 1 ? rank_a - 2 : 0);
	c = centre(b, call, c, zero_c, rank_c - 1);
	int v = retype(b, mean_product(b, a, c, false, false), "int32");
	if (!argument[0] || v < 0)
		return v;
	int last = view_at(b, v)->shape.rank - 1;
	v = retype(
		b, with(b, call, "mul", v, second == 3 ? 1 : 2, last > 0 ? last - 1 : 0), "fp32");
	v = with(b, call, "mul", v, second == 3 ? 4 : 3, last);
	if (second == 3)
		return levels_of(b, call, v, 6, 7, last);
	return mean_has(call, 6) ? build_map2(b, "add", v, mean_input(b, call, 6)) : v;
}

/* Convolutions of integers; with scales the result is requantised. */
int mean_conv_integer(struct build *b, const struct model_call *call, const char *argument)
{
	bool scaled = argument[0] != 0;
	int x = centre(b, call, mean_input(b, call, 0), 2, 1);
	int w = centre(b, call, mean_input(b, call, scaled ? 3 : 1), scaled ? 5 : 3, 0);
	int bias = scaled && mean_has(call, 8) ? mean_input(b, call, 8) : -1;
	int v = retype(b, mean_convolve(b, call, x, w, bias), "int32");
	if (!scaled || v < 0)
		return v;
	int factor = build_map2(b, "div",
		build_map2(b, "mul", mean_input(b, call, 4), mean_input(b, call, 1)),
		mean_input(b, call, 6));
	if (factor < 0)
		return -1;
	v = build_map2(b, "mul", v, mean_along(b, factor, 1, view_at(b, v)->shape.rank));
	return levels_of(b, call, retype(b, v, "fp32"), -1, 7, 1);
}

/* Of two quantised operands, each with scale and zero point, then those of the result. */
int mean_quantized_pair(struct build *b, const struct model_call *call, const char *function)
{
	int v = build_map2(
		b, function, numbers_of(b, call, 0, 1, 2, 0), numbers_of(b, call, 3, 4, 5, 0));
	return levels_of(b, call, v, 6, 7, 0);
}

/* Of one operand: a map, a mean over the image, or a softmax along the last dimension. */
int mean_quantized_one(struct build *b, const struct model_call *call, const char *function)
{
	int v = numbers_of(b, call, 0, 1, 2, 0);
	if (v < 0)
		return -1;
	int rank = view_at(b, v)->shape.rank;
	if (text_equal(function, "mean"))
		v = build_reduce(b, "mean", v, ((UINT32_C(1) << rank) - 1) & ~UINT32_C(3), true);
	else if (text_equal(function, "softmax"))
		v = build_softmax(b, v, rank - 1, false);
	else if (text_equal(function, "leaky"))
		v = build_map2(b, "maximum", v,
			build_map_constant(b, "mul", v, call_number(call, "alpha", 0.01)));
	else
		v = build_map(b, function, v);
	return levels_of(b, call, v, 3, 4, 0);
}

/* Scale and zero point of the result, then tensor, scale, zero point of each part. */
int mean_quantized_concat(struct build *b, const struct model_call *call, const char *argument)
{
	int parts[64], count = 0;
	for (int i = 2; i + 2 < call->input_count && count < 64; i += 3) {
		parts[count] = numbers_of(b, call, i, i + 1, i + 2, 0);
		if (parts[count++] < 0)
			return -1;
	}
	if (!count || call->input_count != 2 + 3 * count)
		return build_fail(b, "parts without scales");
	int axis = mean_axis(b, call_int(call, "axis", 1), view_at(b, parts[0])->shape.rank);
	return axis < 0 ? -1 : levels_of(b, call, build_concat(b, parts, count, axis), 0, 1, 0);
}

/* Weights of few bits in blocks, [N, K / block, bytes]: a product with N x K of them, a byte each. */
int mean_matmul_packed(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), packed = mean_input(b, call, 1);
	struct model_shape shape = {2, {call_int(call, "N", 0), call_int(call, "K", 0)}};
	if (x < 0 || packed < 0)
		return -1;
	int w = view_stored(b,
		arena_format(b->arena, "%s_values",
			view_at(b, packed)->name ? view_at(b, packed)->name : "weights"),
		"int8", &shape);
	if (w < 0)
		return -1;
	b->views.at[w].weight = true;
	int v = mean_product(b, x, w, false, true);
	return mean_has(call, 5) ? build_map2(b, "add", v, mean_input(b, call, 5)) : v;
}
