#include "model/nest/nest_mapping.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/machine/mapping_notation.h"
#include "model/nest/domain.h"

#include <string.h>

static uint32_t storages_of(const struct arch *arch)
{
	uint32_t levels = 0;
	for (int r = 0; r < arch->level_count; r++)
		levels |= arch->levels[r].kind == LEVEL_STORAGE ? 1u << r : 0;
	return levels;
}

/* All factors 1, everything kept everywhere: what a text without parts says. */
static struct mapping undivided(const struct arch *arch, const struct shape *shape)
{
	struct mapping mapping = {
		.loop_count = (uint8_t)shape->dimension_count,
		.level_count = (uint8_t)arch->level_count,
	};
	for (int t = 0; t < shape->space_count; t++)
		mapping.residency[t] = storages_of(arch);
	for (int r = 0; r < arch->level_count; r++) {
		struct mapping_row *row = &mapping.rows[r];
		for (int d = 0; d < shape->dimension_count; d++) {
			row->spatial[d] = row->temporal[d] = 1;
			row->spatial_order[d] = row->temporal_order[d] = (uint8_t)d;
		}
	}
	return mapping;
}

struct mapping nest_mapping_make(const struct arch *arch, const struct shape *shape)
{
	struct mapping mapping = undivided(arch, shape);
	int r = domain_outermost(arch);
	for (int d = 0; r >= 0 && d < shape->dimension_count; d++)
		mapping.rows[r].temporal[d] = (uint32_t)shape->dimensions[d].extent;
	return mapping;
}

/* The bounds of one dimension from the innermost outwards; `units` are what is left to cover. */
const char *nest_mapping_check_bounds(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, int d, bool *perfect)
{
	const struct dimension *dimension = &shape->dimensions[d];
	int64_t units = dimension->extent, product = 1;
	bool fits = true, countable = true;
	for (int r = arch->level_count - 1; r >= 0; r--)
		for (int spatial = 0; spatial <= 1; spatial++) {
			const struct mapping_row *row = &mapping->rows[r];
			int64_t bound = spatial ? row->spatial[d] : row->temporal[d];
			if (!bound)
				return arena_format(arena,
					"a factor of dimension '%s' at '%s' is 0", dimension->name,
					arch->levels[r].name);
			countable &= number_mul(product, bound, &product);
			fits &= bound <= units;
			units = number_ceil_div(units, bound);
		}
	*perfect = countable && product == dimension->extent;
	if (fits && units == 1)
		return NULL;
	if (!countable)
		return arena_format(arena,
			"the factors of dimension '%s' multiply to more than an int64_t, not to its "
			"extent %lld",
			dimension->name, (long long)dimension->extent);
	return arena_format(arena,
		"the factors of dimension '%s' multiply to %lld, not to its extent %lld",
		dimension->name, (long long)product, (long long)dimension->extent);
}

static const char *check_row(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, int r)
{
	const struct level *level = &arch->levels[r];
	const struct mapping_row *row = &mapping->rows[r];
	for (int d = 0; d < shape->dimension_count; d++) {
		if (row->spatial[d] > 1 && domain_fanout(arch, r) == 1)
			return arena_format(arena,
				"'%s' has a spatial factor of dimension '%s' and no fan-out",
				level->name, shape->dimensions[d].name);
		if (row->temporal[d] > 1 && !domain_iterates(arch, r))
			return arena_format(arena,
				"'%s' has a temporal factor of dimension '%s' and is no storage",
				level->name, shape->dimensions[d].name);
	}
	for (int t = 0; t < shape->space_count; t++)
		if (level->kind != LEVEL_STORAGE && mapping->residency[t] >> r & 1)
			return arena_format(arena, "'%s' keeps '%s' and is no storage", level->name,
				shape->spaces[t].name);
	return NULL;
}

const char *nest_mapping_check(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping, bool *perfect)
{
	if (mapping->loop_count != shape->dimension_count ||
		mapping->level_count != arch->level_count)
		return "it is a mapping of another problem";
	const char *why = NULL;
	*perfect = true;
	for (int d = 0; !why && d < shape->dimension_count; d++) {
		bool divides = false;
		why = nest_mapping_check_bounds(arena, arch, shape, mapping, d, &divides);
		*perfect &= divides;
	}
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_row(arena, arch, shape, mapping, r);
	return why;
}

/* Loops along X before those along Y. */
static void sort_axes(struct mapping *mapping)
{
	for (int r = 0; r < mapping->level_count; r++) {
		struct mapping_row *row = &mapping->rows[r];
		uint8_t sorted[OP_LOOPS_MOST];
		int count = 0;
		for (int y = 0; y <= 1; y++)
			for (int i = 0; i < mapping->loop_count; i++)
				if ((row->spatial_y >> row->spatial_order[i] & 1) == y)
					sorted[count++] = row->spatial_order[i];
		memcpy(row->spatial_order, sorted, (size_t)count);
	}
}

static struct mapping_notation notation_of(
	struct arena *arena, const struct arch *arch, const struct shape *shape)
{
	struct mapping_notation notation = {
		.arch = arch,
		.owner = arena_format(arena, "problem '%s'", shape->name),
		.loop_word = "dimension",
		.operand_word = "dataspace",
		.factor_wanted = "'M8' is a loop over dimension M of 8 iterations",
		.operands_wanted = "names of dataspaces",
		.loop_count = shape->dimension_count,
		.operand_count = shape->space_count,
		.kept_by_default = storages_of(arch),
	};
	for (int d = 0; d < shape->dimension_count; d++) {
		notation.loops[d] = shape->dimensions[d].name;
		notation.extents[d] = shape->dimensions[d].extent;
	}
	for (int t = 0; t < shape->space_count; t++)
		notation.operands[t] = shape->spaces[t].name;
	return notation;
}

const char *nest_mapping_print(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const struct mapping *mapping)
{
	struct mapping_notation notation = notation_of(arena, arch, shape);
	return notation_print(arena, &notation, mapping);
}

const char *nest_mapping_parse(struct arena *arena, const struct arch *arch,
	const struct shape *shape, const char *text, struct mapping *out)
{
	struct mapping_notation notation = notation_of(arena, arch, shape);
	struct mapping mapping = undivided(arch, shape);
	bool perfect;
	const char *why = notation_parse(arena, &notation, text, &mapping);
	for (int r = 0; !why && r < arch->level_count; r++)
		why = check_row(arena, arch, shape, &mapping, r);
	if (!why)
		why = nest_mapping_check(arena, arch, shape, &mapping, &perfect);
	if (why)
		return why;
	sort_axes(&mapping);
	*out = mapping;
	return NULL;
}
