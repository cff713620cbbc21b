#include "base/arena.h"
#include "base/array.h"
#include "cost/graph/streaming.h"
#include "search/graph/op_map.h"
#include "search/graph/options.h"
#include "search/graph/tile_walk.h"

struct tile_front {
	const struct op_question *question;
	struct tile_walk walk;
	int64_t room, least_room;
	uint64_t evaluations, evaluations_most;
	bool cut;
	struct array(struct op_option) options;
	struct array(struct op_value) least;
	const struct nests_wanted *wanted; /* NULL: tiles alone */
	/* Nests of the tiles that are set, and what they cost. */
	size_t nest_count;
	const struct nest_choice *nests;
	const struct inner_cost **costs;
};

/* True if a tiling is no worse in every value. */
static bool op_value_covers(const struct op_value *a, const struct op_value *b)
{
	return a->cycles <= b->cycles && a->estimate <= b->estimate &&
	       a->hbm_bytes <= b->hbm_bytes && a->energy_pj <= b->energy_pj;
}

static bool is_covered(const struct tile_front *front, const struct op_value *value)
{
	for (size_t i = front->options.count; i > 0; i--)
		if (op_value_covers(&front->options.at[i - 1].value, value))
			return true;
	return false;
}

/* Adds a tiling unless one with no more tiles is as good. */
static void front_add_tiling(
	struct tile_front *front, const struct op_value *value, const struct mapping *inside)
{
	const struct loopnest *nest = &front->walk.traffic.nest;
	if (is_covered(front, value))
		return;
	struct op_option *option = array_add(front->walk.arena, &front->options);
	*option = (struct op_option){.value = *value, .nest = inside};
	for (int l = 0; l < nest->loop_count; l++) {
		option->tiles[l] = (uint32_t)nest->loops[l].tiles;
		option->order[l] = (uint8_t)nest->order[l];
	}
}

/* Adds a lower bound unless an option covers it; options may come later. */
static void add_least(struct tile_front *front, const struct op_value *value)
{
	for (size_t i = 0; i < front->least.count; i++)
		if (op_value_covers(&front->least.at[i], value))
			return;
	*array_add(front->walk.arena, &front->least) = *value;
}

/* The tiles with one of their nests, if these have room together. */
static void price_nest(struct tile_front *front, size_t i)
{
	struct traffic_op *traffic = &front->walk.traffic;
	struct op_value value, least;
	int64_t room;
	traffic->inner = front->costs[i];
	if (op_value_find(traffic, front->question, &value)) {
		bool fits = streaming_room(traffic, &room) && room <= front->room;
		front->cut |= !op_value_least(traffic, front->question, &value, &least);
		if (fits)
			front_add_tiling(front, &value, &front->nests[i].mapping);
		if (!front->cut && !(fits && op_value_covers(&value, &least)))
			add_least(front, &least);
	}
	traffic->inner = NULL;
}

/* The tiles alone, unless one of two lower bounds of what they cost is covered. */
static void price_tiles(struct tile_front *front)
{
	const struct traffic_op *traffic = &front->walk.traffic;
	struct step_count count;
	struct op_value value;
	if (op_value_least_cycles(traffic, front->question, &count, &value) &&
		!is_covered(front, &value) &&
		op_value_estimate(traffic, front->question, &count, &value) &&
		!is_covered(front, &value) && op_value_raise(traffic, front->question, &value))
		front_add_tiling(front, &value, NULL);
}

static bool visit_order(void *context)
{
	struct tile_front *front = context;
	size_t nests = front->wanted ? front->nest_count : 0;
	if (front->evaluations++ >= front->evaluations_most)
		front->cut = true;
	else if (!front->wanted)
		price_tiles(front);
	for (size_t i = 0; i < nests && !front->cut; i++)
		price_nest(front, i);
	return !front->cut;
}

/* The nests of tiles that are best in cycles and energy, each with what it costs in any order of tiles. */
static void find_nests(struct tile_front *front, const int64_t *factors)
{
	static const struct objectives both = {2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	const struct op_question *question = front->question;
	struct arena *arena = front->walk.arena;
	uint32_t tiles[OP_LOOPS_MOST] = {0};
	uint8_t order[OP_LOOPS_MOST] = {0};
	for (int l = 0; l < question->op->loop_count; l++) {
		tiles[l] = (uint32_t)factors[l];
		order[l] = (uint8_t)l;
	}
	struct mapping mapping = op_map_mapping(question, tiles, order, NULL);
	struct inner_question inner = {.arch = question->arch,
		.workload = question->workload,
		.op = question->op,
		.mapping = &mapping,
		.in_lx = question->in_lx};
	const struct nest_front *nests =
		nests_front(&inner, front->wanted, &both, NEST_STEP_TICKS, arena);
	front->nest_count = nests->count;
	front->nests = nests->at;
	front->costs = arena_array(arena, const struct inner_cost *, nests->count);
	front->cut |= !nests->proven || stopper_stops(&front->wanted->stopper);
	for (size_t i = 0; i < nests->count; i++) {
		mapping = op_map_mapping(question, tiles, order, &nests->at[i].mapping);
		front->costs[i] = inner_cost_make(&inner, arena);
		front->cut |= front->costs[i]->why != NULL;
	}
}

static bool visit_vector(void *context, const struct tile_vector *vector)
{
	struct tile_front *front = context;
	int64_t room;
	if (!vector)
		return !front->cut;
	tile_walk_set(&front->walk, vector->tiles);
	if (!streaming_room(&front->walk.traffic, &room))
		return true;
	front->least_room = number_min(front->least_room, room);
	if (room > front->room)
		return true;
	if (front->wanted)
		find_nests(front, vector->tiles);
	if (!front->cut)
		tile_walk_orders(&front->walk, visit_order, front);
	return !front->cut;
}

struct op_front op_map_front(const struct op_question *question, const struct nests_wanted *wanted,
	uint64_t evaluations_most, struct arena *arena)
{
	struct tile_front *front = arena_new(arena, struct tile_front);
	front->question = question;
	front->wanted = wanted;
	front->room = arch_stream_capacity(question->arch);
	front->least_room = INT64_MAX;
	front->evaluations_most = evaluations_most;
	tile_walk_open(&front->walk, question, arena);
	tile_walk_each(&front->walk, visit_vector, front);
	return (struct op_front){.proven = !front->cut,
		.evaluations = front->evaluations,
		.least_room = front->least_room,
		.count = front->options.count,
		.at = front->options.at,
		.least_count = front->least.count,
		.least = front->least.at};
}
