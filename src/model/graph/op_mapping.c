#include "model/graph/op_mapping.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/graph/box_nest.h"
#include "model/machine/mapping.h"
#include "model/nest/nest_mapping.h"

#include <string.h>

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
	bool own = home && level_storage(home)->store.word_bits == bits;
	return !arch_moves_boxes(arch) && own ? 0 : bits;
}

struct shape *op_shape(struct arena *arena, const struct workload *workload, const struct op *op)
{
	struct shape *shape = arena_new(arena, struct shape);
	shape->name = op->name;
	shape->span = op->span;
	shape->dimension_count = op->loop_count;
	for (int l = 0; l < op->loop_count; l++) {
		shape->dimensions[l] = op->loops[l];
		shape->dimensions[l].span = op->span;
	}
	shape->space_count = op_operands(op);
	for (int i = 0; i < shape->space_count; i++) {
		const struct access *access = op_operand(op, i);
		const struct tensor *tensor = &workload->tensors[access->tensor];
		struct dataspace *space = &shape->spaces[i];
		space->name = tensor->name;
		space->written = i == op->read_count;
		space->rank_count = tensor->layout.host_rank;
		memcpy(space->ranks, access->host, sizeof space->ranks);
		space->role = op_role(op, i);
		space->span = tensor->span;
	}
	shape_finish(shape);
	return shape;
}

static bool runs_backwards(const struct dataspace *space)
{
	bool backwards = false;
	for (int k = 0; k < space->rank_count; k++)
		for (int l = 0; l < OP_LOOPS_MOST; l++)
			backwards |= space->ranks[k].coefficient[l] < 0;
	return backwards;
}

const struct shape *op_nest_shape(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op)
{
	if (!op_is_tiled(op) || op->primitive->kind == OP_RESTICKIFY)
		return NULL;
	struct shape *shape = op_shape(arena, workload, op);
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].extent > SHAPE_EXTENT_MOST)
			return NULL;
	shape->space_count = 0; /* those that have a name */
	for (int i = 0; i < op_operands(op); i++) {
		struct dataspace *space = &shape->spaces[i];
		const struct layout *layout = &workload->tensors[op_operand(op, i)->tensor].layout;
		if (runs_backwards(space))
			return NULL;
		space->name = space_name(arena, shape, space->name);
		space->word_bits = word_bits(arch, layout->dtype);
		shape->space_count++;
	}
	return shape;
}

struct mapping mapping_make(const struct arch *arch, const struct op *op)
{
	int operands = op_operands(op);
	return mapping_undivided(arch, op->loop_count,
		operands > OP_READS_MOST ? OP_READS_MOST + 1 : operands,
		mapping_kept_by_default(arch));
}

int64_t mapping_reduction_split(
	const struct arch *arch, const struct op *op, const struct mapping *mapping)
{
	int64_t split = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (op->loops[l].reduction)
			split = mapping_times(split, mapping_split(arch, mapping, l));
	}
	return split;
}

/* The row of cores counts them through the whole machine unless it has both X and Y. */
static const char *check_fanout(
	struct arena *arena, const struct arch *arch, const struct mapping *mapping, int r)
{
	const struct level *level = &arch->levels[r];
	const struct mapping_row *row = &mapping->rows[r];
	int64_t x = 1, y = 1, most_x = level->fanout.x, most_y = level->fanout.y;
	for (int l = 0; l < mapping->loop_count; l++) {
		int64_t *product = row->spatial_y >> l & 1 ? &y : &x;
		if (!number_mul(*product, row->spatial[l], product))
			return "its spatial factors multiply to more than an int64_t";
	}
	if (r == arch->core && y == 1) {
		most_x = level->instances;
		most_y = 1;
	}
	if (x > most_x || y > most_y)
		return arena_format(arena, "'%s' has %lld x %lld instances, not %lld x %lld",
			level->name, (long long)most_x, (long long)most_y, (long long)x,
			(long long)y);
	return NULL;
}

static const char *check_factors(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping, int l)
{
	int64_t units = op_units(workload, op, l), product = 1;
	bool nest = op_has_inner_nest(arch, op);
	for (int r = 0; r < mapping->level_count; r++) {
		/* The factors of a nest need not divide. */
		bool inside = nest && r > arch->lx;
		bool loops_inside = inside || (nest && r == arch->hbm);
		const struct mapping_row *row = &mapping->rows[r];
		if (!row->spatial[l] || !row->temporal[l])
			return arena_format(arena, "a factor of '%s' is 0", op->loops[l].name);
		if (!number_mul(product, inside ? 1 : row->spatial[l], &product) ||
			!number_mul(product, loops_inside ? 1 : row->temporal[l], &product) ||
			units % product)
			return arena_format(arena,
				"the factors of '%s' do not divide its %lld units",
				op->loops[l].name, (long long)units);
	}
	return NULL;
}

/* Temporal orders run innermost first: no output loop may be inside a reduction loop. */
static const char *check_reductions(struct arena *arena, const struct arch *arch,
	const struct op *op, const struct mapping *mapping)
{
	int split = 0;
	for (int l = 0; l < op->loop_count; l++)
		split += op->loops[l].reduction && mapping_split(arch, mapping, l) > 1;
	if (split > 1)
		return "more than one reduction is split over cores";
	if (arch->lx < 0)
		return NULL;
	const struct mapping_row *row = &mapping->rows[arch->lx];
	int inside = -1;
	for (int i = 0; i < op->loop_count; i++) {
		int l = row->temporal_order[i];
		if (row->temporal[l] == 1)
			continue;
		if (!op->loops[l].reduction)
			inside = l;
		else if (inside >= 0)
			return arena_format(arena,
				"the tiles of the reduction '%s' run around those of '%s'",
				op->loops[l].name, op->loops[inside].name);
	}
	return NULL;
}

static const char *check_homes(
	struct arena *arena, const struct op *op, const struct mapping *mapping)
{
	for (int i = 0; i < op_operands(op) && i <= OP_READS_MOST; i++) {
		if (!mapping->residency[i])
			return arena_format(arena, "operand %d is kept nowhere", i);
	}
	return NULL;
}

/* A whole nest is one of the op's loops, as that of a problem. */
static const char *check_nest(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping)
{
	const struct shape *shape = op_nest_shape(arena, arch, workload, op);
	bool perfect;
	const char *why = shape ? nest_mapping_check(arena, arch, shape, mapping, &perfect)
				: "it is not a loop nest that this machine can run";
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_fanout(arena, arch, mapping, r);
	return why ? why : check_homes(arena, op, mapping);
}

const char *mapping_check(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping)
{
	if (mapping->loop_count != op->loop_count || mapping->level_count != arch->level_count)
		return "it is a mapping of another op";
	const char *why = NULL;
	if (!arch_moves_boxes(arch))
		return check_nest(arena, arch, workload, op, mapping);
	for (int l = 0; !why && l < op->loop_count; l++)
		why = check_factors(arena, arch, workload, op, mapping, l);
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_fanout(arena, arch, mapping, r);
	if (!why)
		why = check_reductions(arena, arch, op, mapping);
	if (!why)
		why = check_homes(arena, op, mapping);
	return why;
}

/* Operands go by their numbers. */
static struct mapping_notation notation_of(
	struct arena *arena, const struct arch *arch, const struct op *op)
{
	static const char *const numbers[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
	struct mapping_notation notation = {
		.arch = arch,
		.owner = arena_format(arena, "op '%s'", op->name),
		.loop_word = "loop",
		.operand_word = "operand",
		.factor_wanted = "'n8' divides loop n by 8",
		.operands_wanted = "numbers of operands",
		.loop_count = op->loop_count,
		.operand_count = (int)number_min(op_operands(op), OP_READS_MOST + 1),
		.kept_by_default = mapping_kept_by_default(arch),
		.inner = arch_moves_boxes(arch) && op_has_inner_nest(arch, op),
	};
	for (int l = 0; l < op->loop_count; l++) {
		notation.loops[l] = op->loops[l].name;
		notation.extents[l] = arch_moves_boxes(arch) ? 0 : op->loops[l].extent;
	}
	for (int i = 0; i < notation.operand_count; i++)
		notation.operands[i] = numbers[i];
	return notation;
}

const char *mapping_print(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping)
{
	struct mapping_notation notation = notation_of(arena, arch, op);
	return notation_print(arena, &notation, mapping);
}

const char *mapping_parse(struct arena *arena, const struct arch *arch, const struct op *op,
	const char *text, struct mapping *out)
{
	struct mapping_notation notation = notation_of(arena, arch, op);
	struct mapping mapping = mapping_make(arch, op);
	const char *why = notation_parse(arena, &notation, text, &mapping);
	if (!why)
		*out = mapping;
	return why;
}
