#include "import/build.h"
#include "import/statements.h"

#include <stdio.h>

/* Outputs along one spatial dimension; 0: the window does not fit. */
static int64_t outputs_of(const struct window *window, int d, int64_t size)
{
	int64_t reach = (window->size[d] - 1) * window->dilation[d] + 1;
	int64_t rest = size + window->low[d] + window->high[d] - reach;
	if (rest < 0)
		return 0;
	int64_t count = rest / window->stride[d] + 1;
	/* a window that only begins in the data or the padding in front counts, too */
	if (window->ceil && rest % window->stride[d] &&
		count * window->stride[d] < size + window->low[d])
		count++;
	return count;
}

static bool check_window(
	struct build *b, int x, const struct window *window, struct model_shape *out)
{
	const struct model_shape *shape = &view_at(b, x)->shape;
	if (shape->rank != window->spatial + 2) {
		build_fail(b, "a window over %d dimensions of a tensor of %d", window->spatial,
			shape->rank);
		return false;
	}
	out->rank = shape->rank;
	out->size[0] = shape->size[0];
	out->size[1] = shape->size[1];
	for (int d = 0; d < window->spatial; d++) {
		bool good = window->size[d] > 0 && window->stride[d] > 0 &&
			    window->dilation[d] > 0 && window->low[d] >= 0 && window->high[d] >= 0;
		int64_t limit = INT64_C(1) << 24;
		if (!good || window->size[d] > limit || window->stride[d] > limit ||
			window->dilation[d] > limit || window->low[d] > limit ||
			window->high[d] > limit) {
			build_fail(b,
				"a window with a size, stride, dilation or padding that is not possible");
			return false;
		}
		out->size[d + 2] = outputs_of(window, d, shape->size[d + 2]);
	}
	return true;
}

/* The index of spatial dimension d by loops p and r; *leaves: beyond the data. */
static struct view_index slide(const struct window *window, int d, int p, int r, int64_t size,
	int64_t outputs, bool *leaves)
{
	struct view_index index = {.offset = -window->low[d]};
	int64_t last =
		(outputs - 1) * window->stride[d] + (window->size[d] - 1) * window->dilation[d];
	if (outputs > 1)
		index.terms[index.term_count++] = (struct index_term){p, window->stride[d]};
	if (window->size[d] > 1)
		index.terms[index.term_count++] = (struct index_term){r, window->dilation[d]};
	*leaves |= window->low[d] > 0 || last - window->low[d] >= size;
	return index;
}

/* A view that a window leaves must end where its tensor ends. */
static int settle_ends(struct build *b, int x, const struct window *window)
{
	for (int d = 0; x >= 0 && d < window->spatial && d + 2 < view_at(b, x)->shape.rank; d++)
		if (window->low[d] || window->high[d] || window->ceil)
			x = view_open_ended(b, x, d + 2);
	return x;
}

static int add_loop(struct build *b, struct statement *made, int class)
{
	made->loops[made->loop_count] = class;
	return made->loop_count++;
}

static struct view_index alone(int loop)
{
	return (struct view_index){.term_count = 1, .terms = {{loop, 1}}};
}

/* Walks axis h of read i by a loop alone. */
static void walk(struct build *b, struct statement *made, int i, int h, int loop)
{
	made->reads[i].index[h] = alone(loop);
	axes_join(&b->axes, made->loops[loop], view_at(b, made->reads[i].view)->axis[h]);
}

/* The spatial indices of read 0, whose dimensions begin at axis `at`, as those of the output do; the
 * loops of the window, of which the first is answered. */
static int add_window(struct build *b, struct statement *made, const struct window *window, int at)
{
	struct view_read *x = &made->reads[0];
	int first = made->loop_count;
	for (int d = 0; d < window->spatial; d++) {
		int r = add_loop(b, made, axes_new(&b->axes, window->size[d]));
		int64_t size = view_at(b, x->view)->shape.size[at + d];
		int64_t outputs = axes_find(&b->axes, made->loops[at + d])->extent;
		x->index[at + d] = slide(window, d, at + d, r, size, outputs, &x->pad);
		axes_fix(&b->axes, view_at(b, x->view)->axis[at + d]);
		axes_fix(&b->axes, made->loops[at + d]);
		axes_fix(&b->axes, made->loops[r]);
	}
	return first;
}

/* [N, C, ..] as [N, groups, C / groups, ..] */
static int split_channels(struct build *b, int v, int axis, int64_t groups)
{
	struct model_shape shape = {0};
	const struct model_shape *from = &view_at(b, v)->shape;
	for (int h = 0; h < from->rank; h++) {
		if (h == axis)
			shape.size[shape.rank++] = groups;
		shape.size[shape.rank++] = h == axis ? from->size[h] / groups : from->size[h];
	}
	int made = view_reshape(b, v, &shape);
	for (int h = 0; made >= 0 && h < view_at(b, v)->shape.rank; h++)
		if (h != axis)
			axes_join(&b->axes, view_at(b, v)->axis[h],
				view_at(b, made)->axis[h + (h > axis)]);
	return made;
}

static int convolve_groups(
	struct build *b, int x, int w, const struct window *window, struct model_shape *out)
{
	struct model_shape shape = {.rank = window->spatial + 3};
	int64_t groups = window->groups, channels = out->size[1];
	const char *dtype = view_at(b, x)->dtype;
	x = split_channels(b, x, 1, groups);
	w = split_channels(b, w, 0, groups);
	if (x < 0 || w < 0)
		return -1;
	shape.size[0] = out->size[0];
	shape.size[1] = groups;
	shape.size[2] = channels / groups;
	for (int d = 0; d < window->spatial; d++)
		shape.size[3 + d] = out->size[2 + d];
	struct statement *made = statement_open(b, FORM_PRODUCT, "sum", dtype, &shape);
	if (!made)
		return -1;
	made->read_count = 2;
	made->reads[0].view = x;
	made->reads[1].view = w;
	walk(b, made, 0, 0, 0);
	walk(b, made, 0, 1, 1);
	walk(b, made, 1, 0, 1);
	walk(b, made, 1, 1, 2);
	int c = add_loop(b, made, view_at(b, x)->axis[2]);
	walk(b, made, 0, 2, c);
	walk(b, made, 1, 2, c);
	int r = add_window(b, made, window, 3);
	for (int d = 0; d < window->spatial; d++)
		walk(b, made, 1, 3 + d, r + d);
	int made_view = made->writes[0];
	for (int d = 0; d < window->spatial; d++)
		out->size[2 + d] = shape.size[3 + d];
	return view_reshape(b, made_view, out);
}

int build_convolution(struct build *b, int x, int w, const struct window *window)
{
	struct model_shape out;
	if (x < 0 || w < 0)
		return -1;
	if (view_at(b, x)->kind == VIEW_SPLAT || view_at(b, w)->kind == VIEW_SPLAT)
		return build_fail(b, "a convolution of a constant");
	x = settle_ends(b, x, window);
	if (x < 0 || !check_window(b, x, window, &out))
		return -1;
	const struct model_shape *weights = &view_at(b, w)->shape;
	int64_t channels = view_at(b, x)->shape.size[1], groups = window->groups;
	if (groups < 1 || weights->rank != out.rank || weights->size[0] % groups ||
		channels % groups || weights->size[1] != channels / groups)
		return build_fail(b, "weights that do not fit the channels");
	out.size[1] = weights->size[0];
	bool depthwise = groups == channels && groups == weights->size[0];
	if (groups > 1 && !depthwise)
		return convolve_groups(b, x, w, window, &out);
	struct statement *made = statement_open(b, FORM_PRODUCT, "sum", view_at(b, x)->dtype, &out);
	if (!made)
		return -1;
	made->read_count = 2;
	made->reads[0].view = x;
	made->reads[1].view = w;
	walk(b, made, 0, 0, 0);
	walk(b, made, 1, 0, 1);
	if (depthwise) {
		walk(b, made, 0, 1, 1);
	} else {
		int c = add_loop(b, made, view_at(b, x)->axis[1]);
		walk(b, made, 0, 1, c);
		walk(b, made, 1, 1, c);
	}
	int r = add_window(b, made, window, 2);
	for (int d = 0; d < window->spatial; d++)
		walk(b, made, 1, 2 + d, r + d);
	return made->writes[0];
}

int build_pool(struct build *b, int x, const char *function, const struct window *window)
{
	struct model_shape out;
	if (x < 0)
		return -1;
	if (view_at(b, x)->kind == VIEW_SPLAT)
		return build_fail(b, "a pool of a constant");
	x = settle_ends(b, x, window);
	if (x < 0 || !check_window(b, x, window, &out))
		return -1;
	struct statement *made =
		statement_open(b, FORM_REDUCE, function, view_at(b, x)->dtype, &out);
	if (!made)
		return -1;
	made->read_count = 1;
	made->reads[0].view = x;
	walk(b, made, 0, 0, 0);
	walk(b, made, 0, 1, 1);
	add_window(b, made, window, 2);
	return made->writes[0];
}
