#include "tests/support/random_plan.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/workload.h"

#include <string.h>

enum { TENSORS_MOST = 16, OPS_MOST = 8 };

struct maker {
	struct random *random;
	struct arena *arena;
	const struct random_options *options;
	struct workload workload;
	struct tensor tensors[TENSORS_MOST];
	struct op ops[OPS_MOST];
};

static int64_t below(struct maker *maker, int64_t bound)
{
	return (int64_t)random_below(maker->random, (uint64_t)bound);
}

static bool chance(struct maker *maker, int one_in)
{
	return below(maker, one_in) == 0;
}

static void shuffle(struct maker *maker, int *list, int count)
{
	for (int i = count - 1; i > 0; i--) {
		int j = (int)below(maker, i + 1), kept = list[i];
		list[i] = list[j];
		list[j] = kept;
	}
}

static enum dtype draw_dtype(struct maker *maker)
{
	static const enum dtype dtypes[] = {
		DTYPE_FP16, DTYPE_FP16, DTYPE_FP16, DTYPE_BF16, DTYPE_FP32, DTYPE_FP8};
	return dtypes[below(maker, 6)];
}

/* Loops whose product stays within the options; some longer than a stick, some ragged. */
static void draw_loops(struct maker *maker, struct op *op, int count)
{
	static const int64_t shorts[] = {2, 3, 4, 5, 6, 8, 12, 16};
	static const int64_t longs[] = {64, 65, 96, 128, 130, 192, 200, 256, 320};
	int64_t room = maker->options->elements_most;
	for (int l = 0; l < count; l++) {
		bool is_long = chance(maker, 2);
		int64_t extent = is_long ? longs[below(maker, 9)] : shorts[below(maker, 8)];
		if (extent > room)
			extent = room > 8 ? shorts[below(maker, 6)] : 2;
		room /= extent;
		op->loops[l].name = arena_format(maker->arena, "%c", 'p' + l);
		op->loops[l].extent = extent;
		op->loop_count = l + 1;
	}
}

/*
 * A new tensor that the loops of `list` index, a host dimension each.  With a
 * `window`, its first dimension is step * list[0] + window.
 */
static struct access draw_tensor(struct maker *maker, const struct op *op, const char *name,
	const int *list, int count, int window)
{
	int t = (int)maker->workload.tensor_count++;
	struct access access = {.tensor = t};
	int64_t size[LAYOUT_HOST_RANK_MOST];
	int order[LAYOUT_HOST_RANK_MOST + 1];
	for (int h = 0; h < count; h++) {
		access.host[h].coefficient[list[h]] = 1;
		size[h] = op->loops[list[h]].extent;
		order[h] = h;
		if (window < 0 && chance(maker, 12)) {
			access.host[h].offset = 1 + below(maker, 3);
			size[h] += access.host[h].offset;
		}
	}
	if (window >= 0) {
		int64_t step = 1 + below(maker, 3);
		access.host[0].coefficient[list[0]] = step;
		access.host[0].coefficient[window] = 1;
		size[0] = step * (size[0] - 1) + op->loops[window].extent;
	}
	shuffle(maker, order, count);
	int order_count = count;
	if (count > 0 && chance(maker, 5))
		order[order_count++] = -1;
	struct tensor *tensor = &maker->tensors[t];
	tensor->name = arena_text(maker->arena, name);
	tensor->role = TENSOR_INPUT;
	tensor->producer = -1;
	if (!layout_make(draw_dtype(maker), size, count, count ? order : NULL, order_count,
		    &tensor->layout))
		BUG("no layout for a random tensor");
	for (int h = 0; h < count; h++) {
		for (int l = 0; l < op->loop_count; l++)
			access.linear.coefficient[l] +=
				access.host[h].coefficient[l] * tensor->layout.host_stride[h];
		access.linear.offset += access.host[h].offset * tensor->layout.host_stride[h];
	}
	return access;
}

static void draw_read(struct maker *maker, struct op *op, uint32_t loops, int window)
{
	int list[OP_LOOPS_MOST], count = 0;
	for (int l = 0; l < op->loop_count; l++)
		if (loops >> l & 1 && l != window)
			list[count++] = l;
	shuffle(maker, list, count);
	for (int i = 0; window >= 0 && i < count; i++)
		if (!op->loops[list[i]].reduction) {
			int first = list[0];
			list[0] = list[i];
			list[i] = first;
			break;
		}
	char name[2] = {(char)('a' + op->read_count), 0};
	op->reads[op->read_count++] = draw_tensor(maker, op, name, list, count, window);
}

static void draw_write(struct maker *maker, struct op *op)
{
	int list[OP_LOOPS_MOST], count = 0;
	for (int l = 0; l < op->loop_count; l++)
		if (!op->loops[l].reduction)
			list[count++] = l;
	if (chance(maker, 2))
		shuffle(maker, list, count);
	op->write_count = 1;
	op->writes = arena_new(maker->arena, struct access);
	bool sure = false;
	while (!sure) {
		op->writes[0] = draw_tensor(maker, op, op->name, list, count, -1);
		sure = true;
		for (int h = 0; h < count; h++)
			sure = sure && op->writes[0].host[h].offset == 0;
		if (!sure)
			maker->workload.tensor_count--;
	}
	struct tensor *tensor = &maker->tensors[op->writes[0].tensor];
	tensor->role = TENSOR_OUTPUT;
	tensor->producer = (int)maker->workload.op_count;
}

static uint32_t mask_of(const struct op *op, bool reductions, bool others)
{
	uint32_t mask = 0;
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].reduction ? reductions : others)
			mask |= 1u << l;
	return mask;
}

static void mark_reductions(struct maker *maker, struct op *op, int at_least)
{
	int count = at_least + (int)below(maker, op->loop_count - at_least + 1);
	if (count > op->loop_count - 1 && op->loop_count > 1)
		count = op->loop_count - 1;
	for (int l = op->loop_count - count; l < op->loop_count; l++)
		op->loops[l].reduction = true;
}

static void draw_map(struct maker *maker, struct op *op)
{
	draw_loops(maker, op, 1 + (int)below(maker, 4));
	bool two = chance(maker, 2);
	op->primitive = primitive_find(two ? "add" : "neg");
	op->type = op->primitive->name;
	uint32_t all = mask_of(op, false, true);
	draw_read(maker, op, chance(maker, 4) ? all & (uint32_t)below(maker, 16) : all, -1);
	if (two)
		draw_read(maker, op, all & (uint32_t)below(maker, 16), -1);
}

static void draw_reduce(struct maker *maker, struct op *op)
{
	draw_loops(maker, op, 1 + (int)below(maker, 4));
	mark_reductions(maker, op, 1);
	op->primitive = chance(maker, 2) ? &primitive_sum : &primitive_max;
	op->type = op->primitive->name;
	draw_read(maker, op, mask_of(op, true, true), -1);
}

static void draw_einsum(struct maker *maker, struct op *op)
{
	draw_loops(maker, op, 2 + (int)below(maker, 3));
	mark_reductions(maker, op, 0);
	op->primitive = &primitive_einsum;
	op->type = "mm";
	uint32_t all = mask_of(op, true, true), seen = 0;
	int reads = chance(maker, 4) ? 3 : 2;
	for (int i = 0; i < reads; i++) {
		uint32_t loops = (uint32_t)below(maker, 16) & all;
		if (i == reads - 1)
			loops |= all & ~seen;
		seen |= loops;
		draw_read(maker, op, loops, -1);
	}
}

/* I[.., step * p + r, ..] * W[.., r]: the last loop slides inside the window of the first. */
static void draw_window(struct maker *maker, struct op *op)
{
	draw_loops(maker, op, 2 + (int)below(maker, 3));
	op->loops[op->loop_count - 1].reduction = true;
	if (op->loops[op->loop_count - 1].extent > 8)
		op->loops[op->loop_count - 1].extent = 2 + below(maker, 4);
	op->primitive = &primitive_einsum;
	op->type = "conv";
	uint32_t all = mask_of(op, true, true), window = 1u << (op->loop_count - 1);
	draw_read(maker, op, all, op->loop_count - 1);
	draw_read(maker, op, window | ((uint32_t)below(maker, 16) & all), -1);
}

static void draw_restickify(struct maker *maker, struct op *op)
{
	draw_loops(maker, op, 2 + (int)below(maker, 2));
	op->primitive = &primitive_restickify;
	op->type = op->primitive->name;
	draw_read(maker, op, mask_of(op, false, true), -1);
}

static void draw_op(struct maker *maker)
{
	static void (*const kinds[])(struct maker *, struct op *) = {
		draw_map, draw_map, draw_reduce, draw_einsum, draw_einsum, draw_window};
	struct op *op = &maker->ops[maker->workload.op_count];
	size_t tensors = maker->workload.tensor_count;
	struct stick_misfit misfit;
	bool moves = maker->options->restickifies && chance(maker, 5);
	int kind = moves ? 0 : (int)below(maker, 6);
	do {
		maker->workload.tensor_count = tensors;
		*op = (struct op){.name = "o"};
		(moves ? draw_restickify : kinds[kind])(maker, op);
		draw_write(maker, op);
	} while (maker->options->legal && !sticks_fit(&maker->workload, op, &misfit));
	maker->workload.op_count++;
}

/* A map of the last op's output, with its layout. */
static void add_tail(struct maker *maker)
{
	const struct op *before = &maker->ops[maker->workload.op_count - 1];
	struct op *op = &maker->ops[maker->workload.op_count];
	int read = before->writes[0].tensor, write = (int)maker->workload.tensor_count++;
	*op = (struct op){.name = "tail", .read_count = 1, .write_count = 1};
	op->writes = arena_new(maker->arena, struct access);
	maker->tensors[write] = maker->tensors[read];
	maker->tensors[write].name = "tail";
	maker->tensors[write].producer = (int)maker->workload.op_count;
	maker->tensors[read].role = TENSOR_INTERMEDIATE;
	op->reads[0] = before->writes[0];
	for (int l = 0; l < before->loop_count; l++)
		if (!before->loops[l].reduction)
			op->loops[op->loop_count++] = before->loops[l];
	op->writes[0] = op->reads[0];
	op->writes[0].tensor = write;
	if (maker->options->opaque && chance(maker, 6)) {
		op->primitive = &primitive_opaque;
		op->type = "opaque";
		op->loop_count = 0;
	} else {
		op->primitive = primitive_find("exp");
		op->type = "exp";
	}
	maker->workload.op_count++;
}

/* A clone of operand i of the op to come, which then reads the copy. */
static void add_clone(struct maker *maker, struct op *reader, int i)
{
	struct access *use = &reader->reads[i];
	const struct tensor *from = &maker->tensors[use->tensor];
	int to = (int)maker->workload.tensor_count++;
	struct op *op = &maker->ops[maker->workload.op_count];
	*op = (struct op){
		.name = arena_format(maker->arena, "%s_copy", from->name),
		.type = "clone",
		.primitive = &primitive_clone,
		.move = MOVE_CLONE,
		.read_count = 1,
		.write_count = 1,
		.writes = arena_new(maker->arena, struct access),
	};
	op->reads[0].tensor = use->tensor;
	for (int h = 0; h < from->layout.host_rank; h++) {
		if (from->layout.host_size[h] == 1)
			continue;
		int l = op->loop_count++;
		op->loops[l].name = arena_format(maker->arena, "%c", 'h' + h);
		op->loops[l].extent = from->layout.host_size[h];
		op->reads[0].host[h].coefficient[l] = 1;
		op->reads[0].linear.coefficient[l] = from->layout.host_stride[h];
	}
	op->writes[0] = op->reads[0];
	op->writes[0].tensor = to;
	maker->tensors[to] = *from;
	maker->tensors[to].name = op->name;
	maker->tensors[to].role = TENSOR_INTERMEDIATE;
	maker->tensors[to].producer = (int)maker->workload.op_count++;
	use->tensor = to;
}

const struct workload *random_workload(
	struct random *random, const struct random_options *options, struct arena *arena)
{
	struct maker *maker = arena_new(arena, struct maker);
	maker->random = random;
	maker->arena = arena;
	maker->options = options;
	maker->workload =
		(struct workload){.name = "random", .tensors = maker->tensors, .ops = maker->ops};
	draw_op(maker);
	struct op op = maker->ops[--maker->workload.op_count];
	for (int i = 0; i < op.read_count; i++)
		if (chance(maker, 3))
			add_clone(maker, &op, i);
	maker->tensors[op.writes[0].tensor].producer = (int)maker->workload.op_count;
	maker->ops[maker->workload.op_count++] = op;
	if (chance(maker, 2))
		add_tail(maker);
	return &maker->workload;
}
