#include "import/statements.h"

/* Reads v at each index less `low`; what is outside counts as nothing. */
static struct view_read read_shifted(struct build *b, int v, const int64_t *low)
{
	int loop_of[MODEL_RANK_MOST];
	statement_identity_loops(loop_of);
	struct view_read read = statement_read_whole(b, v, loop_of);
	read.pad = true;
	for (int h = 0; h < view_at(b, v)->shape.rank; h++)
		read.index[h].offset = -low[h];
	return read;
}

int build_pad(struct build *b, int v, const int64_t *low, const int64_t *high)
{
	v = statement_data(b, v);
	if (v < 0)
		return -1;
	struct model_shape shape = view_at(b, v)->shape;
	for (int h = 0; h < shape.rank; h++) {
		if (low[h] > 0 || high[h] > 0)
			v = view_open_ended(b, v, h);
		shape.size[h] += low[h] + high[h];
	}
	struct statement *made =
		v < 0 ? NULL : statement_open(b, FORM_MAP, "clone", view_at(b, v)->dtype, &shape);
	if (!made)
		return -1;
	made->reads[made->read_count++] = read_shifted(b, v, low);
	return statement_close(b, made);
}

/* The stored tensor behind a view whose every axis is its own; else a copy. */
static int lead_base(struct build *b, int v)
{
	if (view_at(b, v)->kind != VIEW_STORED || !view_at(b, v)->written)
		v = build_copy(b, v);
	if (v >= 0)
		b->views.at[v].lead = true;
	return v;
}

/* Parts of one length: the axis is parts x length, and each part fills its own in front of the others. */
static int concat_parts(struct build *b, const int *views, int count, int axis)
{
	struct model_shape part = view_at(b, views[0])->shape, shape = {0}, whole = part;
	int sum = -1;
	if (part.rank == MODEL_RANK_MOST)
		return build_fail(b, "too many dimensions");
	for (int h = 0; h < part.rank; h++) {
		if (h == axis)
			shape.size[shape.rank++] = count;
		shape.size[shape.rank++] = part.size[h];
	}
	whole.size[axis] *= count;
	for (int i = 0; i < count; i++) {
		int base = lead_base(b, views[i]);
		struct statement *made = base < 0 || i == 1
						 ? NULL
						 : statement_open(b, FORM_MAP, i ? "add" : "clone",
							   view_at(b, base)->dtype, &shape);
		if (i == 1 && base >= 0) {
			made = &b->statements.at[b->statements.count - 1];
			while (made->writes[0] != sum)
				made--;
			/* the copy of the second part, if there is one, comes before */
			struct statement first = *made;
			for (; made + 1 < b->statements.at + b->statements.count; made++)
				*made = made[1];
			*made = first;
			made->function = "add";
		}
		if (!made)
			return -1;
		int loop_of[MODEL_RANK_MOST];
		statement_identity_loops(loop_of);
		if (i > 1)
			made->reads[made->read_count++] = statement_read_whole(b, sum, loop_of);
		for (int h = 0; h < part.rank; h++)
			loop_of[h] = h + (h >= axis);
		struct view_read read = statement_read_whole(b, base, loop_of);
		read.pad = read.has_lead = true;
		read.lead =
			(struct view_index){.term_count = 1, .terms = {{axis, 1}}, .offset = -i};
		made->reads[made->read_count++] = read;
		sum = statement_close(b, made);
	}
	return view_reshape(b, sum, &whole);
}

static int concat_two(struct build *b, int a, int c, int axis)
{
	struct model_shape shape = view_at(b, a)->shape;
	int64_t low[2][MODEL_RANK_MOST] = {{0}};
	low[1][axis] = shape.size[axis];
	shape.size[axis] += view_at(b, c)->shape.size[axis];
	int views[2] = {a, c};
	for (int i = 0; i < 2; i++)
		views[i] = view_open_ended(b, views[i], axis);
	struct statement *made =
		views[0] < 0 || views[1] < 0
			? NULL
			: statement_open(b, FORM_MAP, "add", view_at(b, a)->dtype, &shape);
	if (!made)
		return -1;
	for (int i = 0; i < 2; i++) {
		struct view_read read = read_shifted(b, views[i], low[i]);
		axes_fix(&b->axes, view_at(b, views[i])->axis[axis]);
		made->reads[made->read_count++] = read;
	}
	axes_fix(&b->axes, made->loops[axis]);
	return statement_close(b, made);
}

int build_concat(struct build *b, const int *views, int count, int axis)
{
	bool even = true;
	for (int i = 0; i < count; i++) {
		if (statement_data(b, views[i]) < 0)
			return -1;
		const struct model_shape *shape = &view_at(b, views[i])->shape;
		if (shape->rank != view_at(b, views[0])->shape.rank || axis < 0 ||
			axis >= shape->rank)
			return build_fail(b, "a concatenation of different ranks");
		even &= shape->size[axis] == view_at(b, views[0])->shape.size[axis];
	}
	if (count == 1)
		return views[0];
	if (even)
		return concat_parts(b, views, count, axis);
	int all = views[0];
	for (int i = 1; i < count && all >= 0; i++)
		all = concat_two(b, all, views[i], axis);
	return all;
}
