#include "constraints/place.h"

#include "base/arena.h"
#include "base/text.h"

const char *place_text(
	struct arena *arena, const struct domain *domain, const struct constraint *constraint)
{
	if (constraint->row < 0)
		return constraint->part == PART_DATASPACE ? "!Nothing" : "the machine";
	const char *name = domain->arch->levels[constraint->row].name;
	if (constraint->part == PART_DATASPACE)
		return arena_format(arena, "'%s'", name);
	return arena_format(arena, "'%s' (%s)", name, constraint_part_names[constraint->part]);
}

struct factor_domain *place_factor(
	struct domain *domain, const struct constraint *constraint, int d)
{
	struct row_domain *row = &domain->rows[constraint->row];
	return constraint->part == PART_SPATIAL ? &row->spatial[d] : &row->temporal[d];
}

int64_t place_bound(const struct mapping *mapping, const struct constraint *constraint, int d)
{
	const struct mapping_row *row = &mapping->rows[constraint->row];
	return constraint->part == PART_SPATIAL ? row->spatial[d] : row->temporal[d];
}

const char *place_dimensions(struct arena *arena, const struct shape *shape, uint32_t mask)
{
	struct text text = text_open(arena);
	for (int d = 0; d < shape->dimension_count; d++)
		if (mask >> d & 1)
			text_add(&text, "%s%s", text.length ? ", " : "", shape->dimensions[d].name);
	return text_read(&text);
}

const char *place_use(const struct level *level)
{
	return level->kind == LEVEL_COMPUTE ? "computes" : "fans out";
}

const char *place_spaces(struct arena *arena, const struct shape *shape, uint32_t mask)
{
	struct text text = text_open(arena);
	for (int t = 0; t < shape->space_count; t++)
		if (mask >> t & 1)
			text_add(&text, "%s%s", text.length ? ", " : "", shape->spaces[t].name);
	return text_read(&text);
}
