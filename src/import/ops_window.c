#include "base/text.h"
#include "import/ops.h"

#include <ctype.h>
#include <string.h>

static void fill(int64_t *list, int count, int64_t value)
{
	for (int i = 0; i < count; i++)
		list[i] = value;
}

/* One number counts for all spatial dimensions. */
static void read_list(
	struct build *b, const struct model_call *call, const char *name, int spatial, int64_t *out)
{
	int64_t list[MODEL_RANK_MOST];
	int count = 0;
	if (mean_ints(b, call, name, -1, MODEL_RANK_MOST, list, &count) && count)
		for (int d = 0; d < spatial; d++)
			out[d] = list[count == spatial ? d : 0];
}

static void read_onnx_window(struct build *b, const struct model_call *call,
	const struct model_shape *x, struct window *w)
{
	int64_t pads[2 * MODEL_RANK_MOST];
	int count = 0;
	const char *automatic = call_text(call, "auto_pad");
	read_list(b, call, "strides", w->spatial, w->stride);
	read_list(b, call, "dilations", w->spatial, w->dilation);
	if (mean_ints(b, call, "pads", -1, 2 * w->spatial, pads, &count) && count == 2 * w->spatial)
		for (int d = 0; d < w->spatial; d++) {
			w->low[d] = pads[d];
			w->high[d] = pads[w->spatial + d];
		}
	for (int d = 0; d < w->spatial; d++)
		if (w->size[d] < 1 || w->size[d] >> 24 || w->dilation[d] < 1 ||
			w->dilation[d] >> 24 || w->stride[d] >> 24)
			return; /* refused later */
	for (int d = 0; strncmp(automatic, "SAME", 4) == 0 && d < w->spatial; d++) {
		if (w->stride[d] < 1)
			return;
		int64_t outputs = (x->size[d + 2] + w->stride[d] - 1) / w->stride[d];
		int64_t total = (outputs - 1) * w->stride[d] + (w->size[d] - 1) * w->dilation[d] +
				1 - x->size[d + 2];
		total = total < 0 ? 0 : total;
		w->low[d] = strstr(automatic, "UPPER") ? total / 2 : total - total / 2;
		w->high[d] = total - w->low[d];
	}
	w->ceil = call_int(call, "ceil_mode", 0);
}

/* [top, left, bottom, right], [height, width] or one number */
static void read_ttir_window(struct build *b, const struct model_call *call, struct window *w)
{
	int64_t pads[4];
	int count = 0;
	read_list(b, call, "stride", w->spatial, w->stride);
	read_list(b, call, "dilation", w->spatial, w->dilation);
	mean_ints(b, call, "padding", -1, 4, pads, &count);
	for (int d = 0; count && d < 2; d++) {
		w->low[d] = count == 4 ? pads[d] : pads[count == 2 ? d : 0];
		w->high[d] = count == 4 ? pads[2 + d] : w->low[d];
	}
	w->ceil = call_int(call, "ceil_mode", 0);
}

static const int to_front[4] = {0, 3, 1, 2}, to_back[4] = {0, 2, 3, 1};

static int add_bias(struct build *b, int v, int bias, int axis)
{
	if (v < 0 || bias < 0)
		return -1;
	struct model_shape shape = {.rank = view_at(b, v)->shape.rank - axis,
		.size = {shape_elements(&view_at(b, bias)->shape)}};
	for (int h = 1; h < shape.rank; h++)
		shape.size[h] = 1;
	return build_map2(b, "add", v, view_reshape(b, bias, &shape));
}

int mean_convolve(struct build *b, const struct model_call *call, int x, int w, int bias)
{
	if (x < 0 || w < 0)
		return -1;
	struct window window = {
		.spatial = view_at(b, x)->shape.rank - 2, .groups = call_int(call, "group", 1)};
	if (window.spatial < 1 || view_at(b, w)->shape.rank != window.spatial + 2)
		return build_fail(b, "weights of another rank");
	fill(window.stride, window.spatial, 1);
	fill(window.dilation, window.spatial, 1);
	for (int d = 0; d < window.spatial; d++)
		window.size[d] = view_at(b, w)->shape.size[d + 2];
	read_onnx_window(b, call, &view_at(b, x)->shape, &window);
	int v = build_convolution(b, x, w, &window);
	return bias >= 0 ? add_bias(b, v, bias, 1) : v;
}

/* A fused one adds another tensor, and has an activation. */
static int convolve_onnx(struct build *b, const struct model_call *call)
{
	static const char *const activations[][2] = {{"Relu", "relu"}, {"Sigmoid", "sigmoid"},
		{"Tanh", "tanh"}, {"HardSwish", "hardswish"}};
	int bias = mean_has(call, 2) ? mean_input(b, call, 2) : -1;
	int v = b->why ? -1
		       : mean_convolve(
				 b, call, mean_input(b, call, 0), mean_input(b, call, 1), bias);
	if (mean_has(call, 3))
		v = build_map2(b, "add", v, mean_input(b, call, 3));
	const char *activation = call_text(call, "activation");
	for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
		if (text_equal(activations[i][0], activation))
			return build_map(b, activations[i][1], v);
	return activation[0] ? build_fail(b, "activation '%s'", activation) : v;
}

/* Along dimension h + 2 of z, whose dimension h + 3 is the window: sums of what windows overlap. */
static int overlap(struct build *b, int z, int h, int64_t stride)
{
	int64_t none[MODEL_RANK_MOST] = {0}, low[MODEL_RANK_MOST] = {0},
		high[MODEL_RANK_MOST] = {0};
	if (z < 0)
		return -1;
	struct model_shape shape = view_at(b, z)->shape;
	int64_t size = shape.size[h + 3], parts = (size + stride - 1) / stride;
	if (size < parts * stride) {
		high[h + 3] = parts * stride - size;
		z = build_pad(b, z, none, high);
		high[h + 3] = 0;
	}
	int sum = -1;
	for (int64_t t = 0; t < parts; t++) {
		int part = z < 0 ? -1 : mean_slice_one(b, z, h + 3, t * stride, stride);
		low[h + 2] = t;
		high[h + 2] = parts - 1 - t;
		if (parts > 1)
			part = part < 0 ? -1 : build_pad(b, part, low, high);
		sum = t == 0 ? part : build_map2(b, "add", sum, part);
		if (sum < 0)
			return -1;
	}
	shape.size[h + 2] = (shape.size[h + 2] + parts - 1) * stride;
	for (int k = h + 3; k < shape.rank - 1; k++)
		shape.size[k] = shape.size[k + 1];
	shape.rank--;
	return view_reshape(b, sum, &shape);
}

/*
 * A transposed convolution: each element gives a window of products, [n, k, p, r, q, s]; windows are stride apart,
 * so an output is the sum of the few that overlap there.
 */
int mean_transposed(struct build *b, const struct model_call *call, const char *argument)
{
	static const char *const x_labels[] = {"", "ngcp", "ngcpq"},
				 *const w_labels[] = {"", "gckr", "gckrs"},
				 *const out_labels[] = {"", "ngkpr", "ngkprqs"};
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1);
	if (x < 0 || w < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape, by = view_at(b, w)->shape;
	struct window window = {.spatial = from.rank - 2, .groups = call_int(call, "group", 1)};
	int n = window.spatial;
	int64_t more[MODEL_RANK_MOST] = {0}, groups = window.groups;
	if (n < 1 || n > 2 || by.rank != n + 2 || groups < 1 || from.size[1] != by.size[0] ||
		from.size[1] % groups || mean_ints(b, call, "output_shape", -1, 2, more, &(int){0}))
		return build_fail(b, "a transposed convolution of other dimensions");
	fill(window.stride, n, 1);
	fill(window.dilation, n, 1);
	for (int d = 0; d < n; d++)
		window.size[d] = by.size[d + 2];
	read_onnx_window(b, call, &from, &window);
	read_list(b, call, "output_padding", n, more);
	struct model_shape xs = {n + 3, {from.size[0], groups, from.size[1] / groups}},
			   ws = {n + 3, {groups, by.size[0] / groups, by.size[1]}},
			   zs = {2 + 2 * n, {from.size[0], groups * by.size[1]}};
	for (int d = 0; d < n; d++) {
		if (window.dilation[d] != 1 || window.stride[d] < 1 || window.stride[d] > 64 ||
			window.size[d] > 64 || strncmp(call_text(call, "auto_pad"), "SAME", 4) == 0)
			return build_fail(b, "a transposed convolution with dilations or 'SAME'");
		xs.size[3 + d] = zs.size[2 + 2 * d] = from.size[2 + d];
		ws.size[3 + d] = zs.size[3 + 2 * d] = by.size[2 + d];
	}
	int v = view_reshape(b,
		build_contract(b, view_reshape(b, x, &xs), x_labels[n], view_reshape(b, w, &ws),
			w_labels[n], out_labels[n]),
		&zs);
	for (int d = 0; d < n && v >= 0; d++) {
		int64_t low[MODEL_RANK_MOST] = {0}, high[MODEL_RANK_MOST] = {0};
		v = overlap(b, v, d, window.stride[d]);
		int64_t size = (from.size[2 + d] - 1) * window.stride[d] + window.size[d] -
			       window.low[d] - window.high[d] + more[d];
		if (v < 0 || size < 1)
			return build_fail(b, "padding beyond the data");
		low[d + 2] = -window.low[d];
		high[d + 2] = window.low[d] + size - view_at(b, v)->shape.size[d + 2];
		if (low[d + 2] || high[d + 2])
			v = build_pad(b, v, low, high);
	}
	return v >= 0 && mean_has(call, 2) ? add_bias(b, v, mean_input(b, call, 2), 1) : v;
}

static int convolve_ttir(struct build *b, const struct model_call *call)
{
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1);
	struct window window = {.spatial = 2,
		.groups = call_int(call, "groups", 1),
		.stride = {1, 1},
		.dilation = {1, 1}};
	if (x < 0 || w < 0)
		return -1;
	if (view_at(b, x)->shape.rank != 4 || view_at(b, w)->shape.rank != 4)
		return build_fail(b, "no convolution of images");
	bool front = call_int(call, "channel_dim", 3) == 1;
	window.size[0] = view_at(b, w)->shape.size[2];
	window.size[1] = view_at(b, w)->shape.size[3];
	read_ttir_window(b, call, &window);
	int v = build_convolution(b, front ? x : view_permute(b, x, to_front), w, &window);
	if (!front)
		v = v < 0 ? -1 : view_permute(b, v, to_back);
	return mean_has(call, 2)
		       ? add_bias(b, v,
				 view_reshape(b, mean_input(b, call, 2),
					 &(struct model_shape){1,
						 {shape_elements(&view_at(b, mean_input(b, call, 2))
									  ->shape)}}),
				 front ? 1 : 3)
		       : v;
}

/* "b 0 1 f x 0 1 i o b 0 1 f": where batch or output channels, channels, and spatial dimensions are. */
static bool read_numbers(struct build *b, const char *text, int rank, int order[3][MODEL_RANK_MOST])
{
	int list = 0, at = 0;
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		const char *end = text;
		while (isalnum((unsigned char)*end) || *end == '.' || *end == '_')
			end++;
		if (end == text)
			continue;
		bool one = end - text == 1;
		char c = *text;
		if (one && c != 'x' && list < 3) {
			int to = isdigit((unsigned char)c) ? 2 + c - '0'
				 : c == 'b' || c == 'o'    ? 0
							   : 1;
			if (list == 2 && c == 'f')
				to = 1;
			if (to >= rank)
				return build_fail(b, "dimension numbers of another rank") >= 0;
			order[list][to] = at++;
			if (at == rank) {
				at = 0;
				list++;
			}
		}
		text = end - 1;
	}
	return list == 3 || build_fail(b, "dimension numbers that are not three lists") >= 0;
}

static int convolve_hlo(struct build *b, const struct model_call *call)
{
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1),
	    order[3][MODEL_RANK_MOST] = {{0}}, back[MODEL_RANK_MOST];
	if (x < 0 || w < 0)
		return -1;
	int rank = view_at(b, x)->shape.rank, count = 0;
	int64_t list[2 * MODEL_RANK_MOST];
	const char *text =
		call_text(call, call_attribute(call, "dim_numbers")         ? "dim_numbers"
				: call_attribute(call, "dimension_numbers") ? "dimension_numbers"
									    : "convolution_layout");
	struct window window = {
		.spatial = rank - 2, .groups = call_int(call, "feature_group_count", 1)};
	if (!read_numbers(b, text, rank, order))
		return -1;
	x = view_permute(b, x, order[0]);
	w = view_permute(b, w, order[1]);
	if (x < 0 || w < 0)
		return -1;
	fill(window.stride, window.spatial, 1);
	fill(window.dilation, window.spatial, 1);
	for (int d = 0; d < window.spatial; d++)
		window.size[d] = view_at(b, w)->shape.size[d + 2];
	read_list(b, call, call_attribute(call, "stride") ? "stride" : "window_strides",
		window.spatial, window.stride);
	read_list(b, call,
		call_attribute(call, "rhs_dilate")     ? "rhs_dilate"
		: call_attribute(call, "rhs_dilation") ? "rhs_dilation"
						       : "weight_dilation",
		window.spatial, window.dilation);
	mean_ints(b, call, call_attribute(call, "pad") ? "pad" : "padding", -1, 2 * window.spatial,
		list, &count);
	for (int d = 0; count && d < window.spatial; d++) {
		window.low[d] = list[count == 1 ? 0 : 2 * d];
		window.high[d] = list[count == 1 ? 0 : 2 * d + 1];
	}
	int64_t stretched[MODEL_RANK_MOST];
	fill(stretched, window.spatial, 1);
	read_list(b, call, call_attribute(call, "lhs_dilate") ? "lhs_dilate" : "lhs_dilation",
		window.spatial, stretched);
	for (int d = 0; d < window.spatial; d++)
		if (stretched[d] != 1)
			return build_fail(b, "a transposed convolution");
	if (call_int(call, "batch_group_count", 1) != 1)
		return build_fail(b, "groups of batches");
	int v = build_convolution(b, x, w, &window);
	for (int h = 0; h < rank; h++)
		back[order[2][h]] = h;
	return v < 0 ? -1 : view_permute(b, v, back);
}

int mean_convolution(struct build *b, const struct model_call *call, const char *argument)
{
	return mean_is_onnx(call)                    ? convolve_onnx(b, call)
	       : text_equal(call->op, "ttir.conv2d") ? convolve_ttir(b, call)
						     : convolve_hlo(b, call);
}

/* Elements of each window that are data, where those outside do not count. */
static int divide_by_counts(
	struct build *b, int sums, const struct window *w, const struct model_shape *x)
{
	const struct model_shape *out = &view_at(b, sums)->shape;
	struct model_shape shape = {.rank = w->spatial};
	bool even = true;
	int64_t all = 1;
	for (int d = 0; d < w->spatial; d++) {
		shape.size[d] = out->size[d + 2];
		int64_t last =
			(out->size[d + 2] - 1) * w->stride[d] + (w->size[d] - 1) * w->dilation[d];
		even &= w->low[d] == 0 && last < x->size[d + 2];
		all *= w->size[d];
	}
	if (even)
		return build_map_constant(b, "mul", sums, 1 / (double)all);
	int counts = view_stored(b, "window_counts", view_at(b, sums)->dtype, &shape);
	if (counts >= 0)
		b->views.at[counts].weight = true;
	return build_map2(b, "div", sums, counts);
}

int mean_pool(struct build *b, const struct model_call *call, const char *function)
{
	int x = mean_input(b, call, 0);
	if (x < 0)
		return -1;
	bool mean = text_equal(function, "mean"), back = mean_is_ttir(call);
	if (back)
		x = view_at(b, x)->shape.rank == 4 ? view_permute(b, x, to_front)
						   : build_fail(b, "no pool of images");
	if (x < 0)
		return -1;
	struct window window = {.spatial = view_at(b, x)->shape.rank - 2};
	if (window.spatial < 1)
		return build_fail(b, "too few dimensions");
	fill(window.size, window.spatial, 1);
	fill(window.stride, window.spatial, 1);
	fill(window.dilation, window.spatial, 1);
	read_list(b, call, back ? "kernel" : "kernel_shape", window.spatial, window.size);
	if (back)
		read_ttir_window(b, call, &window);
	else
		read_onnx_window(b, call, &view_at(b, x)->shape, &window);
	struct model_shape from = view_at(b, x)->shape;
	bool whole = call_int(call, "count_include_pad", back) && !window.ceil;
	int v = build_pool(b, x, mean ? whole ? "mean" : "sum" : function, &window);
	if (v >= 0 && mean && !whole)
		v = divide_by_counts(b, v, &window, &from);
	return back && v >= 0 ? view_permute(b, v, to_back) : v;
}

int mean_global_pool(struct build *b, const struct model_call *call, const char *function)
{
	int x = mean_input(b, call, 0);
	if (x < 0)
		return -1;
	int rank = view_at(b, x)->shape.rank;
	uint32_t axes = 0;
	for (int h = 0; h < rank; h++)
		if (mean_is_ttir(call) ? h > 0 && h < rank - 1 : h > 1)
			axes |= UINT32_C(1) << h;
	return build_reduce(b, function, x, axes, true);
}

/* The window of a reduction over all dimensions, of which those that it does not move over come first in `order`. */
struct wide_window {
	int rank;
	int64_t size[MODEL_RANK_MOST], stride[MODEL_RANK_MOST], dilation[MODEL_RANK_MOST];
	int64_t base[MODEL_RANK_MOST], pads[2 * MODEL_RANK_MOST];
	int order[MODEL_RANK_MOST];
	struct window moving;
};

static bool read_wide(struct build *b, const struct model_call *call, struct wide_window *wide)
{
	int count = 0, at = 0, rank = wide->rank;
	fill(wide->size, rank, 1);
	fill(wide->stride, rank, 1);
	fill(wide->dilation, rank, 1);
	fill(wide->base, rank, 1);
	fill(wide->pads, 2 * rank, 0);
	read_list(b, call, "window_dimensions", rank, wide->size);
	read_list(b, call, "window_strides", rank, wide->stride);
	read_list(b, call, "window_dilations", rank, wide->dilation);
	read_list(b, call, "base_dilations", rank, wide->base);
	mean_ints(b, call, "padding", -1, 2 * rank, wide->pads, &count);
	for (int h = 0; count == 1 && h < 2 * rank; h++)
		wide->pads[h] = wide->pads[0];
	for (int pass = 0; pass < 2; pass++)
		for (int h = 0; h < rank; h++) {
			bool moves = wide->size[h] > 1 || wide->stride[h] > 1 ||
				     wide->pads[2 * h] || wide->pads[2 * h + 1];
			struct window *to = &wide->moving;
			if (wide->base[h] != 1)
				return build_fail(b, "a window over stretched data") >= 0;
			if (moves != pass)
				continue;
			wide->order[at++] = h;
			if (!moves)
				continue;
			to->size[to->spatial] = wide->size[h];
			to->stride[to->spatial] = wide->stride[h];
			to->dilation[to->spatial] = wide->dilation[h];
			to->low[to->spatial] = wide->pads[2 * h];
			to->high[to->spatial++] = wide->pads[2 * h + 1];
		}
	return true;
}

int mean_reduce_window(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), back[MODEL_RANK_MOST];
	const char *body = call_text(call, "body");
	const char *function = strstr(body, "maximum")   ? "max"
			       : strstr(body, "minimum") ? "min"
			       : strstr(body, "add")     ? "sum"
							 : NULL;
	if (x < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape;
	struct wide_window wide = {.rank = from.rank};
	if (!function || from.rank + 2 > MODEL_RANK_MOST || call->output_count != 1)
		return build_fail(b, "a reduction of its own");
	if (!read_wide(b, call, &wide))
		return -1;
	int spatial = wide.moving.spatial, still = from.rank - spatial;
	struct model_shape joined = {.rank = 2 + spatial, .size = {1, 1}},
			   last = {.rank = from.rank};
	for (int i = 0; i < from.rank; i++) {
		if (i < still)
			joined.size[i == 0 ? 0 : 1] *= from.size[wide.order[i]];
		else
			joined.size[2 + i - still] = from.size[wide.order[i]];
		back[wide.order[i]] = i;
	}
	int turned = view_permute(b, x, wide.order);
	int v = build_pool(b, view_reshape(b, turned, &joined), function, &wide.moving);
	if (v < 0)
		return -1;
	for (int i = 0; i < from.rank; i++)
		last.size[i] = i < still ? from.size[wide.order[i]]
					 : view_at(b, v)->shape.size[2 + i - still];
	return view_permute(b, view_reshape(b, v, &last), back);
}
