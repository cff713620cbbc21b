#include "base/text.h"
#include "import/ops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TURNED_MOST = 64 }; /* elements that are put one after the other */

/* A shape with 0 (as the operand has it) and -1 (the rest) settled. */
static bool shape_op_settle(
	struct build *b, const struct model_shape *from, bool zeros, struct model_shape *to)
{
	int64_t have = shape_elements(from), known = 1;
	int open = -1;
	for (int h = 0; h < to->rank; h++) {
		if (to->size[h] == 0 && zeros && h < from->rank)
			to->size[h] = from->size[h];
		if (to->size[h] == -1 && open < 0)
			open = h;
		else if (to->size[h] < 1 || known > have / to->size[h])
			return build_fail(b, "a shape that the operand does not fit") >= 0;
		else
			known *= to->size[h];
	}
	if (open >= 0)
		to->size[open] = have / known;
	return true;
}

int mean_reshape(struct build *b, const struct model_call *call, const char *argument)
{
	struct model_shape shape = {0};
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	if (!mean_is_onnx(call))
		return mean_declared(b, call, 0) ? view_reshape(b, v, mean_declared(b, call, 0))
						 : build_fail(b, "no shape");
	if (!mean_ints(b, call, "shape", 1, MODEL_RANK_MOST, shape.size, &shape.rank)) {
		const struct model_shape *declared = mean_declared(b, call, 0);
		return declared ? view_reshape(b, v, declared)
				: build_fail(b, "a shape that is computed");
	}
	if (!shape_op_settle(b, &view_at(b, v)->shape, !call_int(call, "allowzero", 0), &shape))
		return -1;
	return view_reshape(b, v, &shape);
}

int mean_flatten(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	struct model_shape to = {.rank = 2, .size = {1, 1}};
	if (v < 0)
		return -1;
	const struct model_shape *from = &view_at(b, v)->shape;
	int64_t axis = call_int(call, "axis", 1);
	if (axis < -from->rank || axis > from->rank)
		return build_fail(b, "axis %lld of %d dimensions", (long long)axis, from->rank);
	for (int h = 0; h < from->rank; h++)
		to.size[h >= (axis < 0 ? axis + from->rank : axis)] *= from->size[h];
	return view_reshape(b, v, &to);
}

static bool axes_of(
	struct build *b, const struct model_call *call, int operand, int rank, uint32_t *axes)
{
	static const char *const names[] = {"axes", "dim", "dim_arg", "dimensions", "dims", NULL};
	int64_t list[MODEL_RANK_MOST];
	int count = 0;
	bool there = false;
	*axes = 0;
	for (int i = 0; names[i] && !there; i++)
		there = mean_ints(b, call, names[i], -1, MODEL_RANK_MOST, list, &count) && count;
	if (!there)
		there = mean_ints(b, call, NULL, operand, MODEL_RANK_MOST, list, &count);
	for (int i = 0; i < count; i++) {
		int axis = mean_axis(b, list[i], rank);
		if (axis < 0)
			return false;
		*axes |= UINT32_C(1) << axis;
	}
	return there;
}

int mean_squeeze(struct build *b, const struct model_call *call, const char *argument)
{
	uint32_t axes;
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	const struct model_shape *shape = &view_at(b, v)->shape;
	if (!axes_of(b, call, 1, shape->rank, &axes)) {
		if (b->why)
			return -1;
		for (int h = 0; h < shape->rank; h++)
			axes |= (uint32_t)(shape->size[h] == 1) << h;
	}
	return view_squeeze(b, v, axes);
}

int mean_unsqueeze(struct build *b, const struct model_call *call, const char *argument)
{
	uint32_t axes;
	int v = mean_input(b, call, 0);
	int64_t list[MODEL_RANK_MOST];
	int count = 0;
	if (v < 0)
		return -1;
	const struct model_shape *from = &view_at(b, v)->shape;
	if (!mean_ints(
		    b, call, mean_is_ttir(call) ? "dim" : "axes", 1, MODEL_RANK_MOST, list, &count))
		return build_fail(b, "axes that are computed");
	struct model_shape to = {.rank = from->rank + count};
	if (to.rank > MODEL_RANK_MOST)
		return build_fail(b, "too many dimensions");
	axes = 0;
	for (int i = 0; i < count; i++) {
		int axis = mean_axis(b, list[i], to.rank);
		if (axis < 0)
			return -1;
		axes |= UINT32_C(1) << axis;
	}
	for (int h = 0, k = 0; h < to.rank; h++)
		to.size[h] = axes >> h & 1 || k >= from->rank ? 1 : from->size[k++];
	return view_reshape(b, v, &to);
}

int mean_transpose(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t list[MODEL_RANK_MOST];
	int order[MODEL_RANK_MOST], count = 0;
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int rank = view_at(b, v)->shape.rank;
	for (int h = 0; h < rank; h++)
		order[h] = mean_is_onnx(call) ? rank - 1 - h : h;
	if (text_equal(call->op, "ttir.transpose")) {
		int a = mean_axis(b, call_int(call, "dim0", 0), rank),
		    c = mean_axis(b, call_int(call, "dim1", 1), rank);
		if (a < 0 || c < 0)
			return -1;
		order[a] = c;
		order[c] = a;
	} else if (mean_ints(b, call, "perm", -1, MODEL_RANK_MOST, list, &count) ||
		   mean_ints(b, call, "permutation", -1, MODEL_RANK_MOST, list, &count) ||
		   mean_ints(b, call, "dims", -1, MODEL_RANK_MOST, list, &count)) {
		if (count != rank)
			return build_fail(b, "a permutation of %d of %d dimensions", count, rank);
		for (int h = 0; h < rank; h++)
			order[h] = (int)list[h];
	}
	return view_permute(b, v, order);
}

/* "b c h w -> b (h w) c": the words of the left side in the order of the right one, as the result declares them. */
int mean_rearrange(struct build *b, const struct model_call *call, const char *argument)
{
	const char *text = call_text(call, "pattern"), *arrow = strstr(text, "->");
	const char *left[MODEL_RANK_MOST];
	size_t lengths[MODEL_RANK_MOST];
	int order[MODEL_RANK_MOST], count = 0, found = 0, v = mean_input(b, call, 0);
	if (v < 0 || !arrow || !mean_declared(b, call, 0))
		return build_fail(b, "a pattern without '->'");
	int rank = view_at(b, v)->shape.rank;
	for (const char *at = text; *at; at++) {
		size_t length = 0;
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
		if (!length && at < arrow && (*at == '(' || *at == '.'))
			return build_fail(b, "a pattern that splits dimensions");
		if (!length)
			continue;
		int known = 0;
		while (known < count &&
			(lengths[known] != length || strncmp(left[known], at, length) != 0))
			known++;
		if (at < arrow && known == count && count < rank) {
			left[count] = at;
			lengths[count++] = length;
		} else if (at > arrow && known < count && found < rank) {
			order[found++] = known;
		} else {
			return build_fail(b, "a pattern of other dimensions");
		}
		at += length - 1;
	}
	if (count != rank || found != rank)
		return build_fail(b, "a pattern of other dimensions");
	return view_reshape(b, view_permute(b, v, order), mean_declared(b, call, 0));
}

int mean_broadcast(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t list[MODEL_RANK_MOST];
	int axis_of[MODEL_RANK_MOST], count = 0;
	int v = mean_input(b, call, 0);
	const struct model_shape *declared = mean_declared(b, call, 0);
	if (v < 0)
		return -1;
	if (mean_is_onnx(call)) {
		struct model_shape shape = {0}, one = {0};
		if (!mean_ints(b, call, NULL, 1, MODEL_RANK_MOST, shape.size, &shape.rank))
			return declared ? view_broadcast_to(b, v, declared)
					: build_fail(b, "a shape that is computed");
		const struct model_shape *from = &view_at(b, v)->shape;
		one = shape;
		for (int i = 1; i <= shape.rank && i <= from->rank; i++)
			if (shape.size[shape.rank - i] == 1)
				one.size[shape.rank - i] = from->size[from->rank - i];
		return view_broadcast_to(b, v, one.rank < from->rank ? from : &one);
	}
	if (!declared)
		return build_fail(b, "no shape");
	if (mean_is_ttir(call) || text_equal(call->op, "stablehlo.broadcast"))
		return view_broadcast_to(b, v, declared);
	if (!mean_ints(b, call, "dims", -1, MODEL_RANK_MOST, list, &count))
		mean_ints(b, call, "broadcast_dimensions", -1, MODEL_RANK_MOST, list, &count);
	if (count != view_at(b, v)->shape.rank)
		return build_fail(
			b, "a broadcast of %d of %d dimensions", count, view_at(b, v)->shape.rank);
	for (int h = 0; h < count; h++)
		axis_of[h] = list[h] < 0 || list[h] >= declared->rank ? -1 : (int)list[h];
	return view_broadcast(b, v, declared, axis_of);
}

/* "[0:1, 2:8:2]" in the words of the op. */
static int parse_ranges(const char *text, int64_t *start, int64_t *end, int64_t *step)
{
	int count = 0, part = 0;
	for (const char *at = text; *at && count <= MODEL_RANK_MOST; at++) {
		if (*at == ':') {
			part++;
		} else if (*at == ',') {
			part = 0;
		} else if (*at >= '0' && *at <= '9') {
			int64_t number = strtoll(at, (char **)&at, 10);
			at--;
			if (part == 0 && count < MODEL_RANK_MOST) {
				start[count] = number;
				step[count++] = 1;
			} else if (count > 0) {
				*(part == 1 ? &end[count - 1] : &step[count - 1]) = number;
			}
		}
	}
	return count;
}

static int slice_whole(struct build *b, int v, int rank, const int64_t *start, const int64_t *end,
	const int64_t *step)
{
	int64_t length[MODEL_RANK_MOST];
	for (int h = 0; h < rank; h++)
		length[h] = step[h] < 1 || end[h] <= start[h]
				    ? 0
				    : (end[h] - start[h] - 1) / step[h] + 1;
	return view_slice(b, v, start, length, step);
}

int mean_reorder(struct build *b, int v, int axis, const int64_t *order, int64_t count)
{
	int *parts = arena_array(b->arena, int, count + 1), made = 0;
	for (int64_t i = 0; i < count; i++) {
		int64_t run = 1;
		while (i + run < count && order[i + run] == order[i] + run)
			run++;
		parts[made] = mean_slice_one(b, v, axis, order[i], run);
		if (parts[made++] < 0)
			return -1;
		i += run - 1;
	}
	return made == 1 ? parts[0] : build_concat(b, parts, made, axis);
}

static int turn_axis(struct build *b, int v, int axis, int64_t start, int64_t length, int64_t step)
{
	int64_t order[TURNED_MOST];
	if (length < 1 || length > TURNED_MOST)
		return build_fail(b, "%lld elements that run backwards", (long long)length);
	for (int64_t i = 0; i < length; i++)
		order[i] = start + i * step;
	return mean_reorder(b, v, axis, order, length);
}

int mean_turn(struct build *b, int v, int axis)
{
	int64_t size = v < 0 ? 0 : view_at(b, v)->shape.size[axis];
	return size < 2 ? v : turn_axis(b, v, axis, size - 1, size, -1);
}

int mean_stretch(struct build *b, int v, int axis, int64_t by)
{
	int64_t low[MODEL_RANK_MOST] = {0}, high[MODEL_RANK_MOST] = {0};
	if (v < 0 || by == 1)
		return v;
	struct model_shape from = view_at(b, v)->shape, wide = {.rank = from.rank + 1};
	if (by < 1 || by >> 20 || wide.rank > MODEL_RANK_MOST)
		return build_fail(b, "data that is stretched by %lld", (long long)by);
	for (int h = 0; h < wide.rank; h++)
		wide.size[h] = h == axis + 1 ? 1 : from.size[h - (h > axis)];
	high[axis + 1] = by - 1;
	v = build_pad(b, view_reshape(b, v, &wide), low, high);
	int64_t size = from.size[axis];
	from.size[axis] *= by;
	v = view_reshape(b, v, &from);
	return v < 0 ? -1 : mean_slice_one(b, v, axis, 0, (size - 1) * by + 1);
}

int mean_reverse(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t list[MODEL_RANK_MOST];
	int v = mean_input(b, call, 0), count = 0;
	if (!mean_ints(b, call, mean_is_ttir(call) ? "dimensions" : "dims", -1, MODEL_RANK_MOST,
		    list, &count))
		mean_ints(b, call, "dimensions", -1, MODEL_RANK_MOST, list, &count);
	for (int i = 0; i < count && v >= 0; i++) {
		int axis = mean_axis(b, list[i], view_at(b, v)->shape.rank);
		v = axis < 0 ? -1 : mean_turn(b, v, axis);
	}
	return v;
}

/* Starts and ends as Python counts them. */
static int64_t clip_index(int64_t index, int64_t size)
{
	if (index < 0)
		index = index < -size ? 0 : index + size;
	return index > size ? size : index < 0 ? 0 : index;
}

static int slice_onnx(struct build *b, const struct model_call *call, int v)
{
	int64_t starts[MODEL_RANK_MOST], ends[MODEL_RANK_MOST], axes[MODEL_RANK_MOST],
		steps[MODEL_RANK_MOST];
	int64_t start[MODEL_RANK_MOST], end[MODEL_RANK_MOST], step[MODEL_RANK_MOST];
	int count = 0, ends_count = 0, axes_count = 0, steps_count = 0;
	struct model_shape first = view_at(b, v)->shape, *shape = &first;
	int rank = first.rank;
	if (!mean_ints(b, call, "starts", 1, MODEL_RANK_MOST, starts, &count) ||
		!mean_ints(b, call, "ends", 2, MODEL_RANK_MOST, ends, &ends_count) ||
		count != ends_count)
		return build_fail(b, "a slice that is computed");
	mean_ints(b, call, "axes", 3, MODEL_RANK_MOST, axes, &axes_count);
	mean_ints(b, call, NULL, 4, MODEL_RANK_MOST, steps, &steps_count);
	for (int h = 0; h < shape->rank; h++) {
		start[h] = 0;
		end[h] = shape->size[h];
		step[h] = 1;
	}
	for (int i = 0; i < count; i++) {
		int axis = mean_axis(b, i < axes_count ? axes[i] : i, rank);
		if (axis < 0)
			return -1;
		if (i < steps_count && steps[i] < 0) {
			int64_t size = view_at(b, v)->shape.size[axis];
			int64_t from = starts[i] < 0 ? starts[i] + size : starts[i],
				to = ends[i] < 0 ? ends[i] + size : ends[i];
			from = from >= size ? size - 1 : from;
			to = to < -1 ? -1 : to;
			v = turn_axis(b, v, axis, from,
				to >= from ? 0 : (from - to - 1) / -steps[i] + 1, steps[i]);
			if (v < 0)
				return -1;
			end[axis] = view_at(b, v)->shape.size[axis];
			continue;
		}
		start[axis] = clip_index(starts[i], shape->size[axis]);
		end[axis] = clip_index(ends[i], shape->size[axis]);
		step[axis] = i < steps_count ? steps[i] : 1;
	}
	return slice_whole(b, v, shape->rank, start, end, step);
}

int mean_slice(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t start[MODEL_RANK_MOST] = {0}, end[MODEL_RANK_MOST] = {0},
		step[MODEL_RANK_MOST] = {0};
	int counts[3] = {0};
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	if (mean_is_onnx(call))
		return slice_onnx(b, call, v);
	int rank = view_at(b, v)->shape.rank;
	if (mean_is_ttir(call)) {
		mean_ints(b, call, "begins", -1, MODEL_RANK_MOST, start, &counts[0]);
		mean_ints(b, call, "ends", -1, MODEL_RANK_MOST, end, &counts[1]);
		mean_ints(b, call, "step", -1, MODEL_RANK_MOST, step, &counts[2]);
	} else if (call_attribute(call, "start_indices")) {
		mean_ints(b, call, "start_indices", -1, MODEL_RANK_MOST, start, &counts[0]);
		mean_ints(b, call, "limit_indices", -1, MODEL_RANK_MOST, end, &counts[1]);
		mean_ints(b, call, "strides", -1, MODEL_RANK_MOST, step, &counts[2]);
	} else {
		counts[0] = counts[1] = counts[2] =
			parse_ranges(call_text(call, ""), start, end, step);
	}
	if (counts[0] != rank || counts[1] != rank || counts[2] != rank)
		return build_fail(b, "a slice of %d of %d dimensions", counts[0], rank);
	for (int h = 0; h < rank; h++) {
		start[h] = clip_index(start[h], view_at(b, v)->shape.size[h]);
		end[h] = clip_index(end[h], view_at(b, v)->shape.size[h]);
	}
	return slice_whole(b, v, rank, start, end, step);
}

int mean_slice_one(struct build *b, int v, int axis, int64_t from, int64_t length)
{
	int64_t start[MODEL_RANK_MOST], lengths[MODEL_RANK_MOST], step[MODEL_RANK_MOST];
	const struct model_shape *shape = &view_at(b, v)->shape;
	for (int h = 0; h < shape->rank; h++) {
		start[h] = h == axis ? from : 0;
		lengths[h] = h == axis ? length : shape->size[h];
		step[h] = 1;
	}
	return view_slice(b, v, start, lengths, step);
}

int mean_select_index(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int axis = mean_axis(b, call_int(call, "dim", 0), view_at(b, v)->shape.rank);
	int64_t begin = call_int(call, "begin", 0),
		length = call_int(call, "length", call_int(call, "end", 0) - begin);
	if (axis < 0)
		return -1;
	int64_t size = view_at(b, v)->shape.size[axis], step = call_int(call, "step", 1),
		stride = call_int(call, "stride", 0), start[MODEL_RANK_MOST] = {0},
		lengths[MODEL_RANK_MOST], steps[MODEL_RANK_MOST];
	if (begin < 0 || begin >= size || length < 1 || step < 1)
		return build_fail(b, "an index beyond the dimension");
	if (stride > 0 && begin + stride < size) { /* parts that are a stride apart */
		int parts[TURNED_MOST], count = 0;
		for (int64_t at = begin; at < size && count < TURNED_MOST; at += stride)
			parts[count++] = mean_slice_one(b, v, axis, at, length);
		return b->why ? -1 : build_concat(b, parts, count, axis);
	}
	for (int h = 0; h < view_at(b, v)->shape.rank; h++) {
		lengths[h] = view_at(b, v)->shape.size[h];
		steps[h] = 1;
	}
	start[axis] = begin;
	lengths[axis] = (length - 1) / step + 1;
	steps[axis] = step;
	return view_slice(b, v, start, lengths, steps);
}

/* Padding by a number is that number added to the padding of the rest by 0; less than 0 cuts. */
static int pad_by(struct build *b, int v, int64_t *low, int64_t *high, double fill)
{
	bool pads = false;
	for (int h = 0; h < view_at(b, v)->shape.rank; h++) {
		int64_t from = low[h] < 0 ? -low[h] : 0, to = high[h] < 0 ? -high[h] : 0;
		int64_t size = view_at(b, v)->shape.size[h];
		if (low[h] >> 30 > 0 || high[h] >> 30 > 0 || from >= size || to >= size - from)
			return build_fail(b, "padding that is not possible");
		if (from || to)
			v = mean_slice_one(b, v, h, from, size - from - to);
		if (v < 0)
			return -1;
		low[h] += from;
		high[h] += to;
		pads |= low[h] || high[h];
	}
	if (!pads)
		return v;
	if (fill != 0)
		v = build_map_constant(b, "sub", v, fill);
	v = build_pad(b, v, low, high);
	return fill != 0 ? build_map_constant(b, "add", v, fill) : v;
}

/* The numbers of operand `first` and those that follow, one for each dimension; false: they are computed. */
static bool read_starts(
	struct build *b, const struct model_call *call, int first, int rank, int64_t *start)
{
	int count = 0;
	if (rank != 1 && mean_ints(b, call, NULL, first, MODEL_RANK_MOST, start, &count) &&
		count == rank)
		return true;
	for (int h = 0; h < rank; h++) {
		int v = mean_has(call, first + h) ? mean_input(b, call, first + h) : -1;
		if (v < 0 || view_at(b, v)->kind != VIEW_SPLAT)
			return false;
		start[h] = (int64_t)view_at(b, v)->splat;
	}
	return true;
}

/* A part that lies inside, as XLA moves it. */
static int64_t moved_inside(int64_t start, int64_t length, int64_t size)
{
	return start < 0 ? 0 : start > size - length ? size - length : start;
}

int mean_dynamic_slice(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	int64_t start[MODEL_RANK_MOST], length[MODEL_RANK_MOST], step[MODEL_RANK_MOST];
	const struct model_shape *declared = mean_declared(b, call, 0);
	if (v < 0 || !declared || declared->rank != view_at(b, v)->shape.rank)
		return build_fail(b, "a slice of another rank");
	if (!read_starts(b, call, 1, declared->rank, start))
		return mean_gather(b, call, argument);
	for (int h = 0; h < declared->rank; h++) {
		int64_t size = view_at(b, v)->shape.size[h];
		length[h] = declared->size[h];
		step[h] = 1;
		if (length[h] > size)
			return build_fail(b, "a slice beyond the dimension");
		start[h] = moved_inside(start[h], length[h], size);
	}
	return view_slice(b, v, start, length, step);
}

/* v with `part` in place of its elements from start on. */
static int ops_shape_replaced(struct build *b, int v, int part, const int64_t *start, int axis)
{
	if (v < 0)
		return -1;
	struct model_shape whole = view_at(b, v)->shape, inside = view_at(b, part)->shape;
	while (axis < whole.rank && whole.size[axis] == inside.size[axis])
		axis++;
	if (axis == whole.rank)
		return part;
	int64_t length = inside.size[axis],
		from = moved_inside(start[axis], length, whole.size[axis]);
	int parts[3], count = 0;
	if (from > 0)
		parts[count++] = mean_slice_one(b, v, axis, 0, from);
	parts[count++] = ops_shape_replaced(
		b, mean_slice_one(b, v, axis, from, length), part, start, axis + 1);
	if (from + length < whole.size[axis])
		parts[count++] =
			mean_slice_one(b, v, axis, from + length, whole.size[axis] - from - length);
	return b->why ? -1 : build_concat(b, parts, count, axis);
}

/* In memory, or at a place that is computed: as a cache. */
int mean_update_slice(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), part = mean_input(b, call, 1), base = v;
	int64_t start[MODEL_RANK_MOST], high[MODEL_RANK_MOST];
	if (v < 0 || part < 0)
		return -1;
	const struct model_shape *whole = &view_at(b, v)->shape, *inside = &view_at(b, part)->shape;
	while (view_at(b, base)->kind == VIEW_RESHAPED || view_at(b, base)->kind == VIEW_MAPPED)
		base = view_at(b, base)->source;
	bool constant = view_at(b, base)->kind == VIEW_SPLAT;
	if (whole->rank != inside->rank || !read_starts(b, call, 2, whole->rank, start) ||
		(!constant && !view_at(b, base)->written))
		return mean_cache(b, call, argument);
	for (int h = 0; h < whole->rank; h++) {
		if (inside->size[h] > whole->size[h])
			return build_fail(b, "an update beyond the dimension");
		start[h] = moved_inside(start[h], inside->size[h], whole->size[h]);
		high[h] = whole->size[h] - inside->size[h] - start[h];
	}
	return constant ? pad_by(b, part, start, high, view_at(b, base)->splat)
			: ops_shape_replaced(b, v, part, start, 0);
}

int mean_split(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t parts[256], from = 0;
	int count = 0;
	int v = mean_input(b, call, 0), first = -1;
	if (v < 0)
		return -1;
	int axis = mean_axis(
		b, call_int(call, "axis", call_int(call, "dim", 0)), view_at(b, v)->shape.rank);
	if (axis < 0 || call->output_count > 256)
		return -1;
	int64_t size = view_at(b, v)->shape.size[axis],
		even = (size + call->output_count - 1) / call->output_count;
	mean_ints(b, call, "split", 1, 256, parts, &count);
	for (int i = 0; i < call->output_count; i++) {
		int64_t length = count == call->output_count   ? parts[i]
				 : i + 1 == call->output_count ? size - from
							       : even;
		int part = mean_slice_one(b, v, axis, from, length);
		if (part < 0)
			return -1;
		mean_give(b, call, i, part);
		first = i == 0 ? part : first;
		from += length;
	}
	return first;
}

int mean_concat(struct build *b, const struct model_call *call, const char *argument)
{
	int *views = arena_array(b->arena, int, call->input_count + 1), count = 0;
	for (int i = 0; i < call->input_count; i++) {
		if (!mean_has(call, i))
			continue;
		const struct constant *constant = mean_constant(b, call, i);
		if (constant && !constant->count)
			continue;
		views[count] = mean_input(b, call, i);
		if (views[count++] < 0)
			return -1;
	}
	if (!count)
		return build_fail(b, "nothing to concatenate");
	int64_t axis =
		call_int(call, "axis", call_int(call, "dim", call_int(call, "dimension", 0)));
	int at = mean_axis(b, axis, view_at(b, views[0])->shape.rank);
	return at < 0 ? -1 : build_concat(b, views, count, at);
}

/* Padding by the elements next to the edge: the edge's own, mirrored, or those of the other end. */
static int pad_mirrored(
	struct build *b, int v, const int64_t *low, const int64_t *high, const char *mode)
{
	for (int h = 0; v >= 0 && h < view_at(b, v)->shape.rank; h++) {
		int64_t size = view_at(b, v)->shape.size[h], most = low[h] + high[h];
		if (!low[h] && !high[h])
			continue;
		if (low[h] < 0 || high[h] < 0 || low[h] > TURNED_MOST || high[h] > TURNED_MOST ||
			(!text_equal(mode, "edge") && (low[h] >= size || high[h] >= size)))
			return build_fail(b, "mode '%s' with so much padding", mode);
		int64_t *order = arena_array(b->arena, int64_t, size + most);
		for (int64_t i = -low[h]; i < size + high[h]; i++) {
			bool out = i < 0 || i >= size;
			order[i + low[h]] = !out                       ? i
					    : text_equal(mode, "edge") ? (i < 0 ? 0 : size - 1)
					    : text_equal(mode, "wrap")
						    ? (i + size) % size
						    : (i < 0 ? -i : 2 * (size - 1) - i);
		}
		v = mean_reorder(b, v, h, order, size + most);
	}
	return v;
}

int mean_pad(struct build *b, const struct model_call *call, const char *argument)
{
	int64_t low[MODEL_RANK_MOST] = {0}, high[MODEL_RANK_MOST] = {0}, list[2 * MODEL_RANK_MOST];
	int count = 0, other = 0;
	int v = mean_input(b, call, 0);
	if (v < 0)
		return -1;
	int rank = view_at(b, v)->shape.rank;
	bool between = false;
	bool constant_mode =
		!call_text(call, "mode")[0] || text_equal(call_text(call, "mode"), "constant");
	const struct constant *value = mean_constant(b, call, mean_is_onnx(call) ? 2 : 1);
	double fill =
		value && value->count ? constant_number(value, 0) : call_number(call, "value", 0);
	if (mean_is_onnx(call)) {
		int64_t axes[MODEL_RANK_MOST];
		bool some = mean_ints(b, call, NULL, 3, MODEL_RANK_MOST, axes, &other);
		if (!mean_ints(b, call, "pads", 1, 2 * MODEL_RANK_MOST, list, &count) ||
			count != 2 * (some ? other : rank))
			return build_fail(b, "padding that is computed");
		for (int i = 0; i < count / 2; i++) {
			int h = mean_axis(b, some ? axes[i] : i, rank);
			if (h < 0)
				return -1;
			low[h] = list[i];
			high[h] = list[count / 2 + i];
		}
	} else if (mean_is_ttir(call)) {
		mean_ints(b, call, "padding", -1, 2 * rank, list, &count);
		for (int h = 0; h < rank && count == 2 * rank; h++) {
			low[h] = list[2 * h];
			high[h] = list[2 * h + 1];
		}
	} else {
		const char *names[2] = {call_attribute(call, "low") ? "low" : "edge_padding_low",
			call_attribute(call, "high") ? "high" : "edge_padding_high"};
		mean_ints(b, call, names[0], -1, MODEL_RANK_MOST, low, &count);
		mean_ints(b, call, names[1], -1, MODEL_RANK_MOST, high, &other);
		mean_ints(b, call,
			call_attribute(call, "interior") ? "interior" : "interior_padding", -1,
			MODEL_RANK_MOST, list, &other);
		for (int h = 0; h < other && h < rank; h++)
			between |= list[h] != 0;
	}
	int number = mean_is_onnx(call) ? 2 : 1;
	if (mean_has(call, number) && !value && constant_mode) {
		int by = mean_input(b, call, number);
		if (by < 0 || view_at(b, by)->kind != VIEW_SPLAT)
			return build_fail(b, "padding by a number that is computed");
		fill = view_at(b, by)->splat;
	}
	if (between) {
		v = fill != 0 ? build_map_constant(b, "sub", v, fill) : v;
		for (int h = 0; h < rank && h < other; h++)
			v = mean_stretch(b, v, h, list[h] + 1);
		v = v < 0 ? -1 : pad_by(b, v, low, high, 0);
		return fill != 0 ? build_map_constant(b, "add", v, fill) : v;
	}
	return constant_mode ? pad_by(b, v, low, high, fill)
			     : pad_mirrored(b, v, low, high, call_text(call, "mode"));
}
