#include "tests/support/case_graph.h"

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/lookups.h"
#include "tests/support/tally.h"

#include <stdio.h>
#include <unistd.h>

/* The record that is being read, and its first fault. */
struct reading {
	struct arena *arena;
	const char *why;
};

static void complain(struct reading *reading, const char *what, const char *which)
{
	if (!reading->why)
		reading->why = arena_format(reading->arena, "%s '%s'", what, which);
}

static const char *text_of(struct reading *reading, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	if (!text)
		complain(reading, "no text", key);
	return text ? text : "";
}

json_t *case_file(const char *root, const char *family, const char *name, struct tally *tally)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/%s", root, family, name);
	if (access(path, R_OK))
		return NULL;
	json_error_t error;
	json_t *file = json_load_file(path, 0, &error);
	if (!file)
		tally_fail(tally, name, "line %d: %s", error.line, error.text);
	return file;
}

static int read_numbers(const json_t *list, int most, int64_t *out)
{
	size_t i;
	const json_t *value;
	json_array_foreach(list, i, value)
		if ((int)i < most)
			out[i] = json_integer_value(value);
	return (int)i;
}

static struct layout read_layout(struct reading *reading, const json_t *buffer)
{
	enum { MOST = LAYOUT_HOST_RANK_MOST };
	const char *name = text_of(reading, buffer, "dtype");
	const json_t *dim_order = json_object_get(buffer, "dim_order");
	int64_t size[MOST] = {0}, given[MOST + 1] = {0};
	int rank = read_numbers(json_object_get(buffer, "host_size"), MOST, size);
	int count = read_numbers(dim_order, MOST + 1, given), order[MOST + 1];
	for (int i = 0; i <= MOST; i++)
		order[i] = (int)given[i];
	enum dtype dtype;
	struct layout layout = {0};
	if (!dtype_parse(name, &dtype))
		complain(reading, "no dtype", name);
	else if (count > MOST + 1 ||
		 !layout_make(dtype, size, rank, json_is_array(dim_order) ? order : NULL, count,
			 &layout))
		complain(reading, "no layout for", text_of(reading, buffer, "name"));
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

static struct access read_access(struct reading *reading, const struct workload *workload,
	const struct op *op, const char *buffer, const json_t *coefficients)
{
	struct access access = {.tensor = buffer ? workload_tensor(workload, buffer) : -1};
	if (access.tensor < 0) {
		complain(reading, "no buffer", buffer ? buffer : "");
		return access;
	}
	const struct layout *layout = &workload->tensors[access.tensor].layout;
	for (int l = 0; l < op->loop_count; l++) {
		int64_t c = json_integer_value(json_object_get(coefficients, op->loops[l].name));
		access.linear.coefficient[l] = c;
		int h = c ? host_dim(layout, c) : -1;
		if (h >= 0)
			access.host[h].coefficient[l] = c / layout->host_stride[h];
	}
	return access;
}

static const struct primitive *map_primitive(const char *type, int reads)
{
	const struct primitive *found = primitive_find(type);
	if (found && found->kind == OP_MAP)
		return found;
	return primitive_find(reads == 1 ? "clone" : "add");
}

static const struct primitive *reduce_primitive(const char *type)
{
	if (text_equal(type, "amax"))
		return &primitive_max;
	if (text_equal(type, "amin"))
		return &primitive_min;
	return primitive_find(text_equal(type, "mean") ? "mean" : "sum");
}

static void set_primitive(struct reading *reading, struct op *op, const char *kind)
{
	if (text_equal(kind, "matmul")) {
		op->primitive = &primitive_einsum;
	} else if (text_equal(kind, "reduction")) {
		op->primitive = reduce_primitive(op->type);
	} else if (text_equal(kind, "pointwise")) {
		op->primitive = map_primitive(op->type, op->read_count);
		op->has_constant = op->primitive->arity > op->read_count;
		op->constant = 1;
	} else {
		complain(reading, "no kind of ops", kind);
	}
}

static void read_loops(
	struct reading *reading, const json_t *ranges, const json_t *write, struct op *op)
{
	const char *name;
	json_t *value;
	if (json_object_size(ranges) > OP_LOOPS_MOST) {
		complain(reading, "too many loops in", op->name);
		return;
	}
	json_object_foreach((json_t *)ranges, name, value) {
		struct loop *loop = &op->loops[op->loop_count++];
		loop->name = arena_text(reading->arena, name);
		loop->extent = json_integer_value(value);
		loop->reduction = !json_integer_value(json_object_get(write, name));
		if (loop->extent < 1)
			complain(reading, "no extent of", name);
	}
}

static struct op read_op(
	struct reading *reading, const struct workload *workload, const json_t *from)
{
	struct op op = {
		.name = arena_text(reading->arena, text_of(reading, from, "out")),
		.type = arena_text(reading->arena, text_of(reading, from, "op")),
		.write_count = 1,
		.writes = arena_new(reading->arena, struct access),
	};
	const json_t *write = json_object_get(from, "write");
	const json_t *reads = json_object_get(from, "reads"), *read;
	size_t i;
	read_loops(reading, json_object_get(from, "ranges"), write, &op);
	if (json_array_size(reads) > OP_READS_MOST)
		complain(reading, "too many reads of", op.name);
	else
		json_array_foreach(reads, i, read)
			op.reads[op.read_count++] = read_access(reading, workload, &op,
				json_string_value(json_array_get(read, 0)),
				json_array_get(read, 1));
	op.writes[0] = read_access(reading, workload, &op, op.name, write);
	set_primitive(reading, &op, text_of(reading, from, "kind"));
	return op;
}

/* Marks as inputs the tensors that no op writes, as outputs those of `outputs` or, if it is NULL,
 * those that no op reads. */
static void set_roles(
	const struct workload *workload, struct tensor *tensors, const json_t *outputs)
{
	for (size_t t = 0; t < workload->tensor_count; t++) {
		tensors[t].producer = -1;
		tensors[t].role = outputs ? TENSOR_INTERMEDIATE : TENSOR_OUTPUT;
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
		const char *name = json_string_value(value);
		int t = name ? workload_tensor(workload, name) : -1;
		if (t >= 0 && tensors[t].producer >= 0)
			tensors[t].role = TENSOR_OUTPUT;
	}
}

const struct workload *case_graph(struct arena *arena, const json_t *buffers, const json_t *ops,
	const json_t *outputs, const char **why)
{
	struct reading reading = {.arena = arena};
	struct tensor *tensors = arena_array(arena, struct tensor, json_array_size(buffers));
	struct op *list = arena_array(arena, struct op, json_array_size(ops));
	struct workload *workload = arena_new(arena, struct workload);
	*workload = (struct workload){.name = "case", .tensors = tensors, .ops = list};
	size_t i;
	const json_t *value;
	json_array_foreach(buffers, i, value) {
		tensors[i].name = arena_text(arena, text_of(&reading, value, "name"));
		tensors[i].layout = read_layout(&reading, value);
		tensors[i].layout_given = true;
	}
	workload->tensor_count = i;
	json_array_foreach(ops, i, value)
		list[i] = read_op(&reading, workload, value);
	workload->op_count = i;
	*why = reading.why;
	if (*why)
		return NULL;
	set_roles(workload, tensors, outputs);
	return workload;
}
