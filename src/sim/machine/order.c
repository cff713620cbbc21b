#include "sim/machine/order.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"

#include <assert.h>
#include <string.h>

struct order order_open(size_t count, size_t edges, struct arena *arena)
{
	if (count > INT32_MAX || edges >= UINT32_MAX)
		BUG("%zu instructions are more than an order can number", count);
	struct order order = {.arena = arena, .count = (uint32_t)count};
	order.edges_most = (uint32_t)edges;
	order.nodes = arena_array(arena, struct order_node, count);
	order.edges = arena_array(arena, struct order_edge, edges + 1);
	order.heap.at = arena_array(arena, struct order_event, count);
	order.heap.capacity = count;
	order.done = arena_array(arena, bool, count);
	return order;
}

void order_keep_times(struct order *order)
{
	order->times = arena_array(order->arena, struct run_time, order->count);
	for (uint32_t i = 0; i < order->count; i++)
		order->times[i].end = -1;
}

void order_edge(struct order *order, uint32_t from, uint32_t to, bool late)
{
	uint32_t edge = ++order->edge_count;
	assert(edge <= order->edges_most && from < order->count && to < order->count);
	order->edges[edge] =
		(struct order_edge){.late = late, .to = to, .next = order->nodes[from].followers};
	order->nodes[from].followers = edge;
	order->nodes[to].waiting++;
}

void order_block(struct order *order, uint32_t i)
{
	order->nodes[i].waiting++;
}

static inline bool event_before(const struct order_event *a, const struct order_event *b)
{
	return a->time < b->time || (a->time == b->time && a->instruction < b->instruction);
}

static inline void put_event(struct order *order, struct order_event event)
{
	struct order_events *heap = &order->heap;
	array_add(order->arena, heap);
	heap->count--;
	heap_put(heap->at, heap->count, event, event_before(a, b));
}

void order_again(struct order *order, struct order_event event)
{
	put_event(order, event);
}

void order_start(struct order *order)
{
	for (uint32_t i = 0; i < order->count; i++)
		if (order->nodes[i].waiting == 0)
			put_event(order, (struct order_event){0, i});
}

bool order_next(struct order *order, struct order_event *event)
{
	struct order_events *heap = &order->heap;
	if (heap->count == 0)
		return false;
	*event = heap->at[0];
	heap->at[0] = heap->at[--heap->count];
	heap_sink(heap->at, heap->count, event_before(a, b));
	return true;
}

void order_end(struct order *order, struct order_event event, int64_t end, int64_t delay)
{
	struct order_node *nodes = order->nodes;
	const struct order_edge *edges = order->edges;
	uint32_t i = event.instruction;
	int64_t late = end + delay;
	assert(!order->done[i] && nodes[i].waiting == 0 && end >= event.time);
	order->done[i] = true;
	order->ran++;
	order->end = number_max(order->end, end);
	if (order->times)
		order->times[i] = (struct run_time){event.time, end};
	for (uint32_t e = nodes[i].followers; e;) {
		struct order_edge edge = edges[e];
		struct order_node *node = &nodes[edge.to];
		node->ready = number_max(node->ready, edge.late ? late : end);
		if (--node->waiting == 0)
			put_event(order, (struct order_event){node->ready, edge.to});
		e = edge.next;
	}
}

struct race_reader {
	uint32_t instruction, next;
};

struct seat {
	uint32_t queue, number; /* number 0: in no queue */
};

struct race {
	const struct order *order;
	struct arena *arena;
	struct seat *seats; /* by instruction */
	uint32_t queue_count;
	uint32_t **clocks; /* by instruction; NULL: nothing known, or handed on */
	uint32_t current;
	const uint32_t *clock; /* of the current instruction */
	struct array(uint32_t *) spare;
	struct array(struct race_reader) readers; /* number 0: none */
	uint32_t free_reader;
};

struct race *race_open(const struct order *order, uint32_t queues, struct arena *arena)
{
	struct race *race = arena_new(arena, struct race);
	race->order = order;
	race->arena = arena;
	race->queue_count = queues;
	race->seats = arena_array(arena, struct seat, order->count);
	race->clocks = arena_array(arena, uint32_t *, order->count);
	array_add(arena, &race->readers);
	return race;
}

void race_seat(struct race *race, uint32_t i, uint32_t queue, uint32_t number)
{
	assert(queue < race->queue_count && number > 0);
	race->seats[i] = (struct seat){queue, number};
}

static uint32_t *take_clock(struct race *race)
{
	if (race->spare.count == 0)
		return arena_array(race->arena, uint32_t, race->queue_count);
	uint32_t *clock = race->spare.at[--race->spare.count];
	memset(clock, 0, race->queue_count * sizeof *clock);
	return clock;
}

void race_begin(struct race *race, uint32_t i)
{
	struct seat seat = race->seats[i];
	if (!race->clocks[i])
		race->clocks[i] = take_clock(race);
	if (seat.number)
		race->clocks[i][seat.queue] = seat.number;
	race->current = i;
	race->clock = race->clocks[i];
}

void race_end(struct race *race)
{
	const struct order *order = race->order;
	uint32_t i = race->current, *clock = race->clocks[i];
	bool given = false; /* the clock itself, to the first that has none */
	assert(clock && clock == race->clock);
	race->clocks[i] = NULL;
	for (uint32_t e = order->nodes[i].followers; e; e = order->edges[e].next) {
		uint32_t **into = &race->clocks[order->edges[e].to];
		if (!*into && !given) {
			*into = clock;
			given = true;
			continue;
		}
		if (!*into)
			*into = take_clock(race);
		for (uint32_t q = 0; q < race->queue_count; q++)
			(*into)[q] = (*into)[q] > clock[q] ? (*into)[q] : clock[q];
	}
	if (!given)
		*array_add(race->arena, &race->spare) = clock;
}

uint32_t race_current(const struct race *race)
{
	return race->current;
}

/* True if an instruction must have ended before the current one started, or is that itself. */
static bool is_ordered(const struct race *race, uint32_t earlier)
{
	struct seat seat = race->seats[earlier];
	return seat.number == 0 || race->clock[seat.queue] >= seat.number;
}

static uint32_t take_reader(struct race *race)
{
	uint32_t number = race->free_reader;
	if (number == 0) {
		array_add(race->arena, &race->readers);
		return (uint32_t)race->readers.count - 1;
	}
	race->free_reader = race->readers.at[number].next;
	return number;
}

static void free_reader(struct race *race, uint32_t number)
{
	race->readers.at[number].next = race->free_reader;
	race->free_reader = number;
}

uint32_t race_unordered_writer(const struct race *race, const struct race_mark *mark)
{
	uint32_t writer = race_writer(mark);
	return writer == RACE_NONE || is_ordered(race, writer) ? RACE_NONE : writer;
}

uint32_t race_read(struct race *race, struct race_mark *mark)
{
	uint32_t kept = 0;
	for (uint32_t reader = mark->readers; reader;) {
		uint32_t next = race->readers.at[reader].next;
		if (is_ordered(race, race->readers.at[reader].instruction)) {
			free_reader(race, reader);
		} else {
			race->readers.at[reader].next = kept;
			kept = reader;
		}
		reader = next;
	}
	mark->readers = take_reader(race);
	race->readers.at[mark->readers] = (struct race_reader){race->current, kept};
	return race_unordered_writer(race, mark);
}

struct race_conflict race_write(struct race *race, struct race_mark *mark)
{
	struct race_conflict found = {race_unordered_writer(race, mark), RACE_NONE};
	for (uint32_t reader = mark->readers; reader;) {
		uint32_t next = race->readers.at[reader].next;
		uint32_t instruction = race->readers.at[reader].instruction;
		if (found.reader == RACE_NONE && !is_ordered(race, instruction))
			found.reader = instruction;
		free_reader(race, reader);
		reader = next;
	}
	*mark = (struct race_mark){.writer = race->current + 1};
	return found;
}
