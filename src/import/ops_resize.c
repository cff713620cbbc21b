#include "base/text.h"
#include "import/ops.h"

#include <math.h>
#include <string.h>

/* Resizing of a dimension: mode, places of outputs in the input, rounding of places. */
struct resizing {
	bool nearest, linear;
	const char *places, *rounds;
};

/* Position of output o in the input, in elements. */
static double source_position(const char *places, int64_t o, int64_t from, int64_t to, double scale)
{
	if (text_equal(places, "align_corners"))
		return to > 1 ? (double)o * (double)(from - 1) / (double)(to - 1) : 0;
	if (text_equal(places, "asymmetric"))
		return (double)o / scale;
	if (text_equal(places, "pytorch_half_pixel") && to == 1)
		return 0;
	return ((double)o + 0.5) / scale - 0.5;
}

/* By a table in memory of the weights of each output: a product. */
static int resize_by_table(struct build *b, int v, int axis, int64_t to)
{
	char from_labels[MODEL_RANK_MOST + 1] = {0}, to_labels[MODEL_RANK_MOST + 1] = {0};
	struct model_shape shape = view_at(b, v)->shape;
	for (int h = 0; h < shape.rank; h++)
		from_labels[h] = to_labels[h] = (char)('a' + h);
	to_labels[axis] = 'z';
	const char table_labels[] = {'z', from_labels[axis], '\0'};
	int table = view_stored(
		b, "resize_weights", "fp32", &(struct model_shape){2, {to, shape.size[axis]}});
	if (table < 0)
		return -1;
	b->views.at[table].weight = true;
	return build_contract(b, v, from_labels, table, table_labels, to_labels);
}

/* a (1 - part) + c part */
static int ops_resize_mix(struct build *b, int a, int c, double part)
{
	if (part == 0)
		return a;
	return build_map2(b, "add", build_map_constant(b, "mul", a, 1 - part),
		build_map_constant(b, "mul", c, part));
}

/* By a whole factor: of each element as many mixtures with its neighbours, one behind the other. */
static int interpolate_phases(struct build *b, int v, int axis, int64_t factor, const char *places)
{
	enum { FACTOR_MOST = 16 };
	int parts[FACTOR_MOST];
	int64_t size = view_at(b, v)->shape.size[axis];
	struct model_shape whole = view_at(b, v)->shape, apart = {.rank = whole.rank + 1};
	if (factor > FACTOR_MOST || apart.rank > MODEL_RANK_MOST)
		return resize_by_table(b, v, axis, size * factor);
	int first = mean_slice_one(b, v, axis, 0, 1),
	    last = mean_slice_one(b, v, axis, size - 1, 1);
	int front = mean_slice_one(b, v, axis, 0, size - 1),
	    back = mean_slice_one(b, v, axis, 1, size - 1);
	if (b->why)
		return -1;
	int before = build_concat(b, (int[]){first, front}, 2, axis),
	    after = build_concat(b, (int[]){back, last}, 2, axis);
	for (int h = 0; h < apart.rank; h++)
		apart.size[h] = h == axis + 1 ? 1 : whole.size[h - (h > axis)];
	for (int64_t p = 0; p < factor; p++) {
		double off = source_position(places, p, size, size * factor, (double)factor);
		int part = off < 0 ? ops_resize_mix(b, v, before, -off)
				   : ops_resize_mix(b, v, after, off);
		parts[p] = view_reshape(b, part, &apart);
		if (parts[p] < 0)
			return -1;
	}
	whole.size[axis] *= factor;
	return view_reshape(b, build_concat(b, parts, (int)factor, axis + 1), &whole);
}

/* The element that is nearest to an output. */
static int64_t nearest_element(const struct resizing *how, double at, int64_t size)
{
	double whole = text_equal(how->rounds, "floor")               ? floor(at)
		       : text_equal(how->rounds, "ceil")              ? ceil(at)
		       : text_equal(how->rounds, "round_prefer_ceil") ? floor(at + 0.5)
								      : ceil(at - 0.5);
	return whole < 0 ? 0 : whole > (double)(size - 1) ? size - 1 : (int64_t)whole;
}

/* Elements that repeat, or some that are equally far apart, are views; others a table of ones. */
static int pick_nearest(
	struct build *b, int v, int axis, int64_t to, double factor, const struct resizing *how)
{
	int64_t start[MODEL_RANK_MOST] = {0}, length[MODEL_RANK_MOST], step[MODEL_RANK_MOST];
	int64_t size = view_at(b, v)->shape.size[axis], times = to / size, first = 0, apart = 1;
	bool few = !(to >> 24), repeats = few && to % size == 0, even = few && to < size;
	for (int64_t o = 0; o < to && (repeats || even); o++) {
		int64_t at = nearest_element(
			how, source_position(how->places, o, size, to, factor), size);
		first = o == 0 ? at : first;
		apart = o == 1 ? at - first : apart;
		repeats &= times > 0 && at == o / times;
		even &= apart > 0 && at == first + o * apart;
	}
	if (repeats)
		return mean_repeat_axis(b, v, axis, times, true);
	if (!even)
		return resize_by_table(b, v, axis, to);
	for (int h = 0; h < view_at(b, v)->shape.rank; h++) {
		length[h] = view_at(b, v)->shape.size[h];
		step[h] = 1;
	}
	start[axis] = first;
	length[axis] = to;
	step[axis] = apart;
	return view_slice(b, v, start, length, step);
}

static int resize_axis(
	struct build *b, int v, int axis, int64_t to, double factor, const struct resizing *how)
{
	int64_t size = view_at(b, v)->shape.size[axis];
	if (size == to)
		return v;
	if (to < 1 || to >> DIM_MOST_LOG2)
		return build_fail(b, "it is resized by %g", factor);
	if (size == 1)
		return mean_repeat_axis(b, v, axis, to, true);
	if (how->nearest)
		return pick_nearest(b, v, axis, to, factor, how);
	bool whole = to % size == 0 && factor == (double)(to / size);
	return how->linear && whole && !text_equal(how->places, "align_corners")
		       ? interpolate_phases(b, v, axis, to / size, how->places)
		       : resize_by_table(b, v, axis, to);
}

/* Returns the factor of dimension h of images with their channels last; 0: there is none. */
static double image_factor(const struct attribute *given, int h)
{
	size_t at = given->int_count > 1 ? (size_t)(h - 1) : 0;
	return at < given->int_count ? (double)given->ints[at] : 0;
}

/* Extents or factors of all dimensions, or of those that `axes` names; false: they are computed. */
static bool ops_resize_read_extents(struct build *b, const struct model_call *call,
	const struct model_shape *from, int64_t *to, double *factors)
{
	enum { SIZES = 3 };
	int64_t axes[MODEL_RANK_MOST];
	int count = 0;
	const struct constant *scales = mean_constant(
		b, call, text_equal(call->op, "Resize") && call->input_count > 2 ? 2 : 1);
	const struct constant *sizes = mean_constant(b, call, SIZES);
	const struct attribute *given = call_attribute(call, "scales");
	if (!mean_ints(b, call, "axes", -1, MODEL_RANK_MOST, axes, &count))
		for (count = 0; count < from->rank; count++)
			axes[count] = count;
	for (int i = 0; i < count; i++) {
		int h = mean_axis(b, axes[i], from->rank);
		size_t k = (size_t)i;
		if (h < 0)
			return false;
		if (sizes && sizes->count == (size_t)count) {
			to[h] = constant_int(sizes, k);
			factors[h] = (double)to[h] / (double)from->size[h];
			continue;
		}
		if (scales && scales->count == (size_t)count)
			factors[h] = constant_number(scales, k);
		else if (given && given->number_count == (size_t)count)
			factors[h] = given->numbers[i];
		else
			return build_fail(b, "factors that are computed") >= 0;
		double size = floor((double)from->size[h] * factors[h]);
		to[h] = size >= 1 && size < 0x1p31 ? (int64_t)size : 0;
	}
	return true;
}

int mean_upsample(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	const char *mode = call_text(call, "mode"), *policy = "keep_aspect_ratio_policy";
	bool old = mean_is_onnx(call) && call->version < 11;
	if (v < 0)
		return -1;
	bool nearest = !mode[0] || text_equal(mode, "nearest"), cubic = text_equal(mode, "cubic");
	struct resizing how = {.nearest = nearest,
		.linear = !nearest && !cubic && !call_int(call, "antialias", 0),
		.places = old ? "asymmetric" : call_text(call, "coordinate_transformation_mode"),
		.rounds = old ? "floor" : call_text(call, "nearest_mode")};
	if (text_equal(how.places, "tf_crop_and_resize") ||
		(call_text(call, policy)[0] && !text_equal(call_text(call, policy), "stretch")))
		return build_fail(b, "a part of the image is resized");
	struct model_shape from = view_at(b, v)->shape;
	int64_t to[MODEL_RANK_MOST];
	double factors[MODEL_RANK_MOST];
	const struct attribute *given = call_attribute(call, "scale_factor");
	for (int h = 0; h < from.rank; h++) {
		bool image = mean_is_ttir(call) && h > 0 && h < from.rank - 1 && given;
		factors[h] = image ? image_factor(given, h) : 1;
		bool good = factors[h] >= 1 && factors[h] < 1e6;
		to[h] = good ? from.size[h] * (int64_t)factors[h] : 0;
	}
	if (!mean_is_ttir(call) && !ops_resize_read_extents(b, call, &from, to, factors))
		return -1;
	for (int h = 0; h < from.rank && v >= 0; h++)
		v = resize_axis(b, v, h, to[h], factors[h], &how);
	return v;
}
