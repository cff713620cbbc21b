#include "import/build.h"

#include "base/number.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

enum { BOUNDARIES_MOST = 128 };

int axes_new(struct axis_classes *axes, int64_t extent)
{
	int a = (int)axes->at.count;
	*array_add(axes->arena, &axes->at) =
		(struct axis_class){.parent = a, .extent = extent, .first = -1};
	return a;
}

static int axis_class_find(struct axis_classes *axes, int a)
{
	while (axes->at.at[a].parent != a) {
		int up = axes->at.at[a].parent;
		axes->at.at[a].parent = axes->at.at[up].parent;
		a = up;
	}
	return a;
}

struct axis_class *axes_find(struct axis_classes *axes, int axis)
{
	return &axes->at.at[axis_class_find(axes, axis)];
}

void axes_join(struct axis_classes *axes, int a, int b)
{
	a = axis_class_find(axes, a);
	b = axis_class_find(axes, b);
	if (a == b)
		return;
	axes->at.at[b].parent = a;
	axes->at.at[a].fixed |= axes->at.at[b].fixed;
}

void axes_fix(struct axis_classes *axes, int a)
{
	axes_find(axes, a)->fixed = true;
}

int axes_factors(struct axis_classes *axes, int a, int64_t *sizes)
{
	const struct axis_class *axis = axes_find(axes, a);
	int64_t outer = axis->extent;
	int count = 0;
	if (axis->extent == 1 && !axis->fixed)
		return 0;
	for (int s = axis->split_count - 1; s >= 0; s--) {
		sizes[count++] = outer / axis->splits[s];
		outer = axis->splits[s];
	}
	sizes[count++] = outer;
	return count;
}

/* Products of innermost factors where one list of axes can be cut. */
static int add_boundaries(
	struct axis_classes *axes, const int *list, int count, int64_t *boundaries, int found)
{
	int64_t inner = 1;
	for (int i = count - 1; i >= 0; i--) {
		const struct axis_class *axis = axes_find(axes, list[i]);
		for (int s = 0; s <= axis->split_count && found < BOUNDARIES_MOST; s++)
			boundaries[found++] =
				inner * (s < axis->split_count ? axis->splits[s] : axis->extent);
		inner *= axis->extent;
	}
	return found;
}

static int sort_boundaries(int64_t *boundaries, int count)
{
	int kept = 0;
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0 && boundaries[k] < boundaries[k - 1]; k--) {
			int64_t swap = boundaries[k];
			boundaries[k] = boundaries[k - 1];
			boundaries[k - 1] = swap;
		}
	for (int i = 0; i < count; i++)
		if (boundaries[i] > 1 && (!kept || boundaries[kept - 1] != boundaries[i]))
			boundaries[kept++] = boundaries[i];
	return kept;
}

static bool is_chain(const int64_t *boundaries, int count)
{
	for (int i = 1; i < count; i++)
		if (boundaries[i] % boundaries[i - 1])
			return false;
	return true;
}

/* A class takes a split; false: it would break its chain, or cannot be split. */
static bool take_split(
	struct axis_classes *axes, struct axis_class *axis, int64_t split, bool *changed)
{
	int at = 0;
	while (at < axis->split_count && axis->splits[at] < split)
		at++;
	if (at < axis->split_count && axis->splits[at] == split)
		return true;
	if (axis->fixed || axis->split_count == AXIS_SPLITS_MOST || axis->extent % split ||
		(at > 0 && split % axis->splits[at - 1]) ||
		(at < axis->split_count && axis->splits[at] % split))
		return false;
	for (int k = axis->split_count++; k > at; k--)
		axis->splits[k] = axis->splits[k - 1];
	axis->splits[at] = split;
	axis->split_by = axes->aligning;
	*changed = true;
	return true;
}

static bool axis_classes_refine(struct axis_classes *axes, const int *list, int count,
	const int64_t *boundaries, int boundary_count, bool *changed)
{
	int64_t inner = 1;
	for (int i = count - 1; i >= 0; i--) {
		struct axis_class *axis = axes_find(axes, list[i]);
		int64_t outer = inner * axis->extent;
		for (int b = 0; b < boundary_count; b++)
			if (boundaries[b] > inner && boundaries[b] < outer &&
				!take_split(axes, axis, boundaries[b] / inner, changed))
				return false;
		inner = outer;
	}
	return true;
}

bool axes_align(struct axis_classes *axes, const int *a, int a_count, const int *b, int b_count,
	bool *changed)
{
	int64_t boundaries[BOUNDARIES_MOST];
	int count = add_boundaries(axes, a, a_count, boundaries, 0);
	count = add_boundaries(axes, b, b_count, boundaries, count);
	if (count >= BOUNDARIES_MOST)
		return false;
	count = sort_boundaries(boundaries, count);
	return is_chain(boundaries, count) &&
	       axis_classes_refine(axes, a, a_count, boundaries, count, changed) &&
	       axis_classes_refine(axes, b, b_count, boundaries, count, changed);
}

const struct model_view *view_at(const struct build *b, int v)
{
	return &b->views.at[v];
}

int build_fail(struct build *b, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	if (!b->why)
		b->why = arena_format_list(b->arena, format, list);
	va_end(list);
	return -1;
}

static bool build_check_shape(struct build *b, const struct model_shape *shape)
{
	if (shape->rank < 0 || shape->rank > MODEL_RANK_MOST) {
		build_fail(b, "its shape is not known");
		return false;
	}
	for (int h = 0; h < shape->rank; h++)
		if (shape->size[h] < 1 || shape->size[h] >> DIM_MOST_LOG2) {
			build_fail(b, "dimension %d would have %lld elements", h,
				(long long)shape->size[h]);
			return false;
		}
	if (shape_elements(shape) < 0) {
		build_fail(b, "it would have 2^62 elements or more");
		return false;
	}
	return true;
}

static int add_view(struct build *b, struct model_view view)
{
	if (!build_check_shape(b, &view.shape))
		return -1;
	*array_add(b->arena, &b->views) = view;
	return (int)b->views.count - 1;
}

static const char *name_tensor(struct build *b, const char *hint)
{
	return names_add_like(b->arena, &b->names, arena_format(b->arena, "%.40s", hint));
}

static void new_axes(struct build *b, struct model_view *view)
{
	for (int h = 0; h < view->shape.rank; h++)
		view->axis[h] = axes_new(&b->axes, view->shape.size[h]);
}

int view_stored(
	struct build *b, const char *hint, const char *dtype, const struct model_shape *shape)
{
	struct model_view view = {.kind = VIEW_STORED, .shape = *shape, .dtype = dtype};
	if (!build_check_shape(b, shape))
		return -1;
	view.name = name_tensor(b, hint);
	new_axes(b, &view);
	return add_view(b, view);
}

int view_splat(struct build *b, double value, const char *dtype, const struct model_shape *shape)
{
	return add_view(
		b, (struct model_view){
			   .kind = VIEW_SPLAT, .shape = *shape, .dtype = dtype, .splat = value});
}

int view_reshape(struct build *b, int v, const struct model_shape *shape)
{
	if (v < 0)
		return -1;
	const struct model_view *source = view_at(b, v);
	int64_t have = shape_elements(&source->shape), want = shape_elements(shape);
	if (want < 1 || have != want)
		return build_fail(b, "a reshape from %lld to %lld elements", (long long)have,
			(long long)want);
	if (source->kind == VIEW_SPLAT)
		return view_splat(b, source->splat, source->dtype, shape);
	struct model_view view = {
		.kind = VIEW_RESHAPED, .shape = *shape, .dtype = source->dtype, .source = v};
	if (!build_check_shape(b, shape))
		return -1;
	new_axes(b, &view);
	int made = add_view(b, view);
	*array_add(b->arena, &b->statements) = (struct statement){
		.form = FORM_RESHAPE, .write_count = 1, .writes = {made}, .call = b->call};
	return made;
}

int view_squeeze(struct build *b, int v, uint32_t axes)
{
	if (v < 0)
		return -1;
	const struct model_shape *from = &view_at(b, v)->shape;
	struct model_shape to = {0};
	for (int h = 0; h < from->rank; h++) {
		if (!(axes >> h & 1))
			to.size[to.rank++] = from->size[h];
		else if (from->size[h] != 1)
			return build_fail(b, "dimension %d has more than one element", h);
	}
	return view_reshape(b, v, &to);
}

int view_permute(struct build *b, int v, const int *order)
{
	if (v < 0)
		return -1;
	const struct model_view *source = view_at(b, v);
	struct model_view view = {.kind = VIEW_MAPPED,
		.shape.rank = source->shape.rank,
		.dtype = source->dtype,
		.source = v};
	uint32_t seen = 0;
	for (int h = 0; h < source->shape.rank; h++) {
		if (order[h] < 0 || order[h] >= source->shape.rank || seen >> order[h] & 1)
			return build_fail(b, "a permutation with an axis that is not there");
		seen |= UINT32_C(1) << order[h];
		view.shape.size[h] = source->shape.size[order[h]];
		view.from[order[h]] = (struct view_source_axis){h, 1, 0};
		view.axis[h] = source->kind == VIEW_SPLAT ? 0 : source->axis[order[h]];
	}
	return source->kind == VIEW_SPLAT ? view_splat(b, source->splat, source->dtype, &view.shape)
					  : add_view(b, view);
}

int view_broadcast(struct build *b, int v, const struct model_shape *shape, const int *axis_of)
{
	if (v < 0)
		return -1;
	const struct model_view *source = view_at(b, v);
	if (source->kind == VIEW_SPLAT)
		return view_splat(b, source->splat, source->dtype, shape);
	struct model_view view = {
		.kind = VIEW_MAPPED, .shape = *shape, .dtype = source->dtype, .source = v};
	if (!build_check_shape(b, shape))
		return -1;
	new_axes(b, &view);
	for (int h = 0; h < source->shape.rank; h++) {
		int to = axis_of[h];
		bool alike =
			to >= 0 && to < shape->rank && shape->size[to] == source->shape.size[h];
		if (!alike && source->shape.size[h] != 1)
			return build_fail(b, "a broadcast of %lld elements to others",
				(long long)source->shape.size[h]);
		view.from[h] = (struct view_source_axis){alike ? to : -1, 1, 0};
		if (alike)
			view.axis[to] = source->axis[h];
	}
	return add_view(b, view);
}

/* As numpy does: axes from the right. */
int view_broadcast_to(struct build *b, int v, const struct model_shape *shape)
{
	int axis_of[MODEL_RANK_MOST];
	if (v < 0)
		return -1;
	const struct model_view *source = view_at(b, v);
	if (source->shape.rank > shape->rank)
		return build_fail(b, "a broadcast to fewer dimensions");
	bool same = source->shape.rank == shape->rank;
	for (int h = 0; h < source->shape.rank; h++) {
		axis_of[h] = shape->rank - source->shape.rank + h;
		same &= source->shape.size[h] == shape->size[axis_of[h]];
	}
	return same ? v : view_broadcast(b, v, shape, axis_of);
}

/* A slice of whole parts: the axis becomes two, of which the outer one has a fixed index. */
static int split_axis(struct build *b, int v, int h, int64_t length)
{
	const struct model_view *source = view_at(b, v);
	struct model_shape shape = {.rank = source->shape.rank + 1};
	if (shape.rank > MODEL_RANK_MOST)
		return -1;
	for (int k = 0, to = 0; k < source->shape.rank; k++) {
		if (k == h)
			shape.size[to++] = source->shape.size[k] / length;
		shape.size[to++] = k == h ? length : source->shape.size[k];
	}
	int made = view_reshape(b, v, &shape);
	/* the others are the source's own */
	for (int k = 0; made >= 0 && k < source->shape.rank; k++)
		if (k != h)
			axes_join(&b->axes, view_at(b, v)->axis[k],
				view_at(b, made)->axis[k + (k > h)]);
	return made;
}

static int slice_parts(struct build *b, int v, int h, int64_t start, int64_t length)
{
	int split = split_axis(b, v, h, length);
	if (split < 0)
		return -1;
	const struct model_view *source = view_at(b, split);
	struct model_view view = {.kind = VIEW_MAPPED, .dtype = source->dtype, .source = split};
	for (int k = 0; k < source->shape.rank; k++) {
		if (k == h) {
			view.from[k] = (struct view_source_axis){-1, 1, start / length};
			continue;
		}
		int to = view.shape.rank++;
		view.shape.size[to] = source->shape.size[k];
		view.axis[to] = source->axis[k];
		view.from[k] = (struct view_source_axis){to, 1, 0};
	}
	return add_view(b, view);
}

static int slice_axis(struct build *b, int v, int h, int64_t start, int64_t length, int64_t step)
{
	const struct model_view *source = view_at(b, v);
	if (step == 1 && source->shape.size[h] % length == 0 && start % length == 0 &&
		source->shape.rank < MODEL_RANK_MOST)
		return slice_parts(b, v, h, start, length);
	struct model_view view = *source;
	view.kind = VIEW_MAPPED;
	view.source = v;
	view.copied = view.lead = view.written = false;
	for (int k = 0; k < source->shape.rank; k++)
		view.from[k] = (struct view_source_axis){k, 1, 0};
	view.shape.size[h] = length;
	view.from[h] = (struct view_source_axis){h, step, start};
	view.axis[h] = axes_new(&b->axes, length);
	axes_fix(&b->axes, view.axis[h]);
	axes_fix(&b->axes, view_at(b, v)->axis[h]);
	return add_view(b, view);
}

int view_slice(
	struct build *b, int v, const int64_t *start, const int64_t *length, const int64_t *step)
{
	for (int h = 0; v >= 0 && h < view_at(b, v)->shape.rank; h++) {
		const struct model_view *source = view_at(b, v);
		int64_t size = source->shape.size[h], last;
		if (length[h] == size && start[h] == 0 && step[h] == 1)
			continue;
		if (step[h] < 1 || start[h] < 0 || length[h] < 1 ||
			!number_mul(length[h] - 1, step[h], &last) || last > size - 1 - start[h])
			return build_fail(
				b, "a slice that leaves dimension %d or runs backwards", h);
		if (source->kind == VIEW_SPLAT) {
			struct model_shape shape = source->shape;
			shape.size[h] = length[h];
			v = view_splat(b, source->splat, source->dtype, &shape);
		} else {
			v = slice_axis(b, v, h, start[h], length[h], step[h]);
		}
	}
	return v;
}

static bool is_sliced(const struct build *b, int v)
{
	for (const struct model_view *view = view_at(b, v);
		view->kind == VIEW_RESHAPED || view->kind == VIEW_MAPPED;
		view = view_at(b, view->source))
		if (view->kind == VIEW_MAPPED &&
			shape_elements(&view->shape) !=
				shape_elements(&view_at(b, view->source)->shape))
			return true;
	return false;
}

/* The axis of the source that a reshape leaves as it is; -1: it has none. */
static int unchanged_axis(const struct model_view *view, const struct model_view *source, int h)
{
	int64_t before = 1, at = 1;
	for (int k = 0; k < h; k++)
		before *= view->shape.size[k];
	for (int k = 0; k < source->shape.rank; k++) {
		if (at == before && source->shape.size[k] == view->shape.size[h])
			return k;
		at *= source->shape.size[k];
	}
	return -1;
}

bool view_ends(const struct build *b, int v, int h)
{
	for (;;) {
		const struct model_view *view = view_at(b, v);
		if (view->kind == VIEW_STORED || view->kind == VIEW_SPLAT)
			return true;
		const struct model_view *source = view_at(b, view->source);
		int next = -1;
		if (view->kind == VIEW_RESHAPED) {
			next = unchanged_axis(view, source, h);
			if (next < 0)
				return !is_sliced(b, v);
		}
		for (int k = 0; view->kind == VIEW_MAPPED && k < source->shape.rank; k++)
			if (view->from[k].axis == h)
				next = k;
		if (next < 0 || (view->kind == VIEW_MAPPED &&
					(view->from[next].step != 1 || view->from[next].offset ||
						source->shape.size[next] != view->shape.size[h])))
			return false;
		v = view->source;
		h = next;
	}
}

int view_open_ended(struct build *b, int v, int h)
{
	bool unit = v >= 0 && view_at(b, v)->shape.size[h] == 1;
	return v < 0 || (view_ends(b, v, h) && (!unit || view_at(b, v)->kind == VIEW_STORED))
		       ? v
		       : build_copy(b, v);
}
