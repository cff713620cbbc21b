#include "base/text.h"
#include "import/ops.h"

#include <math.h>
#include <string.h>

/* Shape arithmetic: small integers that are known give integers that are known. */
struct shape_fold {
	struct build *b;
	const struct model_call *call;
	int64_t out[CONSTANT_MOST];
	size_t count;
	struct model_shape shape;
};

static const struct constant *integers(const struct shape_fold *f, int i)
{
	const struct constant *found = mean_constant(f->b, f->call, i);
	return found && found->ints ? found : NULL;
}

static const struct model_shape *shape_in(const struct shape_fold *f, int i)
{
	return &f->b->model->values.at[f->call->inputs[i]].shape;
}

static bool fold_shape(struct shape_fold *f)
{
	int v = f->call->inputs[0];
	if (v < 0)
		return false;
	const struct model_value *value = &f->b->model->values.at[v];
	const struct model_shape *shape =
		f->b->of_value[v] >= 0 ? &view_at(f->b, f->b->of_value[v])->shape : &value->shape;
	if (shape->rank < 0)
		return false;
	if (text_equal(f->call->op, "Size")) {
		f->out[f->count++] = shape_elements(shape);
		return true;
	}
	int64_t from = call_int(f->call, "start", 0), to = call_int(f->call, "end", shape->rank);
	from += from < 0 ? shape->rank : 0;
	to += to < 0 ? shape->rank : 0;
	for (int64_t h = from < 0 ? 0 : from; h < to && h < shape->rank; h++)
		f->out[f->count++] = shape->size[h];
	f->shape = (struct model_shape){1, {(int64_t)f->count}};
	return true;
}

static bool fold_gather(struct shape_fold *f)
{
	const struct constant *data = integers(f, 0), *at = integers(f, 1);
	if (!data || !at || shape_in(f, 0)->rank != 1)
		return false;
	for (size_t i = 0; i < at->count; i++) {
		int64_t index = at->ints[i] < 0 ? at->ints[i] + (int64_t)data->count : at->ints[i];
		if (index < 0 || index >= (int64_t)data->count)
			return false;
		f->out[f->count++] = data->ints[index];
	}
	f->shape = *shape_in(f, 1);
	return true;
}

static bool fold_concat(struct shape_fold *f)
{
	for (int i = 0; i < f->call->input_count; i++) {
		const struct constant *part = integers(f, i);
		if (!part || shape_in(f, i)->rank > 1 || f->count + part->count > CONSTANT_MOST)
			return false;
		memcpy(f->out + f->count, part->ints, part->count * sizeof *part->ints);
		f->count += part->count;
	}
	f->shape = (struct model_shape){1, {(int64_t)f->count}};
	return true;
}

/* The same elements in another shape. */
static bool fold_same(struct shape_fold *f)
{
	const struct constant *data = integers(f, 0);
	if (!data)
		return false;
	memcpy(f->out, data->ints, data->count * sizeof *data->ints);
	f->count = data->count;
	f->shape = *shape_in(f, 0);
	if (text_equal(f->call->op, "Unsqueeze") || text_equal(f->call->op, "Reshape"))
		f->shape = (struct model_shape){1, {(int64_t)f->count}};
	else if (text_equal(f->call->op, "Squeeze"))
		f->shape = (struct model_shape){f->count != 1, {(int64_t)f->count}};
	return true;
}

static bool fold_slice(struct shape_fold *f)
{
	const struct constant *data = integers(f, 0);
	int64_t from, to, step = 1;
	int count = 0;
	if (!data || shape_in(f, 0)->rank != 1 ||
		!mean_ints(f->b, f->call, "starts", 1, 1, &from, &count) || count != 1 ||
		!mean_ints(f->b, f->call, "ends", 2, 1, &to, &count) || count != 1)
		return false;
	mean_ints(f->b, f->call, NULL, 4, 1, &step, &count);
	int64_t size = (int64_t)data->count;
	from = from < 0 ? from + size : from;
	to = to < 0 ? to + size : to > size ? size : to;
	if (step < 1 || step > CONSTANT_MOST || from < 0)
		return false;
	for (int64_t i = from; i < to; i += step)
		f->out[f->count++] = data->ints[i];
	f->shape = (struct model_shape){1, {(int64_t)f->count}};
	return true;
}

static bool fold_pair(struct shape_fold *f)
{
	const struct constant *a = integers(f, 0), *c = integers(f, 1);
	const char *op = f->call->op;
	if (!a || !c || (a->count != c->count && a->count != 1 && c->count != 1))
		return false;
	f->count = a->count > c->count ? a->count : c->count;
	f->shape = *shape_in(f, a->count >= c->count ? 0 : 1);
	for (size_t i = 0; i < f->count; i++) {
		int64_t x = constant_int(a, i), y = constant_int(c, i), z = 0;
		bool good = text_equal(op, "Add")   ? !__builtin_add_overflow(x, y, &z)
			    : text_equal(op, "Sub") ? !__builtin_sub_overflow(x, y, &z)
			    : text_equal(op, "Mul") ? !__builtin_mul_overflow(x, y, &z)
						    : y > 0 || y < -1;
		if (!good)
			return false;
		if (text_equal(op, "Div"))
			z = x / y;
		if (text_equal(op, "Mod"))
			z = x % y;
		if (text_equal(op, "Equal"))
			z = x == y;
		f->out[i] = z;
	}
	return true;
}

static bool fold_range(struct shape_fold *f)
{
	const struct constant *from = integers(f, 0), *to = integers(f, 1), *step = integers(f, 2);
	if (!from || !to || !step || !from->count || !to->count || !step->count ||
		step->ints[0] == 0)
		return false;
	double count = ceil(((double)to->ints[0] - (double)from->ints[0]) / (double)step->ints[0]);
	if (count < 0 || count > CONSTANT_MOST)
		return false;
	for (size_t i = 0; i < (size_t)count; i++)
		if (__builtin_mul_overflow((int64_t)i, step->ints[0], &f->out[i]) ||
			__builtin_add_overflow(f->out[i], from->ints[0], &f->out[i]))
			return false;
	f->count = (size_t)count;
	f->shape = (struct model_shape){1, {(int64_t)f->count}};
	return true;
}

static bool fold_filled(struct shape_fold *f)
{
	const struct constant *shape = integers(f, 0);
	const struct attribute *value = call_attribute(f->call, "value");
	if (!shape || shape->count != 1 || shape->ints[0] < 0 || shape->ints[0] > 64 || !value ||
		!value->constant || !value->constant->ints || !value->constant->count)
		return false;
	for (int64_t i = 0; i < shape->ints[0]; i++)
		f->out[f->count++] = value->constant->ints[0];
	f->shape = (struct model_shape){1, {shape->ints[0]}};
	return true;
}

static bool fold_where(struct shape_fold *f)
{
	const struct constant *which = integers(f, 0), *a = integers(f, 1), *c = integers(f, 2);
	if (!which || !a || !c || (a->count != which->count && a->count != 1) ||
		(c->count != which->count && c->count != 1))
		return false;
	for (size_t i = 0; i < which->count; i++)
		f->out[f->count++] = which->ints[i] ? constant_int(a, i) : constant_int(c, i);
	f->shape = *shape_in(f, 0);
	return true;
}

bool fold_call(struct build *b, const struct model_call *call)
{
	static const struct {
		const char *op;
		bool (*fold)(struct shape_fold *f);
	} rows[] = {{"Shape", fold_shape}, {"Size", fold_shape}, {"Gather", fold_gather},
		{"Concat", fold_concat}, {"Unsqueeze", fold_same}, {"Squeeze", fold_same},
		{"Reshape", fold_same}, {"Identity", fold_same}, {"Cast", fold_same},
		{"Floor", fold_same}, {"Slice", fold_slice}, {"Add", fold_pair}, {"Sub", fold_pair},
		{"Mul", fold_pair}, {"Div", fold_pair}, {"Mod", fold_pair}, {"Equal", fold_pair},
		{"Range", fold_range}, {"ConstantOfShape", fold_filled}, {"Where", fold_where}};
	if (!mean_is_onnx(call) || call->output_count != 1 || call->outputs[0] < 0)
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!text_equal(rows[i].op, call->op))
			continue;
		struct shape_fold *f = arena_new(b->arena, struct shape_fold);
		f->b = b;
		f->call = call;
		for (int k = 0; k < call->input_count; k++)
			if (call->inputs[k] < 0 && k < 2)
				return false;
		if (!rows[i].fold(f) || f->count > CONSTANT_MOST)
			return false;
		struct constant *made = arena_new(b->arena, struct constant);
		double *numbers = arena_array(b->arena, double, f->count + 1);
		for (size_t k = 0; k < f->count; k++)
			numbers[k] = (double)f->out[k];
		*made = (struct constant){f->count, f->out, numbers};
		struct model_value *value = &b->model->values.at[call->outputs[0]];
		value->constant = made;
		value->shape = f->shape;
		value->dtype = "int64";
		return true;
	}
	return false;
}
