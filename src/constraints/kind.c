#include "constraints/kind.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <stdarg.h>

const struct constraint_kind *constraint_kind_find(const char *key)
{
	for (int i = 0; constraint_kinds[i]; i++)
		if (text_equal(constraint_kinds[i]->key, key))
			return constraint_kinds[i];
	return NULL;
}

struct clash *clash_add(
	struct clashes *clashes, int self, int by, struct span span, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	const char *text = arena_format_list(clashes->arena, format, list);
	va_end(list);
	struct clash *clash = array_add(clashes->arena, clashes);
	*clash = (struct clash){.self = self, .by = by, .span = span, .text = text};
	return clash;
}

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
