#include "tests/support/constraint_draw.h"

#include <inttypes.h>

static uint64_t below(const struct constraint_draw *draw, uint64_t bound)
{
	return random_below(draw->random, bound);
}

static const char *name_of(const struct constraint_draw *draw, int d)
{
	return draw->shape->dimensions[d].name;
}

static void add_factors(
	const struct constraint_draw *draw, const uint32_t *bounds, bool only, struct text *text)
{
	static const char *const relations[] = {"=", "<=", ">=", "<", ">"};
	static const int shifts[] = {0, 0, 0, 1, -1};
	text_add(text, only ? ", factors_only: [" : ", factors: [");
	bool first = true;
	for (int d = 0; d < draw->shape->dimension_count; d++) {
		int relation = only ? 0 : (int)below(draw, 5);
		int64_t bound = (int64_t)bounds[d] + shifts[relation];
		if ((!only || bounds[d] == 1) && below(draw, 2))
			continue;
		if (bound == 0)
			continue;
		text_add(text, "%s%s%s%" PRId64, first ? "" : ", ", name_of(draw, d),
			relations[relation], bound);
		first = false;
	}
	text_add(text, "]");
}

/* Some of the innermost and some of the outermost loops of an order. */
static void add_permutation(
	const struct constraint_draw *draw, const uint8_t *order, struct text *text)
{
	int count = draw->shape->dimension_count;
	int inner = (int)below(draw, (uint64_t)count + 1);
	int outer = (int)below(draw, (uint64_t)(count - inner) + 1);
	text_add(text, ", permutation: '");
	for (int i = 0; i < inner; i++)
		text_add(text, "%s", name_of(draw, order[i]));
	text_add(text, "_");
	for (int i = count - outer; i < count; i++)
		text_add(text, "%s", name_of(draw, order[i]));
	text_add(text, "'");
}

static void add_spaces(
	const struct constraint_draw *draw, const char *key, uint32_t spaces, struct text *text)
{
	text_add(text, ", %s: [", key);
	bool first = true;
	for (int t = 0; t < draw->shape->space_count; t++) {
		if (!(spaces >> t & 1))
			continue;
		text_add(text, "%s%s", first ? "" : ", ", draw->shape->spaces[t].name);
		first = false;
	}
	text_add(text, "]");
}

static uint32_t some_spaces(const struct constraint_draw *draw)
{
	return (uint32_t)below(draw, UINT64_C(1) << draw->shape->space_count);
}

uint32_t constraint_draw_iterated(const struct shape *shape, const uint32_t *bounds)
{
	uint32_t spaces = 0;
	for (int t = 0; t < shape->space_count; t++)
		for (int d = 0; d < shape->dimension_count; d++)
			if (bounds[d] > 1 && shape->spaces[t].relevant >> d & 1)
				spaces |= 1u << t;
	return spaces;
}

static void open_target(
	const struct constraint_draw *draw, int row, const char *type, struct text *text)
{
	text_add(text, "- {target: %s, type: %s", draw->arch->levels[row].name, type);
}

static void add_loop_flags(const struct constraint_draw *draw, bool spatial, struct text *text)
{
	if (below(draw, 4) == 0)
		add_spaces(draw, "no_reuse", some_spaces(draw), text);
	if (below(draw, 4) == 0)
		add_spaces(draw, spatial ? "no_link_transfer" : "rmw_first_update",
			some_spaces(draw), text);
}

static void add_loops(const struct constraint_draw *draw, const struct mapping *mapping, int row,
	bool spatial, struct text *text)
{
	const struct mapping_row *of = &mapping->rows[row];
	const uint32_t *bounds = spatial ? of->spatial : of->temporal;
	uint32_t over = constraint_draw_iterated(draw->shape, bounds), some = some_spaces(draw);
	open_target(draw, row, spatial ? "spatial" : "temporal", text);
	if (below(draw, 2))
		add_factors(draw, bounds, below(draw, 3) == 0, text);
	if (below(draw, 3) == 0)
		add_permutation(draw, spatial ? of->spatial_order : of->temporal_order, text);
	if (spatial && below(draw, 3) == 0)
		text_add(text, ", split: %d",
			(int)below(draw, (uint64_t)draw->shape->dimension_count + 1));
	if (spatial && below(draw, 4) == 0)
		text_add(text, ", min_usage: 0.%d", 2 * (int)below(draw, 5));
	if (below(draw, 4) == 0)
		add_spaces(draw, "must_iterate_over_dataspaces", over & some, text);
	if (below(draw, 4) == 0)
		add_spaces(draw, "no_iteration_over_dataspaces", ~over & some, text);
	if (draw->flags)
		add_loop_flags(draw, spatial, text);
	text_add(text, "}\n");
}

static void add_residence(const struct constraint_draw *draw, const struct mapping *mapping,
	int row, struct text *text)
{
	static const char *const keys[][2] = {{"keep", "bypass"}, {"keep_only", "bypass_only"}};
	uint32_t kept = 0, some = some_spaces(draw);
	for (int t = 0; t < draw->shape->space_count; t++)
		kept |= (mapping->residency[t] >> row & 1) << t;
	bool all = below(draw, 3) == 0, keep = below(draw, 2);
	open_target(draw, row, "dataspace", text);
	add_spaces(draw, keys[all][!keep], (keep ? kept : ~kept) & (all ? UINT32_MAX : some), text);
	if (draw->flags && below(draw, 4) == 0)
		add_spaces(draw, "no_coalesce", some_spaces(draw), text);
	text_add(text, "}\n");
}

static void add_maximized(const struct constraint_draw *draw, int row, struct text *text)
{
	open_target(draw, row, "spatial", text);
	text_add(text, ", maximize_dims: [[");
	int count = draw->shape->dimension_count, first = (int)below(draw, (uint64_t)count);
	int second = (int)below(draw, (uint64_t)count);
	text_add(text, "%s", name_of(draw, first));
	if (second != first)
		text_add(text, ", %s", name_of(draw, second));
	text_add(text, "]]}\n");
}

/* A row of the kind, at random; -1 if there is none. */
static int draw_row(const struct constraint_draw *draw, bool spatial)
{
	int rows[ARCH_LEVELS_MOST], count = 0;
	for (int r = 0; r < draw->arch->level_count; r++) {
		const struct level *level = &draw->arch->levels[r];
		if (spatial ? level->fanout.x * level->fanout.y > 1 : level->kind == LEVEL_STORAGE)
			rows[count++] = r;
	}
	return count ? rows[below(draw, (uint64_t)count)] : -1;
}

void constraint_draw_add(
	const struct constraint_draw *draw, const struct mapping *mapping, struct text *text)
{
	int storage = draw_row(draw, false), block = draw_row(draw, true);
	switch (below(draw, 4)) {
	case 0:
		if (block >= 0 && draw->maximizes && below(draw, 4) == 0)
			add_maximized(draw, block, text);
		else if (block >= 0)
			add_loops(draw, mapping, block, true, text);
		break;
	case 1:
		add_residence(draw, mapping, storage, text);
		break;
	case 2:
		text_add(text, "- {type: utilization, min: 0.%d}\n", (int)below(draw, 6));
		break;
	default:
		add_loops(draw, mapping, storage, false, text);
	}
}
