#include "model/workload_move.h"

#include "base/arena.h"
#include "model/plan.h"

#include <string.h>

static const char *free_name(
	struct arena *arena, const struct workload *workload, enum move_kind kind, int tensor)
{
	const char *origin = workload->tensors[tensor_origin(workload, tensor)].name;
	const char *name = arena_format(arena, "%s_%s", move_names[kind], origin);
	for (int i = 2; workload_op(workload, name) >= 0 || workload_tensor(workload, name) >= 0;
		i++)
		name = arena_format(arena, "%s_%s_%d", move_names[kind], origin, i);
	return name;
}

int workload_copy_in_hbm(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	const struct op *op = producer < 0 ? NULL : &workload->ops[producer];
	if (!op || !op_copies_sticks(workload, op))
		return -1;
	int from = op->reads[0].tensor;
	if (op->move != MOVE_RELOAD && workload->tensors[from].producer >= 0)
		return -1;
	return tensor_home(workload, from);
}

/* One loop for each host dimension of more than one element. */
static struct op make_move(struct arena *arena, enum move_kind kind, const struct tensor *from,
	int tensor, int to, const char *name)
{
	struct op op = {.name = name,
		.type = move_names[kind],
		.kind = OP_MAP,
		.function = FUNCTION_CLONE,
		.move = kind,
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

struct workload *workload_copy(struct arena *arena, const struct workload *workload, size_t room)
{
	struct workload *copy = arena_copy(arena, workload, sizeof *workload);
	struct tensor *tensors = arena_array(arena, struct tensor, workload->tensor_count + room);
	struct op *ops = arena_array(arena, struct op, workload->op_count + room);
	memcpy(tensors, workload->tensors, workload->tensor_count * sizeof *tensors);
	memcpy(ops, workload->ops, workload->op_count * sizeof *ops);
	copy->tensors = tensors;
	copy->ops = ops;
	return copy;
}

static void add_named(struct arena *arena, struct workload *copy, enum move_kind kind, int tensor,
	int before, const char *name)
{
	/* The arrays are the copy's own: nobody else sees them yet. */
	struct tensor *tensors = (struct tensor *)copy->tensors;
	struct op *ops = (struct op *)copy->ops;
	const struct tensor *from = &tensors[tensor];
	int known = kind == MOVE_EVICT ? workload_copy_in_hbm(copy, tensor) : -1;
	int to = (int)copy->tensor_count++;
	for (int t = 0; t < to; t++)
		tensors[t].producer += tensors[t].producer >= before;
	tensors[to] = (struct tensor){.name = name,
		.role = TENSOR_INTERMEDIATE,
		.layout = from->layout,
		.layout_given = from->layout_given,
		.producer = before,
		.copy_of = known + 1,
		.span = from->span};
	memmove(&ops[before + 1], &ops[before], (copy->op_count - (size_t)before) * sizeof *ops);
	copy->op_count++;
	ops[before] = make_move(arena, kind, from, tensor, to, name);
	for (size_t o = (size_t)before + 1; o < copy->op_count; o++) {
		for (int i = 0; i < ops[o].read_count; i++)
			if (ops[o].reads[i].tensor == tensor)
				ops[o].reads[i].tensor = to;
	}
}

void workload_add_move(
	struct arena *arena, struct workload *copy, enum move_kind kind, int tensor, int before)
{
	add_named(arena, copy, kind, tensor, before, free_name(arena, copy, kind, tensor));
}

const struct workload *workload_with_move(struct arena *arena, const struct workload *workload,
	enum move_kind kind, int tensor, int before)
{
	struct workload *copy = workload_copy(arena, workload, 1);
	workload_add_move(arena, copy, kind, tensor, before);
	return copy;
}

const struct workload *workload_with_named_clone(struct arena *arena,
	const struct workload *workload, int tensor, int before, const char *name)
{
	struct workload *copy = workload_copy(arena, workload, 1);
	add_named(arena, copy, MOVE_CLONE, tensor, before, name);
	return copy;
}
