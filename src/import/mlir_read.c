#include "base/text.h"
#include "import/mlir.h"

#include <string.h>

enum { INLINE_DEPTH_MOST = 32, MLIR_CALLS_MOST = 100000 };

/* One function being put into the model: its names to values. */
struct scope {
	struct model *model;
	const struct mlir_functions *functions;
	struct names names;
	int depth;
	const struct scope *outer; /* of a region; NULL of a function */
};

static int find_operand(const struct scope *scope, const char *name)
{
	for (const struct scope *at = scope; at; at = at->outer) {
		int v = names_find(&at->names, name);
		if (v >= 0)
			return v;
	}
	/* "%0#0" of a call whose one result is %0 */
	const char *hash = strchr(name, '#');
	const char *plain =
		hash ? arena_format(scope->model->arena, "%.*s", (int)(hash - name), name) : name;
	return hash ? find_operand(scope, plain) : -1;
}

static void scope_bind(struct scope *scope, const char *name, int value)
{
	if (names_find(&scope->names, name) < 0)
		names_add(scope->model->arena, &scope->names, name, value);
}

static int mlir_add_value(
	struct model *model, const char *name, const struct mlir_type *type, int line)
{
	*array_add(model->arena, &model->values) = (struct model_value){.name = name,
		.dtype = type->dtype,
		.shape = type->shape,
		.line = line,
		.quantization = type->quantization};
	if (!type->dtype)
		model->values.at[model->values.count - 1].shape.rank = -1;
	return (int)model->values.count - 1;
}

static const struct mlir_function *mlir_find_function(
	const struct mlir_functions *functions, const char *name)
{
	for (size_t i = 0; name && i < functions->count; i++)
		if (text_equal(functions->at[i].name, name) && !functions->at[i].external)
			return &functions->at[i];
	return NULL;
}

static const struct mlir_function *scope_called(
	const struct scope *scope, const struct mlir_call *call)
{
	if (text_equal(call->op, "func.call") || text_equal(call->op, "call"))
		return mlir_find_function(scope->functions, call->symbol);
	if (!text_equal(call->op, "stablehlo.composite") && !text_equal(call->op, "ttir.invoke"))
		return NULL;
	for (size_t i = 0; i < call->attributes.count; i++)
		if (text_equal(call->attributes.at[i].name, "decomposition"))
			return mlir_find_function(scope->functions, call->attributes.at[i].text);
	return NULL;
}

static bool put_calls(struct scope *scope, const struct mlir_function *function);

/* --- loops with a known number of passes */

/* The one number of a constant, in a region or before it; false: it is computed. */
static bool known_number(const struct scope *scope, const struct mlir_function *region,
	const char *name, int64_t *out)
{
	const struct constant *found = NULL;
	for (size_t i = 0; region && i < region->calls.count; i++) {
		const struct mlir_call *call = &region->calls.at[i];
		bool makes = call->results.count == 1 && text_equal(call->results.at[0], name);
		for (size_t a = 0;
			makes && strstr(call->op, ".constant") && a < call->attributes.count; a++)
			if (!found)
				found = call->attributes.at[a].constant;
	}
	int v = found ? -1 : find_operand(scope, name);
	if (v >= 0)
		found = scope->model->values.at[v].constant;
	for (size_t i = 0; v >= 0 && !found && i < scope->model->calls.count; i++) {
		const struct model_call *call = &scope->model->calls.at[i];
		bool makes = call->output_count == 1 && call->outputs[0] == v;
		for (size_t a = 0;
			makes && strstr(call->op, ".constant") && a < call->attribute_count; a++)
			if (!found)
				found = call->attributes[a].constant;
	}
	if (found && found->count == 1)
		*out = constant_int(found, 0);
	return found && found->count == 1;
}

static const struct mlir_call *find_maker(const struct mlir_function *region, const char *name)
{
	for (size_t i = 0; i < region->calls.count; i++)
		if (region->calls.at[i].results.count == 1 &&
			text_equal(region->calls.at[i].results.at[0], name))
			return &region->calls.at[i];
	return NULL;
}

static bool says_less(const struct mlir_call *call)
{
	bool less = false;
	for (size_t i = 0; i < call->attributes.count; i++) {
		const char *text = call->attributes.at[i].text;
		const char *at = text ? strstr(text, "LT") : NULL;
		less |= at && (at == text || at[-1] == ' ') && (!at[2] || at[2] == ' ');
	}
	return less && strstr(call->op, "compare") && call->operands.count == 2;
}

/* Argument i of a region, by its own name or by that in front of the operand. */
static const char *mlir_call_argument(
	const struct mlir_call *call, const struct mlir_function *region, size_t i)
{
	return i < region->arguments.count ? region->arguments.at[i]
	       : i < call->starts.count    ? call->starts.at[i]
					   : "";
}

/*
 * The passes of "while (i < limit) { ..; i + step }", and which argument i is; 0: the number is not known.
 */
static int64_t count_passes(
	const struct scope *scope, const struct mlir_call *call, size_t *counter)
{
	enum { UNROLLED_MOST = 64 };
	const struct mlir_function *test = &call->regions.at[0], *body = &call->regions.at[1];
	int64_t start, limit, step = 0;
	size_t count = call->operands.count;
	const struct mlir_call *compare =
		test->returns.count == 1 ? find_maker(test, test->returns.at[0]) : NULL;
	if (!compare || !says_less(compare) || body->returns.count != count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct mlir_call *add = find_maker(body, body->returns.at[i]);
		if (!text_equal(mlir_call_argument(call, test, i), compare->operands.at[0]) ||
			!add || !text_equal(add->op, "stablehlo.add") || add->operands.count != 2)
			continue;
		const char *own = mlir_call_argument(call, body, i);
		bool first = text_equal(add->operands.at[0], own),
		     second = text_equal(add->operands.at[1], own);
		if (first == second || !known_number(scope, NULL, call->operands.at[i], &start) ||
			!known_number(scope, test, compare->operands.at[1], &limit) ||
			!known_number(scope, body, add->operands.at[first], &step) || step < 1 ||
			start > limit || limit - start > UNROLLED_MOST * step)
			return 0;
		*counter = i;
		return (limit - start + step - 1) / step;
	}
	return 0;
}

/* A whole number as a value. */
static int mlir_add_number(
	struct model *model, int64_t number, const struct mlir_type *type, int line)
{
	int v = mlir_add_value(model, "pass", type, line);
	model->values.at[v].constant = constant_of_int(model->arena, number);
	return v;
}

/* One pass behind the other; *done: its passes are known. */
static bool scope_unroll(struct scope *scope, const struct mlir_call *call, bool *done)
{
	size_t counter = 0, count = call->operands.count;
	bool loop = text_equal(call->op, "stablehlo.while") && call->regions.count == 2 &&
		    call->results.count == count && call->types.count == count;
	int64_t passes = loop ? count_passes(scope, call, &counter) : 0, start = 0;
	const struct mlir_function *body = loop ? &call->regions.at[1] : NULL;
	int *values = arena_array(scope->model->arena, int, count + 1);
	*done = passes > 0;
	if (!*done)
		return true;
	known_number(scope, NULL, call->operands.at[counter], &start);
	int64_t step = 1;
	const struct mlir_call *add = find_maker(body, body->returns.at[counter]);
	bool first = text_equal(add->operands.at[0], mlir_call_argument(call, body, counter));
	known_number(scope, body, add->operands.at[first], &step);
	for (size_t i = 0; i < count; i++)
		values[i] = find_operand(scope, call->operands.at[i]);
	for (int64_t pass = 0; pass < passes; pass++) {
		struct scope inner = {.model = scope->model,
			.functions = scope->functions,
			.depth = scope->depth + 1,
			.outer = scope};
		values[counter] = mlir_add_number(
			scope->model, start + pass * step, &call->types.at[counter], call->line);
		for (size_t i = 0; i < count; i++)
			scope_bind(&inner, mlir_call_argument(call, body, i), values[i]);
		if (inner.depth > INLINE_DEPTH_MOST || !put_calls(&inner, body))
			return false;
		for (size_t i = 0; i < count; i++)
			values[i] = find_operand(&inner, body->returns.at[i]);
	}
	for (size_t i = 0; i < count; i++)
		scope_bind(scope, call->results.at[i], values[i]);
	return true;
}

static bool put_function(
	struct scope *scope, const struct mlir_function *function, const struct mlir_call *call)
{
	struct scope inner = {scope->model, scope->functions, {0}, scope->depth + 1, NULL};
	if (inner.depth > INLINE_DEPTH_MOST) {
		diag_error(scope->model->diag, model_place(scope->model, call->line),
			"functions call each other more than 32 deep");
		return false;
	}
	for (size_t i = 0; i < call->operands.count && i < function->arguments.count; i++)
		scope_bind(&inner, function->arguments.at[i],
			find_operand(scope, call->operands.at[i]));
	if (!put_calls(&inner, function))
		return false;
	for (size_t i = 0; i < call->results.count && i < function->returns.count; i++) {
		int v = find_operand(&inner, function->returns.at[i]);
		if (v >= 0)
			scope_bind(scope, call->results.at[i], v);
	}
	return true;
}

static bool put_call(struct scope *scope, const struct mlir_call *call)
{
	struct model *model = scope->model;
	struct model_call made = {.op = call->op, .line = call->line};
	const struct mlir_function *function = scope_called(scope, call);
	bool unrolled;
	if (function)
		return put_function(scope, function, call);
	if (!scope_unroll(scope, call, &unrolled) || unrolled)
		return unrolled && !diag_failed(model->diag);
	if (model->calls.count >= MLIR_CALLS_MOST) {
		diag_error(model->diag, model_place(model, call->line),
			"the model has more than 100000 ops");
		return false;
	}
	int *inputs = arena_array(model->arena, int, call->operands.count + 1);
	int *outputs = arena_array(model->arena, int, call->results.count + 1);
	for (size_t i = 0; i < call->operands.count; i++) {
		int v = find_operand(scope, call->operands.at[i]);
		if (v < 0) {
			diag_error(model->diag, model_place(model, call->line),
				"'%%%s' is used before it has a value", call->operands.at[i]);
			return false;
		}
		/* destinations of older forms say nothing */
		const struct model_value *value = &model->values.at[v];
		if (!(value->name[0] == '\1'))
			inputs[made.input_count++] = v;
	}
	bool empty = strstr(call->op, ".empty") && call->operands.count == 0;
	for (size_t i = 0; i < call->results.count; i++) {
		struct mlir_type none = {0};
		const struct mlir_type *type = i < call->types.count ? &call->types.at[i] : &none;
		outputs[made.output_count++] =
			mlir_add_value(model, empty ? "\1" : call->results.at[i], type, call->line);
		scope_bind(scope, call->results.at[i], outputs[i]);
	}
	if (empty)
		return true;
	if (call->body)
		*array_add(model->arena, &((struct mlir_call *)call)->attributes) =
			(struct attribute){.name = "body", .text = call->body};
	made.name = call->results.count ? arena_format(model->arena, "%%%s", call->results.at[0])
					: arena_format(model->arena, "line %d", call->line);
	made.inputs = inputs;
	made.outputs = outputs;
	made.attributes = call->attributes.at;
	made.attribute_count = call->attributes.count;
	if (call->symbol && text_equal(call->op, "stablehlo.custom_call"))
		made.op = arena_format(model->arena, "@%s", call->symbol);
	*array_add(model->arena, &model->calls) = made;
	return true;
}

static bool put_calls(struct scope *scope, const struct mlir_function *function)
{
	for (size_t i = 0; i < function->calls.count; i++)
		if (!put_call(scope, &function->calls.at[i]))
			return false;
	return true;
}

static const struct mlir_function *find_main(const struct mlir_functions *functions)
{
	const struct mlir_function *main = mlir_find_function(functions, "main");
	for (size_t i = 0; !main && i < functions->count; i++)
		if (!functions->at[i].external)
			main = &functions->at[i];
	return main;
}

bool mlir_read(struct model *model, const char *text)
{
	struct mlir_functions functions = {0};
	struct scope scope = {.model = model, .functions = &functions};
	if (!mlir_parse(model, text, &functions))
		return false;
	const struct mlir_function *main = find_main(&functions);
	if (!main) {
		diag_error(
			model->diag, model_place(model, 0), "the file has no function with a body");
		return false;
	}
	for (size_t i = 0; i < main->arguments.count; i++) {
		const char *label = main->labels.at[i];
		int v = mlir_add_value(model, label ? label : main->arguments.at[i],
			&main->types.at[i], main->line);
		model->values.at[v].input = true;
		model->values.at[v].weight = main->parameters.at[i];
		scope_bind(&scope, main->arguments.at[i], v);
	}
	if (!put_calls(&scope, main))
		return false;
	for (size_t i = 0; i < main->returns.count; i++) {
		int v = find_operand(&scope, main->returns.at[i]);
		if (v >= 0)
			*array_add(model->arena, &model->outputs) = v;
	}
	return true;
}
