#include "search/nest/space.h"

#include "base/arena.h"
#include "base/fatal.h"

const char *const space_choice_names[] = {"factors", "orders", "splits", "residency", NULL};

static const struct row_domain *row_of(const struct space *space, const struct tiling_level *level)
{
	return &space->domain->rows[level->row];
}

static void add_levels(struct space *space)
{
	const struct hierarchy *hierarchy = space->domain->hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (level->fanout_x * level->fanout_y > 1)
			space->levels[space->level_count++] =
				(struct tiling_level){level->block_row, i, true};
		bool dummy =
			hierarchy->dummy_loops && domain_iterates(space->domain->arch, level->row);
		if (level->storage || dummy)
			space->levels[space->level_count++] = (struct tiling_level){
				hierarchy_loops_row(hierarchy, level), i, false};
	}
}

static void add_residency(struct space *space)
{
	const struct hierarchy *hierarchy = space->domain->hierarchy;
	const struct shape *shape = space->domain->shape;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct row_domain *row = &space->domain->rows[level->row];
		for (int t = 0; level->storage && t < shape->space_count; t++) {
			if (row->keep >> t & 1)
				space->blank.residency[t] |= 1u << level->row;
			else if (!(row->bypass >> t & 1)) {
				space->free[space->free_count].row = (uint8_t)level->row;
				space->free[space->free_count++].space = (uint8_t)t;
			}
		}
	}
}

const struct space *space_make_from(
	struct factors_store *store, struct arena *arena, const struct domain *domain)
{
	struct space *space = arena_new(arena, struct space);
	const struct shape *shape = domain->shape;
	space->domain = domain;
	space->blank.loop_count = (uint8_t)shape->dimension_count;
	space->blank.level_count = (uint8_t)domain->arch->level_count;
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int d = 0; d < shape->dimension_count; d++) {
			struct mapping_row *row = &space->blank.rows[r];
			row->spatial[d] = row->temporal[d] = 1;
			row->spatial_order[d] = row->temporal_order[d] = (uint8_t)d;
		}
	add_levels(space);
	add_residency(space);
	for (int d = 0; d < shape->dimension_count; d++) {
		struct factor_bounds bounds[FACTORS_LOOPS_MOST];
		for (int i = 0; i < space->level_count; i++) {
			const struct row_domain *row = row_of(space, &space->levels[i]);
			const struct factor_domain *factor =
				space->levels[i].spatial ? &row->spatial[d] : &row->temporal[d];
			bounds[i] = (struct factor_bounds){factor->least, factor->most};
		}
		space->factors[d] = factors_store_get(store, arena, shape->dimensions[d].extent,
			domain->imperfect >> d & 1, space->level_count, bounds);
		if (!space->factors[d])
			return NULL;
	}
	return space;
}

const struct space *space_listed(struct arena *arena, const struct space *space)
{
	struct space *listed = arena_copy(arena, space, sizeof *space);
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		listed->factors[d] = factors_listed(arena, space->factors[d]);
	return listed;
}

const struct space *space_make(struct arena *arena, const struct domain *domain)
{
	return space_listed(arena, space_make_from(NULL, arena, domain));
}

uint64_t space_factors_count(const struct space *space)
{
	wide count = 1;
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		if (__builtin_mul_overflow(count, factors_count(space->factors[d]), &count))
			count = (wide)UINT64_MAX; /* another factor of 0 may follow */
	return count < (wide)UINT64_MAX ? (uint64_t)count : UINT64_MAX;
}

void space_set_factors(
	const struct space *space, int dimension, const int64_t *bounds, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++) {
		struct mapping_row *row = &mapping->rows[space->levels[i].row];
		if (space->levels[i].spatial)
			row->spatial[dimension] = (uint32_t)bounds[i];
		else
			row->temporal[dimension] = (uint32_t)bounds[i];
	}
}

void space_factors(const struct space *space, uint64_t index, struct mapping *out)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	*out = space->blank;
	for (int d = space->domain->shape->dimension_count - 1; d >= 0; d--) {
		wide count = factors_count(space->factors[d]);
		bool small = count <= (wide)UINT64_MAX; /* else they are more than any index */
		factors_at(space->factors[d], small ? index % (uint64_t)count : index, bounds);
		space_set_factors(space, d, bounds, out);
		index = small ? index / (uint64_t)count : 0;
	}
	if (index)
		BUG("there are not that many factors");
}

void space_draw(const struct space *space, struct random *random, struct mapping *out)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	*out = space->blank;
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		factors_draw(space->factors[d], random, bounds);
		space_set_factors(space, d, bounds, out);
	}
	space_draw_rest(space, random, out);
}
