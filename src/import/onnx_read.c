#include "base/text.h"
#include "import/model.h"
#include "import/onnx_strip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <onnx.pb-c.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPSET_LEAST = 9, OPSET_MOST = 20, STRINGS_MOST = 64 };

struct reading_onnx {
	struct model *model;
	struct dim_settings *dims;
	int version;
	const Onnx__ModelProto *proto;
};

enum { INLINE_DEPTH_MOST = 32, INLINE_CALLS_MOST = 100000, UNROLLED_MOST = 64 };

/* Names inside a function, a branch or one pass of a loop, and what the model calls their values. */
struct onnx_scope {
	const struct onnx_scope *outer;
	const Onnx__NodeProto *call;
	const char *prefix; /* of names that only this scope has */
	bool closed;        /* a function, which sees nothing outside */
	struct names names; /* to targets */
	struct array(const char *) targets;
	int depth;
};

/* Data types of TensorProto. */
static const char *dtype_of(int type)
{
	switch (type) {
	case 10:
		return "fp16";
	case 16:
		return "bf16";
	case 9:
		return "bool";
	case 2:
	case 3:
		return "int8";
	case 4:
	case 5:
	case 6:
	case 12:
		return "int32";
	case 7:
	case 13:
		return "int64";
	case 17:
	case 18:
	case 19:
	case 20:
		return "fp8";
	default:
		return "fp32";
	}
}

static int64_t raw_int(const uint8_t *at, int bytes, bool is_signed)
{
	uint64_t value = 0;
	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	if (is_signed && bytes < 8 && value >> (8 * bytes - 1))
		value |= ~UINT64_C(0) << (8 * bytes);
	return (int64_t)value;
}

static int raw_bytes(int type)
{
	return type == 7 || type == 11 || type == 13                ? 8
	       : type == 1 || type == 6 || type == 12               ? 4
	       : type == 4 || type == 5 || type == 10 || type == 16 ? 2
								    : 1;
}

static double raw_number(int type, const uint8_t *at)
{
	float single;
	double number;
	uint64_t bits = (uint64_t)raw_int(at, raw_bytes(type), false);
	uint32_t word = (uint32_t)bits;
	if (type == 11) {
		memcpy(&number, &bits, sizeof number);
		return number;
	}
	if (type == 16)
		word <<= 16;
	if (type == 10) { /* half to single, subnormals as 0 */
		uint32_t sign = (word & 0x8000) << 16, exponent = word >> 10 & 31,
			 fraction = word & 1023;
		word = sign | (exponent == 0           ? 0
				      : exponent == 31 ? 0x7f800000 | fraction << 13
						       : (exponent + 112) << 23 | fraction << 13);
	}
	memcpy(&single, &word, sizeof single);
	return (double)single;
}

static bool is_floating(int type)
{
	return type == 1 || type == 10 || type == 11 || type == 16;
}

/* Its elements, as far as they are in the file and few; NULL else. */
static const struct constant *read_constant(
	struct model *model, const Onnx__TensorProto *tensor, int64_t elements)
{
	if (elements < 0 || elements > CONSTANT_MOST)
		return NULL;
	size_t count = (size_t)elements;
	int type = tensor->data_type, bytes = raw_bytes(type);
	struct constant *made = arena_new(model->arena, struct constant);
	int64_t *ints = arena_array(model->arena, int64_t, count + 1);
	double *numbers = arena_array(model->arena, double, count + 1);
	bool raw = tensor->has_raw_data && tensor->raw_data.len >= count * (size_t)bytes && count;
	bool good = raw || count == 0;
	for (size_t i = 0; i < count; i++) {
		if (raw && is_floating(type))
			numbers[i] = raw_number(type, tensor->raw_data.data + i * (size_t)bytes);
		else if (raw)
			ints[i] = raw_int(tensor->raw_data.data + i * (size_t)bytes, bytes,
				type != 2 && type != 4 && type != 9);
		else if (tensor->n_float_data == count)
			numbers[i] = (double)tensor->float_data[i], good = true;
		else if (tensor->n_double_data == count)
			numbers[i] = tensor->double_data[i], good = true;
		else if (tensor->n_int64_data == count)
			ints[i] = tensor->int64_data[i], good = true;
		else if (tensor->n_int32_data == count)
			ints[i] = tensor->int32_data[i], good = true;
		if (!is_floating(type))
			numbers[i] = (double)ints[i];
	}
	*made = (struct constant){count, is_floating(type) ? NULL : ints, numbers};
	return good ? made : NULL;
}

static bool read_dims(struct reading_onnx *r, const char *name, const int64_t *dims, size_t count,
	struct model_shape *out)
{
	*out = (struct model_shape){0};
	if (count > MODEL_RANK_MOST) {
		diag_error(r->model->diag, model_place(r->model, 0),
			"tensor '%s' has more than %d dimensions", name, MODEL_RANK_MOST);
		return false;
	}
	for (size_t h = 0; h < count; h++) {
		if (dims[h] < 0 || dims[h] >> DIM_MOST_LOG2) {
			diag_error(r->model->diag, model_place(r->model, 0),
				"dimension %zu of tensor '%s' is %" PRId64
				"; it must be below 2^31 and not negative",
				h, name, dims[h]);
			return false;
		}
		out->size[out->rank++] = dims[h];
	}
	return true;
}

static bool read_initializer(struct reading_onnx *r, const Onnx__TensorProto *tensor)
{
	if (!tensor->name)
		return true;
	struct model_shape shape;
	if (!read_dims(r, tensor->name, tensor->dims, tensor->n_dims, &shape))
		return false;
	int v = model_value(r->model, arena_text(r->model->arena, tensor->name));
	struct model_value *value = &r->model->values.at[v];
	value->shape = shape;
	value->dtype = dtype_of(tensor->data_type);
	value->weight = true;
	value->is_unsigned = tensor->data_type == 2 || tensor->data_type == 4;
	int64_t elements = shape_elements(&shape);
	value->constant = read_constant(r->model, tensor, elements);
	if (elements < 0) {
		diag_error(r->model->diag, model_place(r->model, 0),
			"tensor '%s' has 2^62 elements or more", tensor->name);
		return false;
	}
	model_add_weight(r->model, value);
	return true;
}

/* Returns the extent that `--dim` gives; -1: none. */
static int64_t find_setting(struct reading_onnx *r, const char *name)
{
	for (size_t i = 0; i < r->dims->count; i++)
		if (text_equal(r->dims->at[i].name, name)) {
			r->dims->at[i].used = true;
			return r->dims->at[i].extent;
		}
	return -1;
}

/* Of an input every dimension must have an extent; of others the shape is then unknown. */
static bool onnx_read_shape(struct reading_onnx *r, const Onnx__ValueInfoProto *info, bool input,
	struct model_value *value)
{
	const Onnx__TypeProto *type = info->type;
	if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
		!type->tensor_type->shape) {
		if (input)
			diag_error(r->model->diag, model_place(r->model, 0),
				"input '%s' has no shape", info->name);
		return !input;
	}
	const Onnx__TensorShapeProto *shape = type->tensor_type->shape;
	int64_t dims[MODEL_RANK_MOST];
	value->dtype = dtype_of(type->tensor_type->elem_type);
	value->is_unsigned = type->tensor_type->elem_type == 2 || type->tensor_type->elem_type == 4;
	for (size_t h = 0; h < shape->n_dim; h++) {
		const Onnx__TensorShapeProto__Dimension *dim = shape->dim[h];
		if (h == MODEL_RANK_MOST)
			return read_dims(r, info->name, NULL, shape->n_dim, &value->shape);
		bool known =
			dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		const char *name =
			dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
					dim->dim_param && dim->dim_param[0]
				? dim->dim_param
				: arena_format(r->model->arena, "%s.%zu", info->name, h);
		dims[h] = known ? dim->dim_value : find_setting(r, name);
		if (known ? dims[h] != 0 : dims[h] >= 0)
			continue;
		if (input)
			diag_error(r->model->diag, model_place(r->model, 0),
				"dimension %zu of input '%s' has no extent; give '--dim %s=N'", h,
				info->name, name);
		return !input;
	}
	return read_dims(r, info->name, dims, shape->n_dim, &value->shape);
}

static bool onnx_read_value(struct reading_onnx *r, const Onnx__ValueInfoProto *info, bool input)
{
	if (!info->name)
		return true;
	int v = model_value(r->model, arena_text(r->model->arena, info->name));
	struct model_value *value = &r->model->values.at[v];
	if (value->weight)
		return true;
	value->input = input;
	if (!onnx_read_shape(r, info, input, value))
		return false;
	if (input && shape_elements(&value->shape) == 0) /* an empty past */
		value->constant = arena_new(r->model->arena, struct constant);
	return true;
}

static bool onnx_read_attribute(
	struct reading_onnx *r, const Onnx__AttributeProto *from, struct attribute *out)
{
	struct arena *arena = r->model->arena;
	*out = (struct attribute){.name = arena_text(arena, from->name ? from->name : "")};
	if (from->n_ints) {
		out->ints = arena_copy(arena, from->ints, from->n_ints * sizeof *from->ints);
		out->int_count = from->n_ints;
	} else if (from->has_i) {
		out->ints = arena_copy(arena, &from->i, sizeof from->i);
		out->int_count = 1;
	}
	if (from->n_floats || from->has_f) {
		size_t count = from->n_floats ? from->n_floats : 1;
		double *numbers = arena_array(arena, double, count);
		for (size_t i = 0; i < count; i++)
			numbers[i] = (double)(from->n_floats ? from->floats[i] : from->f);
		out->numbers = numbers;
		out->number_count = count;
	}
	if (from->has_s)
		out->text = arena_format(arena, "%.*s",
			(int)(from->s.len > 1000 ? 1000 : from->s.len), (const char *)from->s.data);
	for (size_t i = 0; i < from->n_strings && i < STRINGS_MOST; i++)
		out->text = arena_format(arena, "%s%s%.*s", i ? out->text : "", i ? " " : "",
			(int)(from->strings[i].len > 100 ? 100 : from->strings[i].len),
			(const char *)from->strings[i].data);
	if (!from->t)
		return true;
	if (!read_dims(r, out->name, from->t->dims, from->t->n_dims, &out->shape))
		return false;
	out->constant = read_constant(r->model, from->t, shape_elements(&out->shape));
	out->dtype = dtype_of(from->t->data_type);
	return true;
}

/* Ops of another operator set have its domain in front: "com.microsoft.Attention". */
static const char *name_op(struct arena *arena, const Onnx__NodeProto *node)
{
	const char *op = node->op_type ? node->op_type : "", *domain = node->domain;
	bool other = domain && domain[0] && !text_equal(domain, "ai.onnx");
	return other ? arena_format(arena, "%s.%s", domain, op) : arena_text(arena, op);
}

static const char *onnx_resolve(
	struct reading_onnx *r, const struct onnx_scope *scope, const char *name)
{
	for (; scope; scope = scope->outer) {
		int target = names_find(&scope->names, name);
		if (target >= 0)
			return scope->targets.at[target];
		if (scope->closed)
			return arena_format(r->model->arena, "%s/%s", scope->prefix, name);
	}
	return arena_text(r->model->arena, name);
}

static void onnx_bind(
	struct reading_onnx *r, struct onnx_scope *scope, const char *name, const char *target)
{
	if (name && name[0] && names_find(&scope->names, name) < 0) {
		names_add(r->model->arena, &scope->names, arena_text(r->model->arena, name),
			(int)scope->targets.count);
		*array_add(r->model->arena, &scope->targets) = target;
	}
}

static bool read_node(
	struct reading_onnx *r, const Onnx__NodeProto *node, const struct onnx_scope *scope);

/* A scope inside another one; false after complaining. */
static bool open_scope(struct reading_onnx *r, const Onnx__NodeProto *node,
	const struct onnx_scope *outer, int pass, struct onnx_scope *out)
{
	const char *name = node->n_output ? onnx_resolve(r, outer, node->output[0]) : "call";
	*out = (struct onnx_scope){.outer = outer,
		.call = node,
		.prefix = pass < 0 ? name : arena_format(r->model->arena, "%s/%d", name, pass),
		.depth = outer ? outer->depth + 1 : 1};
	if (out->depth <= INLINE_DEPTH_MOST && r->model->calls.count <= INLINE_CALLS_MOST)
		return true;
	diag_error(r->model->diag, model_place(r->model, 0),
		"'%s': functions and branches are nested more than %d deep, or have more than %d nodes",
		name, INLINE_DEPTH_MOST, INLINE_CALLS_MOST);
	return false;
}

/* The value `from` under another name. */
static void add_identity(struct reading_onnx *r, const char *from, const char *to)
{
	int *ends = arena_array(r->model->arena, int, 2);
	ends[0] = model_value(r->model, from);
	ends[1] = model_value(r->model, to);
	*array_add(r->model->arena, &r->model->calls) = (struct model_call){.op = "Identity",
		.name = to,
		.version = r->version,
		.input_count = 1,
		.output_count = 1,
		.inputs = ends,
		.outputs = ends + 1};
}

static bool read_function(struct reading_onnx *r, const Onnx__NodeProto *node,
	const Onnx__FunctionProto *function, const struct onnx_scope *outer)
{
	struct onnx_scope scope;
	if (!open_scope(r, node, outer, -1, &scope))
		return false;
	scope.closed = true;
	for (size_t i = 0; i < function->n_input; i++)
		onnx_bind(r, &scope, function->input[i],
			i < node->n_input && node->input[i][0]
				? onnx_resolve(r, outer, node->input[i])
				: "");
	for (size_t i = 0; i < function->n_node; i++)
		if (!read_node(r, function->node[i], &scope))
			return false;
	for (size_t i = 0; i < node->n_output && i < function->n_output; i++)
		if (node->output[i][0])
			add_identity(r, onnx_resolve(r, &scope, function->output[i]),
				onnx_resolve(r, outer, node->output[i]));
	return true;
}

static const Onnx__FunctionProto *onnx_find_function(
	const struct reading_onnx *r, const Onnx__NodeProto *node)
{
	for (size_t i = 0; i < r->proto->n_functions; i++) {
		const Onnx__FunctionProto *function = r->proto->functions[i];
		if (function->name && node->op_type && text_equal(function->name, node->op_type) &&
			text_equal(function->domain ? function->domain : "",
				node->domain ? node->domain : ""))
			return function;
	}
	return NULL;
}

static const Onnx__GraphProto *find_graph(const Onnx__NodeProto *node, const char *name)
{
	for (size_t i = 0; i < node->n_attribute; i++)
		if (node->attribute[i]->name && text_equal(node->attribute[i]->name, name))
			return node->attribute[i]->g;
	return NULL;
}

/* A number that is known before shapes are; false: it is computed. */
static bool known_number(
	struct reading_onnx *r, const struct onnx_scope *scope, const char *name, int64_t *out)
{
	const char *value = onnx_resolve(r, scope, name);
	int v = names_find(&r->model->names, value);
	const struct constant *found = v < 0 ? NULL : r->model->values.at[v].constant;
	for (size_t i = 0; v >= 0 && !found && i < r->model->calls.count; i++) {
		const struct model_call *call = &r->model->calls.at[i];
		const struct attribute *given =
			text_equal(call->op, "Constant") ? call_attribute(call, "value") : NULL;
		if (given && call->output_count == 1 && call->outputs[0] == v)
			found = given->constant;
	}
	if (found && found->count == 1)
		*out = constant_int(found, 0);
	return found && found->count == 1;
}

/* Nodes of a graph inside a node; names that it makes are its own. */
static bool read_inside(
	struct reading_onnx *r, const Onnx__GraphProto *graph, struct onnx_scope *scope)
{
	for (size_t i = 0; i < graph->n_node; i++)
		for (size_t k = 0; k < graph->node[i]->n_output; k++)
			onnx_bind(r, scope, graph->node[i]->output[k],
				arena_format(r->model->arena, "%s/%s", scope->prefix,
					graph->node[i]->output[k]));
	for (size_t i = 0; i < graph->n_initializer; i++) {
		const char *name = graph->initializer[i]->name;
		int v = name ? names_find(&r->model->names, name) : -1;
		bool again = v >= 0 && r->model->values.at[v].weight; /* of a loop */
		if (!again && !read_initializer(r, graph->initializer[i]))
			return false;
	}
	for (size_t i = 0; i < graph->n_node; i++)
		if (!read_node(r, graph->node[i], scope))
			return false;
	return true;
}

static bool read_branch(struct reading_onnx *r, const Onnx__NodeProto *node,
	const Onnx__GraphProto *graph, const struct onnx_scope *outer)
{
	struct onnx_scope scope;
	if (!open_scope(r, node, outer, -1, &scope) || !read_inside(r, graph, &scope))
		return false;
	for (size_t i = 0; i < node->n_output && i < graph->n_output; i++)
		if (node->output[i][0] && graph->output[i]->name)
			add_identity(r, onnx_resolve(r, &scope, graph->output[i]->name),
				onnx_resolve(r, outer, node->output[i]));
	return true;
}

/* A whole number as a value of the model. */
static const char *onnx_add_number(
	struct reading_onnx *r, const char *name, int64_t number, const char *dtype)
{
	int v = model_value(r->model, name);
	struct model_value *value = &r->model->values.at[v];
	value->constant = constant_of_int(r->model->arena, number);
	value->dtype = dtype;
	value->shape = (struct model_shape){0};
	return name;
}

/* True if a loop goes on whenever it went on before: its condition is the one that it was given, or always true. */
static bool keeps_on(const Onnx__GraphProto *body)
{
	const char *last = body->n_output && body->output[0]->name ? body->output[0]->name : "";
	const char *given = body->n_input > 1 && body->input[1]->name ? body->input[1]->name : "";
	for (size_t i = 0; i < body->n_node; i++) {
		const Onnx__NodeProto *node = body->node[i];
		bool makes = node->n_output == 1 && text_equal(node->output[0], last);
		bool passes = makes && node->n_input == 1 && text_equal(node->op_type, "Identity");
		if (passes && text_equal(node->input[0], given))
			return true;
	}
	return last[0] && text_equal(last, given);
}

/* As often as is known, one pass behind the other; what a pass gives besides is not gathered. */
static bool onnx_unroll(struct reading_onnx *r, const Onnx__NodeProto *node,
	const Onnx__GraphProto *body, int64_t passes, const struct onnx_scope *outer)
{
	size_t carried = node->n_input - 2;
	const char **values = arena_array(r->model->arena, const char *, carried + 1);
	for (size_t k = 0; k < carried; k++)
		values[k] = onnx_resolve(r, outer, node->input[2 + k]);
	for (int64_t pass = 0; pass < passes; pass++) {
		struct onnx_scope scope;
		if (!open_scope(r, node, outer, (int)pass, &scope))
			return false;
		const char *at = arena_format(r->model->arena, "%s/pass", scope.prefix),
			   *on = arena_format(r->model->arena, "%s/on", scope.prefix);
		onnx_bind(r, &scope, body->input[0]->name, onnx_add_number(r, at, pass, "int64"));
		onnx_bind(r, &scope, body->input[1]->name, onnx_add_number(r, on, 1, "bool"));
		for (size_t k = 0; k < carried; k++)
			onnx_bind(r, &scope, body->input[2 + k]->name, values[k]);
		if (!read_inside(r, body, &scope))
			return false;
		for (size_t k = 0; k < carried; k++)
			values[k] = onnx_resolve(r, &scope, body->output[1 + k]->name);
	}
	for (size_t k = 0; k < carried && k < node->n_output; k++)
		if (node->output[k][0])
			add_identity(r, values[k], onnx_resolve(r, outer, node->output[k]));
	return true;
}

/* A function, a branch that is known, or a loop with a known number of passes: *read turns true. */
static bool read_inlined(struct reading_onnx *r, const Onnx__NodeProto *node,
	const struct onnx_scope *scope, bool *read)
{
	const Onnx__FunctionProto *function = onnx_find_function(r, node);
	const char *op = node->op_type ? node->op_type : "";
	int64_t number = 0, on = 1;
	*read = function != NULL;
	if (function)
		return read_function(r, node, function, scope);
	if (text_equal(op, "If") && node->n_input == 1 &&
		known_number(r, scope, node->input[0], &number)) {
		const Onnx__GraphProto *branch =
			find_graph(node, number ? "then_branch" : "else_branch");
		*read = branch != NULL;
		return !branch || read_branch(r, node, branch, scope);
	}
	const Onnx__GraphProto *body = text_equal(op, "Loop") ? find_graph(node, "body") : NULL;
	if (!body || node->n_input < 3 || !node->input[0][0] ||
		!known_number(r, scope, node->input[0], &number) || number < 1 ||
		number > UNROLLED_MOST || body->n_input != node->n_input ||
		body->n_output != node->n_input - 1 || !keeps_on(body) ||
		(node->input[1][0] && (!known_number(r, scope, node->input[1], &on) || !on)))
		return true;
	*read = true;
	return onnx_unroll(r, node, body, number, scope);
}

/* An attribute of a function may be one of its call's. */
static bool onnx_read_attributes(struct reading_onnx *r, const Onnx__NodeProto *node,
	const struct onnx_scope *scope, struct model_call *call)
{
	struct attribute *attributes =
		arena_array(r->model->arena, struct attribute, node->n_attribute + 1);
	for (size_t i = 0; i < node->n_attribute; i++) {
		const Onnx__AttributeProto *from = node->attribute[i];
		const char *name = from->name, *of = from->ref_attr_name;
		const struct onnx_scope *function = scope;
		while (function && !function->closed)
			function = function->outer;
		if (of && of[0]) {
			from = NULL;
			for (size_t k = 0; function && k < function->call->n_attribute; k++)
				if (function->call->attribute[k]->name &&
					text_equal(function->call->attribute[k]->name, of))
					from = function->call->attribute[k];
		}
		if (!from)
			continue;
		if (!onnx_read_attribute(r, from, &attributes[call->attribute_count]))
			return false;
		attributes[call->attribute_count++].name =
			arena_text(r->model->arena, name ? name : "");
	}
	call->attributes = attributes;
	return true;
}

static bool read_node(
	struct reading_onnx *r, const Onnx__NodeProto *node, const struct onnx_scope *scope)
{
	struct arena *arena = r->model->arena;
	struct model_call call = {.op = name_op(arena, node), .version = r->version};
	int *inputs = arena_array(arena, int, node->n_input + 1),
	    *outputs = arena_array(arena, int, node->n_output + 1);
	bool inlined;
	if (!read_inlined(r, node, scope, &inlined) || inlined)
		return inlined && !diag_failed(r->model->diag);
	for (size_t i = 0; i < node->n_input; i++) {
		const char *name = node->input[i][0] ? onnx_resolve(r, scope, node->input[i]) : "";
		inputs[i] = name[0] ? model_value(r->model, name) : -1;
	}
	for (size_t i = 0; i < node->n_output; i++)
		outputs[i] = node->output[i][0] ? model_value(r->model,
							  onnx_resolve(r, scope, node->output[i]))
						: -1;
	if (!onnx_read_attributes(r, node, scope, &call))
		return false;
	call.input_count = (int)node->n_input;
	call.output_count = (int)node->n_output;
	call.inputs = inputs;
	call.outputs = outputs;
	call.name = node->name && node->name[0] ? arena_text(arena, node->name)
		    : node->n_output            ? arena_text(arena, node->output[0])
						: "?";
	*array_add(arena, &r->model->calls) = call;
	return true;
}

static void read_version(struct reading_onnx *r, const Onnx__ModelProto *proto)
{
	for (size_t i = 0; i < proto->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *set = proto->opset_import[i];
		if (!set->domain || !set->domain[0] || text_equal(set->domain, "ai.onnx"))
			r->version =
				(int)(set->version < 0 || set->version > 1000 ? 0 : set->version);
	}
	if (r->version < OPSET_LEAST || r->version > OPSET_MOST)
		diag_warning(r->model->diag, model_place(r->model, 0),
			"the model is of opset %d; it is read as one of %d to %d", r->version,
			OPSET_LEAST, OPSET_MOST);
}

static bool read_graph(struct reading_onnx *r, const Onnx__GraphProto *graph)
{
	bool good = true;
	for (size_t i = 0; good && i < graph->n_initializer; i++)
		good = read_initializer(r, graph->initializer[i]);
	for (size_t i = 0; i < graph->n_input; i++)
		good &= onnx_read_value(r, graph->input[i], true);
	for (size_t i = 0; good && i < graph->n_value_info; i++)
		good = onnx_read_value(r, graph->value_info[i], false);
	for (size_t i = 0; good && i < graph->n_output; i++) {
		good = onnx_read_value(r, graph->output[i], false);
		if (good && graph->output[i]->name)
			*array_add(r->model->arena, &r->model->outputs) = model_value(
				r->model, arena_text(r->model->arena, graph->output[i]->name));
	}
	for (size_t i = 0; good && i < graph->n_node; i++)
		good = read_node(r, graph->node[i], NULL);
	return good;
}

/* The whole message without its weights; false after complaining. */
static bool onnx_load(struct model *model, const char *path, struct text *out)
{
	struct stat facts;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct span place = model_place(model, 0);
	if (file < 0 || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) {
		diag_error(model->diag, place, "cannot read '%s': %s", path,
			file < 0 ? strerror(errno) : "it is not a file, or empty");
		if (file >= 0)
			close(file);
		return false;
	}
	size_t length = (size_t)facts.st_size, at = 0;
	void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (bytes == MAP_FAILED) {
		diag_error(model->diag, place, "cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	bool good = onnx_strip(bytes, length, out, &at);
	munmap(bytes, length);
	if (!good)
		diag_error(model->diag, place,
			"it is not an ONNX model, or truncated: the field at byte %zu has no end",
			at);
	return good;
}

bool onnx_read(struct model *model, const char *path, struct dim_settings *dims)
{
	struct reading_onnx reading = {.model = model, .dims = dims};
	struct text bytes = text_open(model->arena);
	if (!onnx_load(model, path, &bytes))
		return false;
	Onnx__ModelProto *proto =
		onnx__model_proto__unpack(NULL, bytes.length, (const uint8_t *)text_read(&bytes));
	if (!proto || !proto->graph) {
		diag_error(model->diag, model_place(model, 0), "it is not an ONNX model: %s",
			proto ? "it has no graph" : "a field has another type");
		if (proto)
			onnx__model_proto__free_unpacked(proto, NULL);
		return false;
	}
	reading.proto = proto;
	read_version(&reading, proto);
	bool good = read_graph(&reading, proto->graph);
	onnx__model_proto__free_unpacked(proto, NULL);
	return good;
}
