#include "constraints/flag.h"

#include "base/arena.h"
#include "constraints/place.h"
#include "model/nest/directive.h"

bool flag_read(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return directive_spaces(context->reading, value, context->shape, &out->spaces);
}

struct nest_level *flag_level(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		bool spatial = constraint->part == PART_SPATIAL;
		if ((spatial ? level->block_row : level->row) == constraint->row)
			return level;
	}
	return NULL;
}

const char *flag_check(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return NULL;
}

const char *flag_explain(const struct domain *domain, const struct constraint *constraint,
	const char *what, struct arena *arena)
{
	return arena_format(arena, "%s of %s at %s", what,
		place_spaces(arena, domain->shape, constraint->spaces),
		place_text(arena, domain, constraint));
}
