#include "model/graph/op_shape.h"

#include "base/arena.h"
#include "base/number.h"

/* Tensors may be read twice; a dataspace has a name of its own. */
static const char *space_name(struct arena *arena, const struct shape *shape, const char *tensor)
{
	const char *name = tensor;
	for (int n = 2; shape_space(shape, name) >= 0; n++)
		name = arena_format(arena, "%s.%d", tensor, n);
	return name;
}

/* Words of the machine's own width are as wide as those of each level, where tensors are linear. */
static int64_t word_bits(const struct arch *arch, enum dtype dtype)
{
	int64_t bits = 8 * dtype_stored_bytes(dtype);
	const struct level *home = arch_home(arch);
	return !arch_moves_boxes(arch) && home && home->word_bits == bits ? 0 : bits;
}

static bool add_operand(struct arena *arena, struct shape *shape, const struct arch *arch,
	const struct workload *workload, const struct op *op, int operand)
{
	const struct access *access = op_operand(op, operand);
	const struct tensor *tensor = &workload->tensors[access->tensor];
	struct dataspace *space = &shape->spaces[shape->space_count];
	*space = (struct dataspace){
		.name = space_name(arena, shape, tensor->name),
		.written = operand == op->read_count,
		.rank_count = tensor->layout.host_rank,
		.word_bits = word_bits(arch, tensor->layout.dtype),
		.role = op_role(op, operand),
		.span = tensor->span,
	};
	for (int k = 0; k < space->rank_count; k++) {
		for (int l = 0; l < op->loop_count; l++) {
			int64_t coefficient = access->host[k].loop[l];
			if (coefficient < 0)
				return false;
			space->ranks[k].coefficient[l] = coefficient;
		}
	}
	shape->space_count++;
	return true;
}

/* Whole units go to cores; the busiest has the most of them. */
static int64_t share(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int l)
{
	int64_t extent = op->loops[l].extent, split = mapping_split(arch, mapping, l);
	int64_t units = number_ceil_div(op_units(workload, op, l), split);
	return number_min(extent, units * op_grain(workload, op, l));
}

const struct shape *shape_of_op(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping)
{
	if (!op_is_tiled(op) || op->primitive->kind == OP_RESTICKIFY)
		return NULL;
	struct shape *shape = arena_new(arena, struct shape);
	shape->name = op->name;
	shape->span = op->span;
	shape->dimension_count = op->loop_count;
	for (int l = 0; l < op->loop_count; l++) {
		shape->dimensions[l] = (struct dimension){
			.name = op->loops[l].name,
			.extent = mapping ? share(arch, workload, op, mapping, l)
					  : op->loops[l].extent,
			.span = op->span,
		};
		if (shape->dimensions[l].extent > SHAPE_EXTENT_MOST)
			return NULL;
	}
	for (int i = 0; i < op_operands(op); i++)
		if (!add_operand(arena, shape, arch, workload, op, i))
			return NULL;
	shape_finish(shape);
	return shape;
}
