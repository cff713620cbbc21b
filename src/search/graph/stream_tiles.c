#include "base/array.h"
#include "cost/graph/streaming.h"
#include "search/graph/stream.h"
#include "search/graph/tile_walk.h"

#include <string.h>

/*
 * Tilings are tried by ascending number of tiles, then passes, then factors.
 * Among those with the fewest HBM bytes so far, only the ones that are faster than
 * all before are worth keeping: the answer is the first that is fast enough, and
 * for every meaning of that, it is one of these.
 */
struct tile_record {
	int64_t tiles[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST];
	int64_t cycles, tile_count;
};

struct tile_search {
	struct tile_walk walk;
	int64_t room, least_room;
	int64_t least_hbm, best_hbm;
	int64_t hbm; /* the fewest bytes of the tiles that are set */
	int *order;  /* where that order goes */
	uint64_t evaluations;
	struct array(struct tile_record) records;
};

static bool price(void *context)
{
	struct tile_search *search = context;
	const struct traffic_op *traffic = &search->walk.traffic;
	int64_t hbm;
	search->evaluations++;
	if (!streaming_hbm(traffic, &hbm))
		return true;
	if (hbm < search->hbm) {
		search->hbm = hbm;
		memcpy(search->order, traffic->nest.order, sizeof traffic->nest.order);
	}
	return search->hbm > search->least_hbm;
}

/* The least order of the fewest HBM bytes for the tiles that are set. */
static int64_t find_order(struct tile_search *search, int *order)
{
	search->hbm = INT64_MAX;
	search->order = order;
	tile_walk_orders(&search->walk, price, search);
	return search->hbm;
}

static bool is_faster(const struct tile_search *search, int64_t cycles)
{
	size_t count = search->records.count;
	return count == 0 || cycles < search->records.at[count - 1].cycles;
}

static void try_vector(struct tile_search *search, const struct tile_vector *vector)
{
	struct tile_record record = {.tile_count = vector->tile_count};
	int64_t room;
	tile_walk_set(&search->walk, vector->tiles);
	memcpy(record.tiles, vector->tiles, sizeof record.tiles);
	search->evaluations++;
	if (!streaming_room(&search->walk.traffic, &room))
		return;
	search->least_room = number_min(search->least_room, room);
	if (room > search->room)
		return;
	if (search->best_hbm <= search->least_hbm &&
		(!streaming_estimate(&search->walk.traffic, search->best_hbm, &record.cycles) ||
			!is_faster(search, record.cycles)))
		return;
	int64_t hbm = find_order(search, record.order);
	if (hbm == INT64_MAX || hbm > search->best_hbm ||
		!streaming_estimate(&search->walk.traffic, hbm, &record.cycles))
		return;
	if (hbm < search->best_hbm) {
		search->best_hbm = hbm;
		search->records.count = 0;
	}
	if (is_faster(search, record.cycles))
		*array_add(search->walk.arena, &search->records) = record;
}

/* Cycles of the step if everything overlapped; 0: not countable. */
static int64_t find_bound(struct tile_search *search)
{
	int64_t cycles;
	tile_walk_set(&search->walk, NULL);
	return streaming_bound(&search->walk.traffic, search->best_hbm, &cycles) ? cycles : 0;
}

static bool is_settled(struct tile_search *search)
{
	if (search->records.count == 0 || search->best_hbm > search->least_hbm)
		return false;
	int64_t bound = find_bound(search);
	return !is_faster(search, bound + bound / 8);
}

static const struct tile_record *choose(struct tile_search *search)
{
	size_t count = search->records.count, i = 0;
	if (count == 0)
		return NULL;
	int64_t bound = find_bound(search), most = bound + bound / 8;
	if (search->records.at[count - 1].cycles > most)
		most = search->records.at[count - 1].cycles + bound / 16;
	while (search->records.at[i].cycles > most)
		i++;
	return &search->records.at[i];
}

static bool visit(void *context, const struct tile_vector *vector)
{
	struct tile_search *search = context;
	if (!vector)
		return !is_settled(search);
	try_vector(search, vector);
	return true;
}

struct stream_answer stream_tiles(const struct op_question *question, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct tile_search *search = arena_new(arena, struct tile_search);
	struct stream_answer answer = {.least_room = INT64_MAX};
	const struct tile_record *record = NULL;
	search->room = arch_stream_capacity(question->arch);
	search->least_room = search->best_hbm = INT64_MAX;
	tile_walk_open(&search->walk, question, arena);
	if (streaming_least(&search->walk.traffic, &search->least_hbm)) {
		tile_walk_each(&search->walk, visit, search);
		record = choose(search);
	}
	answer.least_room = search->least_room;
	answer.evaluations = search->evaluations;
	answer.constrained = search->walk.constrained;
	if (record) {
		answer.found = true;
		answer.hbm_bytes = search->best_hbm;
		answer.cycles = record->cycles;
		answer.tile_count = record->tile_count;
		memcpy(answer.tiles, record->tiles, sizeof answer.tiles);
		memcpy(answer.order, record->order, sizeof answer.order);
	}
	arena_release(arena, mark);
	return answer;
}
