#include "model/graph/box_nest.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/graph/inner_nest.h"
#include "model/nest/nest_mapping.h"

#include <string.h>

/* Loop l of the op is dimension `dimension[l]`, operand i dataspace `space[i]`. */
struct box_names {
	int dimension[OP_LOOPS_MOST], space[OP_READS_MOST + 1];
	int dimension_count, loop_count;
};

static struct box_names names_of(
	const struct workload *workload, const struct op *op, const struct shape *shape)
{
	struct box_names names = {
		.dimension_count = shape->dimension_count, .loop_count = op->loop_count};
	for (int l = 0; l < op->loop_count; l++)
		names.dimension[l] = shape_dimension(shape, op->loops[l].name);
	for (int i = 0; i < op_operands(op); i++)
		names.space[i] =
			shape_space(shape, workload->tensors[op_operand(op, i)->tensor].name);
	return names;
}

/* Dimensions of one iteration stand last. */
static void order_dimensions(const struct box_names *names, const uint8_t *loops, uint8_t *out)
{
	uint32_t seen = 0;
	int count = 0;
	for (int i = 0; i < names->loop_count; i++) {
		out[count] = (uint8_t)names->dimension[loops[i]];
		seen |= UINT32_C(1) << out[count++];
	}
	for (int d = 0; d < names->dimension_count; d++)
		if (!(seen >> d & 1))
			out[count++] = (uint8_t)d;
}

static void order_loops(const struct box_names *names, const uint8_t *dimensions, uint8_t *out)
{
	int count = 0;
	for (int i = 0; i < names->dimension_count; i++)
		for (int l = 0; l < names->loop_count; l++)
			if (names->dimension[l] == dimensions[i])
				out[count++] = (uint8_t)l;
}

static void nest_row(
	const struct box_names *names, const struct mapping_row *from, struct mapping_row *to)
{
	for (int l = 0; l < names->loop_count; l++) {
		to->temporal[names->dimension[l]] = from->temporal[l];
		to->spatial[names->dimension[l]] = from->spatial[l];
		to->spatial_y |= (uint16_t)((from->spatial_y >> l & 1) << names->dimension[l]);
	}
	order_dimensions(names, from->temporal_order, to->temporal_order);
	order_dimensions(names, from->spatial_order, to->spatial_order);
}

static void op_row(
	const struct box_names *names, const struct mapping_row *from, struct mapping_row *to)
{
	to->spatial_y = 0;
	for (int l = 0; l < names->loop_count; l++) {
		to->temporal[l] = from->temporal[names->dimension[l]];
		to->spatial[l] = from->spatial[names->dimension[l]];
		to->spatial_y |= (uint16_t)((from->spatial_y >> names->dimension[l] & 1) << l);
	}
	order_loops(names, from->temporal_order, to->temporal_order);
	order_loops(names, from->spatial_order, to->spatial_order);
}

/* Iterations of loop l that the rows inside the scratchpad run. */
static int64_t run_inside(const struct arch *arch, const struct mapping *mapping, int l)
{
	int64_t product = 1;
	for (int r = arch->lx + 1; r < arch->level_count; r++)
		product = mapping_times(product,
			mapping_times(mapping->rows[r].spatial[l], mapping->rows[r].temporal[l]));
	return product;
}

/* Elements of one tile along loop l, and of them those that are not padding. */
static int64_t tile_units(const struct workload *workload, const struct op *op, int l,
	int64_t tiles, int64_t *elements)
{
	int64_t padded = op_units(workload, op, l) / tiles * op_grain(workload, op, l);
	*elements = number_min(padded, op->loops[l].extent);
	return padded;
}

struct mapping box_nest(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct shape *shape, const struct mapping *mapping)
{
	struct box_names names = names_of(workload, op, shape);
	struct mapping nest = nest_mapping_make(arch, shape);
	const struct mapping_row *tiles = &mapping->rows[arch->lx];
	struct mapping_row *home = &nest.rows[arch->hbm], *left = &nest.rows[arch->lx];
	for (int d = 0; d < shape->dimension_count; d++)
		home->temporal[d] = 1;
	for (int r = 0; r < arch->level_count; r++)
		if (r != arch->hbm && r != arch->lx)
			nest_row(&names, &mapping->rows[r], &nest.rows[r]);
	nest_row(&names, tiles, home);
	nest_row(&names, &mapping->rows[arch->hbm], left);
	for (int l = 0; l < op->loop_count; l++) {
		int64_t elements, inside = run_inside(arch, mapping, l);
		tile_units(workload, op, l, mapping_split(arch, mapping, l) * tiles->temporal[l],
			&elements);
		left->temporal[names.dimension[l]] = (uint32_t)number_ceil_div(elements, inside);
	}
	for (int i = 0; i < op_operands(op); i++)
		nest.residency[names.space[i]] = mapping->residency[i];
	return nest;
}

/* The row of the home for one loop: the loops at the scratchpad inside a tile. */
static const char *fill_tile(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, int l, int64_t left,
	struct mapping *out)
{
	const char *name = op->loops[l].name;
	int64_t units = op_units(workload, op, l), grain = op_grain(workload, op, l);
	int64_t tiles = mapping_split(arch, out, l) * out->rows[arch->lx].temporal[l];
	int64_t inside = run_inside(arch, out, l), elements;
	if (units % tiles)
		return arena_format(arena,
			"%lld cores and tiles of '%s' do not divide its %lld units of %lld",
			(long long)tiles, name, (long long)units, (long long)grain);
	int64_t padded = tile_units(workload, op, l, tiles, &elements);
	int64_t wanted = number_ceil_div(elements, inside);
	if (left != wanted)
		return arena_format(arena,
			"a tile has whole units: '%s' runs over %lld at '%s', not %lld", name,
			(long long)wanted, arch->levels[arch->lx].name, (long long)left);
	if (arch_array_is_ideal(arch, op_unit(arch, op)))
		return NULL;
	out->rows[arch->hbm].temporal[l] = (uint32_t)number_ceil_div(padded, inside);
	return NULL;
}

/* Loops inside a tile in their order; those over padding alone, of which directives say nothing, and all
 * of an ideal array outermost. */
static void order_left(const struct arch *arch, const struct op *op, const struct box_names *names,
	const struct mapping_row *left, struct mapping_row *home)
{
	bool ideal = arch_array_is_ideal(arch, op_unit(arch, op));
	uint8_t order[OP_LOOPS_MOST] = {0};
	int count = 0;
	for (int i = 0; i < op->loop_count; i++)
		if (!ideal && left->temporal[names->dimension[home->temporal_order[i]]] > 1)
			order[count++] = home->temporal_order[i];
	for (int l = 0; l < op->loop_count; l++)
		if (ideal || left->temporal[names->dimension[l]] == 1)
			order[count++] = (uint8_t)l;
	memcpy(home->temporal_order, order, sizeof order);
}

const char *box_mapping(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct shape *shape,
	const struct mapping *nest, struct mapping *out)
{
	struct box_names names = names_of(workload, op, shape);
	uint32_t through = 1u << arch->hbm | 1u << arch->lx;
	const char *why = NULL;
	*out = mapping_make(arch, op);
	for (int r = 0; r < arch->level_count; r++)
		if (r != arch->hbm && r != arch->lx)
			op_row(&names, &nest->rows[r], &out->rows[r]);
	op_row(&names, &nest->rows[arch->hbm], &out->rows[arch->lx]);
	op_row(&names, &nest->rows[arch->lx], &out->rows[arch->hbm]);
	for (int l = 0; l < op->loop_count; l++)
		out->rows[arch->hbm].temporal[l] = 1;
	for (int l = 0; l < op->loop_count && !why; l++)
		why = fill_tile(arena, arch, workload, op, l,
			nest->rows[arch->lx].temporal[names.dimension[l]], out);
	for (int i = 0; i < op_operands(op); i++) {
		out->residency[i] = nest->residency[names.space[i]];
		if (!why && (out->residency[i] & through) != through)
			why = arena_format(arena, "'%s' bypasses '%s', through which tiles move",
				shape->spaces[names.space[i]].name,
				arch->levels[out->residency[i] >> arch->lx & 1 ? arch->hbm
									       : arch->lx]
					.name);
	}
	order_left(arch, op, &names, &nest->rows[arch->lx], &out->rows[arch->hbm]);
	return why;
}
