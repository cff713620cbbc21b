#include "solvers/map/local/moves.h"

#include "base/number.h"

#include <string.h>

static int dimension_count(const struct map_moves *moves)
{
	return moves->space->domain->shape->dimension_count;
}

static int64_t map_moves_extent(const struct map_moves *moves, int d)
{
	return moves->space->domain->shape->dimensions[d].extent;
}

static bool is_imperfect(const struct map_moves *moves, int d)
{
	return moves->space->domain->imperfect >> d & 1;
}

static const struct factor_domain *domain_at(const struct map_moves *moves, int i, int d)
{
	const struct tiling_level *level = &moves->space->levels[i];
	const struct row_domain *row = &moves->space->domain->rows[level->row];
	return level->spatial ? &row->spatial[d] : &row->temporal[d];
}

static bool has_axes(const struct map_moves *moves, int i)
{
	const struct tiling_level *level = &moves->space->levels[i];
	const struct nest_level *block = &moves->space->domain->hierarchy->levels[level->level];
	return level->spatial && block->fanout.x > 1 && block->fanout.y > 1;
}

static const uint32_t *bounds_at(
	const struct map_moves *moves, int i, const struct mapping *mapping)
{
	const struct tiling_level *level = &moves->space->levels[i];
	const struct mapping_row *row = &mapping->rows[level->row];
	return level->spatial ? row->spatial : row->temporal;
}

static uint8_t *order_at(const struct map_moves *moves, int i, struct mapping *mapping)
{
	const struct tiling_level *level = &moves->space->levels[i];
	struct mapping_row *row = &mapping->rows[level->row];
	return level->spatial ? row->spatial_order : row->temporal_order;
}

static uint32_t along_x(const struct map_moves *moves, int i, const struct mapping *mapping)
{
	return ~(uint32_t)mapping->rows[moves->space->levels[i].row].spatial_y;
}

struct map_moves map_moves_make(const struct space *space)
{
	struct map_moves moves = {.space = space};
	for (int d = 0; d < dimension_count(&moves); d++) {
		const struct factor_range *ranges = factors_ranges(space->factors[d]);
		moves.prime_count[d] = number_primes(
			is_imperfect(&moves, d) ? 6 : map_moves_extent(&moves, d), moves.primes[d]);
		for (int i = 0; i < space->level_count; i++)
			if (ranges[i].least < ranges[i].most)
				moves.loops[d][moves.loop_count[d]++] = (uint8_t)i;
		if (moves.loop_count[d])
			moves.free[moves.free_count++] = (uint8_t)d;
	}
	return moves;
}

void map_moves_bounds(
	const struct map_moves *moves, const struct mapping *mapping, int d, int64_t *bounds)
{
	for (int i = 0; i < moves->space->level_count; i++)
		bounds[i] = bounds_at(moves, i, mapping)[d];
}

int64_t map_moves_prime(const struct map_moves *moves, struct random *random, int d, int64_t bound)
{
	int count = moves->prime_count[d], at = (int)random_below(random, (uint64_t)count);
	for (int i = 0; i < count && !is_imperfect(moves, d); i++) {
		int64_t prime = moves->primes[d][(at + i) % count];
		if (bound % prime == 0)
			return prime;
	}
	return moves->primes[d][at];
}

/* Bounds of a dimension, each 1 or more, to the nearest of the domain, those further in first. */
static void map_moves_clamp(const struct map_moves *moves, int d, int64_t *bounds)
{
	const struct factors *factors = moves->space->factors[d];
	int64_t left = map_moves_extent(moves, d);
	for (int i = 0; i < moves->space->level_count; i++) {
		struct factor_step step;
		int64_t most = number_min(domain_at(moves, i, d)->most, left);
		if (!factors_step(factors, i, left, number_min(bounds[i], most), &step))
			factors_step(factors, i, left, 1, &step);
		bounds[i] = step.first;
		left = step.left;
	}
}

struct mapping map_moves_adopt(const struct map_moves *moves, const struct mapping *mapping)
{
	const struct space *space = moves->space;
	struct mapping out = space->blank;
	for (int d = 0; d < dimension_count(moves); d++) {
		int64_t bounds[FACTORS_LOOPS_MOST];
		map_moves_bounds(moves, mapping, d, bounds);
		map_moves_clamp(moves, d, bounds);
		space_set_factors(space, d, bounds, &out);
	}
	for (int i = 0; i < space->level_count; i++) {
		struct mapping wish = *mapping;
		space_level_follow(space, &space->levels[i], order_at(moves, i, &wish),
			along_x(moves, i, mapping), &out);
	}
	for (int b = 0; b < space->free_count; b++) {
		int t = space->free[b].space;
		out.residency[t] |= mapping->residency[t] & 1u << space->free[b].row;
	}
	return out;
}

static void put_at_end(uint8_t *order, int count, int d, bool ahead)
{
	int at = 0;
	while (order[at] != d)
		at++;
	if (ahead)
		memmove(order + 1, order, (size_t)at);
	else
		memmove(order + at, order + at + 1, (size_t)(count - at - 1));
	order[ahead ? 0 : count - 1] = (uint8_t)d;
}

/* Gives dimension d these bounds, and the levels that have others now their order. */
static bool map_moves_set_bounds(const struct map_moves *moves, int d, const int64_t *bounds,
	bool ahead, struct mapping *mapping)
{
	const struct space *space = moves->space;
	int64_t before[FACTORS_LOOPS_MOST];
	bool changed = false;
	map_moves_bounds(moves, mapping, d, before);
	space_set_factors(space, d, bounds, mapping);
	for (int i = 0; i < space->level_count; i++) {
		if (bounds[i] == before[i])
			continue;
		uint8_t order[SHAPE_DIMENSIONS_MOST];
		uint32_t axis = along_x(moves, i, mapping);
		memcpy(order, order_at(moves, i, mapping), sizeof order);
		if (before[i] == 1) {
			put_at_end(order, dimension_count(moves), d, ahead);
			axis = (axis & ~(1u << d)) | (uint32_t)ahead << d;
		}
		space_level_follow(space, &space->levels[i], order, axis, mapping);
		changed = true;
	}
	return changed;
}

static bool move_bound(
	const struct map_moves *moves, const struct map_move *move, struct mapping *mapping)
{
	int d = move->dimension;
	int64_t bounds[FACTORS_LOOPS_MOST];
	map_moves_bounds(moves, mapping, d, bounds);
	bounds[move->level] = move->bound;
	wide others = 1, extent = map_moves_extent(moves, d);
	for (int i = 0; i < moves->space->level_count && others < extent; i++)
		others *= i == move->from ? 1 : (wide)bounds[i];
	bounds[move->from] = (int64_t)((extent + others - 1) / others);
	map_moves_clamp(moves, d, bounds);
	return map_moves_set_bounds(moves, d, bounds, move->ahead, mapping);
}

/* Gives a tiling level another order or other axes; false if the space has none such. */
static bool map_moves_arrange(const struct map_moves *moves, int i, const uint8_t *order,
	uint32_t axis, struct mapping *mapping)
{
	uint8_t before[SHAPE_DIMENSIONS_MOST];
	uint32_t x = along_x(moves, i, mapping);
	memcpy(before, order_at(moves, i, mapping), sizeof before);
	space_level_follow(moves->space, &moves->space->levels[i], order, axis, mapping);
	return along_x(moves, i, mapping) != x ||
	       memcmp(before, order_at(moves, i, mapping), sizeof before) != 0;
}

static bool move_swap(
	const struct map_moves *moves, const struct map_move *move, struct mapping *mapping)
{
	uint8_t order[SHAPE_DIMENSIONS_MOST];
	memcpy(order, order_at(moves, move->level, mapping), sizeof order);
	for (int i = 0; i < dimension_count(moves); i++)
		if (order[i] == move->dimension)
			order[i] = (uint8_t)move->other;
		else if (order[i] == move->other)
			order[i] = (uint8_t)move->dimension;
	return map_moves_arrange(
		moves, move->level, order, along_x(moves, move->level, mapping), mapping);
}

bool map_move(const struct map_moves *moves, const struct map_move *move, struct mapping *mapping)
{
	const struct space *space = moves->space;
	switch (move->kind) {
	case MAP_MOVE_BOUND:
		return move_bound(moves, move, mapping);
	case MAP_MOVE_SWAP:
		return move_swap(moves, move, mapping);
	case MAP_MOVE_AXIS:
		return map_moves_arrange(moves, move->level, order_at(moves, move->level, mapping),
			along_x(moves, move->level, mapping) ^ 1u << move->dimension, mapping);
	case MAP_MOVE_KEEP:
		mapping->residency[space->free[move->bit].space] ^= 1u
								    << space->free[move->bit].row;
		return true;
	}
	return false;
}

static int random_factor_below(struct random *random, int bound)
{
	return (int)random_below(random, (uint64_t)bound);
}

/* A factor of one loop goes to another: mostly a prime, at times all of it. */
static struct map_move draw_bound(
	const struct map_moves *moves, struct random *random, const struct mapping *mapping)
{
	struct map_move move = {.kind = MAP_MOVE_BOUND, .ahead = random_factor_below(random, 2)};
	if (!moves->free_count)
		return move;
	int d = moves->free[random_factor_below(random, moves->free_count)];
	move.dimension = d;
	move.from = moves->loops[d][random_factor_below(random, moves->loop_count[d])];
	move.level = moves->loops[d][random_factor_below(random, moves->loop_count[d])];
	int64_t give = bounds_at(moves, move.from, mapping)[d];
	move.bound = bounds_at(moves, move.level, mapping)[d];
	if (is_imperfect(moves, d) && random_factor_below(random, 2))
		move.bound += random_factor_below(random, 2) ? 1 : -(move.bound > 1);
	else if (give > 1)
		move.bound *= random_factor_below(random, 8)
				      ? map_moves_prime(moves, random, d, give)
				      : give;
	move.bound = number_min(move.bound, map_moves_extent(moves, d));
	return move;
}

static struct map_move map_moves_draw(
	const struct map_moves *moves, struct random *random, const struct mapping *mapping)
{
	const struct space *space = moves->space;
	int kind = random_factor_below(random, 100);
	struct map_move move = {.kind = MAP_MOVE_KEEP};
	if (kind < BOUNDS_PERCENT)
		return draw_bound(moves, random, mapping);
	move.level = random_factor_below(random, space->level_count);
	move.dimension = random_factor_below(random, dimension_count(moves));
	move.other = random_factor_below(random, dimension_count(moves));
	if (kind < BOUNDS_PERCENT + SWAPS_PERCENT)
		move.kind = MAP_MOVE_SWAP;
	else if (kind < BOUNDS_PERCENT + SWAPS_PERCENT + AXES_PERCENT || !space->free_count)
		move.kind = MAP_MOVE_AXIS;
	else
		move.bit = random_factor_below(random, space->free_count);
	return move;
}

/* True if a draw can change anything. */
static bool is_idle(
	const struct map_moves *moves, const struct map_move *move, const struct mapping *mapping)
{
	const uint32_t *bounds = bounds_at(moves, move->level, mapping);
	switch (move->kind) {
	case MAP_MOVE_BOUND:
		return move->from == move->level || move->bound == bounds[move->dimension] ||
		       (move->bound > bounds[move->dimension] &&
			       bounds_at(moves, move->from, mapping)[move->dimension] == 1);
	case MAP_MOVE_SWAP:
		return move->dimension == move->other || bounds[move->dimension] == 1 ||
		       bounds[move->other] == 1;
	case MAP_MOVE_AXIS:
		return !has_axes(moves, move->level) || bounds[move->dimension] == 1;
	case MAP_MOVE_KEEP:
		return false;
	}
	return true;
}

static bool draw_anew(const struct map_moves *moves, struct random *random, struct mapping *mapping)
{
	int64_t bounds[FACTORS_LOOPS_MOST];
	if (!moves->free_count)
		return false;
	int d = moves->free[random_factor_below(random, moves->free_count)];
	factors_draw(moves->space->factors[d], random, bounds);
	return map_moves_set_bounds(moves, d, bounds, random_factor_below(random, 2), mapping);
}

/* A prime factor of another dimension goes the way back: what a level holds stays about as large. */
static void give_back(const struct map_moves *moves, struct random *random,
	const struct map_move *first, struct mapping *mapping)
{
	struct map_move move = {.kind = MAP_MOVE_BOUND,
		.from = first->level,
		.level = first->from,
		.ahead = random_factor_below(random, 2)};
	int at = random_factor_below(random, moves->free_count);
	for (int i = 0; i < moves->free_count; i++) {
		int d = moves->free[(at + i) % moves->free_count];
		int64_t give = bounds_at(moves, move.from, mapping)[d];
		if (d == first->dimension || give == 1)
			continue;
		move.dimension = d;
		move.bound = bounds_at(moves, move.level, mapping)[d] *
			     map_moves_prime(moves, random, d, give);
		if (map_move(moves, &move, mapping))
			return;
	}
}

bool map_moves_step(const struct map_moves *moves, struct random *random, struct mapping *mapping)
{
	for (int i = 0; i < MOVE_TRIES; i++) {
		if (random_factor_below(random, 100) < ANEW_PERCENT) {
			if (draw_anew(moves, random, mapping))
				return true;
			continue;
		}
		struct map_move move = map_moves_draw(moves, random, mapping);
		if (is_idle(moves, &move, mapping) || !map_move(moves, &move, mapping))
			continue;
		if (move.kind == MAP_MOVE_BOUND && random_factor_below(random, EXCHANGES) == 0)
			give_back(moves, random, &move, mapping);
		return true;
	}
	return false;
}
