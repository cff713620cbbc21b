#include "tests/support/case_graph.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "tests/support/case_json.h"

struct layout case_layout(const json_t *buffer)
{
	enum dtype dtype;
	if (!dtype_parse(case_text(buffer, "dtype"), &dtype))
		BUG("case with dtype '%s'", case_text(buffer, "dtype"));
	int64_t size[LAYOUT_HOST_RANK_MOST];
	int order[LAYOUT_HOST_RANK_MOST + 1];
	size_t i;
	json_t *value;
	json_array_foreach(json_object_get(buffer, "host_size"), i, value)
		size[i] = json_integer_value(value);
	int rank = (int)i;
	const json_t *dim_order = json_object_get(buffer, "dim_order");
	json_array_foreach(dim_order, i, value)
		order[i] = (int)json_integer_value(value);
	struct layout layout;
	bool given = json_is_array(dim_order);
	if (!layout_make(dtype, size, rank, given ? order : NULL, given ? (int)i : 0, &layout))
		BUG("no layout for case buffer '%s'", case_text(buffer, "name"));
	return layout;
}

/* The host dimension that a loop with this coefficient walks: the largest
 * stride that divides it.
 */
static int host_dim(const struct layout *layout, int64_t coefficient)
{
	int best = -1;
	for (int h = 0; h < layout->host_rank; h++)
		if (layout->host_size[h] > 1 && coefficient % layout->host_stride[h] == 0 &&
			(best < 0 || layout->host_stride[h] > layout->host_stride[best]))
			best = h;
	return best;
}

static struct access read_access(const struct workload *workload, const struct op *op,
	const char *buffer, const json_t *coefficients)
{
	struct access access = {.tensor = workload_tensor(workload, buffer)};
	if (access.tensor < 0)
		BUG("case with an unknown buffer '%s'", buffer);
	const struct layout *layout = &workload->tensors[access.tensor].layout;
	for (int l = 0; l < op->loop_count; l++) {
		int64_t c = json_integer_value(json_object_get(coefficients, op->loops[l].name));
		access.linear.loop[l] = c;
		int h = c ? host_dim(layout, c) : -1;
		if (h >= 0)
			access.host[h].loop[l] = c / layout->host_stride[h];
	}
	return access;
}

static enum op_function map_function(const char *type, int reads)
{
	for (int f = FUNCTION_ADD; f < FUNCTION_SUM; f++)
		if (text_equal(type, function_name((enum op_function)f)))
			return (enum op_function)f;
	return reads == 1 ? FUNCTION_CLONE : FUNCTION_ADD;
}

static enum op_function reduce_function(const char *type)
{
	if (text_equal(type, "amax"))
		return FUNCTION_MAX;
	if (text_equal(type, "amin"))
		return FUNCTION_MIN;
	return text_equal(type, "mean") ? FUNCTION_MEAN : FUNCTION_SUM;
}

static void set_function(struct op *op, const char *kind)
{
	if (text_equal(kind, "matmul")) {
		op->kind = OP_EINSUM;
	} else if (text_equal(kind, "reduction")) {
		op->kind = OP_REDUCE;
		op->function = reduce_function(op->type);
	} else if (text_equal(kind, "pointwise")) {
		op->kind = OP_MAP;
		op->function = map_function(op->type, op->read_count);
		op->has_constant = function_arity(op->function) > op->read_count;
		op->constant = 1;
	} else {
		BUG("case with an op of kind '%s'", kind);
	}
}

static struct op read_op(struct arena *arena, const struct workload *workload, json_t *from)
{
	struct op op = {
		.name = arena_text(arena, case_text(from, "out")),
		.type = arena_text(arena, case_text(from, "op")),
		.write_count = 1,
		.writes = arena_new(arena, struct access),
	};
	const json_t *write = json_object_get(from, "write");
	const char *name;
	json_t *value;
	json_object_foreach(json_object_get(from, "ranges"), name, value) {
		struct loop *loop = &op.loops[op.loop_count++];
		loop->name = arena_text(arena, name);
		loop->extent = json_integer_value(value);
		loop->reduction = !json_integer_value(json_object_get(write, name));
	}
	size_t i;
	json_array_foreach(json_object_get(from, "reads"), i, value)
		op.reads[op.read_count++] = read_access(workload, &op,
			json_string_value(json_array_get(value, 0)), json_array_get(value, 1));
	op.writes[0] = read_access(workload, &op, op.name, write);
	set_function(&op, case_text(from, "kind"));
	return op;
}

/* Inputs are what no op writes, outputs what `outputs` names or nobody reads. */
static void set_roles(
	const struct workload *workload, struct tensor *tensors, const json_t *outputs)
{
	for (size_t t = 0; t < workload->tensor_count; t++) {
		tensors[t].producer = -1;
		tensors[t].role = TENSOR_OUTPUT;
	}
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		tensors[op->writes[0].tensor].producer = (int)o;
		for (int r = 0; r < op->read_count; r++)
			tensors[op->reads[r].tensor].role = TENSOR_INTERMEDIATE;
	}
	for (size_t t = 0; t < workload->tensor_count; t++)
		if (tensors[t].producer < 0)
			tensors[t].role = TENSOR_INPUT;
	size_t i;
	json_t *value;
	json_array_foreach(outputs, i, value) {
		int t = workload_tensor(workload, json_string_value(value));
		if (t >= 0 && tensors[t].producer >= 0)
			tensors[t].role = TENSOR_OUTPUT;
	}
}

const struct workload *case_graph(
	struct arena *arena, const json_t *buffers, const json_t *ops, const json_t *outputs)
{
	struct tensor *tensors = arena_array(arena, struct tensor, json_array_size(buffers));
	struct op *list = arena_array(arena, struct op, json_array_size(ops));
	struct workload *workload = arena_new(arena, struct workload);
	*workload = (struct workload){.name = "case", .tensors = tensors, .ops = list};
	size_t i;
	json_t *value;
	json_array_foreach(buffers, i, value) {
		tensors[i].name = arena_text(arena, case_text(value, "name"));
		tensors[i].layout = case_layout(value);
		tensors[i].layout_given = true;
	}
	workload->tensor_count = i;
	json_array_foreach(ops, i, value)
		list[i] = read_op(arena, workload, value);
	workload->op_count = i;
	set_roles(workload, tensors, outputs);
	return workload;
}
