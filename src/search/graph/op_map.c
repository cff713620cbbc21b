#include "search/graph/op_map.h"

#include "base/arena.h"
#include "base/text.h"
#include "search/engine/kept.h"
#include "search/graph/op_value.h"
#include "search/graph/stream.h"

#include <string.h>

/* --- the question, as what its answer depends on */

static void put(struct text *key, int64_t value)
{
	text_bytes(key, (const char *)&value, sizeof value);
}

static void put_operand(struct text *key, const struct op_question *question, int operand)
{
	const struct access *access = op_operand(question->op, operand);
	const struct layout *layout = &question->workload->tensors[access->tensor].layout;
	put(key, layout->dtype);
	put(key, layout->host_rank << 8 | layout->rank);
	put(key, layout->per_stick);
	for (int d = 0; d < layout->rank; d++) {
		put(key, layout->size[d]);
		put(key, (int64_t)layout->part[d] << 32 | (layout->host_dim[d] + 1));
	}
	for (int h = 0; h < layout->host_rank; h++) {
		put(key, access->host[h].offset);
		for (int l = 0; l < question->op->loop_count; l++)
			put(key, access->host[h].loop[l]);
	}
}

static const char *key_of(const struct op_question *question, struct arena *arena, size_t *size)
{
	const struct op *op = question->op;
	struct text key = text_open(arena);
	put(&key, op->primitive->kind << 8 | op->primitive->unit);
	put(&key, op->primitive->work);
	put(&key, op->loop_count << 16 | op->read_count << 8 | question->by_rule);
	put(&key, (int64_t)question->in_lx << 32 | question->arriving);
	put(&key, question->moved_hbm);
	put(&key, question->moved_fill);
	put(&key, arch_stream_capacity(question->arch));
	for (int l = 0; l < op->loop_count; l++) {
		put(&key, op->loops[l].extent << 1 | op->loops[l].reduction);
		put(&key, mapping_split(question->arch, question->mapping, l));
	}
	for (int i = 0; i < op_operands(op); i++)
		put_operand(&key, question, i);
	*size = key.length;
	return text_read(&key);
}

/* --- the choice of each goal */

/* Whether a tiling is in question for a goal at all. */
static bool may_serve(
	enum tile_goal goal, const struct op_value *value, const struct op_value *published)
{
	double edp = value->energy_pj * (double)value->cycles;
	if (goal == TILES_ALL)
		return value->cycles <= published->cycles &&
		       value->energy_pj <= published->energy_pj &&
		       value->hbm_bytes <= published->hbm_bytes;
	if (goal == TILES_LATENCY)
		return value->cycles <= published->cycles;
	if (goal == TILES_EDP)
		return edp <= published->energy_pj * (double)published->cycles;
	return true;
}

static double worth(enum tile_goal goal, const struct op_value *value)
{
	switch (goal) {
	case TILES_ENERGY:
		return value->energy_pj;
	case TILES_HBM_BYTES:
		return (double)value->hbm_bytes;
	case TILES_EDP:
		return value->energy_pj * (double)value->estimate;
	default:
		return 0;
	}
}

/* What comes so near to the least estimate is as fast. */
static int64_t as_fast(int64_t least)
{
	return least + least / OP_MAP_AS_FAST;
}

/* Options in the order of tiles: the published ones, then the first that is as fast as any. */
static const struct op_option *choose(enum tile_goal goal, const struct op_option *published,
	const struct op_front *front)
{
	double best = worth(goal, &published->value);
	int64_t least = published->value.estimate;
	for (size_t i = 0; i < front->count; i++) {
		const struct op_value *value = &front->at[i].value;
		double own = worth(goal, value);
		if (!may_serve(goal, value, &published->value) || own > best)
			continue;
		least = own < best ? value->estimate : number_min(least, value->estimate);
		best = own;
	}
	if (worth(goal, &published->value) <= best && published->value.estimate <= as_fast(least))
		return published;
	for (size_t i = 0; i < front->count; i++) {
		const struct op_value *value = &front->at[i].value;
		if (may_serve(goal, value, &published->value) && worth(goal, value) <= best &&
			value->estimate <= as_fast(least))
			return &front->at[i];
	}
	return published;
}

static uint8_t keep(struct op_answer *answer, const struct op_option *option)
{
	for (size_t i = 0; i < answer->count; i++)
		if (!memcmp(&answer->at[i], option, sizeof *option))
			return (uint8_t)i;
	answer->at[answer->count] = *option;
	return (uint8_t)answer->count++;
}

/* What the op costs with the published tiles. */
static bool price_published(const struct op_question *question,
	const struct stream_answer *published, struct arena *arena, struct op_option *out)
{
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open(traffic, question->arch, question->workload, question->op, question->mapping,
		question->in_lx);
	traffic->arriving = question->arriving;
	*out = (struct op_option){0};
	for (int l = 0; l < question->op->loop_count; l++) {
		loopnest_tile(&traffic->nest, l, published->tiles[l]);
		traffic->nest.order[l] = published->order[l];
		out->tiles[l] = (uint32_t)published->tiles[l];
		out->order[l] = (uint8_t)published->order[l];
	}
	return op_value_find(traffic, question, &out->value);
}

/* Slices that differ from core to core may be slowest on another core than the moves of their phase. */
static bool may_choose(const struct op_question *question, struct arena *arena)
{
	struct traffic_op *traffic = arena_new(arena, struct traffic_op);
	traffic_open(traffic, question->arch, question->workload, question->op, question->mapping,
		question->in_lx);
	return !question->moved_fill || traffic_is_even(traffic);
}

static struct op_answer find(const struct op_question *question, struct arena *arena)
{
	struct stream_answer published = stream_tiles(question, arena);
	struct op_answer answer = {.found = published.found,
		.least_room = published.least_room,
		.evaluations = published.evaluations};
	struct op_option first;
	struct op_front front = {0};
	if (!published.found)
		return answer;
	if (price_published(question, &published, arena, &first) && !question->by_rule &&
		may_choose(question, arena))
		front = op_map_front(question, arena);
	answer.proven = front.proven;
	answer.evaluations += front.evaluations;
	for (int goal = 0; goal < TILE_GOALS; goal++)
		answer.choice[goal] = keep(&answer,
			goal == TILES_PUBLISHED ? &first
						: choose((enum tile_goal)goal, &first, &front));
	return answer;
}

const struct op_answer *op_map(
	struct kept *kept, const struct op_question *question, struct arena *arena)
{
	size_t size;
	const char *key = key_of(question, arena, &size);
	const struct op_answer *known = kept ? kept_find(kept, key, size) : NULL;
	if (known)
		return known;
	struct op_answer *answer = arena_new(arena, struct op_answer);
	struct arena_mark mark = arena_mark(arena);
	*answer = find(question, arena);
	arena_release(arena, mark);
	return kept ? kept_add(kept, key, size, answer, sizeof *answer) : answer;
}
