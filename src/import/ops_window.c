#include "base/text.h"
#include "import/ops.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void ops_window_fill(int64_t *list, int count, int64_t value)
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

/* [top, left, bottom, right], [height, width] or one number; older forms have an attribute for each. */
static void read_ttir_window(struct build *b, const struct model_call *call, struct window *w)
{
	int64_t pads[2 * MODEL_RANK_MOST];
	int count = 0, n = w->spatial;
	read_list(b, call, "stride", n, w->stride);
	read_list(b, call, "dilation", n, w->dilation);
	mean_ints(b, call, "padding", -1, 2 * n, pads, &count);
	for (int d = 0; count && d < n; d++) {
		w->low[d] = pads[count == 1 ? 0 : d];
		w->high[d] = count == 2 * n ? pads[n + d] : w->low[d];
	}
	for (int d = 0; n == 2 && d < 2 && call_attribute(call, "kernel_height"); d++) {
		w->size[d] = call_int(call, d ? "kernel_width" : "kernel_height", 1);
		w->stride[d] = call_int(call, d ? "stride_width" : "stride_height", 1);
		w->dilation[d] = call_int(call, d ? "dilation_width" : "dilation_height", 1);
		w->low[d] = call_int(call, d ? "padding_left" : "padding_top", 0);
		w->high[d] = call_int(call, d ? "padding_right" : "padding_bottom", 0);
	}
	w->ceil = call_int(call, "ceil_mode", 0);
}

/* Channels behind the images in front of them, and back. */
static int channels_first(struct build *b, int v)
{
	int order[MODEL_RANK_MOST] = {0};
	int rank = v < 0 ? 0 : view_at(b, v)->shape.rank;
	for (int h = 1; h < rank; h++)
		order[h] = h == 1 ? rank - 1 : h - 1;
	return view_permute(b, v, order);
}

static int channels_last(struct build *b, int v)
{
	int order[MODEL_RANK_MOST] = {0};
	int rank = v < 0 ? 0 : view_at(b, v)->shape.rank;
	for (int h = 1; h < rank; h++)
		order[h] = h == rank - 1 ? 1 : h + 1;
	return view_permute(b, v, order);
}

static int add_bias(struct build *b, int v, int bias, int axis)
{
	if (v < 0 || bias < 0)
		return -1;
	if (view_at(b, bias)->kind == VIEW_SPLAT)
		return build_map_constant(b, "add", v, view_at(b, bias)->splat);
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
	ops_window_fill(window.stride, window.spatial, 1);
	ops_window_fill(window.dilation, window.spatial, 1);
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

/* Channels of the image and of the weights are last. */
int mean_convolution_last(struct build *b, const struct model_call *call, const char *argument)
{
	int bias = mean_has(call, 2) ? mean_input(b, call, 2) : -1;
	return channels_last(b, mean_convolve(b, call, channels_first(b, mean_input(b, call, 0)),
					channels_first(b, mean_input(b, call, 1)), bias));
}

/* Along dimension h + 2 of z, whose dimension h + 3 is the window: sums of what windows overlap. */
static int ops_window_overlap(struct build *b, int z, int h, int64_t stride)
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
 * so an output is the sum of the few that overlap there.  `more` rows are added behind.
 */
static int transpose_window(
	struct build *b, int x, int w, const struct window *window, const int64_t *more)
{
	static const char *const x_labels[] = {"", "ngcp", "ngcpq"},
				 *const w_labels[] = {"", "gckr", "gckrs"},
				 *const out_labels[] = {"", "ngkpr", "ngkprqs"};
	int n = window->spatial;
	int64_t groups = window->groups;
	for (int d = 0; d < n && w >= 0; d++)
		w = mean_stretch(b, w, d + 2, window->dilation[d]);
	if (x < 0 || w < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape, by = view_at(b, w)->shape;
	if (n < 1 || n > 2 || by.rank != n + 2 || from.rank != n + 2 || groups < 1 ||
		from.size[1] != by.size[0] || from.size[1] % groups)
		return build_fail(b, "a transposed convolution of other dimensions");
	struct model_shape xs = {n + 3, {from.size[0], groups, from.size[1] / groups}},
			   ws = {n + 3, {groups, by.size[0] / groups, by.size[1]}},
			   zs = {2 + 2 * n, {from.size[0], groups * by.size[1]}};
	for (int d = 0; d < n; d++) {
		if (window->stride[d] < 1 || window->stride[d] > 64 || by.size[2 + d] > 64)
			return build_fail(b, "a transposed convolution with wide windows");
		xs.size[3 + d] = zs.size[2 + 2 * d] = from.size[2 + d];
		ws.size[3 + d] = zs.size[3 + 2 * d] = by.size[2 + d];
	}
	int v = view_reshape(b,
		build_contract(b, view_reshape(b, x, &xs), x_labels[n], view_reshape(b, w, &ws),
			w_labels[n], out_labels[n]),
		&zs);
	for (int d = 0; d < n && v >= 0; d++) {
		int64_t low[MODEL_RANK_MOST] = {0}, high[MODEL_RANK_MOST] = {0};
		v = ops_window_overlap(b, v, d, window->stride[d]);
		int64_t size = (from.size[2 + d] - 1) * window->stride[d] + by.size[2 + d] -
			       window->low[d] - window->high[d] + more[d];
		if (v < 0 || size < 1)
			return build_fail(b, "padding beyond the data");
		low[d + 2] = -window->low[d];
		high[d + 2] = window->low[d] + size - view_at(b, v)->shape.size[d + 2];
		if (low[d + 2] || high[d + 2])
			v = build_pad(b, v, low, high);
	}
	return v;
}

/* Weights are [C, K / groups, ..]; of TTIR images have their channels last. */
int mean_transposed(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1);
	int64_t more[MODEL_RANK_MOST] = {0};
	bool last = mean_is_ttir(call);
	if (x < 0 || w < 0)
		return -1;
	struct window window = {.spatial = view_at(b, x)->shape.rank - 2,
		.groups = call_int(call, last ? "groups" : "group", 1)};
	int n = window.spatial;
	if (n < 1 || n > 2 || view_at(b, w)->shape.rank != n + 2 ||
		call_attribute(call, "output_shape") ||
		strncmp(call_text(call, "auto_pad"), "SAME", 4) == 0)
		return build_fail(b, "a transposed convolution by the shape of its result");
	ops_window_fill(window.stride, n, 1);
	ops_window_fill(window.dilation, n, 1);
	for (int d = 0; d < n; d++)
		window.size[d] = view_at(b, w)->shape.size[d + 2];
	if (last)
		read_ttir_window(b, call, &window);
	else
		read_onnx_window(b, call, &view_at(b, x)->shape, &window);
	read_list(b, call, "output_padding", n, more);
	int v = transpose_window(b, last ? channels_first(b, x) : x, w, &window, more);
	if (v >= 0 && mean_has(call, 2))
		v = add_bias(b, v, mean_input(b, call, 2), 1);
	return last ? channels_last(b, v) : v;
}

static int convolve_ttir(struct build *b, const struct model_call *call)
{
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1);
	if (x < 0 || w < 0)
		return -1;
	int rank = view_at(b, x)->shape.rank;
	struct window window = {.spatial = rank - 2, .groups = call_int(call, "groups", 1)};
	if (rank < 4 || view_at(b, w)->shape.rank != rank)
		return build_fail(b, "a convolution of other than images");
	ops_window_fill(window.stride, window.spatial, 1);
	ops_window_fill(window.dilation, window.spatial, 1);
	bool front = call_int(call, "channel_dim", rank - 1) == 1;
	for (int d = 0; d < window.spatial; d++)
		window.size[d] = view_at(b, w)->shape.size[d + 2];
	read_ttir_window(b, call, &window);
	int v = build_convolution(b, front ? x : channels_first(b, x), w, &window);
	if (v >= 0 && mean_has(call, 2))
		v = add_bias(b, v, mean_input(b, call, 2), 1);
	return front ? v : channels_last(b, v);
}

/* "b 0 1 f x 0 1 i o b 0 1 f": where batch or output channels, channels, and spatial dimensions are. */
static bool ops_window_read_numbers(
	struct build *b, const char *text, int rank, int order[3][MODEL_RANK_MOST])
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

/* "1 x2 x3" of an attribute that holds 1x2x3 */
static int read_crossed(const char *text, int most, int *out)
{
	int count = 0;
	for (; *text && count < most; text++)
		if (isdigit((unsigned char)*text)) {
			int number = 0;
			for (; isdigit((unsigned char)*text) && number < 1000; text++)
				number = 10 * number + *text - '0';
			out[count++] = number;
			text--;
		}
	return count;
}

/* "input_batch = 0, input_spatial_dimensions = 1x2" and so on; false: there are none of these. */
static bool read_named_numbers(
	const struct model_call *call, int rank, int order[3][MODEL_RANK_MOST])
{
	static const char *const names[3][3] = {
		{"input_batch", "input_feature", "input_spatial_dimensions"},
		{"kernel_output_feature", "kernel_input_feature", "kernel_spatial_dimensions"},
		{"output_batch", "output_feature", "output_spatial_dimensions"}};
	for (int i = 0; i < 3; i++) {
		char longer[64];
		for (int k = 0; k < 2; k++) {
			snprintf(longer, sizeof longer, "%s_dimension", names[i][k]);
			order[i][k] = (int)call_int(call, names[i][k], call_int(call, longer, -1));
			if (order[i][k] < 0 || order[i][k] >= rank)
				return false;
		}
		if (read_crossed(call_text(call, names[i][2]), rank - 2, order[i] + 2) != rank - 2)
			return false;
	}
	return true;
}

static const char *first_of(const struct model_call *call, const char *a, const char *c)
{
	return call_attribute(call, a) ? a : c;
}

/* Data stretched and cut, and windows turned round, so that a plain convolution is left. */
static bool settle_hlo(
	struct build *b, const struct model_call *call, int *x, int *w, struct window *window)
{
	int n = window->spatial, count = 0;
	int64_t list[2 * MODEL_RANK_MOST], stretched[MODEL_RANK_MOST], turned[MODEL_RANK_MOST];
	ops_window_fill(stretched, n, 1);
	ops_window_fill(turned, n, 0);
	ops_window_fill(window->stride, n, 1);
	ops_window_fill(window->dilation, n, 1);
	read_list(b, call, first_of(call, "stride", "window_strides"), n, window->stride);
	read_list(b, call,
		first_of(call, "rhs_dilate", first_of(call, "rhs_dilation", "weight_dilation")), n,
		window->dilation);
	read_list(b, call,
		first_of(call, "lhs_dilate", first_of(call, "lhs_dilation", "input_dilation")), n,
		stretched);
	read_list(b, call, first_of(call, "reverse", "window_reversal"), n, turned);
	mean_ints(b, call, first_of(call, "pad", "padding"), -1, 2 * n, list, &count);
	for (int d = 0; d < n && *x >= 0 && *w >= 0; d++) {
		int64_t low = count ? list[count == 1 ? 0 : 2 * d] : 0,
			high = count ? list[count == 1 ? 0 : 2 * d + 1] : 0;
		*x = mean_stretch(b, *x, d + 2, stretched[d]);
		if (turned[d])
			*w = mean_turn(b, *w, d + 2);
		int64_t size = *x < 0 ? 0 : view_at(b, *x)->shape.size[d + 2];
		int64_t front = low < 0 ? -low : 0, behind = high < 0 ? -high : 0;
		if (*x >= 0 && (front >= size || behind >= size - front))
			return build_fail(b, "padding that cuts everything") >= 0;
		if (*x >= 0 && (front || behind))
			*x = mean_slice_one(b, *x, d + 2, front, size - front - behind);
		window->low[d] = low < 0 ? 0 : low;
		window->high[d] = high < 0 ? 0 : high;
	}
	return *x >= 0 && *w >= 0;
}

static int convolve_hlo(struct build *b, const struct model_call *call)
{
	int x = mean_input(b, call, 0), w = mean_input(b, call, 1),
	    order[3][MODEL_RANK_MOST] = {{0}}, back[MODEL_RANK_MOST];
	if (x < 0 || w < 0)
		return -1;
	int rank = view_at(b, x)->shape.rank;
	const char *text = call_text(call, first_of(call, "dim_numbers", "dimension_numbers"));
	struct window window = {
		.spatial = rank - 2, .groups = call_int(call, "feature_group_count", 1)};
	if (rank < 2 || view_at(b, w)->shape.rank != rank)
		return build_fail(b, "weights of another rank");
	if (!read_named_numbers(call, rank, order) &&
		!ops_window_read_numbers(b, text, rank, order))
		return -1;
	x = view_permute(b, x, order[0]);
	w = view_permute(b, w, order[1]);
	if (x < 0 || w < 0)
		return -1;
	for (int d = 0; d < window.spatial; d++)
		window.size[d] = view_at(b, w)->shape.size[d + 2];
	if (!settle_hlo(b, call, &x, &w, &window))
		return -1;
	if (call_int(call, "batch_group_count", 1) != 1)
		return build_fail(b, "groups of batches");
	int v = build_convolution(b, x, w, &window);
	for (int h = 0; h < rank; h++)
		back[order[2][h]] = h;
	v = v < 0 ? -1 : view_permute(b, v, back);
	return v >= 0 && mean_has(call, 2) ? build_map2(b, "add", v, mean_input(b, call, 2)) : v;
}

int mean_convolution(struct build *b, const struct model_call *call, const char *argument)
{
	return mean_is_onnx(call) ? convolve_onnx(b, call)
	       : argument[0]      ? convolve_ttir(b, call)
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

int mean_pool_of(struct build *b, const struct model_call *call, int x, const char *function)
{
	if (x < 0)
		return -1;
	bool mean = text_equal(function, "mean"), back = mean_is_ttir(call);
	if (back)
		x = channels_first(b, x);
	if (x < 0)
		return -1;
	struct window window = {.spatial = view_at(b, x)->shape.rank - 2};
	if (window.spatial < 1)
		return build_fail(b, "too few dimensions");
	ops_window_fill(window.size, window.spatial, 1);
	ops_window_fill(window.stride, window.spatial, 1);
	ops_window_fill(window.dilation, window.spatial, 1);
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
	return back ? channels_last(b, v) : v;
}

/* "norm": the root of the sum of squares, or the sum of absolute values. */
int mean_pool(struct build *b, const struct model_call *call, const char *function)
{
	int x = mean_input(b, call, 0);
	int64_t p = call_int(call, "p", 2);
	if (!text_equal(function, "norm"))
		return mean_pool_of(b, call, x, function);
	if (p < 1 || p > 2)
		return build_fail(b, "a norm other than the first and second");
	int v = mean_pool_of(
		b, call, p == 1 ? build_map(b, "abs", x) : build_map2(b, "mul", x, x), "sum");
	return p == 1 ? v : build_map(b, "sqrt", v);
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

static void read_wide(struct build *b, const struct model_call *call, struct wide_window *wide)
{
	int count = 0, at = 0, rank = wide->rank;
	ops_window_fill(wide->size, rank, 1);
	ops_window_fill(wide->stride, rank, 1);
	ops_window_fill(wide->dilation, rank, 1);
	ops_window_fill(wide->base, rank, 1);
	ops_window_fill(wide->pads, 2 * rank, 0);
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
}

int mean_reduce_window(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), back[MODEL_RANK_MOST];
	static const char *const rows[][2] = {{"maximum", "max"}, {"minimum", "min"},
		{"add", "sum"}, {"Max", "max"}, {"Average", "mean"}, {"Sum", "sum"}};
	const char *body = call_text(call, argument[0] ? argument : "body"), *function = NULL;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strstr(body, rows[i][0]))
			function = rows[i][1];
	if (x < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape;
	struct wide_window wide = {.rank = from.rank};
	if (!function || from.rank + 2 > MODEL_RANK_MOST || call->output_count != 1)
		return build_fail(b, "a reduction of its own");
	read_wide(b, call, &wide);
	for (int h = 0; h < from.rank; h++) {
		if (wide.base[h] != 1 && !text_equal(function, "sum"))
			return build_fail(b, "a window over stretched data");
		x = mean_stretch(b, x, h, wide.base[h]);
	}
	if (x < 0)
		return -1;
	from = view_at(b, x)->shape;
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
	v = view_permute(b, view_reshape(b, v, &last), back);
	return argument[0] ? v
			   : mean_with_first(b, call,
				     text_equal(function, "sum")   ? "add"
				     : text_equal(function, "max") ? "maximum"
								   : "minimum",
				     v);
}
