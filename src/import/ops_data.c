#include "base/text.h"
#include "import/ops.h"

#include <math.h>
#include <string.h>

static const struct attribute *find_literal(const struct model_call *call)
{
	static const char *const names[] = {
		"value", "value_float", "value_int", "value_floats", "value_ints", "", NULL};
	const struct attribute *found = NULL;
	for (int i = 0; !found && names[i]; i++)
		found = call_attribute(call, names[i]);
	return found;
}

bool mean_literal_known(struct build *b, const struct model_call *call)
{
	const struct attribute *found = find_literal(call);
	if (!found || call->output_count != 1 || call->outputs[0] < 0)
		return false;
	struct model_value *value = &b->model->values.at[call->outputs[0]];
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
	return value->constant != NULL;
}

/* The value of a constant: its numbers where they are few, else a tensor in memory. */
int mean_literal(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_value *value = &b->model->values.at[call->outputs[0]];
	const struct attribute *found = find_literal(call);
	bool splat = true;
	if (!found)
		return build_fail(b, "a constant without a value");
	if (!mean_is_onnx(call))
		value->constant = found->constant;
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

/* Rows [.., depth] of places, each with a block of what lies there. */
static bool gather_rows_shape(
	struct build *b, const struct model_call *call, int v, struct model_shape *out)
{
	int at = mean_input(b, call, 1);
	int64_t batch = call_int(call, "batch_dims", 0);
	if (at < 0)
		return false;
	const struct model_shape *from = &view_at(b, v)->shape;
	*out = view_at(b, at)->shape;
	int64_t depth = out->rank > 0 ? out->size[--out->rank] : 0;
	if (depth < 1 || batch < 0 || batch + depth > from->rank ||
		out->rank + from->rank - batch - depth > MODEL_RANK_MOST)
		return build_fail(b, "places of other dimensions") >= 0;
	for (int64_t h = batch + depth; h < from->rank; h++)
		out->size[out->rank++] = from->size[h];
	return true;
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
		else if (text_equal(call->op, "GatherND"))
			return gather_rows_shape(b, call, v, out);
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

/* Known places of a tensor that the graph computes: its elements one after the other. */
static int gather_known(
	struct build *b, const struct model_call *call, int v, const struct constant *index)
{
	enum { PLACES_KNOWN_MOST = 64 };
	int64_t order[PLACES_KNOWN_MOST];
	struct model_shape shape;
	int axis = mean_axis(b, call_int(call, "axis", 0), view_at(b, v)->shape.rank);
	if (axis < 0 || index->count > PLACES_KNOWN_MOST || !gather_shape(b, call, v, &shape))
		return build_fail(b, "more than %d places", PLACES_KNOWN_MOST);
	int64_t size = view_at(b, v)->shape.size[axis];
	for (size_t i = 0; i < index->count; i++) {
		order[i] = constant_int(index, i) + (constant_int(index, i) < 0 ? size : 0);
		if (order[i] < 0 || order[i] >= size)
			return build_fail(b, "a place beyond the dimension");
	}
	return view_reshape(b, mean_reorder(b, v, axis, order, (int64_t)index->count), &shape);
}

static int lookup_find_table(const struct model_call *call)
{
	return text_equal(call->op, "ttir.embedding") || text_equal(call->op, "Embedding");
}

/* Returns the tensor whose elements a view shows, also through casts and copies of whole tensors. */
static int find_memory(const struct build *b, int v)
{
	size_t s = b->statements.count;
	for (;;) {
		while (view_at(b, v)->kind == VIEW_RESHAPED || view_at(b, v)->kind == VIEW_MAPPED)
			v = view_at(b, v)->source;
		while (s > 0 && b->statements.at[s - 1].writes[0] != v)
			s--;
		const struct statement *made = s > 0 ? &b->statements.at[s - 1] : NULL;
		if (!made || !view_at(b, v)->written || made->form != FORM_MAP ||
			made->read_count != 1 || made->reads[0].pad || made->reads[0].has_lead ||
			!text_equal(made->function, "clone") ||
			shape_elements(&view_at(b, made->reads[0].view)->shape) !=
				shape_elements(&view_at(b, v)->shape))
			return v;
		v = made->reads[0].view;
	}
}

/*
 * Rows that an index picks out of a table in memory: the op reads what it touches, so the rows stand as an input of
 * their own.  Rows of a tensor that the graph computes are unknown.
 */
int mean_gather(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_shape shape;
	int v = mean_input(b, call, lookup_find_table(call));
	const struct constant *index = mean_constant(b, call, 1);
	if (v < 0)
		return -1;
	if (text_equal(call->op, "Gather") && index && index->count == 1)
		return gather_slice(b, call, v, constant_int(index, 0));
	if (!gather_shape(b, call, v, &shape))
		return -1;
	const char *dtype = view_at(b, v)->dtype;
	int base = find_memory(b, v);
	if (view_at(b, base)->kind == VIEW_SPLAT)
		return view_splat(b, view_at(b, base)->splat, dtype, &shape);
	if (view_at(b, base)->written && text_equal(call->op, "Gather") && index && index->count)
		return gather_known(b, call, v, index);
	if (view_at(b, base)->written) {
		mean_shape(b, call, 0, &shape, dtype);
		return build_fail(b, "it picks from a tensor that the graph computes");
	}
	int rows = view_stored(b, arena_format(b->arena, "%s_rows", view_at(b, base)->name),
		view_at(b, base)->dtype, &shape);
	if (rows >= 0)
		b->views.at[rows].weight = true;
	*array_add(b->arena, &b->notes) = arena_format(b->arena,
		"'%s' (%s) reads what it touches of '%s': input '%s'", call->name, call->op,
		view_at(b, base)->name, rows >= 0 ? view_at(b, rows)->name : "");
	bool casts =
		dtype && view_at(b, base)->dtype && !text_equal(dtype, view_at(b, base)->dtype);
	return casts ? build_cast(b, rows, dtype) : build_copy(b, rows);
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

int mean_repeat_axis(struct build *b, int v, int axis, int64_t times, bool inside)
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
		v = mean_repeat_axis(b, v, h, times[h], false);
	return v;
}

int mean_repeat(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int axis = mean_axis(b, call_int(call, "dim", 0), view_at(b, v)->shape.rank);
	return axis < 0 ? -1 : mean_repeat_axis(b, v, axis, call_int(call, "repeats", 1), true);
}

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
static int ops_data_moved(struct build *b, int v, int axis, int64_t by, bool back)
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
		v = size == 1 ? build_map_constant(b, "mul", v, 0)
			      : ops_data_moved(b, v, axis, 1, back);
	for (int64_t by = 1; by < size && v >= 0; by *= 2)
		v = build_map2(b, "add", v, ops_data_moved(b, v, axis, by, back));
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
