#include "base/text.h"
#include "import/ops.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* The function of a region or of "applies stablehlo.add". */
static const char *model_call_reducer(const struct model_call *call)
{
	static const char *const rows[][2] = {{"stablehlo.add", "sum"},
		{"stablehlo.maximum", "max"}, {"stablehlo.minimum", "min"}, {"stablehlo.or", "max"},
		{"stablehlo.and", "min"}, {"stablehlo.multiply", "product"}, {"mhlo.add", "sum"},
		{"mhlo.maximum", "max"}};
	const char *body = call_text(call, "body"), *words = call_text(call, "");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (text_equal(body, rows[i][0]) || strstr(words, rows[i][0]))
			return rows[i][1];
	return NULL;
}

bool mean_reduced_axes(struct build *b, const struct model_call *call, int rank, uint32_t *axes)
{
	static const char *const names[] = {"axes", "dim_arg", "dimensions", "dim", NULL};
	int64_t list[MODEL_RANK_MOST];
	int count = 0;
	for (int i = 0; names[i] && !count; i++)
		mean_ints(b, call, names[i], -1, MODEL_RANK_MOST, list, &count);
	if (!count && mean_is_onnx(call) && mean_has(call, 1) &&
		!mean_ints(b, call, NULL, 1, MODEL_RANK_MOST, list, &count))
		return build_fail(b, "axes that are computed") >= 0;
	*axes = count || call_int(call, "noop_with_empty_axes", 0) ? 0 : (UINT32_C(1) << rank) - 1;
	for (int i = 0; i < count; i++) {
		int axis = mean_axis(b, list[i], rank);
		if (axis < 0)
			return false;
		*axes |= UINT32_C(1) << axis;
	}
	return true;
}

bool mean_keeps(const struct model_call *call)
{
	const struct attribute *kept =
		call_attribute(call, mean_is_onnx(call) ? "keepdims" : "keep_dim");
	return kept && kept->int_count ? kept->ints[0] != 0 : mean_is_onnx(call);
}

int mean_with_first(struct build *b, const struct model_call *call, const char *function, int v)
{
	bool sum = text_equal(function, "add"), product = text_equal(function, "mul");
	if (v < 0 || !mean_has(call, 1))
		return v;
	int first = mean_input(b, call, 1);
	if (first < 0)
		return -1;
	double number = view_at(b, first)->splat;
	bool neutral = sum       ? number == 0
		       : product ? number == 1
				 : (text_equal(function, "maximum") ? -number : number) > 1e30;
	if (view_at(b, first)->kind != VIEW_SPLAT)
		return build_map2(b, function, v, first);
	/* of integers and truths the least and the greatest number are not infinite */
	const char *dtype = view_at(b, v)->dtype;
	bool limited = !sum && !product && dtype && (strstr(dtype, "int") || strstr(dtype, "bool"));
	return neutral || limited ? v : build_map_constant(b, function, v, number);
}

int mean_reduce(struct build *b, const struct model_call *call, const char *function)
{
	uint32_t axes = 0;
	int v = mean_input(b, call, 0);
	if (!function[0]) {
		function = model_call_reducer(call);
		if (call->output_count == 2)
			return mean_reduce_pairs(b, call, "");
		if (!function || call->output_count != 1)
			return build_fail(b, "a reduction of its own");
		if (text_equal(function, "product"))
			return mean_with_first(b, call, "mul", mean_reduce_product(b, call, ""));
		v = mean_reduced_axes(b, call, v < 0 ? 0 : view_at(b, v)->shape.rank, &axes)
			    ? build_reduce(b, function, v, axes, false)
			    : -1;
		return mean_with_first(b, call,
			text_equal(function, "sum")   ? "add"
			: text_equal(function, "max") ? "maximum"
						      : "minimum",
			v);
	}
	if (v < 0 || !mean_reduced_axes(b, call, view_at(b, v)->shape.rank, &axes))
		return -1;
	bool keep = mean_keeps(call);
	if (text_equal(function, "sumsquare"))
		return build_reduce(b, "sum", build_map2(b, "mul", v, v), axes, keep);
	if (text_equal(function, "l2"))
		return build_map(
			b, "sqrt", build_reduce(b, "sum", build_map2(b, "mul", v, v), axes, keep));
	if (text_equal(function, "l1"))
		return build_reduce(b, "sum", build_map(b, "abs", v), axes, keep);
	if (text_equal(function, "logsumexp"))
		return build_map(
			b, "log", build_reduce(b, "sum", build_map(b, "exp", v), axes, keep));
	if (text_equal(function, "logsum"))
		return build_map(b, "log", build_reduce(b, "sum", v, axes, keep));
	return build_reduce(b, function, v, axes, keep);
}

int mean_softmax(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	const struct model_shape from = view_at(b, v)->shape;
	bool old = mean_is_onnx(call) && call->version < 13;
	int axis = mean_axis(b,
		call_int(call, "axis",
			call_int(call, "dimension", call_int(call, "dim", old ? 1 : -1))),
		from.rank);
	if (axis < 0)
		return -1;
	if (!old || axis == from.rank - 1)
		return build_softmax(b, v, axis, argument[0]);
	struct model_shape flat = {
		.rank = 2, .size = {1, 1}}; /* before opset 13 over all that follow */
	for (int h = 0; h < from.rank; h++)
		flat.size[h >= axis] *= from.size[h];
	return view_reshape(b, build_softmax(b, view_reshape(b, v, &flat), 1, argument[0]), &from);
}

int mean_layer_norm(struct build *b, const struct model_call *call, const char *kind)
{
	int v = mean_input(b, call, 0), at = 1;
	bool skip = strstr(kind, "skip") != NULL, root = strstr(kind, "rms") != NULL;
	if (v < 0)
		return -1;
	if (skip)
		v = build_map2(b, "add", v, mean_input(b, call, at++));
	if (v < 0)
		return -1;
	int rank = view_at(b, v)->shape.rank, first = rank - 1;
	if (mean_is_ttir(call)) {
		const struct attribute *over = call_attribute(call, "normalized_shape");
		first = over && over->int_count && (int)over->int_count <= rank
				? rank - (int)over->int_count
				: rank - 1;
	} else if (!skip) {
		first = mean_axis(b, call_int(call, "axis", -1), rank);
	}
	if (first < 0)
		return -1;
	int scale = mean_has(call, at) ? mean_input(b, call, at) : -1,
	    bias = mean_has(call, at + 1) && !(skip && root) ? mean_input(b, call, at + 1) : -1;
	uint32_t axes = 0;
	for (int h = first; h < rank; h++)
		axes |= UINT32_C(1) << h;
	if (skip && mean_has(call, at + 1 + !root))
		v = build_map2(b, "add", v, mean_input(b, call, at + 1 + !root));
	if (skip)
		mean_give(b, call, 3, v);
	return build_norm(b, v, axes, call_number(call, "epsilon", 1e-5), !root, scale, bias);
}

/* [C] as [C, 1, 1], so that it stands along one axis of a tensor; one number as a number. */
int mean_along(struct build *b, int v, int axis, int rank)
{
	struct model_shape shape = {.rank = rank - axis};
	if (v < 0)
		return -1;
	if (shape_elements(&view_at(b, v)->shape) == 1)
		shape.rank = 0;
	for (int h = 0; h < shape.rank; h++)
		shape.size[h] = h == 0 ? shape_elements(&view_at(b, v)->shape) : 1;
	return view_reshape(b, v, &shape);
}

int mean_batch_norm(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), parts[4];
	if (x < 0)
		return -1;
	int rank = view_at(b, x)->shape.rank;
	int axis = mean_axis(b,
		mean_is_onnx(call)
			? 1
			: call_int(call, "feature_index", call_int(call, "dimension", 1)),
		rank);
	double epsilon = call_number(call, "epsilon", 1e-5);
	if (axis >= 0 && (argument[0] || call_int(call, "training_mode", 0))) {
		int scale = mean_along(b, mean_input(b, call, 1), axis, rank),
		    bias = mean_along(b, mean_input(b, call, 2), axis, rank);
		uint32_t others = ((UINT32_C(1) << rank) - 1) & ~(UINT32_C(1) << axis);
		if (argument[0]) {
			int mean = build_reduce(b, "mean", x, others, true);
			int off = build_map2(b, "sub", x, mean);
			mean_give(b, call, 1, view_squeeze(b, mean, others));
			mean_give(b, call, 2,
				build_reduce(
					b, "mean", build_map2(b, "mul", off, off), others, false));
		}
		return scale < 0 || bias < 0 ? -1
					     : build_norm(b, x, others, epsilon, true, scale, bias);
	}
	for (int i = 0; i < 4; i++) {
		parts[i] = axis < 0 ? -1 : mean_input(b, call, i + 1);
		if (parts[i] < 0)
			return -1;
	}
	int factor = build_map2(b, "add", parts[3],
		view_splat(b, epsilon, view_at(b, parts[3])->dtype, &view_at(b, parts[3])->shape));
	if (factor >= 0 && view_at(b, factor)->kind == VIEW_SPLAT)
		factor = view_splat(b, 1 / sqrt(view_at(b, factor)->splat),
			view_at(b, factor)->dtype, &view_at(b, factor)->shape);
	else
		factor = build_map(b, "rsqrt", factor);
	factor = build_map2(b, "mul", parts[0], factor);
	int shifted = build_map2(b, "sub", x, mean_along(b, parts[2], axis, rank));
	return build_map2(b, "add",
		build_map2(b, "mul", shifted, mean_along(b, factor, axis, rank)),
		mean_along(b, parts[1], axis, rank));
}

/* (x - mean) / deviation over the axes */
int mean_standard(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t axes[MODEL_RANK_MOST] = {0, 2, 3};
	int v = mean_input(b, call, 0), count = 3;
	uint32_t set = 0;
	if (v < 0)
		return -1;
	int64_t list[MODEL_RANK_MOST];
	int given = 0;
	if (mean_ints(b, call, "axes", -1, MODEL_RANK_MOST, list, &given) && given) {
		memcpy(axes, list, sizeof list);
		count = given;
	}
	for (int i = 0; i < count; i++) {
		int axis = mean_axis(b, axes[i], view_at(b, v)->shape.rank);
		if (axis < 0)
			return -1;
		set |= UINT32_C(1) << axis;
	}
	return build_norm(b, v, set, 1e-9, true, -1, -1);
}

/* Of TTIR the operands are those that are there, and channels are last if need be. */
int mean_group_norm(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0), scale = -1, bias = -1;
	if (x < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape, split = {.rank = from.rank + 1};
	bool fused = argument[0] != 0; /* of com.microsoft: channels last, and an activation */
	int axis = mean_is_ttir(call) ? (int)call_int(call, "channel_dim", from.rank - 1)
		   : fused && call_int(call, "channels_last", 1) ? from.rank - 1
								 : 1;
	bool instance = text_equal(call->op, "InstanceNormalization") && from.rank > 1;
	int64_t groups =
		call_int(call, fused ? "groups" : "num_groups", instance ? from.size[1] : 1);
	if (from.rank < 2 || axis < 1 || axis >= from.rank || split.rank > MODEL_RANK_MOST ||
		groups < 1 || from.size[axis] % groups)
		return build_fail(b, "groups that do not divide the channels");
	for (int h = 0; h < split.rank; h++)
		split.size[h] = h == axis       ? groups
				: h == axis + 1 ? from.size[axis] / groups
						: from.size[h - (h > axis)];
	uint32_t kept = UINT32_C(1) | UINT32_C(1) << axis;
	int v = build_norm(b, view_reshape(b, x, &split), ((UINT32_C(1) << split.rank) - 1) & ~kept,
		call_number(call, "epsilon", 1e-5), true, -1, -1);
	v = view_reshape(b, v, &from);
	for (int i = 1; i < call->input_count; i++) {
		int by = mean_input(b, call, i);
		bool masks = by >= 0 && view_at(b, by)->shape.rank > 1;
		if (by >= 0 && !masks && shape_elements(&view_at(b, by)->shape) == groups)
			by = mean_repeat_axis(b, by, 0, from.size[axis] / groups, true);
		if (by < 0 || masks || shape_elements(&view_at(b, by)->shape) != from.size[axis]) {
			if (masks && mean_is_ttir(call))
				continue;
			return build_fail(b, "scales for groups");
		}
		bias = scale < 0 ? -1 : by;
		scale = scale < 0 ? by : scale;
	}
	if (scale >= 0)
		v = build_map2(b, "mul", v, mean_along(b, scale, axis, from.rank));
	if (bias >= 0)
		v = build_map2(b, "add", v, mean_along(b, bias, axis, from.rank));
	return fused && call_int(call, "activation", 0) ? build_map(b, "silu", v) : v;
}

/* x / (k + alpha / size * sum of squares of neighbouring channels) ^ beta */
int mean_local_response(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0);
	int64_t size = call_int(call, "size", 1);
	if (x < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape, flat = {.rank = 3};
	if (from.rank < 3 || size < 1)
		return build_fail(b, "too few dimensions");
	flat.size[0] = from.size[0];
	flat.size[1] = 1;
	flat.size[2] = from.size[1];
	flat.rank = 2 + from.rank - 1;
	for (int h = 2; h < from.rank; h++)
		flat.size[h + 1] = from.size[h];
	if (flat.rank > MODEL_RANK_MOST)
		return build_fail(b, "too many dimensions");
	struct window window = {.spatial = flat.rank - 2};
	for (int d = 0; d < window.spatial; d++)
		window.size[d] = window.stride[d] = window.dilation[d] = 1;
	window.size[0] = size;
	window.low[0] = (size - 1) / 2;
	window.high[0] = size - 1 - window.low[0];
	int squares = build_map2(b, "mul", x, x);
	int sums = view_reshape(
		b, build_pool(b, view_reshape(b, squares, &flat), "sum", &window), &from);
	int base =
		build_map_constant(b, "mul", sums, call_number(call, "alpha", 1e-4) / (double)size);
	base = build_map_constant(b, "add", base, call_number(call, "bias", 1));
	return build_map2(
		b, "div", x, build_map_constant(b, "pow", base, call_number(call, "beta", 0.75)));
}

/* a and c as [.., m, k] and [.., k, n] with equal batch dimensions. */
int mean_product(struct build *b, int a, int c, bool a_turned, bool c_turned)
{
	char la[MODEL_RANK_MOST + 1] = {0}, lc[MODEL_RANK_MOST + 1] = {0},
				  lo[MODEL_RANK_MOST + 1] = {0};
	if (a < 0 || c < 0)
		return -1;
	int ra = view_at(b, a)->shape.rank, rc = view_at(b, c)->shape.rank, batch = 0, out = 0;
	if (ra < 1 || rc < 1)
		return build_fail(b, "a product of a number");
	int more = ra > rc ? ra : rc;
	for (int h = 0; h < ra; h++)
		la[h] = (char)(h >= ra - 2 ? 0 : 'A' + h + more - ra);
	for (int h = 0; h < rc; h++)
		lc[h] = (char)(h >= rc - 2 ? 0 : 'A' + h + more - rc);
	for (batch = 0; batch < more - 2; batch++)
		lo[out++] = (char)('A' + batch);
	if (ra == 1) {
		la[0] = 'k';
	} else {
		la[ra - 2 + a_turned] = 'm';
		la[ra - 1 - a_turned] = 'k';
		lo[out++] = 'm';
	}
	if (rc == 1) {
		lc[0] = 'k';
	} else {
		lc[rc - 2 + c_turned] = 'k';
		lc[rc - 1 - c_turned] = 'n';
		lo[out++] = 'n';
	}
	return build_contract(b, a, la, c, lc, lo);
}

int mean_matmul(struct build *b, const struct model_call *call, const char *argument)
{
	return mean_product(b, mean_input(b, call, 0), mean_input(b, call, 1),
		call_int(call, "transpose_a", call_int(call, "transA", 0)),
		call_int(call, "transpose_b", call_int(call, "transB", 0)));
}

int mean_matmul_scaled(struct build *b, const struct model_call *call, const char *argument)
{
	double alpha = call_number(call, "alpha", 1);
	int v = mean_matmul(b, call, argument);
	return alpha == 1 ? v : build_map_constant(b, "mul", v, alpha);
}

int mean_linear(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_matmul(b, call, argument);
	return mean_has(call, 2) ? build_map2(b, "add", v, mean_input(b, call, 2)) : v;
}

int mean_gemm(struct build *b, const struct model_call *call, const char *argument)
{
	double alpha = call_number(call, "alpha", 1), beta = call_number(call, "beta", 1);
	int v = mean_product(b, mean_input(b, call, 0), mean_input(b, call, 1),
		call_int(call, "transA", 0), call_int(call, "transB", 0));
	if (alpha != 1)
		v = build_map_constant(b, "mul", v, alpha);
	if (!mean_has(call, 2) || beta == 0)
		return v;
	int bias = mean_input(b, call, 2);
	if (beta != 1)
		bias = build_map2(
			b, "mul", bias, view_splat(b, beta, "fp32", &(struct model_shape){0}));
	return build_map2(b, "add", v, bias);
}

static int ops_sum_halves(struct build *b, const struct model_call *call, const char *pretty,
	const char *left, const char *right, int64_t *l, int64_t *r)
{
	int64_t both[2 * MODEL_RANK_MOST];
	int count = 0, other = 0;
	if (call_attribute(call, pretty)) {
		mean_ints(b, call, pretty, -1, 2 * MODEL_RANK_MOST, both, &count);
		for (int i = 0; i < count / 2; i++) {
			l[i] = both[i];
			r[i] = both[count / 2 + i];
		}
		return count / 2;
	}
	mean_ints(b, call, left, -1, MODEL_RANK_MOST, l, &count);
	mean_ints(b, call, right, -1, MODEL_RANK_MOST, r, &other);
	return count < other ? count : other;
}

static bool label_pairs(struct build *b, int count, const int64_t *l, const int64_t *r, char first,
	char *la, int ra, char *lc, int rc)
{
	for (int i = 0; i < count; i++) {
		if (l[i] < 0 || l[i] >= ra || r[i] < 0 || r[i] >= rc)
			return build_fail(b, "a product over a dimension that is not there") >= 0;
		la[l[i]] = lc[r[i]] = (char)(first + i);
	}
	return true;
}

int mean_dot_general(struct build *b, const struct model_call *call, const char *argument)
{
	char la[MODEL_RANK_MOST + 1] = {0}, lc[MODEL_RANK_MOST + 1] = {0},
				  lo[2 * MODEL_RANK_MOST + 1] = {0};
	int64_t l[MODEL_RANK_MOST] = {0}, r[MODEL_RANK_MOST] = {0};
	int a = mean_input(b, call, 0), c = mean_input(b, call, 1), out = 0;
	if (a < 0 || c < 0)
		return -1;
	int ra = view_at(b, a)->shape.rank, rc = view_at(b, c)->shape.rank, batch = 0;
	if (text_equal(call->op, "stablehlo.dot"))
		return mean_product(b, a, c, false, false);
	bool pairs = call_attribute(call, "lhs_batching_dimensions") ||
		     call_attribute(call, "lhs_contracting_dimensions");
	batch = ops_sum_halves(b, call, "batching_dims",
		pairs ? "lhs_batching_dimensions" : "batch_dims_lhs",
		pairs ? "rhs_batching_dimensions" : "batch_dims_rhs", l, r);
	if (!label_pairs(b, batch, l, r, 'A', la, ra, lc, rc))
		return -1;
	for (int i = 0; i < batch; i++)
		lo[out++] = (char)('A' + i);
	int sum = ops_sum_halves(b, call, "contracting_dims",
		pairs ? "lhs_contracting_dimensions" : "contract_dims_lhs",
		pairs ? "rhs_contracting_dimensions" : "contract_dims_rhs", l, r);
	if (!label_pairs(b, sum, l, r, 'P', la, ra, lc, rc))
		return -1;
	for (int h = 0; h < ra; h++)
		if (!la[h])
			lo[out++] = la[h] = (char)('a' + h);
	for (int h = 0; h < rc; h++)
		if (!lc[h])
			lo[out++] = lc[h] = (char)('n' + h);
	return out > MODEL_RANK_MOST ? build_fail(b, "too many dimensions")
				     : build_contract(b, a, la, c, lc, lo);
}

enum { EINSUM_MOST = 8 };

struct label_equation {
	int count; /* operands */
	char labels[EINSUM_MOST][MODEL_RANK_MOST + 1], out[2 * MODEL_RANK_MOST + 1];
};

/* The dimensions that an ellipsis stands for are A, B .. from the right. */
static bool read_labels_of(struct build *b, const char *text, size_t length, int rank, char *out)
{
	int plain = 0, at = 0;
	for (size_t i = 0; i < length; i++)
		plain += isalpha((unsigned char)text[i]) != 0;
	for (size_t i = 0; i < length; i++) {
		bool dots = i + 2 < length && !strncmp(text + i, "...", 3);
		for (int k = 0; dots && k < rank - plain && at < MODEL_RANK_MOST; k++)
			out[at++] = (char)('Z' - (rank - plain - 1 - k));
		i += dots ? 2 : 0;
		if (!dots && isalpha((unsigned char)text[i]) && at < MODEL_RANK_MOST)
			out[at++] = text[i];
	}
	out[at] = '\0';
	return at == rank || build_fail(b, "an einsum of other ranks") >= 0;
}

/* Without an arrow: the ellipsis, then the labels that stand once, in the order of letters. */
static void imply_output(struct label_equation *e, int dots)
{
	int at = 0;
	for (int k = dots - 1; k >= 0; k--)
		e->out[at++] = (char)('Z' - k);
	for (char c = 'A'; c <= 'z' && at < MODEL_RANK_MOST; c++) {
		int seen = 0;
		for (int i = 0; i < e->count; i++)
			for (const char *l = e->labels[i]; *l; l++)
				seen += *l == c;
		if (seen == 1 && !strchr(e->out, c))
			e->out[at++] = c;
	}
}

static bool read_equation(
	struct build *b, const struct model_call *call, const char *text, struct label_equation *e)
{
	const char *arrow = strstr(text, "->"), *end = arrow ? arrow : text + strlen(text);
	int dots = 0;
	*e = (struct label_equation){.count = call->input_count};
	if (e->count < 1 || e->count > EINSUM_MOST)
		return build_fail(b, "an einsum of %d operands", e->count) >= 0;
	for (int i = 0; i < e->count; i++) {
		int v = mean_input(b, call, i);
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma ? comma : end;
		if (v < 0 || text > end || !comma != (i == e->count - 1))
			return build_fail(b, "an einsum of %d operands", e->count) >= 0;
		int plain = 0, rank = view_at(b, v)->shape.rank;
		if (!read_labels_of(b, text, (size_t)(stop - text), rank, e->labels[i]))
			return false;
		for (const char *at = text; at < stop; at++)
			plain += isalpha((unsigned char)*at) != 0;
		dots = rank - plain > dots ? rank - plain : dots;
		text = stop + 1;
	}
	if (!arrow) {
		imply_output(e, dots);
		return true;
	}
	int plain = 0;
	for (const char *at = arrow; *at; at++)
		plain += isalpha((unsigned char)*at) != 0;
	int rank = plain + (strstr(arrow, "...") ? dots : 0);
	return rank <= MODEL_RANK_MOST
		       ? read_labels_of(b, arrow + 2, strlen(arrow + 2), rank, e->out)
		       : build_fail(b, "too many dimensions") >= 0;
}

/* The labels of a product of the first i operands with the next that are needed later. */
static void needed_labels(const struct label_equation *e, const char *before, int i, char *out)
{
	int at = 0;
	for (int side = 0; side < 2; side++)
		for (const char *l = side ? e->labels[i] : before; *l; l++) {
			bool later = strchr(e->out, *l) != NULL;
			for (int k = i + 1; k < e->count; k++)
				later |= strchr(e->labels[k], *l) != NULL;
			if (later && !memchr(out, *l, (size_t)at) && at < MODEL_RANK_MOST)
				out[at++] = *l;
		}
	out[at] = '\0';
}

/* Sums over the labels that are not in `out`, the others in its order. */
static int sum_labels(struct build *b, int v, const char *labels, const char *out)
{
	uint32_t axes = 0;
	int order[MODEL_RANK_MOST] = {0}, kept = 0;
	for (int h = 0; labels[h]; h++) {
		const char *to = strchr(out, labels[h]);
		if (strchr(labels, labels[h]) != labels + h)
			return build_fail(b, "a diagonal");
		if (to)
			order[to - out] = kept++;
		else
			axes |= UINT32_C(1) << h;
	}
	if ((size_t)kept != strlen(out))
		return build_fail(b, "a label of the result that no operand has");
	v = axes ? build_reduce(b, "sum", v, axes, false) : v;
	return view_permute(b, v, order);
}

/* Products of two operands after one another, of which the last one has the order of the result. */
int mean_einsum(struct build *b, const struct model_call *call, const char *argument)
{
	struct label_equation e;
	char labels[MODEL_RANK_MOST + 1], next[MODEL_RANK_MOST + 1];
	if (!read_equation(b, call, call_text(call, argument[0] ? argument : "equation"), &e))
		return -1;
	int v = mean_input(b, call, 0);
	if (e.count == 1)
		return sum_labels(b, v, e.labels[0], e.out);
	memcpy(labels, e.labels[0], sizeof labels);
	for (int i = 1; i < e.count && v >= 0; i++) {
		needed_labels(&e, labels, i, next);
		const char *to = i == e.count - 1 ? e.out : next;
		v = build_contract(b, v, labels, mean_input(b, call, i), e.labels[i], to);
		memcpy(labels, next, sizeof labels);
	}
	return v;
}

/* Gives the result of a statement another type; views and constants keep theirs. */
static int ops_sum_retype(struct build *b, int v, const char *dtype)
{
	if (v >= 0 && view_at(b, v)->kind == VIEW_STORED && view_at(b, v)->written)
		b->views.at[v].dtype = dtype;
	return v;
}

/* v function operand i, which stands along one axis of v or is one number. */
static int ops_sum_with(struct build *b, const struct model_call *call, const char *function, int v,
	int i, int axis)
{
	int by = mean_input(b, call, i);
	if (v < 0 || by < 0)
		return -1;
	return build_map2(b, function, v, mean_along(b, by, axis, view_at(b, v)->shape.rank));
}

/* v less its zero point, operand i. */
static int ops_sum_centre(struct build *b, const struct model_call *call, int v, int i, int axis)
{
	if (v < 0 || !mean_has(call, i))
		return v;
	int zero = mean_input(b, call, i);
	if (zero >= 0 && view_at(b, zero)->kind == VIEW_SPLAT && view_at(b, zero)->splat == 0)
		return v;
	return ops_sum_retype(b, ops_sum_with(b, call, "sub", v, i, axis), "int32");
}

static int numbers_of(
	struct build *b, const struct model_call *call, int i, int scale, int zero, int axis)
{
	int v = mean_input(b, call, i);
	return ops_sum_retype(b,
		ops_sum_with(b, call, "mul", ops_sum_centre(b, call, v, zero, axis), scale, axis),
		"fp32");
}

/* The axis of scales that are more than one. */
static int scale_axis(struct build *b, const struct model_call *call, int v)
{
	int rank = v < 0 ? 0 : view_at(b, v)->shape.rank;
	int64_t axis = call_int(call, "axis", 1);
	return rank < 2 || axis < -rank || axis >= rank ? 0 : (int)(axis < 0 ? axis + rank : axis);
}

/* Returns the quantisation of value i; NULL: it has none. */
static const struct quantization *quantization_of(
	const struct build *b, const int *values, int count, int i)
{
	return i < count && values[i] >= 0 ? b->model->values.at[values[i]].quantization : NULL;
}

/* Integers within limits, in the type that holds them. */
static int ops_sum_limited(struct build *b, int v, int64_t low, int64_t high)
{
	v = low == 0 ? build_map(b, "relu", v) : build_map_constant(b, "maximum", v, (double)low);
	v = build_map_constant(b, "minimum", v, (double)high);
	return ops_sum_retype(b, v, high > 255 ? "int32" : "int8");
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
		v = ops_sum_retype(b, with_pairs(b, "sub", v, from, from->zeros, "zeros"), "int32");
		v = ops_sum_retype(
			b, with_pairs(b, "mul", v, from, from->scales, "scales"), "fp32");
	}
	if (!to)
		return v;
	v = ops_sum_retype(b, with_pairs(b, "div", v, to, to->scales, "scales"), "fp32");
	v = with_pairs(b, "add", build_map(b, "round", v), to, to->zeros, "zeros");
	return ops_sum_limited(b, v, to->low, to->high);
}

/* Numbers divided by their scale (-1: they are) as integers of the type of the zero point. */
static int levels_of(
	struct build *b, const struct model_call *call, int v, int scale, int zero, int axis)
{
	if (scale >= 0)
		v = ops_sum_retype(b, ops_sum_with(b, call, "div", v, scale, axis), "fp32");
	v = build_map(b, "round", v);
	bool is_signed =
		mean_has(call, zero) && !b->model->values.at[call->inputs[zero]].is_unsigned;
	if (mean_has(call, zero)) {
		int at = mean_input(b, call, zero);
		if (at >= 0 && (view_at(b, at)->kind != VIEW_SPLAT || view_at(b, at)->splat != 0))
			v = ops_sum_with(b, call, "add", v, zero, axis);
	}
	const struct quantization *q = quantization_of(b, call->outputs, call->output_count, 0);
	return ops_sum_limited(b, v,
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
	v = ops_sum_retype(b, build_map_constant(b, "minimum", v, 255), "int8");
	mean_give(b, call, 1, scale);
	mean_give(b, call, 2, ops_sum_retype(b, zero, "int8"));
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
	a = ops_sum_centre(b, call, a, zero_a, rank_a > 1 ? rank_a - 2 : 0);
	c = ops_sum_centre(b, call, c, zero_c, rank_c - 1);
	int v = ops_sum_retype(b, mean_product(b, a, c, false, false), "int32");
	if (!argument[0] || v < 0)
		return v;
	int last = view_at(b, v)->shape.rank - 1;
	v = ops_sum_retype(b,
		ops_sum_with(b, call, "mul", v, second == 3 ? 1 : 2, last > 0 ? last - 1 : 0),
		"fp32");
	v = ops_sum_with(b, call, "mul", v, second == 3 ? 4 : 3, last);
	if (second == 3)
		return levels_of(b, call, v, 6, 7, last);
	return mean_has(call, 6) ? build_map2(b, "add", v, mean_input(b, call, 6)) : v;
}

/* A, B with scales and zero points, C of their product, and those of the result; without them a number. */
int mean_gemm_integer(struct build *b, const struct model_call *call, const char *argument)
{
	bool a_turned = call_int(call, "transA", 0), c_turned = call_int(call, "transB", 0);
	int a = ops_sum_centre(b, call, mean_input(b, call, 0), 2, 0),
	    c = ops_sum_centre(b, call, mean_input(b, call, 3), 5, c_turned ? 0 : 1);
	int v = ops_sum_retype(b, mean_product(b, a, c, a_turned, c_turned), "int32");
	if (mean_has(call, 6))
		v = build_map2(b, "add", v, mean_input(b, call, 6));
	v = ops_sum_retype(b, ops_sum_with(b, call, "mul", v, 1, 0), "fp32");
	v = ops_sum_with(b, call, "mul", v, 4, 1);
	if (call_number(call, "alpha", 1) != 1)
		v = build_map_constant(b, "mul", v, call_number(call, "alpha", 1));
	return mean_has(call, 7) ? levels_of(b, call, v, 7, 8, 1) : v;
}

/* Convolutions of integers; with scales the result is requantised. */
int mean_conv_integer(struct build *b, const struct model_call *call, const char *argument)
{
	bool scaled = argument[0] != 0;
	int x = ops_sum_centre(b, call, mean_input(b, call, 0), 2, 1);
	int w = ops_sum_centre(b, call, mean_input(b, call, scaled ? 3 : 1), scaled ? 5 : 3, 0);
	int bias = scaled && mean_has(call, 8) ? mean_input(b, call, 8) : -1;
	int v = ops_sum_retype(b, mean_convolve(b, call, x, w, bias), "int32");
	if (!scaled || v < 0)
		return v;
	int factor = build_map2(b, "div",
		build_map2(b, "mul", mean_input(b, call, 4), mean_input(b, call, 1)),
		mean_input(b, call, 6));
	if (factor < 0)
		return -1;
	v = build_map2(b, "mul", v, mean_along(b, factor, 1, view_at(b, v)->shape.rank));
	return levels_of(b, call, ops_sum_retype(b, v, "fp32"), -1, 7, 1);
}

/* Of two quantised operands, each with scale and zero point, then those of the result. */
int mean_quantized_pair(struct build *b, const struct model_call *call, const char *function)
{
	int v = build_map2(
		b, function, numbers_of(b, call, 0, 1, 2, 0), numbers_of(b, call, 3, 4, 5, 0));
	return levels_of(b, call, v, 6, 7, 0);
}

/* Of one operand: a map, a mean over the image, a pool, or a softmax along the last dimension. */
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
	else if (text_equal(function, "pool"))
		v = call_int(call, "channels_last", 0) ? build_fail(b, "channels that are last")
						       : mean_pool_of(b, call, v, "mean");
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
