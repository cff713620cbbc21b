#include "import/model.h"

#include "base/number.h"
#include "base/text.h"

#include <string.h>

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
