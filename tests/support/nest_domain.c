#include "tests/support/nest_domain.h"

#include "base/arena.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "tests/support/constraint_draw.h"
#include "tests/support/draws.h"

#include <string.h>

static const struct arch *arch_of(struct arena *arena, const struct nest_case *nest)
{
	const struct hierarchy *hierarchy = &nest->hierarchy;
	struct arch *arch = arena_new(arena, struct arch);
	arch->level_count = hierarchy->level_count + 1;
	for (int r = 0; r < arch->level_count; r++)
		arch->levels[r] = (struct level){.kind = LEVEL_COMPUTE,
			.name = hierarchy->compute_name,
			.fanout = {.x = 1, .y = 1}};
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		arch->levels[level->row].name = level->name;
		level_set_kind(&arch->levels[level->row],
			level->storage ? LEVEL_STORAGE : LEVEL_CONTAINER);
		arch->levels[level->block_row].fanout.x = level->fanout.x;
		arch->levels[level->block_row].fanout.y = level->fanout.y;
	}
	return arch;
}

struct domain *nest_domain_free(struct arena *arena, const struct nest_case *nest)
{
	struct domain *domain =
		domain_make(arena, arch_of(arena, nest), &nest->shape, &nest->hierarchy);
	domain->constraints = arena_new(arena, struct constraints);
	return domain;
}

struct domain *nest_domain_read(struct arena *arena, struct nest_case *nest, const char *targets)
{
	struct domain *domain = nest_domain_free(arena, nest);
	struct diag *diag = diag_open(arena);
	struct reading reading = {.arena = arena, .diag = diag};
	const struct node *lists[2] = {
		node_read_text(arena, "constraints.yaml", targets, strlen(targets), diag)};
	struct constraint_context context = {
		.reading = &reading, .arch = domain->arch, .shape = &nest->shape};
	struct constraints *constraints = arena_new(arena, struct constraints);
	*constraints = constraints_read(&context, lists);
	domain->constraints = constraints;
	if (diag_failed(diag) || !constraints_narrow(constraints, domain, diag))
		return NULL;
	constraints_flag(constraints, &nest->hierarchy);
	return domain;
}

struct domain *nest_domain_wish(struct arena *arena, struct random *random, struct nest_case *nest,
	bool flags, const char **out)
{
	struct constraint_draw draw = {.random = random,
		.arch = arch_of(arena, nest),
		.shape = &nest->shape,
		.flags = flags,
		.maximizes = true};
	struct text text = text_open(arena);
	for (int count = 1 + (int)random_below(random, 4); count > 0; count--)
		constraint_draw_add(&draw, &nest->mapping, &text);
	*out = text.length ? text_read(&text) : "[]";
	return nest_domain_read(arena, nest, *out);
}

static void narrow_factors(struct random *random, struct factor_domain *factors, int count)
{
	for (int d = 0; d < count; d++) {
		struct factor_domain *factor = &factors[d];
		int64_t bound = 1 + (int64_t)random_below(random, (uint64_t)factor->most);
		if (factor->most == 1 || !draw_chance(random, 4))
			continue;
		if (draw_chance(random, 3))
			factor->least = bound;
		else if (draw_chance(random, 2))
			factor->most = bound;
		else
			factor->least = factor->most = bound;
		factor->least_by = factor->most_by = 0;
	}
}

static void narrow_order(
	struct random *random, int count, int *inner, int *outer, uint8_t *order, uint8_t *last)
{
	uint8_t all[SHAPE_DIMENSIONS_MOST];
	for (int i = 0; i < count; i++)
		all[i] = (uint8_t)i;
	for (int i = count - 1; i > 0; i--) {
		int j = (int)random_below(random, (uint64_t)i + 1);
		uint8_t kept = all[i];
		all[i] = all[j];
		all[j] = kept;
	}
	*inner = draw_chance(random, 2) ? 0 : (int)random_below(random, (uint64_t)count + 1);
	*outer = draw_chance(random, 2) ? 0
					: (int)random_below(random, (uint64_t)(count - *inner) + 1);
	for (int i = 0; i < *inner; i++)
		order[i] = all[i];
	for (int i = 0; i < *outer; i++)
		last[i] = all[count - *outer + i];
}

void nest_domain_narrow(struct random *random, struct domain *domain)
{
	int count = domain->shape->dimension_count;
	if (draw_chance(random, 2))
		domain->imperfect = (uint32_t)random_next(random);
	if (draw_chance(random, 5))
		domain->least_parallelism = (double)(1 + random_below(random, 4)) / 4;
	for (int i = 0; i < domain->hierarchy->level_count; i++) {
		const struct nest_level *level = &domain->hierarchy->levels[i];
		struct row_domain *block = &domain->rows[level->block_row];
		struct row_domain *row = &domain->rows[level->row];
		narrow_factors(random, block->spatial, count);
		narrow_factors(random, row->temporal, count);
		if (draw_chance(random, 3))
			narrow_order(random, count, &block->spatial_inner, &block->spatial_outer,
				block->spatial_order, block->spatial_last);
		if (draw_chance(random, 3))
			narrow_order(random, count, &row->temporal_inner, &row->temporal_outer,
				row->temporal_order, row->temporal_last);
		if (level->fanout.x * level->fanout.y > 1 && draw_chance(random, 3))
			block->split = (int)random_below(random, (uint64_t)count + 1);
		uint32_t all = (1u << domain->shape->space_count) - 1;
		if (level->fanout.x * level->fanout.y > 1 && draw_chance(random, 8))
			block->spatial_over = all & (uint32_t)random_next(random);
		if (level->storage && draw_chance(random, 5))
			row->temporal_over = all & (uint32_t)random_next(random);
		uint32_t free = all & ~row->keep & ~row->bypass;
		uint32_t fixed = free & (uint32_t)random_next(random);
		uint32_t kept = fixed & (uint32_t)random_next(random);
		row->keep |= kept;
		row->bypass |= fixed & ~kept;
	}
}

void nest_domain_crowd(struct domain *domain)
{
	for (int i = 0; i < domain->hierarchy->level_count; i++) {
		const struct nest_level *level = &domain->hierarchy->levels[i];
		struct factor_domain *spatial = domain->rows[level->block_row].spatial;
		int64_t instances = 1;
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			if (instances > level->fanout.x * level->fanout.y || spatial[d].most < 2)
				continue;
			spatial[d].least = spatial[d].most;
			spatial[d].least_by = 0;
			instances *= spatial[d].most;
		}
	}
}

void nest_domain_homes(struct random *random, struct domain *domain)
{
	struct row_domain *outermost = &domain->rows[domain_outermost(domain->arch)];
	domain->whole_homes = draw_chance(random, 2);
	if (!draw_chance(random, 3))
		return;
	uint32_t open = (uint32_t)random_next(random) & outermost->keep;
	outermost->keep &= ~open;
	outermost->bypass |= open & (uint32_t)random_next(random);
}

void nest_domain_limit(struct random *random, struct nest_case *nest)
{
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		level->size = 0;
		if (level->storage && draw_chance(random, 2))
			level->size = 1 + (int64_t)random_below(random, 40);
		level->store.least_utilization = 0;
		if (level->size && draw_chance(random, 4))
			level->store.least_utilization = (double)(1 + random_below(random, 4)) / 4;
	}
}

struct nest_search nest_domain_search(
	struct arena *arena, const struct domain *domain, enum counting counting)
{
	return (struct nest_search){
		.arch = domain->arch,
		.shape = domain->shape,
		.hierarchy = domain->hierarchy,
		.constraints = domain->constraints,
		.domain = domain,
		.space = space_make(arena, domain),
		.counting = counting,
		.model = nest_model_make(arena, domain->hierarchy, domain->shape, counting),
		.wishes.simulate = SIMULATE_NONE,
		.wishes.budget = 100000000,
		.wishes.asker.jobs = 1,
	};
}
