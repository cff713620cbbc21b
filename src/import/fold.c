#include "base/number.h"
#include "base/text.h"
#include "import/ops.h"
#include "import/statements.h"

#include <math.h>
#include <string.h>

/*
 * Constants of constant operands.  Lists of integers, as shape arithmetic has them, have rules of their own: they may
 * be empty, and their numbers may lie beyond 2^53.  Every other op is built on a copy of the state that is thrown
 * away, and its statements are computed element by element.
 */
enum { FOLD_MOST = 1 << 18, FOLD_WORK_MOST = 1 << 22 };

struct list_fold {
	struct build *b;
	const struct model_call *call;
	int64_t *ints;
	double *numbers;
	size_t count, capacity;
	bool fractions; /* the numbers count, not the integers */
	const char *dtype;
	struct model_shape shape;
};

static const struct constant *list_fold_operand(const struct list_fold *f, int i)
{
	return mean_constant(f->b, f->call, i);
}

static const struct model_value *folded_value(const struct list_fold *f, int i)
{
	return &f->b->model->values.at[f->call->inputs[i]];
}

/* A list of integers, or one integer; NULL: operand i is another thing. */
static const struct constant *list_fold_integers(const struct list_fold *f, int i)
{
	const struct constant *found = list_fold_operand(f, i);
	bool list = found && found->ints && folded_value(f, i)->shape.rank <= 1 &&
		    shape_elements(&folded_value(f, i)->shape) == (int64_t)found->count;
	return list ? found : NULL;
}

/* Room for `more` results; false: they are too many. */
static bool list_fold_reserve(struct list_fold *f, int64_t more)
{
	if (more < 0 || more > FOLD_MOST)
		return false;
	f->capacity = (size_t)more;
	f->ints = arena_array(f->b->arena, int64_t, f->capacity + 1);
	f->numbers = arena_array(f->b->arena, double, f->capacity + 1);
	return true;
}

static void list_fold_put(struct list_fold *f, int64_t number)
{
	f->ints[f->count] = number;
	f->numbers[f->count++] = (double)number;
}

/* Puts element `at` of an operand. */
static void list_fold_take(struct list_fold *f, const struct constant *from, size_t at)
{
	f->fractions |= !from->ints;
	f->ints[f->count] = constant_int(from, at);
	f->numbers[f->count++] = constant_number(from, at);
}

static void shape_as_list(struct list_fold *f)
{
	f->shape = (struct model_shape){1, {(int64_t)f->count}};
}

static bool fold_shape(struct list_fold *f)
{
	int v = f->call->inputs[0];
	const struct model_value *value = &f->b->model->values.at[v];
	const struct model_shape *shape =
		f->b->of_value[v] >= 0 ? &view_at(f->b, f->b->of_value[v])->shape : &value->shape;
	if (shape->rank < 0 || !list_fold_reserve(f, MODEL_RANK_MOST))
		return false;
	f->dtype = "int64";
	if (text_equal(f->call->op, "Size")) {
		list_fold_put(f, shape_elements(shape));
		return true;
	}
	int64_t from = call_int(f->call, "start", 0), to = call_int(f->call, "end", shape->rank);
	from += from < 0 ? shape->rank : 0;
	to += to < 0 ? shape->rank : 0;
	for (int64_t h = from < 0 ? 0 : from; h < to && h < shape->rank; h++)
		list_fold_put(f, shape->size[h]);
	shape_as_list(f);
	return true;
}

/* Blocks of `inner` elements along one axis of operand 0. */
static bool fold_gather(struct list_fold *f)
{
	const struct constant *data = list_fold_operand(f, 0), *at = list_fold_operand(f, 1);
	if (!data || !at || shape_elements(&folded_value(f, 0)->shape) < 1)
		return false;
	const struct model_shape *from = &folded_value(f, 0)->shape,
				 *by = &folded_value(f, 1)->shape;
	int64_t axis = call_int(f->call, "axis", 0), inner = 1, outer = 1;
	axis += axis < 0 ? from->rank : 0;
	if (axis < 0 || axis >= from->rank || from->rank + by->rank - 1 > MODEL_RANK_MOST)
		return false;
	int64_t size = from->size[axis], places = shape_elements(by);
	for (int h = 0; h < from->rank; h++)
		*(h < axis ? &outer : &inner) *= h == axis ? 1 : from->size[h];
	if (places < 0 || places > FOLD_MOST || inner * outer > FOLD_MOST ||
		!list_fold_reserve(f, outer * places * inner))
		return false;
	for (int64_t i = 0; i < outer * places * inner; i++) {
		int64_t index = constant_int(at, (size_t)(i / inner % places));
		index += index < 0 ? size : 0;
		if (index < 0 || index >= size)
			return false;
		list_fold_take(
			f, data, (size_t)((i / inner / places * size + index) * inner + i % inner));
	}
	for (int h = 0; h < from->rank; h++) {
		if (h != axis)
			f->shape.size[f->shape.rank++] = from->size[h];
		for (int k = 0; h == axis && k < by->rank; k++)
			f->shape.size[f->shape.rank++] = by->size[k];
	}
	return true;
}

static bool fold_concat(struct list_fold *f)
{
	int64_t all = 0;
	for (int i = 0; i < f->call->input_count; i++) {
		if (!list_fold_integers(f, i))
			return false;
		all += (int64_t)list_fold_integers(f, i)->count;
	}
	if (!list_fold_reserve(f, all))
		return false;
	for (int i = 0; i < f->call->input_count; i++)
		for (size_t k = 0; k < list_fold_integers(f, i)->count; k++)
			list_fold_take(f, list_fold_integers(f, i), k);
	shape_as_list(f);
	return true;
}

/* The same elements as a list, or as one number. */
static bool fold_same(struct list_fold *f)
{
	const struct constant *data = list_fold_integers(f, 0), *to = list_fold_integers(f, 1);
	const char *op = f->call->op;
	int rank = data ? folded_value(f, 0)->shape.rank : 0;
	if (!data || !list_fold_reserve(f, (int64_t)data->count))
		return false;
	if (text_equal(op, "Unsqueeze") || text_equal(op, "Reshape")) {
		if (text_equal(op, "Reshape") ? !to || to->count > 1 || (!to->count && rank)
					      : rank != 0)
			return false;
		rank = to && !to->count ? 0 : 1;
	} else if (text_equal(op, "Squeeze")) {
		if (rank == 1 && data->count == 1)
			rank = 0;
	}
	for (size_t k = 0; k < data->count; k++)
		list_fold_take(f, data, k);
	f->shape = (struct model_shape){rank, {(int64_t)f->count}};
	return true;
}

static bool fold_cast(struct list_fold *f)
{
	enum { TO_INT32 = 6, TO_INT64 = 7 };
	int64_t to = call_int(f->call, "to", 0);
	if ((to != TO_INT32 && to != TO_INT64) || !fold_same(f))
		return false;
	f->dtype = to == TO_INT64 ? "int64" : "int32";
	return true;
}

static bool fold_slice(struct list_fold *f)
{
	const struct constant *data = list_fold_integers(f, 0);
	int64_t from, to, step = 1;
	int count = 0;
	if (!data || folded_value(f, 0)->shape.rank != 1 ||
		!mean_ints(f->b, f->call, "starts", 1, 1, &from, &count) || count != 1 ||
		!mean_ints(f->b, f->call, "ends", 2, 1, &to, &count) || count != 1)
		return false;
	mean_ints(f->b, f->call, NULL, 4, 1, &step, &count);
	int64_t size = (int64_t)data->count;
	from = from < 0 ? from + size : from;
	to = to < 0 ? to + size : to > size ? size : to;
	if (step < 1 || step > FOLD_MOST || from < 0 || !list_fold_reserve(f, size))
		return false;
	for (int64_t i = from; i < to; i += step)
		list_fold_take(f, data, (size_t)i);
	shape_as_list(f);
	return true;
}

static bool fold_combine(const char *op, int64_t x, int64_t y, int64_t *z)
{
	if (text_equal(op, "Add"))
		return !__builtin_add_overflow(x, y, z);
	if (text_equal(op, "Sub"))
		return !__builtin_sub_overflow(x, y, z);
	if (text_equal(op, "Mul"))
		return !__builtin_mul_overflow(x, y, z);
	if (text_equal(op, "Equal")) {
		*z = x == y;
		return true;
	}
	if (y == 0 || y == -1)
		return false;
	*z = text_equal(op, "Div") ? x / y : x % y + (x % y && (x < 0) != (y < 0) ? y : 0);
	return true;
}

static bool fold_pair(struct list_fold *f)
{
	const struct constant *a = list_fold_integers(f, 0), *c = list_fold_integers(f, 1);
	if (!a || !c || (a->count != c->count && a->count != 1 && c->count != 1) ||
		call_int(f->call, "fmod", 0))
		return false;
	bool first =
		a->count > c->count || (a->count == c->count && folded_value(f, 0)->shape.rank > 0);
	size_t count = a->count == 1 ? c->count : a->count;
	if (!list_fold_reserve(f, (int64_t)count))
		return false;
	f->shape = folded_value(f, first ? 0 : 1)->shape;
	f->dtype = text_equal(f->call->op, "Equal") ? "bool" : f->dtype;
	for (size_t i = 0; i < count; i++) {
		int64_t z;
		if (!fold_combine(f->call->op, constant_int(a, i), constant_int(c, i), &z))
			return false;
		list_fold_put(f, z);
	}
	return true;
}

static bool fold_range(struct list_fold *f)
{
	const struct constant *from = list_fold_operand(f, 0), *to = list_fold_operand(f, 1),
			      *step = list_fold_operand(f, 2);
	if (!from || !to || !step || !from->count || !to->count || !step->count ||
		constant_number(step, 0) == 0)
		return false;
	double first = constant_number(from, 0), by = constant_number(step, 0);
	double count = ceil((constant_number(to, 0) - first) / by);
	if (!(count <= FOLD_MOST) || !list_fold_reserve(f, count < 0 ? 0 : (int64_t)count))
		return false;
	f->fractions = !from->ints;
	for (size_t i = 0; i < f->capacity; i++) {
		int64_t whole = 0;
		if (from->ints && (__builtin_mul_overflow((int64_t)i, step->ints[0], &whole) ||
					  __builtin_add_overflow(whole, from->ints[0], &whole)))
			return false;
		list_fold_put(f, whole);
		if (f->fractions)
			f->numbers[i] = first + (double)i * by;
	}
	shape_as_list(f);
	return true;
}

/* An empty or short list; longer ones and tensors are splats. */
static bool fold_filled(struct list_fold *f)
{
	const struct constant *shape = list_fold_integers(f, 0);
	const struct attribute *value = call_attribute(f->call, "value");
	const struct constant *fill = value ? value->constant : NULL;
	if (!shape || shape->count != 1 || shape->ints[0] < 0 || shape->ints[0] > 64 || !fill ||
		!fill->count || !list_fold_reserve(f, shape->ints[0]))
		return false;
	for (int64_t i = 0; i < shape->ints[0]; i++)
		list_fold_take(f, fill, 0);
	f->dtype = value->dtype;
	shape_as_list(f);
	return true;
}

static bool fold_where(struct list_fold *f)
{
	const struct constant *which = list_fold_integers(f, 0), *a = list_fold_integers(f, 1),
			      *c = list_fold_integers(f, 2);
	if (!which || !a || !c || (a->count != which->count && a->count != 1) ||
		(c->count != which->count && c->count != 1) ||
		!list_fold_reserve(f, (int64_t)which->count))
		return false;
	for (size_t i = 0; i < which->count; i++)
		list_fold_take(f, which->ints[i] ? a : c, i);
	f->shape = folded_value(f, 0)->shape;
	f->dtype = folded_value(f, 1)->dtype;
	return true;
}

/* Blocks of operand 2 in place of those of operand 0 at the indices, rows of operand 1. */
static bool fold_scatter(struct list_fold *f)
{
	const struct constant *data = list_fold_operand(f, 0), *at = list_fold_operand(f, 1),
			      *by = list_fold_operand(f, 2);
	const char *how = call_text(f->call, "reduction");
	if (!data || !at || !by || !data->ints != !by->ints)
		return false;
	const struct model_shape *shape = &folded_value(f, 0)->shape,
				 *rows = &folded_value(f, 1)->shape;
	int64_t all = shape_elements(shape), block = 1;
	int64_t depth = rows->rank > 0 ? rows->size[rows->rank - 1] : 0;
	if (all < 1 || depth < 1 || depth > shape->rank || (how[0] && !text_equal(how, "none")) ||
		!list_fold_reserve(f, all))
		return false;
	for (int64_t i = 0; i < all; i++)
		list_fold_take(f, data, (size_t)i);
	for (int64_t h = depth; h < shape->rank; h++)
		block *= shape->size[h];
	int64_t places = shape_elements(rows) / depth;
	if (places * block != shape_elements(&folded_value(f, 2)->shape))
		return false;
	for (int64_t p = 0; p < places; p++) {
		int64_t place = 0;
		for (int64_t h = 0; h < depth; h++) {
			int64_t index = constant_int(at, (size_t)(p * depth + h));
			index += index < 0 ? shape->size[h] : 0;
			if (index < 0 || index >= shape->size[h])
				return false;
			place = place * shape->size[h] + index;
		}
		for (int64_t i = 0; i < block; i++) {
			f->ints[place * block + i] = constant_int(by, (size_t)(p * block + i));
			f->numbers[place * block + i] =
				constant_number(by, (size_t)(p * block + i));
		}
	}
	f->shape = *shape;
	return true;
}

/* The indices of elements that are not 0, one row for each dimension. */
static bool fold_places(struct list_fold *f)
{
	const struct constant *data = list_fold_operand(f, 0);
	const struct model_shape shape = folded_value(f, 0)->shape;
	int64_t all = shape_elements(&shape), found = 0;
	if (!data || all < 0 || all > FOLD_MOST || shape.rank < 1)
		return false;
	for (int64_t i = 0; i < all; i++)
		found += constant_number(data, (size_t)i) != 0;
	if (!list_fold_reserve(f, found * shape.rank))
		return false;
	int64_t inner = all;
	for (int h = 0; h < shape.rank; h++) {
		inner /= shape.size[h] ? shape.size[h] : 1;
		for (int64_t i = 0; i < all; i++)
			if (constant_number(data, (size_t)i) != 0)
				list_fold_put(f, i / inner % shape.size[h]);
	}
	f->shape = (struct model_shape){2, {shape.rank, found}};
	f->dtype = "int64";
	return true;
}

static bool fold_list(struct build *b, const struct model_call *call)
{
	static const struct {
		const char *op;
		bool (*fold)(struct list_fold *f);
	} folds[] = {{"Shape", fold_shape}, {"Size", fold_shape}, {"Gather", fold_gather},
		{"Concat", fold_concat}, {"Unsqueeze", fold_same}, {"Squeeze", fold_same},
		{"Reshape", fold_same}, {"Identity", fold_same}, {"Cast", fold_cast},
		{"Floor", fold_same}, {"Slice", fold_slice}, {"Add", fold_pair}, {"Sub", fold_pair},
		{"Mul", fold_pair}, {"Div", fold_pair}, {"Mod", fold_pair}, {"Equal", fold_pair},
		{"Range", fold_range}, {"ConstantOfShape", fold_filled}, {"Where", fold_where},
		{"ScatterND", fold_scatter}, {"NonZero", fold_places}};
	for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
		if (!text_equal(folds[i].op, call->op))
			continue;
		struct list_fold f = {
			.b = b, .call = call, .dtype = b->model->values.at[call->inputs[0]].dtype};
		if (!folds[i].fold(&f))
			return false;
		struct constant *made = arena_new(b->arena, struct constant);
		*made = (struct constant){f.count, f.fractions ? NULL : f.ints, f.numbers};
		struct model_value *value = &b->model->values.at[call->outputs[0]];
		value->constant = made;
		value->shape = f.shape;
		value->dtype = f.dtype ? f.dtype : f.fractions ? "fp32" : "int64";
		return true;
	}
	return false;
}

/* Moves on to the next index, the last one first; false after the last. */
static bool next_index(int64_t *at, const int64_t *size, int count)
{
	for (int l = count - 1; l >= 0; l--) {
		if (++at[l] < size[l])
			return true;
		at[l] = 0;
	}
	return false;
}

/* The number at an index of a view; *known turns false where it is not known. */
static double number_at(const struct build *b, int v, const int64_t *index, bool *known)
{
	int64_t at[MODEL_RANK_MOST], next[MODEL_RANK_MOST] = {0};
	memcpy(at, index, sizeof at);
	for (;; v = view_at(b, v)->source) {
		const struct model_view *view = view_at(b, v);
		int64_t flat = 0;
		for (int h = 0; h < view->shape.rank; h++)
			flat = flat * view->shape.size[h] + at[h];
		if (view->kind == VIEW_SPLAT)
			return view->splat;
		if (view->kind == VIEW_STORED) {
			const struct constant *numbers = view->numbers;
			if (numbers && (numbers->count == 1 || flat < (int64_t)numbers->count))
				return constant_number(numbers, (size_t)flat);
			*known = false;
			return NAN;
		}
		const struct model_shape *source = &view_at(b, view->source)->shape;
		for (int k = source->rank - 1; k >= 0; k--) {
			const struct view_source_axis *from = &view->from[k];
			if (view->kind == VIEW_MAPPED) {
				next[k] = from->axis < 0
						  ? from->offset
						  : at[from->axis] * from->step + from->offset;
				continue;
			}
			next[k] = flat % source->size[k];
			flat /= source->size[k];
		}
		memcpy(at, next, sizeof at);
	}
}

static int64_t index_value(const struct view_index *index, const int64_t *loops)
{
	int64_t sum = index->offset;
	for (int t = 0; t < index->term_count; t++)
		sum += loops[index->terms[t].loop] * index->terms[t].factor;
	return sum;
}

static double read_number(const struct build *b, const struct view_read *read, const int64_t *loops,
	double outside, bool *known)
{
	int64_t index[MODEL_RANK_MOST] = {0};
	const struct model_shape *shape = &view_at(b, read->view)->shape;
	bool inside = !read->has_lead || index_value(&read->lead, loops) == 0;
	for (int h = 0; h < shape->rank; h++) {
		index[h] = index_value(&read->index[h], loops);
		inside &= index[h] >= 0 && index[h] < shape->size[h];
	}
	return inside ? number_at(b, read->view, index, known) : outside;
}

/* One term of a statement: the map of its operands, or their product. */
static double fold_term(const struct build *b, const struct statement *statement,
	const int64_t *loops, double outside, bool *known)
{
	double x[READS_MOST + 1] = {0}, product = 1;
	int count = statement->read_count;
	for (int i = 0; i < count; i++) {
		x[i] = read_number(b, &statement->reads[i], loops, outside, known);
		product *= x[i];
	}
	if (statement->has_constant)
		x[count++] = statement->constant;
	return statement->form != FORM_MAP ? product
	       : count == 2                ? statement_numbers(statement->function, x[0], x[1])
					   : statement_number(statement->function, x[0]);
}

/* Computes what a statement writes; false: it is not known, or too much. */
static bool fold_compute(struct build *b, const struct statement *statement, int64_t *work)
{
	struct model_view *out = &b->views.at[statement->writes[0]];
	int64_t size[LOOPS_MOST], at[LOOPS_MOST] = {0}, all = shape_elements(&out->shape),
				  inner = 1;
	int outer = statement->output_loops, rest = statement->loop_count - outer;
	bool most = text_equal(statement->function, "max"), known = true,
	     least = text_equal(statement->function, "min");
	double first = most ? -INFINITY : least ? INFINITY : 0;
	for (int l = 0; l < statement->loop_count; l++) {
		size[l] = axes_find(&b->axes, statement->loops[l])->extent;
		if (l >= outer && !number_mul(inner, size[l], &inner))
			return false;
	}
	if (all > FOLD_MOST || inner > FOLD_WORK_MOST || (*work -= all * inner) < 0)
		return false;
	double *numbers = arena_array(b->arena, double, (size_t)all);
	for (int64_t i = 0; i < all && known; i++) {
		double sum = first;
		do {
			double x = fold_term(b, statement, at, first, &known);
			sum = statement->form == FORM_MAP ? x
			      : most                      ? fmax(sum, x)
			      : least                     ? fmin(sum, x)
							  : sum + x;
		} while (next_index(at + outer, size + outer, rest));
		numbers[i] = text_equal(statement->function, "mean") ? sum / (double)inner : sum;
		known &= !isnan(numbers[i]);
		next_index(at, size, outer);
	}
	struct constant *made = arena_new(b->arena, struct constant);
	*made = (struct constant){(size_t)all, NULL, numbers};
	out->numbers = made;
	return known;
}

static int64_t whole_number(double number)
{
	return number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

/* The numbers of a view; NULL: they are not known. */
static const struct constant *numbers_of(struct build *b, int v, const char *dtype)
{
	const struct model_view *view = view_at(b, v);
	int64_t at[MODEL_RANK_MOST] = {0}, all = shape_elements(&view->shape);
	bool known = all <= FOLD_MOST;
	if (view->kind == VIEW_SPLAT)
		all = 1;
	else if (!known)
		return NULL;
	double *numbers = arena_array(b->arena, double, (size_t)all);
	int64_t *ints = arena_array(b->arena, int64_t, (size_t)all);
	for (int64_t i = 0; i < all; i++) {
		numbers[i] = number_at(b, v, at, &known);
		if (isnan(numbers[i]))
			return NULL;
		ints[i] = whole_number(numbers[i]);
		next_index(at, view->shape.size, view->shape.rank);
	}
	bool whole = dtype && (!strncmp(dtype, "int", 3) || text_equal(dtype, "bool"));
	for (int64_t i = 0; whole && i < all; i++)
		numbers[i] = (double)ints[i];
	struct constant *made = arena_new(b->arena, struct constant);
	*made = (struct constant){(size_t)all, whole ? ints : NULL, numbers};
	return made;
}

/* True if a constant is shape arithmetic or a mask, not data: weights, and what is stored in few bits, stay in memory. */
static bool model_value_folds(const struct model_value *value)
{
	const char *dtype = value->dtype ? value->dtype : "";
	bool whole = !strncmp(dtype, "int", 3) || text_equal(dtype, "bool");
	return value->constant && value->shape.rank >= 0 && shape_elements(&value->shape) > 0 &&
	       shape_elements(&value->shape) <= FOLD_MOST &&
	       (value->constant->count == 1 ||
		       (whole ? !text_equal(dtype, "int8") || !value->weight
			      : !value->weight && !text_equal(dtype, "fp8")));
}

/* Computes a call that was built on a copy of the state, from statement `first` on. */
static bool compute_call(struct build *trial, const struct model_call *call, size_t first)
{
	int64_t work = FOLD_WORK_MOST;
	struct model_value *values = trial->model->values.at;
	const struct constant **made =
		arena_array(trial->arena, const struct constant *, (size_t)call->output_count);
	for (size_t s = first; s < trial->statements.count; s++) {
		const struct statement *statement = &trial->statements.at[s];
		if (statement->form != FORM_RESHAPE &&
			(statement->form == FORM_OPAQUE || !fold_compute(trial, statement, &work)))
			return false;
	}
	for (int i = 0; i < call->output_count; i++) {
		int v = call->outputs[i];
		if (v < 0 || trial->of_value[v] < 0)
			continue;
		made[i] = numbers_of(trial, trial->of_value[v], values[v].dtype);
		if (!made[i])
			return false;
	}
	for (int i = 0; i < call->output_count; i++)
		if (made[i])
			values[call->outputs[i]].constant = made[i];
	return true;
}

/* Builds the call on a copy of the state, from operands with numbers, and computes its statements. */
static bool fold_by_meaning(struct build *b, const struct model_call *call)
{
	struct build trial = *b;
	const struct model_value *values = b->model->values.at;
	int *before = arena_array(b->arena, int, (size_t)call->input_count);
	trial.names = (struct names){0};
	bool good = true;
	for (int i = 0; i < call->input_count; i++) {
		int v = call->inputs[i];
		before[i] = v < 0 ? -1 : b->of_value[v];
		if (v < 0)
			continue;
		int view = view_stored(&trial, "x", values[v].dtype, &values[v].shape);
		good &= view >= 0;
		if (view >= 0)
			trial.views.at[view].numbers = values[v].constant;
		b->of_value[v] = view;
	}
	good = good && build_call(&trial, call) && compute_call(&trial, call, b->statements.count);
	for (int i = 0; i < call->output_count; i++)
		if (call->outputs[i] >= 0)
			b->of_value[call->outputs[i]] = -1;
	for (int i = call->input_count - 1; i >= 0; i--)
		if (call->inputs[i] >= 0)
			b->of_value[call->inputs[i]] = before[i];
	return good;
}

bool fold_call(struct build *b, const struct model_call *call)
{
	bool folds_all = call->output_count > 0;
	if (!mean_is_onnx(call))
		return false;
	if (text_equal(call->op, "Constant"))
		return mean_literal_known(b, call);
	bool first = call->input_count > 0 && call->inputs[0] >= 0;
	if (first && call->output_count == 1 && call->outputs[0] >= 0 && fold_list(b, call))
		return true;
	for (int i = 0; i < call->input_count; i++)
		folds_all &= call->inputs[i] < 0
				     ? i > 0
				     : model_value_folds(&b->model->values.at[call->inputs[i]]);
	return first && folds_all && fold_by_meaning(b, call);
}
