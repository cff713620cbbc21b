#include "import/statements.h"
#include "base/text.h"

#include <math.h>

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
	return v >= 0 && view_at(b, v)->kind == VIEW_SPLAT
		       ? build_fail(b, "a constant tensor in place of data")
		       : v;
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
		return build_fail(b, "a constant that is no finite number");
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

static double fold_numbers(const char *function, double a, double c)
{
	return text_equal(function, "add")       ? a + c
	       : text_equal(function, "sub")     ? a - c
	       : text_equal(function, "mul")     ? a * c
	       : text_equal(function, "div")     ? a / c
	       : text_equal(function, "pow")     ? pow(a, c)
	       : text_equal(function, "maximum") ? fmax(a, c)
	       : text_equal(function, "minimum") ? fmin(a, c)
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
			fold_numbers(function, view_at(b, a)->splat, view_at(b, c)->splat), dtype,
			&shape);
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

/* A constant that is multiplied as a tensor lies in memory. */
static int table_of(struct build *b, int v)
{
	if (v < 0 || view_at(b, v)->kind != VIEW_SPLAT)
		return v;
	int table = view_stored(b, "constant", view_at(b, v)->dtype, &view_at(b, v)->shape);
	if (table >= 0)
		b->views.at[table].weight = true;
	return table;
}

int build_contract(struct build *b, int a, const char *a_labels, int c, const char *c_labels,
	const char *out_labels)
{
	struct model_shape shape = {0};
	char loops[LOOPS_MOST + 1] = {0};
	a = table_of(b, a);
	c = table_of(b, c);
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
