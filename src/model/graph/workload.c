#include "model/graph/workload.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/plan.h"

#include <assert.h>
#include <string.h>

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

/* The operand that is Weights. */
static int op_weights(const struct op *op)
{
	struct affine ranks[3][2];
	if (op->read_count != 2 || op->write_count != 1)
		return 1;
	for (int t = 0; t < 3; t++) {
		const struct access *access = op_operand(op, t);
		for (int h = 2; h < LAYOUT_HOST_RANK_MOST; h++)
			if (affine_loops(&access->host[h]))
				return 1;
		memcpy(ranks[t], access->host, sizeof ranks[t]);
	}
	int weights = affine_weights(ranks, op->loop_count);
	return weights < 0 ? 1 : weights;
}

const char *op_role(const struct op *op, int operand)
{
	if (op->roles)
		return op->roles[operand];
	return operand == op->read_count   ? "Outputs"
	       : operand > 1               ? NULL
	       : operand == op_weights(op) ? "Weights"
					   : "Inputs";
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

uint32_t access_loops(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	int rank = workload->tensors[access->tensor].layout.host_rank;
	uint32_t loops = 0;
	for (int h = 0; h < rank; h++)
		for (int l = 0; l < op->loop_count; l++)
			loops |= (uint32_t)(access->host[h].coefficient[l] != 0) << l;
	return loops;
}

uint32_t access_row_loops(const struct workload *workload, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	int host = layout->rank > 1 ? layout->host_dim[layout->rank - 2] : -1;
	return host < 0 ? 0 : affine_loops(&access->host[host]);
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

int workload_copy_in_hbm(const struct workload *workload, int tensor)
{
	int producer = workload->tensors[tensor].producer;
	const struct op *op = producer < 0 ? NULL : &workload->ops[producer];
	if (!op || !op_copies_sticks(workload, op))
		return -1;
	int from = op->reads[0].tensor;
	if (op->move == MOVE_RELOAD)
		return tensor_home(workload, from);
	int origin = tensor_origin(workload, from);
	return workload->tensors[origin].producer < 0 ? tensor_home(workload, origin)
						      : workload_copy_in_hbm(workload, origin);
}

struct op op_copying(struct arena *arena, const struct layout *layout, int tensor, int to)
{
	struct op op = {.read_count = 1, .write_count = 1};
	struct access access = {.tensor = tensor};
	for (int h = 0; h < layout->host_rank; h++) {
		if (layout->host_size[h] <= 1)
			continue;
		int l = op.loop_count++;
		op.loops[l].extent = layout->host_size[h];
		access.host[h].coefficient[l] = 1;
		access.linear.coefficient[l] = layout->host_stride[h];
	}
	op.reads[0] = access;
	access.tensor = to;
	op.writes = arena_copy(arena, &access, sizeof access);
	return op;
}

static struct op make_move(struct arena *arena, enum move_kind kind, const struct tensor *from,
	int tensor, int to, const char *name)
{
	struct op op = op_copying(arena, &from->layout, tensor, to);
	op.name = name;
	op.type = move_names[kind];
	op.primitive = &primitive_clone;
	op.move = kind;
	op.span = from->span;
	for (int l = 0; l < op.loop_count; l++)
		op.loops[l].name = arena_format(arena, "d%d", l);
	return op;
}

static struct workload *workload_copy(
	struct arena *arena, const struct workload *workload, size_t room)
{
	struct workload *copy = arena_copy(arena, workload, sizeof *workload);
	struct tensor *tensors = arena_array(arena, struct tensor, workload->tensor_count + room);
	struct op *ops = arena_array(arena, struct op, workload->op_count + room);
	memcpy(tensors, workload->tensors, workload->tensor_count * sizeof *tensors);
	if (workload->op_count) /* a list that is still empty may be NULL */
		memcpy(ops, workload->ops, workload->op_count * sizeof *ops);
	copy->tensors = tensors;
	copy->ops = ops;
	return copy;
}

static struct tensor moved_tensor(const struct workload *workload, enum move_kind kind, int tensor,
	int producer, const char *name)
{
	const struct tensor *from = &workload->tensors[tensor];
	int known = kind == MOVE_EVICT ? workload_copy_in_hbm(workload, tensor) : -1;
	return (struct tensor){.name = name,
		.role = TENSOR_INTERMEDIATE,
		.layout = from->layout,
		.layout_given = from->layout_given,
		.producer = producer,
		.copy_of = known + 1,
		.span = from->span};
}

struct growing growing_open(struct arena *arena, const struct workload *workload, size_t room)
{
	struct growing growing = {.arena = arena,
		.from = workload,
		.workload = workload_copy(arena, workload, room),
		.now = arena_array(arena, int, workload->tensor_count),
		.first = arena_array(arena, int, workload->tensor_count + room),
		.exceptions = arena_array(arena, int, workload->op_count)};
	growing.workload->op_count = 0;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		growing.now[t] = growing.first[t] = (int)t;
		names_add(arena, &growing.tensors, workload->tensors[t].name, (int)t);
	}
	for (size_t o = 0; o < workload->op_count; o++)
		names_add(arena, &growing.ops, workload->ops[o].name, (int)o);
	return growing;
}

/* The arrays are the copy's own: no caller has them yet. */
static struct op *next_op(struct growing *growing)
{
	return (struct op *)&growing->workload->ops[growing->workload->op_count++];
}

static struct tensor *tensor_at(struct growing *growing, int tensor)
{
	return (struct tensor *)&growing->workload->tensors[tensor];
}

/* Finds the tensor that an op of the graph reads in place of another. */
static int *find_read(struct growing *growing, size_t op, int tensor)
{
	for (int e = growing->exceptions[op]; e; e = growing->excepted.at[e - 1].next)
		if (growing->excepted.at[e - 1].tensor == tensor)
			return &growing->excepted.at[e - 1].now;
	return NULL;
}

void growing_take(struct growing *growing)
{
	assert(!growing_is_whole(growing));
	int number = (int)growing->workload->op_count;
	struct op *op = next_op(growing);
	*op = growing->from->ops[growing->taken];
	for (int i = 0; i < op->read_count; i++) {
		int tensor = op->reads[i].tensor;
		const int *excepted = find_read(growing, growing->taken, tensor);
		op->reads[i].tensor = excepted ? *excepted : growing->now[tensor];
	}
	growing->taken++;
	for (int i = 0; i < op->write_count; i++)
		tensor_at(growing, op->writes[i].tensor)->producer = number;
}

static void add_move(
	struct growing *growing, enum move_kind kind, int tensor, int to, const char *name)
{
	struct workload *workload = growing->workload;
	int number = (int)workload->op_count;
	*tensor_at(growing, to) = moved_tensor(workload, kind, tensor, number, name);
	*next_op(growing) =
		make_move(growing->arena, kind, &workload->tensors[tensor], tensor, to, name);
	if (workload->tensor_count <= (size_t)to)
		workload->tensor_count = (size_t)to + 1;
	growing->first[to] = growing->first[tensor];
}

void growing_move(
	struct growing *growing, enum move_kind kind, int tensor, int to, const char *name)
{
	int first = growing->first[tensor];
	add_move(growing, kind, tensor, to, name);
	if (growing->now[first] == tensor)
		growing->now[first] = to;
	for (size_t e = 0; e < growing->excepted.count; e++)
		if (growing->excepted.at[e].now == tensor)
			growing->excepted.at[e].now = to;
}

void growing_move_for(struct growing *growing, enum move_kind kind, int tensor, int to,
	const char *name, const int *readers, size_t count)
{
	int first = growing->first[tensor];
	add_move(growing, kind, tensor, to, name);
	for (size_t i = 0; i < count; i++) {
		int *read = find_read(growing, (size_t)readers[i], first);
		if (read) {
			*read = to;
			continue;
		}
		*array_add(growing->arena, &growing->excepted) =
			(struct growing_exception){first, to, growing->exceptions[readers[i]]};
		growing->exceptions[readers[i]] = (int)growing->excepted.count;
	}
}

const char *growing_name(const struct growing *growing, enum move_kind kind, int tensor)
{
	const struct workload *workload = growing->workload;
	const char *origin = workload->tensors[tensor_origin(workload, tensor)].name;
	const char *name = arena_format(growing->arena, "%s_%s", move_names[kind], origin);
	for (int i = 2; growing_has_name(growing, name); i++)
		name = arena_format(growing->arena, "%s_%s_%d", move_names[kind], origin, i);
	return name;
}

void growing_reserve(struct growing *growing, const char *name, int tensor)
{
	names_add(growing->arena, &growing->tensors, name, tensor);
}

bool growing_has_name(const struct growing *growing, const char *name)
{
	return names_find(&growing->tensors, name) >= 0 || names_find(&growing->ops, name) >= 0;
}

bool growing_is_whole(const struct growing *growing)
{
	return growing->taken == growing->from->op_count;
}

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
	bool shifts =
		along->offset % layout->per_stick || (loop >= 0 && along->coefficient[loop] != 1);
	return shifts ? SEVERAL_LOOPS : loop;
}

static bool varies(const struct workload *workload, const struct op *op, int operand, int l)
{
	return l >= 0 && access_loops(workload, op, op_operand(op, operand)) >> l & 1;
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
	for (int h = 0; h < host_rank; h++)
		if (affine_loops(&op->writes[0].host[h]) & affine_loops(index))
			return h;
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
	for (int h = 0; h < host_rank; h++)
		if (!affine_loops(&op->writes[0].host[h]))
			order[count++] = h;
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
