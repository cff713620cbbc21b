#include "base/text.h"
#include "import/ops.h"

#include <math.h>
#include <string.h>

/* The value of a constant: its numbers where they are few, else a tensor in memory. */
int mean_literal(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_value *value = &b->model->values.at[call->outputs[0]];
	const struct attribute *found = call_attribute(call, "value");
	bool splat = true;
	static const char *const others[] = {
		"value_float", "value_int", "value_floats", "value_ints", "", NULL};
	for (int i = 0; !found && others[i]; i++)
		found = call_attribute(call, others[i]);
	if (!found)
		return build_fail(b, "a constant without a value");
	if (mean_is_onnx(call)) {
		value->dtype = found->dtype ? found->dtype : found->int_count ? "int64" : "fp32";
		value->shape = found->shape;
		value->constant = found->constant;
		size_t count = found->int_count ? found->int_count : found->number_count;
		if (!found->constant && count) {
			struct constant *made = arena_new(b->arena, struct constant);
			*made = (struct constant){
				count, found->int_count ? found->ints : NULL, found->numbers};
			value->constant = made;
			bool list = strchr(found->name, 's') != NULL;
			value->shape = (struct model_shape){.rank = list, .size = {(int64_t)count}};
		}
	} else {
		value->constant = found->constant;
	}
	const struct constant *constant = value->constant;
	for (size_t i = 1; constant && i < constant->count; i++)
		splat &= constant_number(constant, i) == constant_number(constant, 0);
	if (constant && constant->count && splat)
		return view_splat(b, constant_number(constant, 0), value->dtype, &value->shape);
	int made = view_stored(b, value->name, value->dtype, &value->shape);
	if (made >= 0)
		b->views.at[made].weight = true;
	return made;
}

int mean_filled(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_shape shape = {0};
	const struct attribute *value =
		call_attribute(call, call_attribute(call, "value") ? "value" : "fill_value");
	const struct model_shape *declared = mean_declared(b, call, 0);
	double fill = strstr(call->op, "ones") ? 1 : 0;
	if (value && value->constant && value->constant->count)
		fill = constant_number(value->constant, 0);
	else if (value && value->number_count)
		fill = value->numbers[0];
	else if (value && value->int_count)
		fill = (double)value->ints[0];
	if (declared)
		return view_splat(b, fill, b->model->values.at[call->outputs[0]].dtype, declared);
	if (!mean_ints(b, call, NULL, 0, MODEL_RANK_MOST, shape.size, &shape.rank))
		return build_fail(b, "a shape that is computed");
	return view_splat(b, fill, value && value->dtype ? value->dtype : "fp32", &shape);
}

int mean_size(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	int axis = v < 0 ? -1
			 : mean_axis(b, call_int(call, "dimension", call_int(call, "dim", 0)),
				   view_at(b, v)->shape.rank);
	const struct model_shape *declared = mean_declared(b, call, 0);
	return axis < 0 || !declared
		       ? build_fail(b, "no shape")
		       : view_splat(b, (double)view_at(b, v)->shape.size[axis], "int32", declared);
}

/* Numbers that count up, or random ones, are a table in memory. */
int mean_iota(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_value *value = &b->model->values.at[call->outputs[0]];
	const struct model_shape *declared = mean_declared(b, call, 0);
	if (!declared)
		return build_fail(b, "a range that is computed");
	int made = view_stored(b, value->name, value->dtype ? value->dtype : "int64", declared);
	if (made >= 0)
		b->views.at[made].weight = true;
	for (int i = 1; i < call->output_count && mean_declared(b, call, i); i++) {
		int other = view_stored(b, value->name, value->dtype, mean_declared(b, call, i));
		if (other >= 0)
			b->views.at[other].weight = true;
		mean_give(b, call, i, other);
	}
	return made;
}

/* The shape of what a gather of ONNX gives. */
static bool gather_shape(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	const struct model_shape *declared = mean_declared(b, call, 0);
	if (!mean_is_onnx(call) || !text_equal(call->op, "Gather")) {
		if (declared)
			*out = *declared;
		else if (text_equal(call->op, "GatherElements") && mean_input(b, call, 1) >= 0)
			*out = view_at(b, mean_input(b, call, 1))->shape;
		else
			build_fail(b, "no shape");
		return !b->why;
	}
	int at = mean_input(b, call, 1),
	    axis = mean_axis(b, call_int(call, "axis", 0), view_at(b, v)->shape.rank);
	if (at < 0 || axis < 0)
		return false;
	const struct model_shape *from = &view_at(b, v)->shape, *by = &view_at(b, at)->shape;
	*out = (struct model_shape){0};
	if (from->rank + by->rank - 1 > MODEL_RANK_MOST)
		return build_fail(b, "too many dimensions") >= 0;
	for (int h = 0; h < from->rank; h++) {
		if (h != axis) {
			out->size[out->rank++] = from->size[h];
			continue;
		}
		for (int k = 0; k < by->rank; k++)
			out->size[out->rank++] = by->size[k];
	}
	return true;
}

/* One index that is known is a slice. */
static int gather_slice(struct build *b, const struct model_call *call, int v, int64_t index)
{
	int axis = mean_axis(b, call_int(call, "axis", 0), view_at(b, v)->shape.rank);
	if (axis < 0)
		return -1;
	int64_t size = view_at(b, v)->shape.size[axis];
	int part = mean_slice_one(b, v, axis, index < 0 ? index + size : index, 1);
	const struct model_shape *by = &b->model->values.at[call->inputs[1]].shape;
	return part >= 0 && by->rank == 0 ? view_squeeze(b, part, UINT32_C(1) << axis) : part;
}

static int find_table(const struct model_call *call)
{
	return text_equal(call->op, "ttir.embedding") || text_equal(call->op, "Embedding");
}

/*
 * Rows that an index picks out of a table in memory: the op reads what it touches, so the rows stand as an input of
 * their own.  Of a tensor that the graph computes nobody knows which elements those are.
 */
int mean_gather(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_shape shape;
	int v = mean_input(b, call, find_table(call));
	const struct constant *index = mean_constant(b, call, 1);
	if (v < 0)
		return -1;
	if (text_equal(call->op, "Gather") && index && index->count == 1)
		return gather_slice(b, call, v, constant_int(index, 0));
	if (!gather_shape(b, call, v, &shape))
		return -1;
	int base = v;
	while (view_at(b, base)->kind == VIEW_RESHAPED || view_at(b, base)->kind == VIEW_MAPPED)
		base = view_at(b, base)->source;
	if (view_at(b, base)->kind == VIEW_SPLAT)
		return view_splat(b, view_at(b, base)->splat, view_at(b, base)->dtype, &shape);
	if (view_at(b, base)->written)
		return build_fail(b, "it picks from a tensor that the graph computes");
	int rows = view_stored(b, arena_format(b->arena, "%s_rows", view_at(b, base)->name),
		view_at(b, base)->dtype, &shape);
	if (rows >= 0)
		b->views.at[rows].weight = true;
	*array_add(b->arena, &b->notes) = arena_format(b->arena,
		"'%s' (%s) reads what it touches of '%s': input '%s'", call->name, call->op,
		view_at(b, base)->name, rows >= 0 ? view_at(b, rows)->name : "");
	return build_copy(b, rows);
}

/* A cache in memory takes what is written into it; what reads it reads it as before. */
int mean_cache(struct build *b, const struct model_call *call, const char *argument)
{
	int cache = mean_input(b, call, 0), update = mean_input(b, call, argument[0] ? 2 : 1);
	if (cache < 0 || update < 0)
		return -1;
	if (view_at(b, cache)->kind == VIEW_SPLAT)
		return build_fail(b, "an update of a constant");
	struct model_call part = *call;
	part.output_count = 0;
	b->call = &part;
	int written = view_at(b, update)->kind == VIEW_SPLAT ? -1 : build_copy(b, update);
	b->call = call;
	if (written >= 0) {
		b->statements.at[b->statements.count - 1].call = call;
		b->views.at[written].output = true;
	}
	return cache;
}

/* Whole copies one behind the other along a new dimension in front of the repeated one, or behind it. */
static int repeat_axis(struct build *b, int v, int axis, int64_t times, bool inside)
{
	const struct model_shape *from = &view_at(b, v)->shape;
	struct model_shape wide = {.rank = from->rank + 1}, whole = *from;
	int axis_of[MODEL_RANK_MOST];
	if (times == 1)
		return v;
	if (times < 1 || wide.rank > MODEL_RANK_MOST)
		return build_fail(b, "it repeats %lld times", (long long)times);
	int at = axis + inside;
	for (int h = 0; h < wide.rank; h++)
		wide.size[h] = h == at ? times : from->size[h - (h > at)];
	for (int h = 0; h < from->rank; h++)
		axis_of[h] = h + (h >= at);
	if (whole.size[axis] > INT64_MAX / times)
		return build_fail(b, "it repeats too often");
	whole.size[axis] *= times;
	return view_reshape(b, view_broadcast(b, v, &wide, axis_of), &whole);
}

int mean_tile(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t times[MODEL_RANK_MOST];
	int count = 0;
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	if (!mean_ints(b, call, mean_is_ttir(call) ? "repeat_dimensions" : NULL,
		    mean_is_onnx(call) ? 1 : -1, MODEL_RANK_MOST, times, &count) ||
		count != view_at(b, v)->shape.rank)
		return build_fail(b, "repeats that are computed");
	for (int h = 0; h < count && v >= 0; h++)
		v = repeat_axis(b, v, h, times[h], false);
	return v;
}

int mean_repeat(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int axis = mean_axis(b, call_int(call, "dim", 0), view_at(b, v)->shape.rank);
	return axis < 0 ? -1 : repeat_axis(b, v, axis, call_int(call, "repeats", 1), true);
}

/* Position of output o in the input, in elements. */
static double source_position(const char *mode, int64_t o, int64_t from, int64_t to, double scale)
{
	bool corners = text_equal(mode, "align_corners");
	if (corners)
		return to > 1 ? (double)o * (double)(from - 1) / (double)(to - 1) : 0;
	if (text_equal(mode, "asymmetric"))
		return (double)o / scale;
	if (text_equal(mode, "pytorch_half_pixel") && to == 1)
		return 0;
	return ((double)o + 0.5) / scale - 0.5;
}

/* Between neighbours, by a table in memory of the weights of each output: a product. */
static int interpolate_by_table(struct build *b, int v, int axis, int64_t to)
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
static int mix(struct build *b, int a, int c, double part)
{
	if (part == 0)
		return a;
	return build_map2(b, "add", build_map_constant(b, "mul", a, 1 - part),
		build_map_constant(b, "mul", c, part));
}

/* By a whole factor: of each element as many mixtures with its neighbours, one behind the other. */
static int interpolate_phases(struct build *b, int v, int axis, int64_t factor, const char *mode)
{
	enum { FACTOR_MOST = 16 };
	int parts[FACTOR_MOST];
	int64_t size = view_at(b, v)->shape.size[axis];
	struct model_shape whole = view_at(b, v)->shape, apart = {.rank = whole.rank + 1};
	if (factor > FACTOR_MOST || apart.rank > MODEL_RANK_MOST)
		return interpolate_by_table(b, v, axis, size * factor);
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
		double off = source_position(mode, p, size, size * factor, (double)factor);
		int part = off < 0 ? mix(b, v, before, -off) : mix(b, v, after, off);
		parts[p] = view_reshape(b, part, &apart);
		if (parts[p] < 0)
			return -1;
	}
	whole.size[axis] *= factor;
	return view_reshape(b, build_concat(b, parts, (int)factor, axis + 1), &whole);
}

static int interpolate(
	struct build *b, int v, int axis, int64_t to, double factor, const char *mode)
{
	int64_t size = view_at(b, v)->shape.size[axis];
	if (size == to)
		return v;
	if (to < 1 || to >> DIM_MOST_LOG2)
		return build_fail(b, "it is resized by %g", factor);
	if (size == 1)
		return repeat_axis(b, v, axis, to, true);
	return to % size == 0 && factor == (double)(to / size) && !text_equal(mode, "align_corners")
		       ? interpolate_phases(b, v, axis, to / size, mode)
		       : interpolate_by_table(b, v, axis, to);
}

/* Nearest neighbours, by whole factors: each element repeats.  Linear: mixtures of two neighbours. */
int mean_upsample(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	const char *mode = call_text(call, "mode");
	if (v < 0)
		return -1;
	bool linear = strstr(mode, "linear") != NULL;
	const char *places = call_text(call, "coordinate_transformation_mode");
	bool spread =
		text_equal(places, "align_corners") || text_equal(places, "tf_crop_and_resize");
	if ((mode[0] && !linear && !text_equal(mode, "nearest")) ||
		(spread && (!linear || places[0] == 't')) || call_int(call, "antialias", 0))
		return build_fail(b, "mode '%s' %s", mode, places);
	int rank = view_at(b, v)->shape.rank;
	const struct constant *scales = mean_constant(
		b, call, text_equal(call->op, "Resize") && call->input_count > 2 ? 2 : 1);
	const struct constant *sizes = mean_constant(b, call, 3);
	const struct attribute *given =
		call_attribute(call, mean_is_ttir(call) ? "scale_factor" : "scales");
	for (int h = 0; h < rank && v >= 0; h++) {
		double factor = 1;
		if (mean_is_ttir(call))
			factor = h == 0 || h == rank - 1 || !given
					 ? 1
					 : (double)given->ints[given->int_count > 1 ? h - 1 : 0];
		else if (sizes && sizes->count == (size_t)rank)
			factor = (double)constant_int(sizes, (size_t)h) /
				 (double)view_at(b, v)->shape.size[h];
		else if (scales && scales->count == (size_t)rank)
			factor = constant_number(scales, (size_t)h);
		else if (given && given->number_count == (size_t)rank)
			factor = given->numbers[h];
		else
			return build_fail(b, "factors that are computed");
		if (linear && factor > 0 && factor < 1e6) {
			bool sized = sizes && sizes->count == (size_t)rank;
			int64_t size = view_at(b, v)->shape.size[h];
			v = interpolate(b, v, h,
				sized ? constant_int(sizes, (size_t)h)
				      : (int64_t)floor((double)size * factor),
				factor, places);
			continue;
		}
		if (factor < 1 || factor > 1e6 || factor != (double)(int64_t)factor)
			return build_fail(b, "it is resized by %g", factor);
		v = repeat_axis(b, v, h, (int64_t)factor, true);
	}
	return v;
}
