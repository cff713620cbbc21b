#include "model/nest/shape.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/mapping.h"

int shape_dimension(const struct shape *shape, const char *name)
{
	for (int d = 0; d < shape->dimension_count; d++)
		if (text_equal(shape->dimensions[d].name, name))
			return d;
	return -1;
}

int shape_space(const struct shape *shape, const char *name)
{
	for (int t = 0; t < shape->space_count; t++)
		if (text_equal(shape->spaces[t].name, name))
			return t;
	return -1;
}

bool shape_computes(const struct shape *shape, int64_t *out)
{
	int64_t product = 1;
	for (int d = 0; d < shape->dimension_count; d++)
		if (!number_mul(product, shape->dimensions[d].extent, &product))
			return false;
	*out = product;
	return true;
}

void shape_finish(struct shape *shape)
{
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		space->relevant = 0;
		for (int k = 0; k < space->rank_count; k++)
			for (int d = 0; d < shape->dimension_count; d++)
				space->relevant |= space->ranks[k].coefficient[d] ? 1u << d : 0;
	}
}

bool shape_writes_overlap(const struct shape *shape)
{
	for (int t = 0; t < shape->space_count; t++) {
		const struct dataspace *space = &shape->spaces[t];
		for (int k = 0; space->written && k < space->rank_count; k++) {
			int terms = 0;
			for (int d = 0; d < shape->dimension_count; d++)
				terms += space->ranks[k].coefficient[d] != 0;
			if (terms > 1)
				return true;
		}
	}
	return false;
}

static bool equal_spaces(
	const struct shape *shape, const struct dataspace *a, const struct dataspace *b)
{
	if (!text_equal(a->name, b->name) || a->written != b->written ||
		a->rank_count != b->rank_count || a->word_bits != b->word_bits)
		return false;
	for (int k = 0; k < a->rank_count; k++)
		for (int d = 0; d < shape->dimension_count; d++)
			if (a->ranks[k].coefficient[d] != b->ranks[k].coefficient[d])
				return false;
	return true;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
	if (a->dimension_count != b->dimension_count || a->space_count != b->space_count)
		return false;
	for (int d = 0; d < a->dimension_count; d++)
		if (a->dimensions[d].extent != b->dimensions[d].extent ||
			!text_equal(a->dimensions[d].name, b->dimensions[d].name))
			return false;
	for (int t = 0; t < a->space_count; t++)
		if (!equal_spaces(a, &a->spaces[t], &b->spaces[t]))
			return false;
	return true;
}

/* Tensors may be read twice; a dataspace has a name of its own. */
static const char *space_name(struct arena *arena, const struct shape *shape, const char *tensor)
{
	const char *name = tensor;
	for (int n = 2; shape_space(shape, name) >= 0; n++)
		name = arena_format(arena, "%s.%d", tensor, n);
	return name;
}

static bool add_operand(struct arena *arena, struct shape *shape, const struct workload *workload,
	const struct op *op, int operand)
{
	const struct access *access = op_operand(op, operand);
	const struct tensor *tensor = &workload->tensors[access->tensor];
	struct dataspace *space = &shape->spaces[shape->space_count];
	*space = (struct dataspace){
		.name = space_name(arena, shape, tensor->name),
		.written = operand == op->read_count,
		.rank_count = tensor->layout.host_rank,
		.word_bits = 8 * dtype_stored_bytes(tensor->layout.dtype),
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
	if (!op_is_tiled(op) || op->kind == OP_RESTICKIFY)
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
		if (!add_operand(arena, shape, workload, op, i))
			return NULL;
	shape_finish(shape);
	return shape;
}
