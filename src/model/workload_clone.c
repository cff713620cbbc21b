#include "model/workload_clone.h"

#include "base/arena.h"

#include <string.h>

static const char *free_name(
	struct arena *arena, const struct workload *workload, const struct tensor *tensor)
{
	const char *name = arena_format(arena, "clone_%s", tensor->name);
	for (int i = 2; workload_op(workload, name) >= 0 || workload_tensor(workload, name) >= 0;
		i++)
		name = arena_format(arena, "clone_%s_%d", tensor->name, i);
	return name;
}

/* One loop for each host dimension of more than one element. */
static struct op make_clone(
	struct arena *arena, const struct tensor *from, int tensor, int to, const char *name)
{
	struct op op = {.name = name,
		.type = function_name(FUNCTION_CLONE),
		.kind = OP_MAP,
		.function = FUNCTION_CLONE,
		.inserted = true,
		.read_count = 1,
		.write_count = 1,
		.span = from->span};
	struct access access = {.tensor = tensor};
	for (int h = 0; h < from->layout.host_rank; h++) {
		if (from->layout.host_size[h] <= 1)
			continue;
		int l = op.loop_count++;
		op.loops[l].name = arena_format(arena, "d%d", l);
		op.loops[l].extent = from->layout.host_size[h];
		access.host[h].loop[l] = 1;
		access.linear.loop[l] = from->layout.host_stride[h];
	}
	op.reads[0] = access;
	access.tensor = to;
	op.writes = arena_copy(arena, &access, sizeof access);
	return op;
}

const struct workload *workload_with_clone(
	struct arena *arena, const struct workload *workload, int tensor, int before)
{
	const char *name = free_name(arena, workload, &workload->tensors[tensor]);
	return workload_with_named_clone(arena, workload, tensor, before, name);
}

const struct workload *workload_with_named_clone(struct arena *arena,
	const struct workload *workload, int tensor, int before, const char *name)
{
	int to = (int)workload->tensor_count;
	const struct tensor *from = &workload->tensors[tensor];
	struct tensor *tensors = arena_array(arena, struct tensor, workload->tensor_count + 1);
	struct op *ops = arena_array(arena, struct op, workload->op_count + 1);
	memcpy(tensors, workload->tensors, workload->tensor_count * sizeof *tensors);
	for (int t = 0; t < to; t++)
		tensors[t].producer += tensors[t].producer >= before;
	tensors[to] = (struct tensor){.name = name,
		.role = TENSOR_INTERMEDIATE,
		.layout = from->layout,
		.layout_given = from->layout_given,
		.producer = before,
		.span = from->span};
	memcpy(ops, workload->ops, (size_t)before * sizeof *ops);
	ops[before] = make_clone(arena, from, tensor, to, name);
	for (size_t o = (size_t)before; o < workload->op_count; o++) {
		ops[o + 1] = workload->ops[o];
		for (int i = 0; i < ops[o + 1].read_count; i++)
			if (ops[o + 1].reads[i].tensor == tensor)
				ops[o + 1].reads[i].tensor = to;
	}
	struct workload *result = arena_new(arena, struct workload);
	*result = *workload;
	result->tensors = tensors;
	result->tensor_count++;
	result->ops = ops;
	result->op_count++;
	return result;
}
