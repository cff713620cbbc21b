#include "base/text.h"
#include "import/ops.h"
#include "import/statements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mean_is_onnx(const struct model_call *call)
{
	return call->version != 0;
}

bool mean_is_ttir(const struct model_call *call)
{
	return strncmp(call->op, "ttir.", 5) == 0;
}

bool mean_has(const struct model_call *call, int i)
{
	return i >= 0 && i < call->input_count && call->inputs[i] >= 0;
}

const struct constant *mean_constant(const struct build *b, const struct model_call *call, int i)
{
	return mean_has(call, i) ? b->model->values.at[call->inputs[i]].constant : NULL;
}

int mean_input(struct build *b, const struct model_call *call, int i)
{
	if (!mean_has(call, i))
		return build_fail(b, "operand %d is missing", i);
	int v = call->inputs[i];
	if (b->of_value[v] >= 0)
		return b->of_value[v];
	const struct model_value *value = &b->model->values.at[v];
	if (!value->constant)
		return build_fail(b, "operand %d has no value", i);
	bool splat = true;
	for (size_t k = 1; k < value->constant->count; k++)
		splat &= constant_number(value->constant, k) == constant_number(value->constant, 0);
	b->of_value[v] = splat && value->constant->count
				 ? view_splat(b, constant_number(value->constant, 0), value->dtype,
					   &value->shape)
				 : view_stored(b, value->name, value->dtype, &value->shape);
	if (b->of_value[v] >= 0)
		b->views.at[b->of_value[v]].weight = true;
	return b->of_value[v];
}

bool mean_ints(struct build *b, const struct model_call *call, const char *name, int i, int most,
	int64_t *out, int *count)
{
	const struct attribute *found = name ? call_attribute(call, name) : NULL;
	const struct constant *constant = i >= 0 ? mean_constant(b, call, i) : NULL;
	size_t have = found && found->int_count ? found->int_count : constant ? constant->count : 0;
	bool there = (found && (found->int_count || !mean_is_onnx(call))) || constant;
	*count = (int)(have > (size_t)most ? (size_t)most : have);
	for (int k = 0; k < *count; k++)
		out[k] = found && found->int_count ? found->ints[k]
						   : constant_int(constant, (size_t)k);
	return there;
}

const struct model_shape *mean_declared(const struct build *b, const struct model_call *call, int i)
{
	if (i >= call->output_count || call->outputs[i] < 0 ||
		b->model->values.at[call->outputs[i]].shape.rank < 0)
		return NULL;
	return &b->model->values.at[call->outputs[i]].shape;
}

void mean_give(struct build *b, const struct model_call *call, int i, int view)
{
	if (i >= call->output_count || call->outputs[i] < 0 || view < 0)
		return;
	struct model_value *value = &b->model->values.at[call->outputs[i]];
	b->of_value[call->outputs[i]] = view;
	value->shape = view_at(b, view)->shape;
	if (!value->dtype)
		value->dtype = view_at(b, view)->dtype;
}

int mean_axis(struct build *b, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return build_fail(b, "axis %lld of %d dimensions", (long long)axis, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}

int mean_map(struct build *b, const struct model_call *call, const char *function)
{
	int v = mean_input(b, call, 0);
	if (v >= 0 && view_at(b, v)->kind == VIEW_SPLAT) {
		double x = view_at(b, v)->splat;
		const char *dtype = view_at(b, v)->dtype;
		double y = statement_number(function, x);
		if (!isnan(y))
			return view_splat(b, y, dtype, &view_at(b, v)->shape);
	}
	return build_map(b, function, v);
}

int mean_map2(struct build *b, const struct model_call *call, const char *function)
{
	int v = mean_input(b, call, 0);
	for (int i = 1; i < call->input_count; i++)
		v = build_map2(b, function, v, mean_input(b, call, i));
	return v;
}

int mean_average(struct build *b, const struct model_call *call, const char *argument)
{
	return build_map_constant(
		b, "mul", mean_map2(b, call, "add"), 1.0 / (double)call->input_count);
}

int mean_compare(struct build *b, const struct model_call *call, const char *function)
{
	static const char *const words[][2] = {
		{"EQ", "eq"}, {"NE", "ne"}, {"LT", "lt"}, {"LE", "le"}, {"GT", "gt"}, {"GE", "ge"}};
	if (!function[0]) {
		const char *text = call_text(call, "comparison_direction");
		if (!text[0])
			text = call_text(call, "");
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			const char *at = strstr(text, words[i][0]);
			if (at && (at == text || at[-1] == ' ') && (!at[2] || at[2] == ' '))
				function = words[i][1];
		}
		if (!function[0])
			return build_fail(b, "a comparison without a direction");
	}
	return mean_map2(b, call, function);
}

static bool ops_map_holds(const struct build *b, int v, const char *type)
{
	const char *dtype = v < 0 ? NULL : view_at(b, v)->dtype;
	return dtype && strstr(dtype, type);
}

/* Truth: a number other than 0. */
static int ops_map_truth(struct build *b, int v)
{
	return v < 0 || ops_map_holds(b, v, "bool") || view_at(b, v)->kind == VIEW_SPLAT
		       ? v
		       : build_map_constant(b, "ne", v, 0);
}

/* Of truths, or of the bits of integers. */
int mean_logic(struct build *b, const struct model_call *call, const char *function)
{
	static const char *const rows[][3] = {
		{"and", "minimum", "bitand"}, {"or", "maximum", "bitor"}, {"xor", "ne", "bitxor"}};
	int v = mean_input(b, call, 0);
	bool logical = strstr(call->op, "logical") != NULL;
	bool whole = !logical && ops_map_holds(b, v, "int");
	if (text_equal(function, "not")) {
		if (v >= 0 && view_at(b, v)->kind == VIEW_SPLAT && !whole)
			return view_splat(
				b, view_at(b, v)->splat == 0, "bool", &view_at(b, v)->shape);
		return whole ? build_map_constant(b, "sub", build_map(b, "neg", v), 1)
			     : build_map_constant(b, "eq", v, 0);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (text_equal(rows[i][0], function))
			function = rows[i][whole ? 2 : 1];
	v = whole ? v : ops_map_truth(b, v);
	for (int i = 1; i < call->input_count; i++) {
		int by = mean_input(b, call, i);
		v = build_map2(b, function, v, whole ? by : ops_map_truth(b, by));
	}
	return v;
}

/* By bits to the left, or to the right. */
int mean_shift(struct build *b, const struct model_call *call, const char *way)
{
	int v = mean_input(b, call, 0), by = mean_input(b, call, 1);
	if (v < 0 || by < 0)
		return -1;
	int factor = view_at(b, by)->kind == VIEW_SPLAT
			     ? view_splat(b, exp2(view_at(b, by)->splat), view_at(b, v)->dtype,
				       &view_at(b, by)->shape)
			     : build_map(b, "round",
				       build_map2(b, "pow",
					       view_splat(b, 2, view_at(b, v)->dtype,
						       &view_at(b, by)->shape),
					       by));
	return text_equal(way, "left") ? build_map2(b, "mul", v, factor)
				       : build_map(b, "floor", build_map2(b, "div", v, factor));
}

/* v towards 0 */
static int ops_map_cut(struct build *b, int v)
{
	return build_map2(
		b, "mul", build_map(b, "floor", build_map(b, "abs", v)), build_map(b, "sign", v));
}

/* Quotients of integers are cut. */
int mean_divide(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_map2(b, call, "div");
	bool whole = ops_map_holds(b, mean_input(b, call, 0), "int") && v >= 0;
	return !whole ? v
	       : view_at(b, v)->kind == VIEW_SPLAT
		       ? view_splat(b, trunc(view_at(b, v)->splat), view_at(b, v)->dtype,
				 &view_at(b, v)->shape)
		       : ops_map_cut(b, v);
}

/* Infinite, on one side or on either. */
int mean_infinite(struct build *b, const struct model_call *call, const char *side)
{
	int v = mean_input(b, call, 0);
	bool above = call_int(call, "detect_positive", side[0] != '-'),
	     below = call_int(call, "detect_negative", side[0] != '+');
	if (!above && !below)
		return build_fail(b, "it looks for neither infinity");
	int out = build_map2(b, "minimum", build_map2(b, "eq", v, v),
		build_map_constant(b, "ne", build_map2(b, "sub", v, v), 0));
	return above && below ? out
			      : build_map2(b, "minimum", out,
					build_map_constant(b, above ? "gt" : "lt", v, 0));
}

int mean_power(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), e = mean_input(b, call, 1);
	if (v < 0 || e < 0)
		return -1;
	double number = view_at(b, e)->kind == VIEW_SPLAT ? view_at(b, e)->splat : NAN;
	if (view_at(b, v)->kind == VIEW_SPLAT)
		return build_map2(b, "pow", v, e);
	if (number == 2)
		return build_map2(b, "mul", v, v);
	if (number == 0.5 || number == -1 || number == -0.5)
		return build_map(b,
			number == 0.5  ? "sqrt"
			: number == -1 ? "reciprocal"
				       : "rsqrt",
			v);
	return build_map2(b, "pow", v, e);
}

int mean_mod(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0), by = mean_input(b, call, 1);
	int ratio = build_map2(b, "div", v, by);
	bool cuts = argument[0] || call_int(call, "fmod", 0); /* as C does */
	int whole = cuts ? ops_map_cut(b, ratio) : build_map(b, "floor", ratio);
	return build_map2(b, "sub", v, build_map2(b, "mul", whole, by));
}

/* A choice between tensors is what each gives where it is taken, and 0 elsewhere, added. */
int mean_select(struct build *b, const struct model_call *call, const char *argument)
{
	int which = mean_input(b, call, 0), yes = mean_input(b, call, 1),
	    no = mean_input(b, call, 2);
	if (which < 0 || yes < 0 || no < 0)
		return -1;
	if (view_at(b, which)->kind == VIEW_SPLAT)
		return view_at(b, which)->splat != 0 ? yes : no;
	bool yes_zero = view_at(b, yes)->kind == VIEW_SPLAT && view_at(b, yes)->splat == 0;
	bool no_zero = view_at(b, no)->kind == VIEW_SPLAT && view_at(b, no)->splat == 0;
	int taken = yes_zero ? -1 : build_map2(b, "where", which, yes);
	int left = no_zero ? -1 : build_map2(b, "unless", which, no);
	if (b->why || (yes_zero && no_zero))
		return yes_zero && no_zero ? yes : -1;
	int out = taken < 0 ? left : left < 0 ? taken : build_map2(b, "add", taken, left);
	return out;
}

static int ops_map_clamp(struct build *b, int v, double low, double high)
{
	bool lower = low > -1e30, upper = high < 1e30;
	if (low == 0)
		v = build_map(b, "relu", v);
	else if (lower)
		v = build_map_constant(b, "maximum", v, low);
	if (upper)
		v = build_map_constant(b, "minimum", v, high);
	return v >= 0 && !lower && !upper ? build_copy(b, v) : v;
}

static double clip_bound(const struct build *b, const struct model_call *call, int i,
	const char *name, double otherwise)
{
	const struct constant *constant = mean_constant(b, call, i);
	return constant && constant->count ? constant_number(constant, 0)
					   : call_number(call, name, otherwise);
}

int mean_clamp(struct build *b, const struct model_call *call, const char *argument)
{
	if (!mean_is_onnx(call) && call->input_count == 3) {
		bool first = !mean_is_ttir(call);
		int v = mean_input(b, call, first);
		v = build_map2(b, "maximum", v, mean_input(b, call, first ? 0 : 1));
		return build_map2(b, "minimum", v, mean_input(b, call, 2));
	}
	for (int i = 1; i < call->input_count; i++)
		if (mean_has(call, i) && !mean_constant(b, call, i))
			return build_fail(b, "bounds that are computed");
	return ops_map_clamp(b, mean_input(b, call, 0), clip_bound(b, call, 1, "min", -INFINITY),
		clip_bound(b, call, 2, "max", INFINITY));
}

int mean_identity(struct build *b, const struct model_call *call, const char *argument)
{
	for (int i = 1; i < call->input_count && i < call->output_count && !mean_is_onnx(call); i++)
		mean_give(b, call, i, mean_input(b, call, i));
	return mean_input(b, call, 0);
}

/* Between devices: of one device, which keeps what it has. */
int mean_alone(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	const struct model_shape *declared = mean_declared(b, call, 0);
	if (v < 0 ||
		(declared && shape_elements(declared) != shape_elements(&view_at(b, v)->shape)))
		return build_fail(b, "it exchanges data with other devices");
	return mean_identity(b, call, argument);
}

int mean_cast(struct build *b, const struct model_call *call, const char *argument)
{
	static const char *const types[] = {"", "fp32", "int8", "int8", "int32", "int32", "int32",
		"int64", "", "bool", "fp16", "fp32", "int32", "int64", "", "", "bf16"};
	const char *dtype = call->output_count && call->outputs[0] >= 0
				    ? b->model->values.at[call->outputs[0]].dtype
				    : NULL;
	int64_t to = call_int(call, "to", 0);
	if (mean_is_onnx(call) && text_equal(call->op, "CastLike"))
		dtype = mean_has(call, 1) ? b->model->values.at[call->inputs[1]].dtype : dtype;
	else if (mean_is_onnx(call))
		dtype = to > 0 && to < (int64_t)(sizeof types / sizeof *types) && types[to][0]
				? types[to]
			: to > 16 ? "fp8"
				  : dtype;
	int v = mean_input(b, call, 0);
	v = dtype && text_equal(dtype, "bool") ? ops_map_truth(b, v) : build_cast(b, v, dtype);
	if (v >= 0 && call->outputs[0] >= 0)
		b->model->values.at[call->outputs[0]].dtype = dtype;
	return v;
}

/* slope x below 0 */
int mean_leaky(struct build *b, const struct model_call *call, const char *argument)
{
	int v = mean_input(b, call, 0);
	double slope = call_number(call, "alpha", call_number(call, "parameter", 0.01));
	return build_map2(
		b, slope > 1 ? "minimum" : "maximum", v, build_map_constant(b, "mul", v, slope));
}

static bool takes_two(const char *function)
{
	static const char *const names[] = {"add", "sub", "mul", "div", "pow", "maximum", "minimum",
		"eq", "ne", "lt", "le", "gt", "ge", "where", "unless", NULL};
	for (int i = 0; names[i]; i++)
		if (text_equal(names[i], function))
			return true;
	return false;
}

/* "@alpha=0.01": the attribute, or the number behind the sign. */
static double recipe_attribute(struct build *b, const struct model_call *call, char *word)
{
	char *sign = strchr(word, '=');
	const char *name = arena_format(b->arena, "%.*s", (int)(sign - word - 1), word + 1);
	return call_number(call, name, strtod(sign + 1, NULL));
}

/*
 * A formula in postfix: x and y are the operands, ?y and ?z are + y and + z if they are there, @name=number is an attribute and its
 * default, a number is itself, every other word a map of one or two operands.
 */
int mean_recipe(struct build *b, const struct model_call *call, const char *argument)
{
	enum { DEPTH_MOST = 8 };
	int stack[DEPTH_MOST], depth = 0;
	static const struct model_shape scalar = {0};
	char *words = arena_text(b->arena, argument), *rest = NULL;
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (depth == DEPTH_MOST)
			return build_fail(b, "a formula that is too deep");
		if (text_equal(word, "x") || text_equal(word, "y")) {
			stack[depth++] = mean_input(b, call, word[0] == 'y');
		} else if (word[0] == '?') {
			int i = word[1] - 'x';
			if (mean_has(call, i))
				stack[depth - 1] = build_map2(
					b, "add", stack[depth - 1], mean_input(b, call, i));
		} else if (word[0] == '@' || (word[0] >= '0' && word[0] <= '9')) {
			double number = word[0] == '@' ? recipe_attribute(b, call, word)
						       : strtod(word, NULL);
			stack[depth++] = view_splat(b, number, NULL, &scalar);
		} else if (takes_two(word)) {
			depth--;
			stack[depth - 1] = build_map2(b, word, stack[depth - 1], stack[depth]);
		} else {
			stack[depth - 1] = build_map(b, word, stack[depth - 1]);
		}
		if (b->why)
			return -1;
	}
	return stack[0];
}
