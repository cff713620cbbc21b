#include "model/graph/workload.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"

const char *const move_names[] = {
	[MOVE_CLONE] = "clone",
	[MOVE_EVICT] = "evict",
	[MOVE_RELOAD] = "reload",
	[MOVE_RELAYOUT] = "relayout",
	[MOVE_RELAYOUT + 1] = NULL,
};

const struct access *op_operand(const struct op *op, int operand)
{
	if (operand < 0 || operand >= op_operands(op))
		BUG("op '%s' has no operand %d", op->name, operand);
	return operand < op->read_count ? &op->reads[operand]
					: &op->writes[operand - op->read_count];
}

int op_operands(const struct op *op)
{
	return op->read_count + op->write_count;
}

const char *op_role(const struct op *op, int operand)
{
	if (op->roles)
		return op->roles[operand];
	return operand == op->read_count ? "Outputs"
	       : operand == 0            ? "Inputs"
	       : operand == 1            ? "Weights"
					 : NULL;
}

static bool affine_equal(const struct affine *a, const struct affine *b, int loop_count)
{
	for (int l = 0; l < loop_count; l++) {
		if (a->loop[l] != b->loop[l])
			return false;
	}
	return a->offset == b->offset;
}

bool access_equal(
	const struct op *op, const struct access *a, const struct access *b, int host_rank)
{
	for (int h = 0; h < host_rank; h++) {
		if (!affine_equal(&a->host[h], &b->host[h], op->loop_count))
			return false;
	}
	return a->pad == b->pad && affine_equal(&a->linear, &b->linear, op->loop_count);
}

void access_clip(const struct access *access, int64_t size, int64_t *low, int64_t *high)
{
	if (!access->pad)
		return;
	*low = number_max(0, number_min(*low, size - 1));
	*high = number_max(0, number_min(*high, size - 1));
}

int tensor_home(const struct workload *workload, int tensor)
{
	int copy_of = workload->tensors[tensor].copy_of;
	return copy_of ? copy_of - 1 : tensor;
}

int tensor_origin(const struct workload *workload, int tensor)
{
	for (;;) {
		int producer = workload->tensors[tensor].producer;
		const struct op *op = producer < 0 ? NULL : &workload->ops[producer];
		if (!op || (op->move != MOVE_EVICT && op->move != MOVE_RELOAD))
			return tensor;
		tensor = op->reads[0].tensor;
	}
}

const int *tensor_origins(struct arena *arena, const struct workload *workload)
{
	int *origins = arena_array(arena, int, workload->tensor_count);
	for (size_t t = 0; t < workload->tensor_count; t++)
		origins[t] = (int)t;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		if (op->move == MOVE_EVICT || op->move == MOVE_RELOAD)
			origins[op->writes[0].tensor] = origins[op->reads[0].tensor];
	}
	return origins;
}

int workload_tensor(const struct workload *workload, const char *name)
{
	for (size_t t = 0; t < workload->tensor_count; t++) {
		if (text_equal(workload->tensors[t].name, name))
			return (int)t;
	}
	return -1;
}

int workload_op(const struct workload *workload, const char *name)
{
	for (size_t o = 0; o < workload->op_count; o++) {
		if (text_equal(workload->ops[o].name, name))
			return (int)o;
	}
	return -1;
}

int affine_loop(const struct affine *affine, int loop_count)
{
	int found = NO_LOOP;
	for (int l = 0; l < loop_count; l++) {
		if (affine->loop[l] == 0)
			continue;
		if (found != NO_LOOP)
			return SEVERAL_LOOPS;
		found = l;
	}
	return found;
}

int op_stick_loop(const struct workload *workload, const struct op *op, int operand)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	if (layout->stick_dim < 0)
		return -1;
	int loop = affine_loop(&access->host[layout->stick_dim], op->loop_count);
	return loop < 0 ? -1 : loop;
}

int64_t op_grain(const struct workload *workload, const struct op *op, int l)
{
	int64_t grain = 1;
	for (int i = 0; i < op_operands(op); i++) {
		const struct tensor *tensor = &workload->tensors[op_operand(op, i)->tensor];
		if (op_stick_loop(workload, op, i) == l)
			grain = number_max(grain, tensor->layout.per_stick);
	}
	return grain;
}

int64_t op_units(const struct workload *workload, const struct op *op, int l)
{
	return number_ceil_div(op->loops[l].extent, op_grain(workload, op, l));
}

bool op_is_tiled(const struct op *op)
{
	return op->primitive->kind != OP_OPAQUE && op->primitive->kind != OP_BROADCAST;
}

bool workload_has_broadcast(const struct workload *workload)
{
	for (size_t o = 0; o < workload->op_count; o++)
		if (workload->ops[o].primitive->kind == OP_BROADCAST)
			return true;
	return false;
}
