#include "model/graph/sticks.h"

static const struct layout *layout_of(
	const struct workload *workload, const struct op *op, int operand)
{
	return &workload->tensors[op_operand(op, operand)->tensor].layout;
}

/* The loop along which an operand's stick runs; NO_LOOP, or SEVERAL_LOOPS when lanes shift. */
static int find_stick_loop(const struct workload *workload, const struct op *op, int operand)
{
	const struct layout *layout = layout_of(workload, op, operand);
	if (layout->stick_dim < 0)
		return NO_LOOP;
	const struct affine *along = &op_operand(op, operand)->host[layout->stick_dim];
	int loop = affine_loop(along, op->loop_count);
	bool shifts = along->offset % layout->per_stick || (loop >= 0 && along->loop[loop] != 1);
	return shifts ? SEVERAL_LOOPS : loop;
}

static bool varies(const struct workload *workload, const struct op *op, int operand, int l)
{
	const struct access *access = op_operand(op, operand);
	for (int h = 0; l >= 0 && h < layout_of(workload, op, operand)->host_rank; h++) {
		if (access->host[h].loop[l] != 0)
			return true;
	}
	return false;
}

static int find_reduction(const struct workload *workload, const struct op *op, int operand)
{
	for (int l = 0; l < op->loop_count; l++) {
		if (op->loops[l].reduction && varies(workload, op, operand, l))
			return l;
	}
	return NO_LOOP;
}

static bool is_reduction(const struct op *op, int l)
{
	return l >= 0 && op->loops[l].reduction;
}

/* A map's operand, or a reduce's: `n` is the output's stick loop. */
static bool check_lanes(const struct workload *workload, const struct op *op, int n, int operand,
	struct stick_misfit *misfit)
{
	int loop = find_stick_loop(workload, op, operand);
	bool along_n = varies(workload, op, operand, n);
	if (loop == NO_LOOP ? !along_n : loop == n)
		return true;
	if (op->primitive->kind == OP_REDUCE && n == NO_LOOP && is_reduction(op, loop))
		return true;
	int wanted = along_n ? n : NO_LOOP;
	if (op->primitive->kind == OP_REDUCE && n == NO_LOOP)
		wanted = find_reduction(workload, op, operand);
	*misfit = (struct stick_misfit){operand, loop, wanted};
	return false;
}

/* An einsum's operand; `shared` is the one reduced stick loop when the output has none. */
static bool check_product(const struct workload *workload, const struct op *op, int n, int shared,
	int operand, struct stick_misfit *misfit)
{
	int loop = find_stick_loop(workload, op, operand);
	int wanted = find_reduction(workload, op, operand);
	bool fits = loop == NO_LOOP || is_reduction(op, loop);
	if (varies(workload, op, operand, n)) {
		wanted = n;
		fits = loop == n;
	} else if (n == NO_LOOP && shared != NO_LOOP) {
		wanted = varies(workload, op, operand, shared) ? shared : NO_LOOP;
		fits = loop == NO_LOOP || loop == shared;
	}
	*misfit = (struct stick_misfit){operand, loop, wanted};
	return fits;
}

static int find_shared(const struct workload *workload, const struct op *op)
{
	for (int i = 0; i < op->read_count; i++) {
		int loop = find_stick_loop(workload, op, i);
		if (is_reduction(op, loop))
			return loop;
	}
	return NO_LOOP;
}

bool sticks_fit(const struct workload *workload, const struct op *op, struct stick_misfit *misfit)
{
	if (!op_is_tiled(op) || op->primitive->kind == OP_RESTICKIFY)
		return true;
	int n = find_stick_loop(workload, op, op->read_count);
	int shared = find_shared(workload, op);
	for (int i = 0; i < op->read_count; i++) {
		if (op->primitive->kind == OP_EINSUM
				? !check_product(workload, op, n, shared, i, misfit)
				: !check_lanes(workload, op, n, i, misfit))
			return false;
	}
	return true;
}

/* Has it all of the output's loops? */
static bool is_whole(const struct workload *workload, const struct op *op, int operand)
{
	for (int l = 0; l < op->loop_count; l++) {
		if (!op->loops[l].reduction && !varies(workload, op, operand, l))
			return false;
	}
	return true;
}

/* The first whole operand if all of them are sparse, else -1. */
static int find_sparse_model(const struct workload *workload, const struct op *op)
{
	int first = -1;
	for (int i = 0; i < op->read_count; i++) {
		if (!is_whole(workload, op, i))
			continue;
		if (find_stick_loop(workload, op, i) != NO_LOOP)
			return -1;
		if (first < 0)
			first = i;
	}
	return first;
}

/* Host dimensions of a layout from first to last of its order. */
static int list_order(const struct layout *layout, int *order)
{
	int count = 0, d = layout->rank - 2; /* order[0] lies just outside the stick */
	if (layout->part[d] == PART_WHOLE)
		order[count++] = layout->host_dim[d];
	for (d = 0; d + 1 < layout->rank - (layout->rank > 2); d++) {
		if (layout->part[d] == PART_WHOLE)
			order[count++] = layout->host_dim[d];
	}
	if (layout->stick_dim >= 0)
		order[count++] = layout->stick_dim;
	return count;
}

static int find_output_dimension(const struct op *op, int host_rank, const struct affine *index)
{
	for (int h = 0; h < host_rank; h++) {
		for (int l = 0; l < op->loop_count; l++) {
			if (op->writes[0].host[h].loop[l] != 0 && index->loop[l] != 0)
				return h;
		}
	}
	return -1;
}

/* The output's dimensions in the operand's order; those without a loop come
 * first. In their own order where the operand's dimensions do not match them
 * one by one. */
static int order_like(const struct workload *workload, const struct op *op, int operand,
	int host_rank, int *order)
{
	int like[LAYOUT_HOST_RANK_MOST], count = 0;
	int like_count = list_order(layout_of(workload, op, operand), like);
	for (int h = 0; h < host_rank; h++) {
		bool has_loop = false;
		for (int l = 0; l < op->loop_count; l++)
			has_loop |= op->writes[0].host[h].loop[l] != 0;
		if (!has_loop)
			order[count++] = h;
	}
	for (int i = 0; i < like_count; i++) {
		int h = find_output_dimension(
			op, host_rank, &op_operand(op, operand)->host[like[i]]);
		if (h >= 0)
			order[count++] = h;
	}
	for (int h = 0; count != host_rank && h < host_rank; h++)
		order[h] = h;
	return host_rank;
}

/* Just as what a broadcast reads lies.  The device knows nothing of an extent of 1 that a sparse
 * layout would have its stick along. */
static int order_as_read(const struct workload *workload, const struct op *op, int *order)
{
	const struct layout *layout = layout_of(workload, op, 0);
	int count = list_order(layout, order),
	    last = layout->host_rank * (layout->host_rank - 1) / 2;
	if (!layout->sparse)
		return count;
	for (int i = 0; i < count; i++)
		last -= order[i];
	order[count] = count < layout->host_rank ? last : -1;
	return count + 1;
}

int sticks_order(const struct workload *workload, const struct op *op, const int64_t *host_size,
	int host_rank, int *order)
{
	bool any = false;
	int count = 0, model;
	if (op->primitive->kind == OP_BROADCAST)
		return order_as_read(workload, op, order);
	for (int h = 0; h < host_rank; h++)
		any |= host_size[h] > 1;
	if (!any || (host_rank > 1 && host_size[host_rank - 1] == 1))
		return 0; /* one element, or sparse by default */
	if (op->primitive->kind != OP_MAP && op->primitive->kind != OP_REDUCE)
		return 0;
	if (op->primitive->kind == OP_REDUCE &&
		is_reduction(op, find_stick_loop(workload, op, 0))) {
		for (int h = 0; h < host_rank; h++)
			order[count++] = h;
	} else {
		model = find_sparse_model(workload, op);
		if (model < 0)
			return 0;
		count = order_like(workload, op, model, host_rank, order);
	}
	order[count++] = -1;
	return count;
}
