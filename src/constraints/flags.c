#include "base/arena.h"
#include "constraints/place.h"
#include "model/nest/constraint.h"

/* Flags of dataspaces at a level; they ask nothing of a mapping. */
extern const struct constraint_kind constraint_no_coalesce, constraint_no_link_transfer,
	constraint_rmw_first_update;

static bool read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	bool written = false;
	if (!directive_spaces(context->reading, value, shape, &out->spaces))
		return false;
	for (int t = 0; t < shape->space_count; t++)
		written |= shape->spaces[t].written && out->spaces >> t & 1;
	if (out->kind == &constraint_rmw_first_update && out->spaces && !written)
		diag_warning(context->reading->diag, value->span,
			"'rmw_first_update' changes nothing of dataspaces that are only read");
	return true;
}

/* The level whose flags a constraint sets: of its row, or with the block that its row is; NULL
 * when there is none. */
static struct nest_level *level_of(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		bool spatial = constraint->part == PART_SPATIAL;
		if ((spatial ? level->block_row : level->row) == constraint->row &&
			(spatial || !level->free))
			return level;
	}
	return NULL;
}

static void flag(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	const struct constraint_kind *kind = constraint->kind;
	struct nest_level *level = level_of(hierarchy, constraint);
	if (level)
		*(kind == &constraint_no_coalesce              ? &level->no_coalesce
			: kind == &constraint_no_link_transfer ? &level->no_link_transfer
			: kind == &constraint_rmw_first_update ? &level->rmw_first_update
			: constraint->part == PART_SPATIAL     ? &level->no_spatial_reuse
							       : &level->no_temporal_reuse) |=
			(uint8_t)constraint->spaces;
}

/* Any mapping will do. */
static const char *check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return NULL;
}

/* "no multicast of Inputs at 'PE' (spatial)" */
static const char *explain(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	const struct constraint_kind *kind = constraint->kind;
	const char *what =
		kind == &constraint_no_coalesce        ? "no coalescing"
		: kind == &constraint_no_link_transfer ? "no transfers between neighbours"
		: kind == &constraint_rmw_first_update ? "the first update is a read and a write"
		: constraint->part == PART_SPATIAL     ? "no multicast and no spatial reduction"
						       : "no reuse over time";
	return arena_format(arena, "%s of %s at %s", what,
		place_spaces(arena, domain->shape, constraint->spaces),
		place_text(arena, domain, constraint));
}

const struct constraint_kind constraint_no_coalesce = {
	.key = "no_coalesce",
	.summary = "dataspaces whose every word passes on by itself",
	.parts = 1u << PART_DATASPACE,
	.read = read,
	.flag = flag,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_no_link_transfer = {
	.key = "no_link_transfer",
	.summary = "dataspaces that neighbours do not hand on",
	.parts = 1u << PART_SPATIAL,
	.read = read,
	.flag = flag,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_no_reuse = {
	.key = "no_reuse",
	.summary =
		"dataspaces without multicast and reduction (spatial) or emptied at every step (temporal)",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read,
	.flag = flag,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_rmw_first_update = {
	.key = "rmw_first_update",
	.summary = "dataspaces whose first update reads what it adds to",
	.parts = 1u << PART_TEMPORAL,
	.read = read,
	.flag = flag,
	.check = check,
	.explain = explain,
};
