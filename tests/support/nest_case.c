#include "tests/support/nest_case.h"

#include "base/number.h"
#include "tests/support/draws.h"

#include <string.h>

enum { STORAGES_MOST = 4, BLOCKS_MOST = 3, BOUNDS_MOST = 2 * ARCH_LEVELS_MOST };

const struct nest_case_options nest_case_all = {
	.imperfect = true,
	.sliding = true,
	.bypass = true,
	.spatial = true,
	.flags = true,
	.steps_most = 400,
};

struct mapping_row *nest_case_temporal(struct nest_case *nest, int level)
{
	return &nest->mapping.rows[nest->hierarchy.levels[level].row];
}

struct mapping_row *nest_case_spatial(struct nest_case *nest, int level)
{
	return &nest->mapping.rows[nest->hierarchy.levels[level].block_row];
}

/* --- machines */

static struct ratio draw_rate(struct random *random)
{
	struct ratio rate = {0, 1};
	if (draw_chance(random, 2))
		ratio_make(1 + draw_below(random, 7), 1 + draw_below(random, 3), &rate);
	return rate;
}

static void draw_level(struct random *random, struct nest_level *level)
{
	level->size = draw_chance(random, 2) ? 0 : 100000 + draw_below(random, 100000);
	level->store.entries = level->size;
	level->store.multiple_buffering = 1;
	level->store.word_bits = 16;
	level->store.block_words = 1 + draw_below(random, 4);
	level->store.cluster_size = 1;
	level->store.read_rate = draw_rate(random);
	level->store.write_rate = draw_rate(random);
	level->store.shared_rate = draw_rate(random);
	level->store.row_cycles = level->store.round_cycles = (struct ratio){0, 1};
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		level->rate_scale[t] = 1;
	for (int a = 0; a < NEST_ACTIONS; a++)
		level->energies.pj[a] = (double)draw_below(random, 40) / 4;
	level->energies.leak_pj = draw_chance(random, 2) ? 0 : 0.25;
}

/* A rank with one dimension, which no other rank has; -1: there is none. */
static int plain_rank(const struct dataspace *space)
{
	int plain = -1;
	for (int r = 0; r < space->rank_count; r++) {
		uint32_t own = affine_loops(&space->ranks[r]), others = 0;
		for (int q = 0; q < space->rank_count; q++)
			others |= q == r ? 0 : affine_loops(&space->ranks[q]);
		if (!(own & (own - 1)) && !(own & others))
			plain = r;
	}
	return plain;
}

void nest_case_paces(struct random *random, bool countable, struct nest_case *nest)
{
	bool rows = true;
	for (int t = 0; t < nest->shape.space_count && countable; t++)
		rows &= plain_rank(&nest->shape.spaces[t]) >= 0;
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		struct nest_level *level = &nest->hierarchy.levels[i];
		if (draw_chance(random, 2))
			ratio_make(1 + draw_below(random, 50), 1 + draw_below(random, 3),
				&level->store.round_cycles);
		if (rows && draw_chance(random, 2))
			ratio_make(1 + draw_below(random, 7), 1 + draw_below(random, 3),
				&level->store.row_cycles);
		for (int t = 0; t < nest->shape.space_count; t++)
			level->row_rank[t] = countable ? plain_rank(&nest->shape.spaces[t])
						       : (int)draw_below(random,
								 nest->shape.spaces[t].rank_count);
	}
}

/* Storage levels, and at times one that only fans out; the outermost may be such a one. */
static void draw_levels(
	struct random *random, const struct nest_case_options *options, struct hierarchy *hierarchy)
{
	static const char *const names[] = {"L0", "L1", "L2", "L3", "L4", "L5"};
	int storages = 1 + (int)draw_below(random, STORAGES_MOST);
	int fan_only =
		options->spatial && draw_chance(random, 3) ? 1 + (int)draw_below(random, 2) : 0;
	int count = storages + fan_only;
	*hierarchy = (struct hierarchy){
		.level_count = count,
		.compute_name = "MAC",
		.compute_row = count,
		.compute_pj = 1,
		.clock_ns = 1,
		.energy_source = "drawn",
	};
	for (int i = 0; i < count; i++)
		hierarchy->levels[i].storage = i < storages;
	for (; fan_only > 0; fan_only--) { /* into the middle, seldom to the outside */
		int at = (int)draw_below(random, draw_chance(random, 4) ? count : storages);
		hierarchy->levels[count - fan_only].storage = hierarchy->levels[at].storage;
		hierarchy->levels[at].storage = false;
	}
	for (int i = 0; i < count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		draw_level(random, level);
		level->name = names[i];
		level->row = count - 1 - i;
		level->block_row = count - i;
		level->gated_at = i;
	}
}

static void draw_flags(struct random *random, struct hierarchy *hierarchy, int space_count)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		uint8_t *flags[] = {&level->no_temporal_reuse, &level->rmw_first_update,
			&level->no_coalesce, &level->no_spatial_reuse, &level->no_link_transfer};
		for (int f = 0; f < 5; f++)
			for (int t = 0; t < space_count; t++)
				if (draw_chance(random, 7) && (level->storage || f >= 3))
					*flags[f] |= (uint8_t)(1 << t);
	}
}

/* --- mappings */

/* Places for the loops of one dimension, innermost first. */
struct slots {
	int count;
	uint32_t *bounds[BOUNDS_MOST];
	bool spatial[BOUNDS_MOST];
};

static struct slots find_slots(struct nest_case *nest, int d, int blocks)
{
	struct slots slots = {0};
	for (int i = 0; i < nest->hierarchy.level_count; i++) {
		if (blocks >> i & 1) {
			slots.spatial[slots.count] = true;
			slots.bounds[slots.count++] = &nest_case_spatial(nest, i)->spatial[d];
		}
		if (nest->hierarchy.levels[i].storage)
			slots.bounds[slots.count++] = &nest_case_temporal(nest, i)->temporal[d];
	}
	return slots;
}

static int64_t least_factor(int64_t n)
{
	for (int64_t p = 2; p * p <= n; p++)
		if (n % p == 0)
			return p;
	return n;
}

/* Prime factors, each in a slot of its own choice; space is liked a little. */
static void draw_perfect(struct random *random, int64_t extent, struct slots *slots)
{
	for (int64_t left = extent, p; left > 1; left /= p) {
		int64_t slot = draw_below(random, slots->count);
		if (!slots->spatial[slot] && draw_chance(random, 2))
			slot = draw_below(random, slots->count);
		p = least_factor(left);
		*slots->bounds[slot] *= (uint32_t)p;
	}
}

static void draw_imperfect(struct random *random, int64_t extent, struct slots *slots)
{
	int64_t inside = 1;
	for (int s = 0; s < slots->count; s++) {
		int64_t left = number_ceil_div(extent, inside), bound = left;
		if (s < slots->count - 1)
			bound = draw_chance(random, 2) ? 1 : 1 + draw_below(random, left);
		if (bound > 4 && s < slots->count - 1 && draw_chance(random, 2))
			bound = 2 + draw_below(random, 2);
		*slots->bounds[s] = (uint32_t)bound;
		inside *= bound;
	}
}

static int64_t product(const struct nest_case *nest, bool spatial)
{
	int64_t all = 1;
	for (int r = 0; r < nest->mapping.level_count; r++)
		for (int d = 0; d < nest->shape.dimension_count; d++)
			all *= spatial ? nest->mapping.rows[r].spatial[d]
				       : nest->mapping.rows[r].temporal[d];
	return all;
}

static void clear_mapping(struct nest_case *nest)
{
	struct mapping *mapping = &nest->mapping;
	*mapping = (struct mapping){
		.loop_count = (uint8_t)nest->shape.dimension_count,
		.level_count = (uint8_t)(nest->hierarchy.level_count + 1),
	};
	for (int r = 0; r < ARCH_LEVELS_MOST; r++)
		for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++) {
			mapping->rows[r].spatial[d] = mapping->rows[r].temporal[d] = 1;
			mapping->rows[r].spatial_order[d] = (uint8_t)d;
			mapping->rows[r].temporal_order[d] = (uint8_t)d;
		}
}

static void draw_orders(struct random *random, struct nest_case *nest)
{
	for (int r = 0; r < nest->mapping.level_count; r++) {
		struct mapping_row *row = &nest->mapping.rows[r];
		draw_shuffle(random, row->spatial_order, nest->shape.dimension_count);
		draw_shuffle(random, row->temporal_order, nest->shape.dimension_count);
		row->spatial_y = (uint16_t)draw_below(random, 1 << nest->shape.dimension_count);
	}
}

/* The whole of a dimension as one loop, the innermost or fastest of its row. */
static void put(struct nest_case *nest, int d, int level, bool spatial, int64_t extent)
{
	nest->shape.dimensions[d].extent = extent;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		nest_case_spatial(nest, i)->spatial[d] = nest_case_temporal(nest, i)->temporal[d] =
			1;
	struct mapping_row *row =
		spatial ? nest_case_spatial(nest, level) : nest_case_temporal(nest, level);
	*(spatial ? &row->spatial[d] : &row->temporal[d]) = (uint32_t)extent;
	uint8_t *order = spatial ? row->spatial_order : row->temporal_order;
	for (int k = 0; k < nest->shape.dimension_count; k++)
		if (order[k] == d) {
			order[k] = order[0];
			order[0] = (uint8_t)d;
		}
}

/*
 * A window as systolic arrays run it: one dimension of a rank in space, another in time around the
 * block, so that neighbours hand words on; at times a third that makes them do it in vain.
 */
static void draw_window(struct random *random, struct nest_case *nest)
{
	struct shape *shape = &nest->shape;
	const struct dataspace *space = &shape->spaces[draw_below(random, shape->space_count)];
	const struct affine *rank = &space->ranks[draw_below(random, space->rank_count)];
	uint8_t inside[SHAPE_DIMENSIONS_MOST], others[SHAPE_DIMENSIONS_MOST];
	int inside_count = 0, other_count = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		if (rank->coefficient[d] > 0)
			inside[inside_count++] = (uint8_t)d;
		if (!(space->relevant >> d & 1))
			others[other_count++] = (uint8_t)d;
	}
	int level = 1 + (int)draw_below(random, nest->hierarchy.level_count - 1);
	if (inside_count < 2 || !nest->hierarchy.levels[level].storage)
		return;
	draw_shuffle(random, inside, inside_count);
	int64_t extent = 2 + draw_below(random, 3);
	put(nest, inside[0], level, true, extent);
	put(nest, inside[1], level, false,
		draw_chance(random, 2) ? extent : 2 + draw_below(random, 3));
	if (other_count == 0 || draw_chance(random, 2))
		return;
	put(nest, others[draw_below(random, other_count)], level, draw_chance(random, 2), 2);
	if (draw_chance(random, 2))
		nest_case_spatial(nest, level)->spatial_y = 0;
}

/* Bounds that fit, with few enough steps. */
static void draw_bounds(
	struct random *random, const struct nest_case_options *options, struct nest_case *nest)
{
	int levels = nest->hierarchy.level_count, blocks = 0;
	int most = options->spatial ? (int)draw_below(random, BLOCKS_MOST + 1) : 0;
	for (int i = 0; i < 2 * most && __builtin_popcount((unsigned)blocks) < most; i++)
		blocks |= 1 << draw_below(random, levels);
	bool imperfect = options->imperfect && draw_chance(random, 2);
	struct shape shape = nest->shape;
	do {
		nest->shape = shape;
		clear_mapping(nest);
		for (int d = 0; d < nest->shape.dimension_count; d++) {
			struct slots slots = find_slots(nest, d, blocks);
			if (imperfect)
				draw_imperfect(random, nest->shape.dimensions[d].extent, &slots);
			else
				draw_perfect(random, nest->shape.dimensions[d].extent, &slots);
		}
		draw_orders(random, nest);
		if (options->sliding && options->spatial && levels > 1 && draw_chance(random, 2))
			draw_window(random, nest);
	} while (product(nest, true) * product(nest, false) > options->steps_most);
}

static void along(const struct nest_case *nest, int level, int64_t *x, int64_t *y)
{
	const struct mapping_row *row =
		&nest->mapping.rows[nest->hierarchy.levels[level].block_row];
	*x = *y = 1;
	for (int d = 0; d < nest->shape.dimension_count; d++)
		*(row->spatial_y >> d & 1 ? y : x) *= row->spatial[d];
}

/* Blocks as large as the mapping needs, at times larger; what only fans out, does. */
static void draw_fanouts(struct random *random, struct nest_case *nest)
{
	struct hierarchy *hierarchy = &nest->hierarchy;
	int64_t x = 1, y = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		struct nest_level *level = &hierarchy->levels[i];
		level->mesh_x = x;
		level->mesh_y = y;
		along(nest, i, &level->fanout.x, &level->fanout.y);
		bool fans = level->fanout.x * level->fanout.y > 1;
		if (draw_chance(random, fans ? 3 : 12) || (!fans && !level->storage))
			level->fanout.x += 1 + draw_below(random, 2);
		if (draw_chance(random, fans ? 4 : 12))
			level->fanout.y += 1 + draw_below(random, 2);
		x *= level->fanout.x;
		y *= level->fanout.y;
	}
	hierarchy->compute_mesh_x = x;
	hierarchy->compute_mesh_y = y;
}

/* One of the blocks, and the next one outwards if nothing is stored between them. */
static void draw_array(struct random *random, struct hierarchy *hierarchy)
{
	int level = (int)draw_below(random, hierarchy->level_count);
	for (int i = 0;
		i < 4 && hierarchy->levels[level].fanout.x * hierarchy->levels[level].fanout.y == 1;
		i++)
		level = (int)draw_below(random, hierarchy->level_count);
	hierarchy->array_inner = level;
	hierarchy->array_end = level + 1;
	hierarchy->levels[level].fanout.systolic = true;
	hierarchy->array_overlaps = level > 0 && draw_chance(random, 2);
	if (hierarchy->levels[level].storage || level + 1 == hierarchy->level_count)
		return;
	hierarchy->array_end++;
	hierarchy->levels[level + 1].fanout.systolic = true;
}

static void draw_residency(
	struct random *random, const struct nest_case_options *options, struct nest_case *nest)
{
	uint32_t storages = 0;
	int outermost = -1;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		if (nest->hierarchy.levels[i].storage) {
			storages |= 1u << nest->hierarchy.levels[i].row;
			outermost = nest->hierarchy.levels[i].row;
		}
	bool bypasses = options->bypass && draw_chance(random, 2);
	for (int t = 0; t < nest->shape.space_count; t++) {
		uint32_t kept = bypasses ? (uint32_t)random_next(random) : storages;
		if (!draw_chance(random, 6) || !(kept & storages))
			kept |= 1u << outermost;
		nest->mapping.residency[t] = kept & storages;
	}
}

void nest_case_map(
	struct random *random, const struct nest_case_options *options, struct nest_case *nest)
{
	draw_levels(random, options, &nest->hierarchy);
	if (options->flags && draw_chance(random, 2))
		draw_flags(random, &nest->hierarchy, nest->shape.space_count);
	draw_bounds(random, options, nest);
	draw_fanouts(random, nest);
	draw_residency(random, options, nest);
	if (options->systolic)
		draw_array(random, &nest->hierarchy);
	struct random rings = *random; /* that what is drawn next stays as it is */
	for (int i = 0; options->spatial && i < nest->hierarchy.level_count; i++)
		nest->hierarchy.levels[i].ring = draw_chance(&rings, 6);
}

void nest_case_draw(
	struct random *random, const struct nest_case_options *options, struct nest_case *out)
{
	nest_case_shape(random, options, &out->shape);
	nest_case_map(random, options, out);
}

bool nest_case_fits(const struct nest_case *nest)
{
	const struct hierarchy *hierarchy = &nest->hierarchy;
	for (int d = 0; d < nest->shape.dimension_count; d++) {
		int64_t extent = nest->shape.dimensions[d].extent, inside = 1, bound = 1;
		for (int i = 0; i < hierarchy->level_count; i++) {
			const struct nest_level *level = &hierarchy->levels[i];
			for (int temporal = 0; temporal < 1 + level->storage; temporal++) {
				inside *= bound;
				bound = temporal ? nest->mapping.rows[level->row].temporal[d]
						 : nest->mapping.rows[level->block_row].spatial[d];
				if (bound > number_ceil_div(extent, inside))
					return false;
			}
		}
		if (bound != number_ceil_div(extent, inside))
			return false;
	}
	for (int i = 0; i < hierarchy->level_count; i++) {
		int64_t x, y;
		along(nest, i, &x, &y);
		if (x > hierarchy->levels[i].fanout.x || y > hierarchy->levels[i].fanout.y)
			return false;
	}
	return true;
}
