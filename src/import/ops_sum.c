#include "base/text.h"
#include "import/ops.h"

#include <math.h>
#include <string.h>

/* The function of a region or of "applies stablehlo.add". */
static const char *reducer(const struct model_call *call)
{
	static const char *const rows[][2] = {{"stablehlo.add", "sum"},
		{"stablehlo.maximum", "max"}, {"stablehlo.minimum", "min"}, {"stablehlo.or", "max"},
		{"stablehlo.and", "min"}, {"mhlo.add", "sum"}, {"mhlo.maximum", "max"}};
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

int mean_reduce(struct build *b, const struct model_call *call, const char *function)
{
	uint32_t axes = 0;
	int v = mean_input(b, call, 0);
	if (!function[0]) {
		function = reducer(call);
		if (!function || call->output_count != 1)
			return build_fail(b, "a reduction of its own");
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
	if (axis >= 0 && call_int(call, "training_mode", 0)) {
		int scale = mean_along(b, mean_input(b, call, 1), axis, rank),
		    bias = mean_along(b, mean_input(b, call, 2), axis, rank);
		uint32_t others = ((UINT32_C(1) << rank) - 1) & ~(UINT32_C(1) << axis);
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

int mean_group_norm(struct build *b, const struct model_call *call, const char *argument)
{
	int x = mean_input(b, call, 0);
	if (x < 0)
		return -1;
	struct model_shape from = view_at(b, x)->shape, split = {.rank = from.rank + 1};
	int64_t groups = call_int(call, "num_groups",
		text_equal(call->op, "InstanceNormalization") && from.rank > 1 ? from.size[1] : 1);
	if (from.rank < 3 || mean_is_ttir(call) || split.rank > MODEL_RANK_MOST || groups < 1 ||
		from.size[1] % groups)
		return build_fail(b, "groups that do not divide the channels");
	for (int h = 0; h < split.rank; h++)
		split.size[h] = h == 0   ? from.size[0]
				: h == 1 ? groups
				: h == 2 ? from.size[1] / groups
					 : from.size[h - 1];
	int v = build_norm(b, view_reshape(b, x, &split),
		((UINT32_C(1) << split.rank) - 1) & ~UINT32_C(3),
		call_number(call, "epsilon", 1e-5), true, -1, -1);
	v = view_reshape(b, v, &from);
	int scale = mean_input(b, call, 1), bias = mean_input(b, call, 2);
	if (v < 0 || scale < 0 || bias < 0 ||
		shape_elements(&view_at(b, scale)->shape) != from.size[1])
		return build_fail(b, "scales for groups");
	return build_map2(b, "add", build_map2(b, "mul", v, mean_along(b, scale, 1, from.rank)),
		mean_along(b, bias, 1, from.rank));
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

static int halves(struct build *b, const struct model_call *call, const char *pretty,
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
	batch = halves(b, call, "batching_dims",
		pairs ? "lhs_batching_dimensions" : "batch_dims_lhs",
		pairs ? "rhs_batching_dimensions" : "batch_dims_rhs", l, r);
	if (!label_pairs(b, batch, l, r, 'A', la, ra, lc, rc))
		return -1;
	for (int i = 0; i < batch; i++)
		lo[out++] = (char)('A' + i);
	int sum = halves(b, call, "contracting_dims",
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

int mean_einsum(struct build *b, const struct model_call *call, const char *argument)
{
	char parts[3][MODEL_RANK_MOST + 1] = {{0}};
	int part = 0, length = 0;
	for (const char *at = call_text(call, "equation"); *at; at++) {
		if (*at == ' ')
			continue;
		if (*at == ',' || *at == '-') {
			part = *at == '-' ? 2 : part + 1;
			length = 0;
			at += *at == '-';
		} else if (part > 2 || length == MODEL_RANK_MOST || *at == '.') {
			return build_fail(b, "an einsum of more than two operands, or with dots");
		} else {
			parts[part][length++] = *at;
		}
	}
	if (call->input_count != 2 || part != 2)
		return build_fail(b, "an einsum of %d operands", call->input_count);
	int a = mean_input(b, call, 0), c = mean_input(b, call, 1);
	if (a < 0 || c < 0 || (int)strlen(parts[0]) != view_at(b, a)->shape.rank ||
		(int)strlen(parts[1]) != view_at(b, c)->shape.rank)
		return build_fail(b, "an einsum of other ranks");
	return build_contract(b, a, parts[0], c, parts[1], parts[2]);
}
