#include "tests/support/nest_case.h"

#include "base/number.h"

#include <string.h>

struct shrink {
	struct nest_case *nest;
	struct nest_case smaller; /* the one to try */
	bool (*fails)(const struct nest_case *nest, void *user);
	void *user;
	bool moved;
};

static struct nest_case *begin(struct shrink *shrink)
{
	shrink->smaller = *shrink->nest;
	return &shrink->smaller;
}

/* Takes the smaller case if it is one, and fails. */
static bool settle(struct shrink *shrink)
{
	if (memcmp(&shrink->smaller, shrink->nest, sizeof shrink->smaller) == 0 ||
		!nest_case_fits(&shrink->smaller) || !shrink->fails(&shrink->smaller, shrink->user))
		return false;
	*shrink->nest = shrink->smaller;
	shrink->moved = true;
	return true;
}

static void shrink_flags(struct shrink *shrink)
{
	for (int i = 0; i < shrink->nest->hierarchy.level_count; i++)
		for (int t = 0; t < shrink->nest->shape.space_count; t++)
			for (int f = 0; f < 5; f++) {
				struct nest_level *level = &begin(shrink)->hierarchy.levels[i];
				uint8_t *flags[] = {&level->no_temporal_reuse,
					&level->rmw_first_update, &level->no_coalesce,
					&level->no_spatial_reuse, &level->no_link_transfer};
				*flags[f] &= (uint8_t) ~(1 << t);
				settle(shrink);
			}
}

static void shrink_residency(struct shrink *shrink)
{
	for (int t = 0; t < shrink->nest->shape.space_count; t++)
		for (int i = 0; i < shrink->nest->hierarchy.level_count; i++) {
			struct nest_case *smaller = begin(shrink);
			const struct nest_level *level = &smaller->hierarchy.levels[i];
			smaller->mapping.residency[t] |= (uint32_t)level->storage << level->row;
			settle(shrink);
		}
}

static void shrink_level(struct shrink *shrink)
{
	for (int i = 0; i < shrink->nest->hierarchy.level_count; i++) {
		struct nest_level *level = &begin(shrink)->hierarchy.levels[i];
		level->size = level->store.entries = 0;
		level->store.block_words = 1;
		level->ring = false;
		level->store.read_rate = level->store.write_rate = level->store.shared_rate =
			(struct ratio){0, 1};
		level->energies.leak_pj = 0;
		memset(level->energies.pj, 0, sizeof level->energies.pj);
		settle(shrink);
	}
}

/* The extent that a dimension's bounds make when its rounds are as full as they were. */
static void set_bound(struct shrink *shrink, int d, int i, bool spatial, uint32_t to)
{
	struct nest_case *smaller = begin(shrink);
	uint32_t *bound = spatial ? &nest_case_spatial(smaller, i)->spatial[d]
				  : &nest_case_temporal(smaller, i)->temporal[d];
	if (*bound <= to)
		return;
	int64_t *extent = &smaller->shape.dimensions[d].extent, before = *extent;
	int64_t all = 1;
	for (int r = 0; r < smaller->mapping.level_count; r++)
		all *= (int64_t)smaller->mapping.rows[r].temporal[d] *
		       smaller->mapping.rows[r].spatial[d];
	int64_t full = all / *bound * to;
	int64_t tries[] = {
		number_ceil_div(before * to, *bound), before, full - (all - before), full};
	*bound = to;
	struct nest_case base = *smaller;
	for (int k = 0; k < 4; k++) {
		shrink->smaller = base;
		*extent = tries[k];
		if (tries[k] >= 1 && settle(shrink))
			return;
	}
}

static void shrink_bounds(struct shrink *shrink)
{
	for (int d = 0; d < shrink->nest->shape.dimension_count; d++) {
		for (int i = 0; i < shrink->nest->hierarchy.level_count; i++)
			for (int spatial = 0; spatial < 2; spatial++) {
				uint32_t bound =
					spatial ? nest_case_spatial(shrink->nest, i)->spatial[d]
						: nest_case_temporal(shrink->nest, i)->temporal[d];
				set_bound(shrink, d, i, spatial, 1);
				set_bound(shrink, d, i, spatial, 2);
				set_bound(shrink, d, i, spatial, (bound + 1) / 2);
				if (bound > 1)
					set_bound(shrink, d, i, spatial, bound - 1);
			}
		begin(shrink)->shape.dimensions[d].extent--;
		if (shrink->smaller.shape.dimensions[d].extent > 0)
			settle(shrink);
	}
}

static void shrink_fanouts(struct shrink *shrink)
{
	for (int i = 0; i < shrink->nest->hierarchy.level_count; i++)
		for (int along_y = 0; along_y < 2; along_y++) {
			struct hierarchy *hierarchy = &begin(shrink)->hierarchy;
			struct nest_level *level = &hierarchy->levels[i];
			int64_t *fanout = along_y ? &level->fanout.y : &level->fanout.x;
			if (*fanout == 1)
				continue;
			--*fanout;
			int64_t x = 1, y = 1;
			for (int j = hierarchy->level_count - 1; j >= 0; j--) {
				hierarchy->levels[j].mesh_x = x;
				hierarchy->levels[j].mesh_y = y;
				x *= hierarchy->levels[j].fanout.x;
				y *= hierarchy->levels[j].fanout.y;
			}
			hierarchy->compute_mesh_x = x;
			hierarchy->compute_mesh_y = y;
			settle(shrink);
		}
}

static void shrink_orders(struct shrink *shrink)
{
	for (int r = 0; r < shrink->nest->mapping.level_count; r++)
		for (int part = 0; part < 3; part++) {
			struct mapping_row *row = &begin(shrink)->mapping.rows[r];
			for (int d = 0; d < shrink->nest->shape.dimension_count; d++) {
				if (part == 0)
					row->temporal_order[d] = (uint8_t)d;
				if (part == 1)
					row->spatial_order[d] = (uint8_t)d;
			}
			if (part == 2)
				row->spatial_y = 0;
			settle(shrink);
		}
}

static void remove_from_order(uint8_t *order, int count, int d)
{
	int n = 0;
	for (int k = 0; k < count; k++)
		if (order[k] != d)
			order[n++] = (uint8_t)(order[k] - (order[k] > d));
}

/* A dimension of extent 1 goes. */
static void shrink_dimension(struct shrink *shrink, int d)
{
	struct nest_case *smaller = begin(shrink);
	struct shape *shape = &smaller->shape;
	int count = shape->dimension_count;
	if (count == 1 || shape->dimensions[d].extent > 1)
		return;
	for (int r = 0; r < ARCH_LEVELS_MOST; r++) {
		struct mapping_row *row = &smaller->mapping.rows[r];
		if (r < smaller->mapping.level_count && (row->spatial[d] | row->temporal[d]) > 1)
			return;
		memmove(row->spatial + d, row->spatial + d + 1,
			(size_t)(count - 1 - d) * sizeof *row->spatial);
		memmove(row->temporal + d, row->temporal + d + 1,
			(size_t)(count - 1 - d) * sizeof *row->temporal);
		remove_from_order(row->spatial_order, count, d);
		remove_from_order(row->temporal_order, count, d);
		row->spatial_y = (uint16_t)((row->spatial_y & ((1 << d) - 1)) |
					    (row->spatial_y >> (d + 1) << d));
	}
	for (int t = 0; t < shape->space_count; t++) {
		struct dataspace *space = &shape->spaces[t];
		for (int r = 0; r < space->rank_count; r++) {
			int64_t *at = space->ranks[r].coefficient;
			memmove(at + d, at + d + 1, (size_t)(count - 1 - d) * sizeof *at);
			at[count - 1] = 0;
		}
		space->relevant =
			(space->relevant & ((1u << d) - 1)) | (space->relevant >> (d + 1) << d);
	}
	memmove(shape->dimensions + d, shape->dimensions + d + 1,
		(size_t)(count - 1 - d) * sizeof *shape->dimensions);
	shape->dimension_count--;
	smaller->mapping.loop_count--;
	settle(shrink);
}

static void shrink_space(struct shrink *shrink, int t)
{
	struct nest_case *smaller = begin(shrink);
	struct shape *shape = &smaller->shape;
	size_t after = (size_t)(shape->space_count - 1 - t);
	if (shape->spaces[t].written || shape->space_count == 2)
		return;
	memmove(shape->spaces + t, shape->spaces + t + 1, after * sizeof *shape->spaces);
	memmove(smaller->mapping.residency + t, smaller->mapping.residency + t + 1,
		after * sizeof *smaller->mapping.residency);
	shape->space_count--;
	for (int i = 0; i < smaller->hierarchy.level_count; i++) {
		struct nest_level *level = &smaller->hierarchy.levels[i];
		uint8_t *flags[] = {&level->no_temporal_reuse, &level->rmw_first_update,
			&level->no_coalesce, &level->no_spatial_reuse, &level->no_link_transfer};
		for (int f = 0; f < 5; f++)
			*flags[f] = (uint8_t)((*flags[f] & ((1 << t) - 1)) |
					      (*flags[f] >> (t + 1) << t));
	}
	settle(shrink);
}

/* A level without loops and without a fan-out goes: its row, and what its row kept. */
static void remove_level(struct shrink *shrink, int i)
{
	const struct nest_case *nest = shrink->nest;
	const struct hierarchy *from = &nest->hierarchy;
	struct nest_case *smaller = begin(shrink);
	if (from->level_count == 1 || from->levels[i].fanout.x * from->levels[i].fanout.y > 1)
		return;
	for (int d = 0; d < nest->shape.dimension_count; d++)
		if (from->levels[i].storage && nest_case_temporal(shrink->nest, i)->temporal[d] > 1)
			return;
	struct hierarchy *to = &smaller->hierarchy;
	int count = to->level_count = from->level_count - 1;
	smaller->mapping.level_count--;
	to->compute_row = count;
	memset(smaller->mapping.residency, 0, sizeof smaller->mapping.residency);
	for (int j = 0; j < count; j++) {
		const struct nest_level *old = &from->levels[j + (j >= i)];
		struct nest_level *level = &to->levels[j];
		*level = *old;
		level->gated_at = j;
		level->row = count - 1 - j;
		level->block_row = count - j;
		const struct mapping_row *spatial = &nest->mapping.rows[old->block_row];
		const struct mapping_row *temporal = &nest->mapping.rows[old->row];
		struct mapping_row *row = &smaller->mapping.rows[level->block_row];
		memcpy(row->spatial, spatial->spatial, sizeof row->spatial);
		memcpy(row->spatial_order, spatial->spatial_order, sizeof row->spatial_order);
		row->spatial_y = spatial->spatial_y;
		row = &smaller->mapping.rows[level->row];
		memcpy(row->temporal, temporal->temporal, sizeof row->temporal);
		memcpy(row->temporal_order, temporal->temporal_order, sizeof row->temporal_order);
		for (int t = 0; t < nest->shape.space_count; t++)
			smaller->mapping.residency[t] |=
				(nest->mapping.residency[t] >> old->row & 1) << level->row;
	}
	for (int d = 0; d < nest->shape.dimension_count; d++)
		smaller->mapping.rows[count].temporal[d] = 1;
	for (int t = 0; t < nest->shape.space_count; t++)
		if (smaller->mapping.residency[t] == 0)
			return;
	settle(shrink);
}

void nest_case_shrink(
	struct nest_case *nest, bool (*fails)(const struct nest_case *nest, void *user), void *user)
{
	struct shrink shrink = {.nest = nest, .fails = fails, .user = user, .moved = true};
	while (shrink.moved) {
		shrink.moved = false;
		shrink_level(&shrink);
		shrink_flags(&shrink);
		shrink_residency(&shrink);
		shrink_bounds(&shrink);
		shrink_fanouts(&shrink);
		for (int i = nest->hierarchy.level_count - 1; i >= 0; i--)
			remove_level(&shrink, i);
		for (int t = nest->shape.space_count - 1; t >= 0; t--)
			shrink_space(&shrink, t);
		for (int d = nest->shape.dimension_count - 1; d >= 0; d--)
			shrink_dimension(&shrink, d);
		shrink_orders(&shrink);
	}
}
