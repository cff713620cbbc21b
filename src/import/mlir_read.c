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
};

static int find_operand(struct scope *scope, const char *name)
{
	int v = names_find(&scope->names, name);
	if (v >= 0)
		return v;
	/* "%0#0" of a call whose one result is %0 */
	const char *hash = strchr(name, '#');
	const char *plain =
		hash ? arena_format(scope->model->arena, "%.*s", (int)(hash - name), name) : name;
	return names_find(&scope->names, plain);
}

static void bind(struct scope *scope, const char *name, int value)
{
	if (names_find(&scope->names, name) < 0)
		names_add(scope->model->arena, &scope->names, name, value);
}

static int add_value(struct model *model, const char *name, const struct mlir_type *type, int line)
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

static const struct mlir_function *find_function(
	const struct mlir_functions *functions, const char *name)
{
	for (size_t i = 0; name && i < functions->count; i++)
		if (text_equal(functions->at[i].name, name) && !functions->at[i].external)
			return &functions->at[i];
	return NULL;
}

static const struct mlir_function *called(const struct scope *scope, const struct mlir_call *call)
{
	if (text_equal(call->op, "func.call") || text_equal(call->op, "call"))
		return find_function(scope->functions, call->symbol);
	if (!text_equal(call->op, "stablehlo.composite") && !text_equal(call->op, "ttir.invoke"))
		return NULL;
	for (size_t i = 0; i < call->attributes.count; i++)
		if (text_equal(call->attributes.at[i].name, "decomposition"))
			return find_function(scope->functions, call->attributes.at[i].text);
	return NULL;
}

static bool put_calls(struct scope *scope, const struct mlir_function *function);

static bool put_function(
	struct scope *scope, const struct mlir_function *function, const struct mlir_call *call)
{
	struct scope inner = {scope->model, scope->functions, {0}, scope->depth + 1};
	if (inner.depth > INLINE_DEPTH_MOST) {
		diag_error(scope->model->diag, model_place(scope->model, call->line),
			"functions call each other more than 32 deep");
		return false;
	}
	for (size_t i = 0; i < call->operands.count && i < function->arguments.count; i++)
		bind(&inner, function->arguments.at[i], find_operand(scope, call->operands.at[i]));
	if (!put_calls(&inner, function))
		return false;
	for (size_t i = 0; i < call->results.count && i < function->returns.count; i++) {
		int v = find_operand(&inner, function->returns.at[i]);
		if (v >= 0)
			bind(scope, call->results.at[i], v);
	}
	return true;
}

static bool put_call(struct scope *scope, const struct mlir_call *call)
{
	struct model *model = scope->model;
	struct model_call made = {.op = call->op, .line = call->line};
	const struct mlir_function *function = called(scope, call);
	if (function)
		return put_function(scope, function, call);
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
			add_value(model, empty ? "\1" : call->results.at[i], type, call->line);
		bind(scope, call->results.at[i], outputs[i]);
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
	const struct mlir_function *main = find_function(functions, "main");
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
		int v = add_value(model, label ? label : main->arguments.at[i], &main->types.at[i],
			main->line);
		model->values.at[v].input = true;
		model->values.at[v].weight = main->parameters.at[i];
		bind(&scope, main->arguments.at[i], v);
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
