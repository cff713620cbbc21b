#include "base/arena.h"
#include "base/array.h"
#include "cost/graph/streaming.h"
#include "search/graph/op_value.h"
#include "search/graph/tile_walk.h"

struct tile_front {
	const struct op_question *question;
	struct tile_walk walk;
	int64_t room, least_room;
	uint64_t evaluations, evaluations_most;
	bool cut;
	struct array(struct op_option) options;
};

/* Whether a tiling is no worse in every value. */
static bool covers(const struct op_value *a, const struct op_value *b)
{
	return a->cycles <= b->cycles && a->estimate <= b->estimate &&
	       a->hbm_bytes <= b->hbm_bytes && a->energy_pj <= b->energy_pj;
}

/* What is no better than something with no more tiles is not worth keeping. */
static void add(struct tile_front *front, const struct op_value *value)
{
	const struct loopnest *nest = &front->walk.traffic.nest;
	for (size_t i = front->options.count; i > 0; i--)
		if (covers(&front->options.at[i - 1].value, value))
			return;
	struct op_option *option = array_add(front->walk.arena, &front->options);
	*option = (struct op_option){.value = *value};
	for (int l = 0; l < nest->loop_count; l++) {
		option->tiles[l] = (uint32_t)nest->loops[l].tiles;
		option->order[l] = (uint8_t)nest->order[l];
	}
}

static bool visit_order(void *context)
{
	struct tile_front *front = context;
	struct op_value value;
	if (front->evaluations++ >= front->evaluations_most)
		front->cut = true;
	else if (op_value_find(&front->walk.traffic, front->question, &value))
		add(front, &value);
	return !front->cut;
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
	if (room <= front->room)
		tile_walk_orders(&front->walk, visit_order, front);
	return !front->cut;
}

struct op_front op_map_front(
	const struct op_question *question, uint64_t evaluations_most, struct arena *arena)
{
	struct tile_front *front = arena_new(arena, struct tile_front);
	front->question = question;
	front->room = arch_stream_capacity(question->arch);
	front->least_room = INT64_MAX;
	front->evaluations_most = evaluations_most;
	tile_walk_open(&front->walk, question, arena);
	tile_walk_each(&front->walk, visit_vector, front);
	return (struct op_front){.proven = !front->cut,
		.evaluations = front->evaluations,
		.least_room = front->least_room,
		.count = front->options.count,
		.at = front->options.at};
}
