#include "import/statements.h"

#include "base/text.h"
#include "import/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONCAT_AT_ONCE = 4 };

/* Operands whole: axis h of the view by loop loop_of[h], -1 where it has one element. */
struct view_read statement_read_whole(const struct build *b, int v, const int *loop_of)
{
	struct view_read read = {.view = v};
	for (int h = 0; h < view_at(b, v)->shape.rank; h++)
		if (loop_of[h] >= 0)
			read.index[h] =
				(struct view_index){.term_count = 1, .terms = {{loop_of[h], 1}}};
	return read;
}

/* A statement that writes a new tensor of that shape; NULL: it cannot. */
struct statement *statement_open(struct build *b, enum form form, const char *function,
	const char *dtype, const struct model_shape *shape)
{
	const char *hint = b->call->output_count && b->call->outputs[0] >= 0
				   ? b->model->values.at[b->call->outputs[0]].name
				   : function;
	int out = view_stored(b, hint, dtype, shape);
	if (out < 0)
		return NULL;
	b->views.at[out].written = true;
	struct statement *made = array_add(b->arena, &b->statements);
	*made = (struct statement){.form = form,
		.function = function,
		.write_count = 1,
		.writes = {out},
		.call = b->call,
		.loop_count = shape->rank,
		.output_loops = shape->rank};
	for (int h = 0; h < shape->rank; h++)
		made->loops[h] = view_at(b, out)->axis[h];
	return made;
}

/* Loops of a statement and the axes that they walk alone are one class, what is summed in an index is fixed. */
static void join_classes(struct build *b, const struct statement *statement)
{
	for (int i = 0; i < statement->read_count; i++) {
		const struct view_read *read = &statement->reads[i];
		const struct model_view *view = view_at(b, read->view);
		for (int h = 0; h < view->shape.rank; h++) {
			const struct view_index *index = &read->index[h];
			bool alone = index->term_count == 1 && index->terms[0].factor == 1 &&
				     index->offset == 0;
			if (alone && axes_find(&b->axes, statement->loops[index->terms[0].loop])
						     ->extent == view->shape.size[h]) {
				axes_join(&b->axes, statement->loops[index->terms[0].loop],
					view->axis[h]);
				continue;
			}
			if (index->term_count || index->offset)
				axes_fix(&b->axes, view->axis[h]);
			for (int k = 0; k < index->term_count; k++)
				axes_fix(&b->axes, statement->loops[index->terms[k].loop]);
		}
		for (int k = 0; read->has_lead && k < read->lead.term_count; k++)
			axes_fix(&b->axes, statement->loops[read->lead.terms[k].loop]);
	}
}

int statement_close(struct build *b, struct statement *statement)
{
	join_classes(b, statement);
	return statement->writes[0];
}

static const char *mixed_dtype(const struct model_view *a, const struct model_view *c)
{
	return a->kind == VIEW_SPLAT && c->kind != VIEW_SPLAT ? c->dtype : a->dtype;
}

void statement_identity_loops(int *loop_of)
{
	for (int h = 0; h < MODEL_RANK_MOST; h++)
		loop_of[h] = h;
}

int statement_data(struct build *b, int v)
{
	if (v < 0 || view_at(b, v)->kind != VIEW_SPLAT)
		return v;
	int table = view_stored(b, "constant", view_at(b, v)->dtype, &view_at(b, v)->shape);
	if (table >= 0)
		b->views.at[table].weight = true;
	return table;
}

static int map_statement(struct build *b, const char *function, int a, int c, double constant,
	bool has_constant, const char *dtype)
{
	int loop_of[MODEL_RANK_MOST];
	statement_identity_loops(loop_of);
	struct model_shape shape = view_at(b, a)->shape;
	struct statement *made = statement_open(b, FORM_MAP, function, dtype, &shape);
	if (!made)
		return -1;
	made->has_constant = has_constant;
	made->constant = constant;
	made->reads[made->read_count++] = statement_read_whole(b, a, loop_of);
	if (c >= 0)
		made->reads[made->read_count++] = statement_read_whole(b, c, loop_of);
	return statement_close(b, made);
}

int build_map(struct build *b, const char *function, int a)
{
	a = statement_data(b, a);
	return a < 0 ? -1 : map_statement(b, function, a, -1, 0, false, view_at(b, a)->dtype);
}

static bool is_comparison(const char *function)
{
	static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};
	for (int i = 0; names[i]; i++)
		if (text_equal(names[i], function))
			return true;
	return false;
}

int build_map_constant(struct build *b, const char *function, int a, double constant)
{
	a = statement_data(b, a);
	if (a < 0)
		return -1;
	if (isnan(constant) || constant == INFINITY)
		return build_fail(b, "a constant that is not a finite number");
	return map_statement(b, function, a, -1, constant, true,
		is_comparison(function) ? "bool" : view_at(b, a)->dtype);
}

/* constant op c, with the constant behind. */
static int constant_first(struct build *b, const char *function, double constant, int c)
{
	static const char *const turned[][2] = {{"lt", "gt"}, {"gt", "lt"}, {"le", "ge"},
		{"ge", "le"}, {"eq", "eq"}, {"ne", "ne"}, {"add", "add"}, {"mul", "mul"},
		{"maximum", "maximum"}, {"minimum", "minimum"}, {"bitand", "bitand"},
		{"bitor", "bitor"}, {"bitxor", "bitxor"}};
	for (size_t i = 0; i < sizeof turned / sizeof *turned; i++)
		if (text_equal(turned[i][0], function))
			return build_map_constant(b, turned[i][1], c, constant);
	if (text_equal(function, "sub"))
		return build_map_constant(b, "add", build_map(b, "neg", c), constant);
	if (text_equal(function, "div"))
		return build_map_constant(b, "mul", build_map(b, "reciprocal", c), constant);
	if (text_equal(function, "pow") && constant > 0)
		return build_map(b, "exp", build_map_constant(b, "mul", c, log(constant)));
	return build_fail(b, "'%s' of a constant", function);
}

double statement_number(const char *function, double x)
{
	return text_equal(function, "clone")        ? x
	       : text_equal(function, "neg")        ? -x
	       : text_equal(function, "sqrt")       ? sqrt(x)
	       : text_equal(function, "exp")        ? exp(x)
	       : text_equal(function, "rsqrt")      ? 1 / sqrt(x)
	       : text_equal(function, "reciprocal") ? 1 / x
	       : text_equal(function, "log")        ? log(x)
	       : text_equal(function, "abs")        ? fabs(x)
	       : text_equal(function, "floor")      ? floor(x)
	       : text_equal(function, "ceil")       ? ceil(x)
	       : text_equal(function, "round")      ? nearbyint(x)
	       : text_equal(function, "sign")       ? (double)((x > 0) - (x < 0))
	       : text_equal(function, "relu")       ? fmax(x, 0)
	       : text_equal(function, "tanh")       ? tanh(x)
	       : text_equal(function, "sigmoid")    ? 1 / (1 + exp(-x))
	       : text_equal(function, "erf")        ? erf(x)
	       : text_equal(function, "sin")        ? sin(x)
	       : text_equal(function, "cos")        ? cos(x)
	       : text_equal(function, "tan")        ? tan(x)
	       : text_equal(function, "atan")       ? atan(x)
						    : NAN;
}

double statement_numbers(const char *function, double a, double c)
{
	return text_equal(function, "add")       ? a + c
	       : text_equal(function, "sub")     ? a - c
	       : text_equal(function, "mul")     ? a * c
	       : text_equal(function, "div")     ? a / c
	       : text_equal(function, "pow")     ? pow(a, c)
	       : text_equal(function, "maximum") ? fmax(a, c)
	       : text_equal(function, "minimum") ? fmin(a, c)
	       : text_equal(function, "where")   ? (a != 0 ? c : 0)
	       : text_equal(function, "unless")  ? (a != 0 ? 0 : c)
	       : text_equal(function, "eq")      ? a == c
	       : text_equal(function, "ne")      ? a != c
	       : text_equal(function, "lt")      ? a < c
	       : text_equal(function, "le")      ? a <= c
	       : text_equal(function, "gt")      ? a > c
	       : text_equal(function, "ge")      ? a >= c
						 : NAN;
}

/* The shape of two operands together, as numpy broadcasts them. */
static bool join_shapes(struct build *b, const struct model_shape *a, const struct model_shape *c,
	struct model_shape *out)
{
	out->rank = a->rank > c->rank ? a->rank : c->rank;
	for (int i = 1; i <= out->rank; i++) {
		int64_t one = i <= a->rank ? a->size[a->rank - i] : 1;
		int64_t other = i <= c->rank ? c->size[c->rank - i] : 1;
		if (one != other && one != 1 && other != 1) {
			build_fail(b, "operands of %lld and %lld elements along one dimension",
				(long long)one, (long long)other);
			return false;
		}
		out->size[out->rank - i] = one == 1 ? other : one;
	}
	return true;
}

int build_map2(struct build *b, const char *function, int a, int c)
{
	struct model_shape shape;
	if (a < 0 || c < 0)
		return -1;
	if (!join_shapes(b, &view_at(b, a)->shape, &view_at(b, c)->shape, &shape))
		return -1;
	bool chooses = text_equal(function, "where") || text_equal(function, "unless");
	const char *dtype = is_comparison(function) ? "bool"
			    : chooses               ? view_at(b, c)->dtype
						    : mixed_dtype(view_at(b, a), view_at(b, c));
	bool a_splat = view_at(b, a)->kind == VIEW_SPLAT,
	     c_splat = view_at(b, c)->kind == VIEW_SPLAT;
	if (a_splat && c_splat)
		return view_splat(b,
			statement_numbers(function, view_at(b, a)->splat, view_at(b, c)->splat),
			dtype, &shape);
	a = view_broadcast_to(b, a, &shape);
	c = view_broadcast_to(b, c, &shape);
	if (a < 0 || c < 0)
		return -1;
	if (a_splat)
		return constant_first(b, function, view_at(b, a)->splat, c);
	if (c_splat && chooses)
		return map_statement(b, function, a, -1, view_at(b, c)->splat, true, dtype);
	if (c_splat)
		return build_map_constant(b, function, a, view_at(b, c)->splat);
	return map_statement(b, function, a, c, 0, false, dtype);
}

int build_copy(struct build *b, int v)
{
	v = statement_data(b, v);
	return v < 0 ? -1 : map_statement(b, "clone", v, -1, 0, false, view_at(b, v)->dtype);
}

int statement_store(struct build *b, int v)
{
	int loop_of[MODEL_RANK_MOST];
	struct model_view source = *view_at(b, v);
	struct statement *made = statement_open(b, FORM_MAP, "clone", source.dtype, &source.shape);
	if (!made)
		return -1;
	statement_identity_loops(loop_of);
	made->reads[made->read_count++] = statement_read_whole(b, v, loop_of);
	for (int h = 0; h < source.shape.rank; h++)
		made->loops[h] = b->views.at[made->writes[0]].axis[h] = source.axis[h];
	return made->writes[0];
}

int build_cast(struct build *b, int v, const char *dtype)
{
	if (v < 0)
		return -1;
	if (view_at(b, v)->kind == VIEW_SPLAT)
		return view_splat(b, view_at(b, v)->splat, dtype, &view_at(b, v)->shape);
	if (!dtype || (view_at(b, v)->dtype && text_equal(dtype, view_at(b, v)->dtype)))
		return v;
	return map_statement(b, "clone", v, -1, 0, false, dtype);
}

int build_reduce(struct build *b, const char *function, int a, uint32_t axes, bool keep)
{
	struct model_shape kept = {0}, all;
	int loop_of[MODEL_RANK_MOST];
	a = statement_data(b, a);
	if (a < 0)
		return -1;
	const struct model_view *view = view_at(b, a);
	all = view->shape;
	const char *dtype = view->dtype;
	for (int h = 0; h < all.rank; h++)
		if (!(axes >> h & 1)) {
			loop_of[h] = kept.rank;
			kept.size[kept.rank++] = all.size[h];
		}
	bool reduces = false;
	for (int h = 0; h < all.rank; h++)
		reduces |= axes >> h & 1 && all.size[h] > 1;
	int out;
	if (!reduces) {
		out = view_squeeze(b, a, axes);
	} else {
		struct statement *made = statement_open(b, FORM_REDUCE, function, dtype, &kept);
		if (!made)
			return -1;
		for (int h = 0; h < all.rank; h++)
			if (axes >> h & 1) {
				loop_of[h] = made->loop_count;
				made->loops[made->loop_count++] = view_at(b, a)->axis[h];
			}
		made->reads[made->read_count++] = statement_read_whole(b, a, loop_of);
		out = statement_close(b, made);
	}
	struct model_shape shape = all;
	for (int h = 0; h < all.rank; h++)
		if (axes >> h & 1)
			shape.size[h] = 1;
	return keep ? view_reshape(b, out, &shape) : out;
}

/* The loop with that label; a new one where there is none. */
static int label_loop(struct statement *made, char *labels, char label, int class)
{
	for (int l = 0; l < made->loop_count; l++)
		if (labels[l] == label)
			return l;
	if (made->loop_count == LOOPS_MOST)
		return -1;
	labels[made->loop_count] = label;
	made->loops[made->loop_count] = class;
	return made->loop_count++;
}

static bool label_size(struct build *b, int v, const char *labels, char label, int64_t *size)
{
	const struct model_shape *shape = &view_at(b, v)->shape;
	for (int h = 0; labels[h] && h < shape->rank; h++)
		if (labels[h] == label) {
			if (shape->size[h] > *size)
				*size = shape->size[h];
			return true;
		}
	return false;
}

static bool read_labels(
	struct build *b, struct statement *made, char *loops, int v, const char *labels)
{
	struct view_read *read = &made->reads[made->read_count++];
	read->view = v;
	for (int h = 0; h < view_at(b, v)->shape.rank; h++) {
		int64_t size = view_at(b, v)->shape.size[h];
		int l = label_loop(made, loops, labels[h], view_at(b, v)->axis[h]);
		if (l < 0) {
			build_fail(b, "more than %d loops", LOOPS_MOST);
			return false;
		}
		int64_t extent = axes_find(&b->axes, made->loops[l])->extent;
		if (size != extent && size != 1) {
			build_fail(b, "a product of %lld with %lld elements", (long long)extent,
				(long long)size);
			return false;
		}
		if (size == extent)
			read->index[h] = (struct view_index){.term_count = 1, .terms = {{l, 1}}};
	}
	return true;
}

int build_contract(struct build *b, int a, const char *a_labels, int c, const char *c_labels,
	const char *out_labels)
{
	struct model_shape shape = {0};
	char loops[LOOPS_MOST + 1] = {0};
	a = statement_data(b, a);
	c = statement_data(b, c);
	if (a < 0 || c < 0)
		return -1;
	for (; out_labels[shape.rank]; shape.rank++) {
		shape.size[shape.rank] = 1;
		bool known =
			label_size(b, a, a_labels, out_labels[shape.rank], &shape.size[shape.rank]);
		known |=
			label_size(b, c, c_labels, out_labels[shape.rank], &shape.size[shape.rank]);
		if (!known || shape.rank + 1 == MODEL_RANK_MOST)
			return build_fail(
				b, "a product without dimension '%c'", out_labels[shape.rank]);
	}
	struct statement *made = statement_open(
		b, FORM_PRODUCT, "sum", mixed_dtype(view_at(b, a), view_at(b, c)), &shape);
	if (!made)
		return -1;
	for (int h = 0; h < shape.rank; h++)
		loops[h] = out_labels[h];
	if (!read_labels(b, made, loops, a, a_labels) ||
		!read_labels(b, made, loops, c, c_labels)) {
		b->statements.count--;
		return -1;
	}
	return statement_close(b, made);
}

int build_softmax(struct build *b, int v, int axis, bool logarithm)
{
	uint32_t axes = UINT32_C(1) << axis;
	int shifted = build_map2(b, "sub", v, build_reduce(b, "max", v, axes, true));
	int powers = build_map(b, "exp", shifted);
	int sum = build_reduce(b, "sum", powers, axes, true);
	return logarithm ? build_map2(b, "sub", shifted, build_map(b, "log", sum))
			 : build_map2(b, "div", powers, sum);
}

int build_norm(
	struct build *b, int v, uint32_t axes, double epsilon, bool centre, int scale, int bias)
{
	if (centre)
		v = build_map2(b, "sub", v, build_reduce(b, "mean", v, axes, true));
	int squares = build_map2(b, "mul", v, v);
	int variance = build_reduce(b, "mean", squares, axes, true);
	int factor = build_map(b, "rsqrt", build_map_constant(b, "add", variance, epsilon));
	int out = build_map2(b, "mul", v, factor);
	if (scale >= 0)
		out = build_map2(b, "mul", out, scale);
	return bias >= 0 ? build_map2(b, "add", out, bias) : out;
}

bool statement_multiplies(const struct statement *statement)
{
	const char *op = statement->call->op;
	return statement->form == FORM_PRODUCT && !strstr(op, "Resize") && !strstr(op, "psample");
}

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

/* A list that begins as an earlier one did, as those of a dense block do, goes on from what that one made. */
static int append_part(struct build *b, int all, int part, int axis)
{
	for (size_t i = 0; i < b->appended.count; i++) {
		const struct appended_part *made = &b->appended.at[i];
		if (made->all == all && made->part == part && made->axis == axis)
			return made->view;
	}
	int view = concat_two(b, all, part, axis);
	if (view >= 0)
		*array_add(b->arena, &b->appended) = (struct appended_part){all, part, axis, view};
	return view;
}

int build_concat(struct build *b, const int *views, int count, int axis)
{
	bool even = true;
	int *parts = arena_array(b->arena, int, (size_t)count);
	for (int i = 0; i < count; i++) {
		parts[i] = statement_data(b, views[i]);
		if (parts[i] < 0)
			return -1;
		const struct model_shape *shape = &view_at(b, parts[i])->shape;
		if (shape->rank != view_at(b, parts[0])->shape.rank || axis < 0 ||
			axis >= shape->rank)
			return build_fail(b, "a concatenation of different ranks");
		even &= shape->size[axis] == view_at(b, parts[0])->shape.size[axis];
	}
	if (count == 1)
		return parts[0];
	/* every part takes a pass over the whole, so that many parts are put together by halves */
	if (even && count > CONCAT_AT_ONCE && count % 2 == 0) {
		int halves[2] = {build_concat(b, parts, count / 2, axis),
			build_concat(b, parts + count / 2, count / 2, axis)};
		return halves[0] < 0 || halves[1] < 0 ? -1 : concat_parts(b, halves, 2, axis);
	}
	if (even)
		return concat_parts(b, parts, count, axis);
	int all = parts[0];
	for (int i = 1; i < count && all >= 0; i++)
		all = append_part(b, all, parts[i], axis);
	return all;
}

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
static struct view_index statement_slide(const struct window *window, int d, int p, int r,
	int64_t size, int64_t outputs, bool *leaves)
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

static int statement_add_loop(struct build *b, struct statement *made, int class)
{
	made->loops[made->loop_count] = class;
	return made->loop_count++;
}

static struct view_index statements_alone(int loop)
{
	return (struct view_index){.term_count = 1, .terms = {{loop, 1}}};
}

/* Walks axis h of read i by a loop alone. */
static void statements_walk(struct build *b, struct statement *made, int i, int h, int loop)
{
	made->reads[i].index[h] = statements_alone(loop);
	axes_join(&b->axes, made->loops[loop], view_at(b, made->reads[i].view)->axis[h]);
}

/* The spatial indices of read 0, whose dimensions begin at axis `at`, as those of the output do; the
 * loops of the window, of which the first is answered. */
static int add_window(struct build *b, struct statement *made, const struct window *window, int at)
{
	struct view_read *x = &made->reads[0];
	int first = made->loop_count;
	for (int d = 0; d < window->spatial; d++) {
		int r = statement_add_loop(b, made, axes_new(&b->axes, window->size[d]));
		int64_t size = view_at(b, x->view)->shape.size[at + d];
		int64_t outputs = axes_find(&b->axes, made->loops[at + d])->extent;
		x->index[at + d] = statement_slide(window, d, at + d, r, size, outputs, &x->pad);
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
	statements_walk(b, made, 0, 0, 0);
	statements_walk(b, made, 0, 1, 1);
	statements_walk(b, made, 1, 0, 1);
	statements_walk(b, made, 1, 1, 2);
	int c = statement_add_loop(b, made, view_at(b, x)->axis[2]);
	statements_walk(b, made, 0, 2, c);
	statements_walk(b, made, 1, 2, c);
	int r = add_window(b, made, window, 3);
	for (int d = 0; d < window->spatial; d++)
		statements_walk(b, made, 1, 3 + d, r + d);
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
	x = settle_ends(b, statement_data(b, x), window);
	w = statement_data(b, w);
	if (x < 0 || w < 0 || !check_window(b, x, window, &out))
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
	statements_walk(b, made, 0, 0, 0);
	statements_walk(b, made, 1, 0, 1);
	if (depthwise) {
		statements_walk(b, made, 0, 1, 1);
	} else {
		int c = statement_add_loop(b, made, view_at(b, x)->axis[1]);
		statements_walk(b, made, 0, 1, c);
		statements_walk(b, made, 1, 1, c);
	}
	int r = add_window(b, made, window, 2);
	for (int d = 0; d < window->spatial; d++)
		statements_walk(b, made, 1, 2 + d, r + d);
	return made->writes[0];
}

int build_pool(struct build *b, int x, const char *function, const struct window *window)
{
	struct model_shape out;
	if (x < 0)
		return -1;
	x = settle_ends(b, statement_data(b, x), window);
	if (x < 0 || !check_window(b, x, window, &out))
		return -1;
	struct statement *made =
		statement_open(b, FORM_REDUCE, function, view_at(b, x)->dtype, &out);
	if (!made)
		return -1;
	made->read_count = 1;
	made->reads[0].view = x;
	statements_walk(b, made, 0, 0, 0);
	statements_walk(b, made, 0, 1, 1);
	add_window(b, made, window, 2);
	return made->writes[0];
}
