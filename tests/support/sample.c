#include "tests/support/sample.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/workload.h"

#include <string.h>

static int loop_of(const struct op *op, char letter)
{
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].name[0] == letter)
			return l;
	BUG("sample without a loop '%c'", letter);
}

/* The host array's sizes come from the loops, its strides from its layout. */
static void read_operand(const struct op *op, struct tensor *tensor, struct access *access,
	enum dtype dtype, const char *letters, int rank)
{
	int64_t size[LAYOUT_HOST_RANK_MOST] = {0};
	for (int h = 0; h < rank; h++)
		size[h] = letters[h] == '.' ? 1 : op->loops[loop_of(op, letters[h])].extent;
	if (!layout_make(dtype, size, rank, NULL, 0, &tensor->layout))
		BUG("sample without a layout");
	for (int h = 0; h < rank; h++) {
		if (letters[h] == '.')
			continue;
		int l = loop_of(op, letters[h]);
		access->host[h].coefficient[l] = 1;
		access->linear.coefficient[l] += tensor->layout.host_stride[h];
	}
}

struct workload *sample_op(struct arena *arena, enum op_kind kind, enum dtype dtype,
	const char *operands, const char *loops, const int64_t *extents)
{
	struct op *op = arena_new(arena, struct op);
	struct tensor *tensors = arena_array(arena, struct tensor, OP_READS_MOST + 1);
	const char *output = strstr(operands, "->") + 2;
	*op = (struct op){.name = "o", .type = "sample", .write_count = 1};
	op->primitive = kind == OP_EINSUM   ? &primitive_einsum
			: kind == OP_REDUCE ? &primitive_sum
					    : primitive_find(kind == OP_MAP ? "neg" : "restickify");
	op->writes = arena_new(arena, struct access);
	op->loop_count = (int)strlen(loops);
	for (int l = 0; l < op->loop_count; l++)
		op->loops[l] = (struct loop){
			.name = arena_format(arena, "%c", loops[l]),
			.extent = extents[l],
			.reduction = !strchr(output, loops[l]),
		};
	for (const char *at = operands; at < output;) {
		int rank = (int)strcspn(at, ",-"), t = op->read_count++;
		op->reads[t].tensor = t;
		tensors[t].name = arena_format(arena, "%c", 'a' + t);
		tensors[t].role = TENSOR_INPUT;
		tensors[t].producer = -1;
		read_operand(op, &tensors[t], &op->reads[t], dtype, at, rank);
		at += rank + (at[rank] == ',' ? 1 : 2);
	}
	struct tensor *out = &tensors[op->read_count];
	out->name = "o";
	out->role = TENSOR_OUTPUT;
	op->writes->tensor = op->read_count;
	read_operand(op, out, op->writes, dtype, output, (int)strlen(output));
	struct workload *workload = arena_new(arena, struct workload);
	*workload = (struct workload){
		.name = "sample",
		.tensor_count = (size_t)op->read_count + 1,
		.tensors = tensors,
		.op_count = 1,
		.ops = op,
	};
	return workload;
}

void sample_lay_out(struct workload *workload, int operand, enum dtype dtype, const int *order)
{
	int t = op_operand(workload->ops, operand)->tensor;
	struct layout *layout = &((struct tensor *)workload->tensors)[t].layout;
	struct layout old = *layout;
	if (!layout_make(
		    dtype, old.host_size, old.host_rank, order, order ? old.host_rank : 0, layout))
		BUG("sample without a layout");
}

int64_t op_points(const struct op *op)
{
	int64_t product = 1;
	for (int l = 0; l < op->loop_count; l++)
		product *= op->loops[l].extent;
	return op_is_tiled(op) ? product : 0;
}

const struct workload *workload_with_clone(
	struct arena *arena, const struct workload *workload, int tensor, int before)
{
	struct growing growing = growing_open(arena, workload, 1);
	const char *name = growing_name(&growing, MOVE_CLONE, tensor);
	while ((int)growing.taken < before)
		growing_take(&growing);
	growing_move(&growing, MOVE_CLONE, tensor, (int)workload->tensor_count, name);
	while (!growing_is_whole(&growing))
		growing_take(&growing);
	return growing.workload;
}
