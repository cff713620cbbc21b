#include "base/text.h"
#include "import/model.h"
#include "import/onnx_strip.h"
#include <onnx.pb-c.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPSET_LEAST = 9, OPSET_MOST = 20 };

struct reading_onnx {
	struct model *model;
	struct dim_settings *dims;
	int version;
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

/* What `--dim` says; 0: nothing. */
static int64_t find_setting(struct reading_onnx *r, const char *name)
{
	for (size_t i = 0; i < r->dims->count; i++)
		if (text_equal(r->dims->at[i].name, name)) {
			r->dims->at[i].used = true;
			return r->dims->at[i].extent;
		}
	return 0;
}

/* Of an input every dimension must have an extent; of others the shape is then unknown. */
static bool read_shape(struct reading_onnx *r, const Onnx__ValueInfoProto *info, bool input,
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
		if (dims[h] > 0 || (known && dims[h] < 0))
			continue;
		if (input)
			diag_error(r->model->diag, model_place(r->model, 0),
				"dimension %zu of input '%s' has no extent; give '--dim %s=N'", h,
				info->name, name);
		return !input;
	}
	return read_dims(r, info->name, dims, shape->n_dim, &value->shape);
}

static bool read_value(struct reading_onnx *r, const Onnx__ValueInfoProto *info, bool input)
{
	if (!info->name)
		return true;
	int v = model_value(r->model, arena_text(r->model->arena, info->name));
	struct model_value *value = &r->model->values.at[v];
	if (value->weight)
		return true;
	value->input = input;
	return read_shape(r, info, input, value);
}

static bool read_attribute(
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

static bool read_node(struct reading_onnx *r, const Onnx__NodeProto *node)
{
	struct arena *arena = r->model->arena;
	struct model_call call = {.op = name_op(arena, node), .version = r->version};
	int *inputs = arena_array(arena, int, node->n_input + 1),
	    *outputs = arena_array(arena, int, node->n_output + 1);
	struct attribute *attributes = arena_array(arena, struct attribute, node->n_attribute + 1);
	for (size_t i = 0; i < node->n_input; i++)
		inputs[i] = node->input[i][0]
				    ? model_value(r->model, arena_text(arena, node->input[i]))
				    : -1;
	for (size_t i = 0; i < node->n_output; i++)
		outputs[i] = node->output[i][0]
				     ? model_value(r->model, arena_text(arena, node->output[i]))
				     : -1;
	for (size_t i = 0; i < node->n_attribute; i++)
		if (!read_attribute(r, node->attribute[i], &attributes[i]))
			return false;
	call.input_count = (int)node->n_input;
	call.output_count = (int)node->n_output;
	call.inputs = inputs;
	call.outputs = outputs;
	call.attributes = attributes;
	call.attribute_count = node->n_attribute;
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
		good &= read_value(r, graph->input[i], true);
	for (size_t i = 0; good && i < graph->n_value_info; i++)
		good = read_value(r, graph->value_info[i], false);
	for (size_t i = 0; good && i < graph->n_output; i++) {
		good = read_value(r, graph->output[i], false);
		if (good && graph->output[i]->name)
			*array_add(r->model->arena, &r->model->outputs) = model_value(
				r->model, arena_text(r->model->arena, graph->output[i]->name));
	}
	for (size_t i = 0; good && i < graph->n_node; i++)
		good = read_node(r, graph->node[i]);
	return good;
}

/* The whole message without its weights; false after complaining. */
static bool load(struct model *model, const char *path, struct text *out)
{
	struct stat facts;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct span place = model_place(model, 0);
	if (file < 0 || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) {
		diag_error(model->diag, place, "cannot read '%s': %s", path,
			file < 0 ? strerror(errno) : "it is no file, or empty");
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
			"it is no ONNX model, or truncated: the field at byte %zu has no end", at);
	return good;
}

bool onnx_read(struct model *model, const char *path, struct dim_settings *dims)
{
	struct reading_onnx reading = {model, dims, 0};
	struct text bytes = text_open(model->arena);
	if (!load(model, path, &bytes))
		return false;
	Onnx__ModelProto *proto =
		onnx__model_proto__unpack(NULL, bytes.length, (const uint8_t *)text_read(&bytes));
	if (!proto || !proto->graph) {
		diag_error(model->diag, model_place(model, 0), "it is no ONNX model: %s",
			proto ? "it has no graph" : "a field has another type");
		if (proto)
			onnx__model_proto__free_unpacked(proto, NULL);
		return false;
	}
	read_version(&reading, proto);
	bool good = read_graph(&reading, proto->graph);
	if (good && proto->graph->name && proto->graph->name[0])
		model->name = arena_text(model->arena, proto->graph->name);
	onnx__model_proto__free_unpacked(proto, NULL);
	return good;
}
