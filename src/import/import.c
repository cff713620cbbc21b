#include "import/import.h"

#include "base/number.h"
#include "base/text.h"
#include "import/build.h"
#include "import/model.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { OPAQUE_WRITES_MOST = 3 };

int model_value(struct model *model, const char *name)
{
	int v = names_find(&model->names, name);
	if (v >= 0)
		return v;
	v = (int)model->values.count;
	*array_add(model->arena, &model->values) =
		(struct model_value){.name = name, .shape.rank = -1};
	names_add(model->arena, &model->names, name, v);
	return v;
}

const struct attribute *call_attribute(const struct model_call *call, const char *name)
{
	for (size_t i = 0; i < call->attribute_count; i++)
		if (text_equal(call->attributes[i].name, name))
			return &call->attributes[i];
	return NULL;
}

void model_add_weight(struct model *model, const struct model_value *value)
{
	int64_t bytes = shape_elements(&value->shape);
	if (bytes > 0 && (!number_mul(bytes, dtype_name_bytes(value->dtype), &bytes) ||
				 !number_add(bytes, model->weight_bytes, &model->weight_bytes)))
		model->weight_bytes = INT64_MAX;
}

int64_t call_int(const struct model_call *call, const char *name, int64_t otherwise)
{
	const struct attribute *found = call_attribute(call, name);
	if (found && found->int_count)
		return found->ints[0];
	if (found && found->text && !found->number_count) /* of a custom call: "True" */
		return text_equal(found->text, "True")    ? 1
		       : text_equal(found->text, "False") ? 0
							  : otherwise;
	bool whole = found && found->number_count && found->numbers[0] > -9e18 &&
		     found->numbers[0] < 9e18;
	return whole ? (int64_t)found->numbers[0] : otherwise;
}

double call_number(const struct model_call *call, const char *name, double otherwise)
{
	const struct attribute *found = call_attribute(call, name);
	if (found && found->number_count)
		return found->numbers[0];
	return found && found->int_count ? (double)found->ints[0] : otherwise;
}

const char *call_text(const struct model_call *call, const char *name)
{
	const struct attribute *found = call_attribute(call, name);
	return found && found->text ? found->text : "";
}

int64_t shape_elements(const struct model_shape *shape)
{
	int64_t product = 1;
	for (int h = 0; h < shape->rank; h++)
		if (!number_mul(product, shape->size[h], &product))
			return -1;
	return shape->rank < 0 || product >> 62 ? -1 : product;
}

int64_t dtype_name_bytes(const char *dtype)
{
	static const struct {
		const char *name;
		int bytes;
	} rows[] = {{"fp16", 2}, {"bf16", 2}, {"int8", 1}, {"bool", 1}, {"fp8", 1}, {"int64", 8}};
	for (size_t i = 0; dtype && i < sizeof rows / sizeof *rows; i++)
		if (text_equal(rows[i].name, dtype))
			return rows[i].bytes;
	return 4;
}

int64_t constant_int(const struct constant *constant, size_t i)
{
	size_t at = constant->count == 1 ? 0 : i;
	if (constant->ints)
		return constant->ints[at];
	double number = constant->numbers[at];
	return number > -9e18 && number < 9e18 ? (int64_t)number : 0;
}

const struct constant *constant_of_int(struct arena *arena, int64_t number)
{
	double real = (double)number;
	struct constant made = {1, arena_copy(arena, &number, sizeof number),
		arena_copy(arena, &real, sizeof real)};
	return arena_copy(arena, &made, sizeof made);
}

double constant_number(const struct constant *constant, size_t i)
{
	size_t at = constant->count == 1 ? 0 : i;
	return constant->ints ? (double)constant->ints[at] : constant->numbers[at];
}

struct span model_place(const struct model *model, int line)
{
	return (struct span){.source = model->source,
		.line = line,
		.column = 1,
		.end_line = line,
		.end_column = 1};
}

static bool ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), tail = strlen(end);
	return length >= tail && text_equal(path + length - tail, end);
}

bool import_is_model(const char *path)
{
	return ends_in(path, ".onnx") || ends_in(path, ".mlir");
}

/* "alexnet" of "models/alexnet.onnx" */
static const char *name_model(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = arena_text(arena, slash ? slash + 1 : path);
	char *dot = strchr(name, '.');
	if (dot && dot > name)
		*dot = '\0';
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			*c = '_';
	return name;
}

static bool read_mlir(struct model *model, const char *path)
{
	const char *text = text_of_file(model->arena, path);
	if (!text) {
		diag_error(model->diag, (struct span){.source = model->source},
			"cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	model->source->bytes = text;
	model->source->length = strlen(text);
	return mlir_read(model, text);
}

/* Views of inputs, weights and constants. */
static void enter_values(struct build *b)
{
	struct model *model = b->model;
	static const struct model_call none = {0};
	b->call = &none;
	b->of_value = arena_array(b->arena, int, model->values.count + 1);
	for (size_t v = 0; v < model->values.count; v++) {
		const struct model_value *value = &model->values.at[v];
		b->of_value[v] = -1;
		if (!value->input && !value->weight)
			continue;
		if (value->weight && value->constant && value->constant->count == 1)
			b->of_value[v] = view_splat(b, constant_number(value->constant, 0),
				value->dtype, &value->shape);
		else if (shape_elements(&value->shape) > 0)
			b->of_value[v] = view_stored(b, value->name, value->dtype, &value->shape);
		if (b->of_value[v] >= 0)
			b->views.at[b->of_value[v]].weight = value->weight;
		b->why = NULL;
	}
}

static bool inputs_ready(struct build *b, const struct model_call *call)
{
	for (int i = 0; i < call->input_count; i++) {
		int v = call->inputs[i];
		if (v < 0 || b->of_value[v] >= 0 || b->model->values.at[v].constant)
			continue;
		diag_error(b->model->diag, model_place(b->model, call->line),
			"'%s' (%s) uses '%s', which has no value there: a cycle, an op out of order, an output that is not made, or no "
			"shape",
			call->name, call->op, b->model->values.at[v].name);
		return false;
	}
	return true;
}

static void count_opaque(struct build *b, const char *op)
{
	b->opaque++;
	*array_add(b->arena, &b->opaque_names) = op;
}

/* Returns the shape of output i; if the model does not have it, the first input's. */
static struct model_shape guess_shape(const struct build *b, const struct model_call *call, int i)
{
	const struct model_shape *known = &b->model->values.at[call->outputs[i]].shape;
	if (known->rank >= 0)
		return *known;
	for (int k = 0; k < call->input_count; k++)
		if (call->inputs[k] >= 0 && b->of_value[call->inputs[k]] >= 0)
			return view_at(b, b->of_value[call->inputs[k]])->shape;
	return (struct model_shape){.rank = 1, .size = {1}};
}

/* One opaque op that writes the outputs from *next on, as many as fit beside what it reads; false after complaining. */
static bool add_opaque(struct build *b, const struct model_call *call, const char *function,
	const int *reads, int *next)
{
	struct statement made = {.form = FORM_OPAQUE, .call = call, .function = function};
	for (; *next < call->output_count && made.write_count < OPAQUE_WRITES_MOST; (*next)++) {
		int v = call->outputs[*next];
		if (v < 0)
			continue;
		const struct model_value *value = &b->model->values.at[v];
		struct model_shape shape = guess_shape(b, call, *next);
		int out = view_stored(b, value->name, value->dtype ? value->dtype : "fp32", &shape);
		if (out < 0) {
			diag_error(b->model->diag, model_place(b->model, call->line),
				"'%s' (%s): %s", call->name, call->op, b->why);
			return false;
		}
		b->views.at[out].written = true;
		made.writes[made.write_count++] = out;
		b->of_value[v] = out;
	}
	for (int i = 0; i < call->input_count && made.read_count + made.write_count < READS_MOST;
		i++)
		if (reads[i] >= 0)
			made.reads[made.read_count++].view = reads[i];
	if (!made.write_count)
		return true;
	*array_add(b->arena, &b->statements) = made;
	return true;
}

static bool make_opaque(struct build *b, const struct model_call *call)
{
	char *name = arena_format(b->arena, "%.60s", call->op);
	const char *why = b->why ? b->why : "no table has it";
	size_t before = b->statements.count;
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (!isalpha((unsigned char)name[0]))
		name = arena_format(b->arena, "op%s", name);
	bool empty = call->input_count > 0; /* inputs whose dimensions are set to 0 */
	for (int i = 0; i < call->input_count; i++) {
		int v = call->inputs[i];
		empty &= v >= 0 && b->model->values.at[v].input && b->model->values.at[v].constant;
	}
	if (b->strict || empty) {
		diag_error(b->model->diag, model_place(b->model, call->line),
			"'%s' (%s) would be opaque: %s", call->name, call->op, why);
		return false;
	}
	*array_add(b->arena, &b->notes) =
		arena_format(b->arena, "'%s' (%s) is opaque: %s", call->name, call->op, why);
	b->why = NULL;
	int *reads = arena_array(b->arena, int, (size_t)call->input_count + 1);
	for (int i = 0; i < call->input_count; i++)
		reads[i] = call->inputs[i] < 0 ? -1 : b->of_value[call->inputs[i]];
	for (int next = 0; next < call->output_count;)
		if (!add_opaque(b, call, name, reads, &next))
			return false;
	if (b->statements.count > before)
		count_opaque(b, call->op);
	return true;
}

static bool put_call(struct build *b, const struct model_call *call)
{
	size_t statements = b->statements.count;
	b->call = call;
	b->why = NULL;
	if (!inputs_ready(b, call))
		return false;
	if (fold_call(b, call)) {
		b->folded++;
		return true;
	}
	if (!build_call(b, call)) {
		/* what was built of it stays unread, and is left out */
		return make_opaque(b, call);
	}
	bool computes = false;
	for (size_t s = statements; s < b->statements.count; s++)
		computes |= b->statements.at[s].form != FORM_RESHAPE;
	b->folded += !computes;
	return true;
}

static void import_summarize(struct build *b, struct import_summary *out)
{
	out->calls = (int)b->model->calls.count;
	out->folded = b->folded;
	out->opaque += b->opaque;
	out->weight_bytes = b->model->weight_bytes;
	struct names seen = {0};
	int *counts = arena_array(b->arena, int, b->opaque_names.count + 1);
	for (size_t i = 0; i < b->opaque_names.count; i++) {
		if (names_find(&seen, b->opaque_names.at[i]) < 0)
			names_add(b->arena, &seen, b->opaque_names.at[i], (int)i);
		counts[names_find(&seen, b->opaque_names.at[i])]++;
	}
	for (size_t i = 0; i < b->opaque_names.count; i++)
		if (counts[i])
			*array_add(b->arena, &out->opaque_names) =
				arena_format(b->arena, "%s %d", b->opaque_names.at[i], counts[i]);
	for (size_t i = 0; i < b->notes.count; i++)
		*array_add(b->arena, &out->notes) = b->notes.at[i];
}

static bool read_model(struct model *model, const char *path, struct import_wishes *wishes)
{
	bool good = ends_in(path, ".onnx") ? onnx_read(model, path, &wishes->dims)
					   : read_mlir(model, path);
	for (size_t i = 0; good && i < wishes->dims.count; i++)
		if (!wishes->dims.at[i].used)
			diag_warning(model->diag, wishes->dims.at[i].span,
				"the model has no dimension '%s' without an extent",
				wishes->dims.at[i].name);
	return good && !diag_failed(model->diag);
}

const char *import_file(struct arena *arena, const char *path, struct import_wishes *wishes,
	struct diag *diag, struct import_summary *summary)
{
	struct source *source = arena_new(arena, struct source);
	*source = (struct source){.name = path, .bytes = "", .length = 0};
	struct model model = {
		.arena = arena, .diag = diag, .source = source, .name = name_model(arena, path)};
	*summary = (struct import_summary){0};
	if (!read_model(&model, path, wishes))
		return NULL;
	struct build b = {
		.arena = arena, .model = &model, .axes.arena = arena, .strict = wishes->strict};
	enter_values(&b);
	for (size_t i = 0; i < model.values.count; i++)
		if (source->length && model.values.at[i].weight)
			model_add_weight(&model, &model.values.at[i]);
	for (size_t i = 0; i < model.calls.count; i++)
		if (!put_call(&b, &model.calls.at[i]))
			return NULL;
	const char *text = build_write(&b, summary);
	if (wishes->network)
		text = build_network(&b);
	import_summarize(&b, summary);
	if (!text) {
		diag_error(diag, model_place(&model, 0),
			"the model has neither convolutions nor products, which layers are made of");
		return NULL;
	}
	if (!summary->ops) {
		diag_error(diag, model_place(&model, 0), "no op of the model is left to compute");
		return NULL;
	}
	return text;
}
