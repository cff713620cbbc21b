#include "lower/graph/lower_queues.h"

#include "lower/graph/lower_tiles.h"

#include "base/fatal.h"

enum { POOL_STEP = 256 };

void queue_open(struct queues *queues, enum engine engine, uint64_t mask)
{
	queues->engine = engine;
	queues->mask = mask;
	queues->need_count = 0;
}

static void need(struct queues *queues, size_t number)
{
	queues->followed.at[number] = true;
	queues->needs[queues->need_count++] = (uint32_t)number;
}

void queue_need(struct queues *queues, int core, int64_t number)
{
	if (number < 0 || (size_t)number < queues->phase)
		return;
	const struct instruction *needed = &queues->list.at[number];
	if (!(needed->mask >> core & queues->mask >> core & 1))
		BUG("core %d is not in both masks", core);
	size_t *known = &queues->known[core][queues->engine][needed->engine];
	if (*known > (size_t)number)
		return;
	*known = (size_t)number + 1;
	need(queues, (size_t)number);
}

static bool enter_queues(struct queues *queues, size_t number)
{
	bool follows = false;
	for (uint64_t m = queues->mask; m; m &= m - 1) {
		size_t *tail = &queues->tail[least_core(m)][queues->engine];
		if (*tail) {
			queues->followed.at[*tail - 1] = true;
			follows = true;
		}
		*tail = number + 1;
	}
	return follows;
}

static void sort_needs(struct queues *queues)
{
	for (size_t i = 1; i < queues->need_count; i++) {
		uint32_t number = queues->needs[i];
		size_t at = i;
		for (; at > 0 && queues->needs[at - 1] > number; at--)
			queues->needs[at] = queues->needs[at - 1];
		queues->needs[at] = number;
	}
}

/* Dependences are few and small: they lie close to each other. */
static const uint32_t *keep_needs(struct queues *queues)
{
	if (queues->need_count == 0)
		return NULL;
	if (queues->pool_left < queues->need_count) {
		queues->pool_left = number_max(POOL_STEP, (int64_t)queues->need_count);
		queues->pool = arena_array(queues->arena, uint32_t, queues->pool_left);
	}
	uint32_t *kept = queues->pool;
	memcpy(kept, queues->needs, queues->need_count * sizeof *kept);
	queues->pool += queues->need_count;
	queues->pool_left -= queues->need_count;
	return kept;
}

int64_t queue_close(struct queues *queues, int step, int tile, struct instruction **out)
{
	size_t number = queues->list.count;
	*array_add(queues->scratch, &queues->followed) = false;
	bool follows = queues->engine != ENGINE_SYNC && enter_queues(queues, number);
	if (!follows && queues->need_count == 0 && queues->sync >= 0)
		queues->needs[queues->need_count++] = (uint32_t)queues->sync;
	sort_needs(queues);
	struct instruction *instruction = array_add(queues->scratch, &queues->list);
	*instruction = (struct instruction){
		.engine = queues->engine,
		.step = step,
		.tile = tile,
		.mask = queues->mask,
		.dependence_count = (uint32_t)queues->need_count,
		.dependences = keep_needs(queues),
	};
	if (out)
		*out = instruction;
	return (int64_t)number;
}

void queue_sync(struct queues *queues, int step)
{
	uint64_t mask = 0;
	queue_open(queues, ENGINE_SYNC, 0);
	for (int c = 0; c < PROGRAM_CORES_MOST; c++) {
		for (int e = 0; e < QUEUE_COUNT; e++) {
			size_t tail = queues->tail[c][e];
			if (tail)
				mask |= UINT64_C(1) << c;
			if (tail && !queues->followed.at[tail - 1])
				need(queues, tail - 1);
		}
	}
	queues->mask = mask;
	queues->sync = queue_close(queues, step, -1, NULL);
	queues->phase = queues->list.count;
	memset(queues->tail, 0, sizeof queues->tail);
	memset(queues->known, 0, sizeof queues->known);
}
