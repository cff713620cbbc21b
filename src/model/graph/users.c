#include "model/graph/users.h"

#include "base/arena.h"

struct users users_make(struct arena *arena, const struct workload *workload)
{
	size_t tensors = workload->tensor_count, count = 0;
	size_t *first = arena_array(arena, size_t, tensors + 2);
	/* first[t + 1] is where the next user of tensor t goes. */
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < op_operands(&workload->ops[o]); i++, count++)
			first[op_operand(&workload->ops[o], i)->tensor + 2]++;
	for (size_t t = 2; t < tensors + 2; t++)
		first[t] += first[t - 1];
	struct user *at = arena_array(arena, struct user, count);
	for (size_t o = 0; o < workload->op_count; o++)
		for (int i = 0; i < op_operands(&workload->ops[o]); i++)
			at[first[op_operand(&workload->ops[o], i)->tensor + 1]++] =
				(struct user){(int)o, i};
	return (struct users){first, at};
}

void users_life(const struct users *users, int tensor, int *from, int *to)
{
	size_t first = users->first[tensor], end = users->first[tensor + 1];
	*from = first < end ? users->at[first].op : 0;
	*to = first < end ? users->at[end - 1].op + 1 : 0;
}

int users_root(const struct workload *workload, const struct users *users, int tensor)
{
	if (workload->tensors[tensor].producer >= 0)
		return -1;
	for (size_t i = users->first[tensor]; i < users->first[tensor + 1]; i++) {
		const struct op *op = &workload->ops[users->at[i].op];
		if (op->primitive->kind == OP_BROADCAST)
			return op->root;
	}
	return -1;
}
