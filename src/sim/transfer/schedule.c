#include "sim/transfer/schedule.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "model/machine/topology.h"
#include "sim/transfer/copy.h"

#include <inttypes.h>
#include <string.h>

struct hops hops_open(const struct program *program, struct arena *arena)
{
	return (struct hops){program, arena, arena_array(arena, int *, program->ranks)};
}

int hops_find(struct hops *hops, int root, int rank)
{
	if (rank < 0 || rank >= hops->program->ranks)
		return 0;
	if (!hops->from[root]) {
		const struct topology *topology =
			arch_topology(hops->arena, hops->program->arch, root);
		hops->from[root] = arena_array(hops->arena, int, topology->ranks);
		topology_distances(topology, root, hops->from[root]);
	}
	return hops->from[root][rank];
}

struct rank_state {
	uint8_t *bytes, *given; /* the tensor, and what it was at first; NULL without data */
	int *came;              /* by chunk: the round after which it is there; -1: it is not */
	int *went;          /* of a reduction: the round in which it was sent on; -1: it was not */
	int64_t *sums;      /* likewise: ranks whose parts it holds */
	int sent, received; /* the last round in which */
};

struct exchange {
	const struct send_schedule *schedule;
	const struct topology *topology;
	const struct copy_ticks *ticks;
	struct arena *arena;
	int64_t *starts; /* of chunks, in bytes, and the end of the last */
	struct rank_state *ranks;
	enum element element; /* to add with */
	int *link_used,
		*channels;     /* by link: the last round in which, and messages in that round */
	int64_t root_end;      /* when the root has sent its last */
	struct stop_poll poll; /* of bytes and chunks */
	struct schedule_result result;
};

/* Bytes and chunks between two calls of the stopper. */
enum { STOP_WORK = 1 << 16 };

/* Counts work in bytes or chunks; false once the stopper has ended the execution. */
static bool exchange_go_on(struct exchange *exchange, int64_t work)
{
	exchange->result.stopped = stop_poll_ends(&exchange->poll, (uint64_t)work);
	return !exchange->result.stopped;
}

/* True if a rank has a chunk at first. */
static bool has_at_first(const struct send_schedule *schedule, int rank, int64_t chunk)
{
	switch (schedule->operation) {
	case OPERATION_REDUCE:
		return true;
	case OPERATION_GATHER:
		return rank == (schedule->root + chunk) % schedule->ranks;
	default:
		return rank == schedule->root;
	}
}

static void open_rank(
	struct exchange *exchange, int r, int64_t bytes, bool data, struct random *random)
{
	const struct send_schedule *schedule = exchange->schedule;
	struct rank_state *rank = &exchange->ranks[r];
	struct arena *arena = exchange->arena;
	bool reduces = schedule->operation == OPERATION_REDUCE;
	*rank = (struct rank_state){.bytes = data ? arena_alloc(arena, (size_t)bytes + 1) : NULL,
		.came = arena_array(arena, int, schedule->chunks),
		.went = reduces ? arena_array(arena, int, schedule->chunks) : NULL,
		.sums = reduces ? arena_array(arena, int64_t, schedule->chunks) : NULL,
		.sent = -1,
		.received = -1};
	for (int64_t c = 0; c < schedule->chunks && exchange_go_on(exchange, 1); c++) {
		bool has = has_at_first(schedule, r, c);
		rank->came[c] = has ? 0 : -1;
		if (reduces) {
			rank->went[c] = -1;
			rank->sums[c] = 1;
		}
		for (int64_t i = exchange->starts[c];
			data && has && i < exchange->starts[c + 1] && exchange_go_on(exchange, 1);
			i++)
			rank->bytes[i] = (uint8_t)random_next(random);
	}
	if (data)
		rank->given = arena_copy(arena, rank->bytes, (size_t)bytes + 1);
}

static struct exchange open_exchange(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, const struct stopper *stopper, struct arena *arena)
{
	struct exchange exchange = {.schedule = schedule,
		.poll = {stopper, .every = STOP_WORK},
		.topology = topology,
		.ticks = ticks,
		.arena = arena,
		.starts = arena_array(arena, int64_t, schedule->chunks + 1),
		.ranks = arena_array(arena, struct rank_state, schedule->ranks),
		.element = element == 1   ? ELEMENT_UINT8
			   : element == 2 ? ELEMENT_UINT16
					  : ELEMENT_UINT32,
		.link_used = arena_array(arena, int, topology->link_count + 1),
		.channels = arena_array(arena, int, topology->link_count + 1)};
	struct random random = random_open(seed, 0);
	for (int64_t c = 0; c <= schedule->chunks; c++)
		exchange.starts[c] = schedule_bytes(bytes, element, schedule->chunks, c);
	for (size_t l = 0; l < topology->link_count; l++)
		exchange.link_used[l] = -1;
	for (int r = 0; r < schedule->ranks; r++)
		open_rank(&exchange, r, bytes, data, &random);
	return exchange;
}

/* NULL, or what the message does wrong. */
static const char *take_ways(struct exchange *exchange, const struct message *message)
{
	int link = -1, round = message->round;
	bool inside = message->from >= 0 && message->from < exchange->topology->ranks &&
		      message->to >= 0 && message->to < exchange->topology->ranks;
	if (inside)
		link = topology_link(exchange->topology, message->from, message->to);
	if (link < 0)
		return "they have no link";
	if (exchange->link_used[link] != round)
		exchange->channels[link] = 0;
	if (exchange->channels[link]++ == exchange->topology->channels)
		return "the link is taken";
	exchange->link_used[link] = round;
	if (exchange->topology->ports == PORTS_ALL)
		return NULL;
	if (exchange->ranks[message->from].sent == round)
		return "the sender has one port";
	if (exchange->ranks[message->to].received == round)
		return "the receiver has one port";
	exchange->ranks[message->from].sent = exchange->ranks[message->to].received = round;
	return NULL;
}

static const char *copy_chunk(struct exchange *exchange, const struct message *message, int64_t c)
{
	const struct rank_state *from = &exchange->ranks[message->from];
	struct rank_state *to = &exchange->ranks[message->to];
	int64_t start = exchange->starts[c], size = exchange->starts[c + 1] - start;
	if (from->came[c] < 0 || from->came[c] > message->round)
		return "the sender does not have the chunk yet";
	if (to->came[c] >= 0)
		return "the receiver has the chunk already";
	to->came[c] = message->round + 1;
	if (to->bytes)
		memcpy(&to->bytes[start], &from->bytes[start], (size_t)size);
	return NULL;
}

/* Nothing may come to a part that is sent on in the round or was before it. */
static const char *add_chunk(struct exchange *exchange, const struct message *message, int64_t c)
{
	struct rank_state *from = &exchange->ranks[message->from];
	struct rank_state *to = &exchange->ranks[message->to];
	int64_t start = exchange->starts[c], size = exchange->starts[c + 1] - start;
	if (from->came[c] > message->round)
		return "something is added to the chunk in the same round";
	if (from->went[c] >= 0)
		return "the sender has sent the chunk already";
	if (to->went[c] >= 0)
		return "the receiver has sent the chunk already";
	to->came[c] = message->round + 1;
	from->went[c] = message->round;
	to->sums[c] += from->sums[c];
	if (to->bytes)
		copy_combine(exchange->element, REDUCTION_SUM, &to->bytes[start],
			&from->bytes[start], size / element_bytes(exchange->element));
	return NULL;
}

static const char *exchange_move(struct exchange *exchange, const struct message *message)
{
	int64_t end = message->first + message->count;
	const char *why = NULL;
	if (message->first < 0 || message->count < 1 || end > exchange->schedule->chunks)
		return "it sends chunks that do not exist";
	for (int64_t c = message->first; c < end && !why; c++)
		why = exchange->schedule->operation == OPERATION_REDUCE
			      ? add_chunk(exchange, message, c)
			      : copy_chunk(exchange, message, c);
	int64_t size = exchange->starts[end] - exchange->starts[message->first];
	exchange->result.buffer_bytes = number_max(exchange->result.buffer_bytes, 2 * size);
	exchange->result.link_bytes += size;
	exchange->result.messages++;
	return why;
}

static int64_t exchange_load(const struct exchange *exchange, int64_t bytes)
{
	return copy_time(exchange->ticks->in_latency, bytes, exchange->ticks->in_rate);
}

/* A send, and beside it the load of what is sent next; then the sum. */
static int64_t exchange_message_time(const struct exchange *exchange, const struct message *message)
{
	const struct copy_ticks *ticks = exchange->ticks;
	struct ratio rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	int64_t bytes = exchange->starts[message->first + message->count] -
			exchange->starts[message->first];
	int64_t time = number_max(exchange_load(exchange, bytes),
		copy_time(ticks->out_latency + ticks->link_latency, bytes, rate));
	if (exchange->schedule->operation == OPERATION_REDUCE)
		time += copy_time(ticks->combine_latency, bytes, ticks->combine_rate);
	return time;
}

/* True if a chunk is one that the root stores for itself. */
static bool stores_own(const struct exchange *exchange, int64_t chunk)
{
	enum operation operation = exchange->schedule->operation;
	return chunk == 0 || operation == OPERATION_BROADCAST || operation == OPERATION_REDUCE;
}

/* The root's own buffer, behind all that it sends or gets. */
static void store_own(struct exchange *exchange)
{
	const struct copy_ticks *ticks = exchange->ticks;
	int64_t at = exchange->root_end;
	for (int64_t c = 0; c < exchange->schedule->chunks && stores_own(exchange, c); c++) {
		int64_t bytes = exchange->starts[c + 1] - exchange->starts[c];
		at += copy_time(ticks->out_latency, bytes, ticks->out_rate);
		exchange->result.buffer_bytes =
			number_max(exchange->result.buffer_bytes, 2 * bytes);
	}
	exchange->result.ticks = number_max(exchange->result.ticks, at);
}

/* True if a chunk belongs to a rank at the end. */
static bool send_schedule_belongs(const struct send_schedule *schedule, int rank, int64_t chunk)
{
	switch (schedule->operation) {
	case OPERATION_SCATTER:
		return rank == (schedule->root + chunk) % schedule->ranks;
	case OPERATION_GATHER:
	case OPERATION_REDUCE:
		return rank == schedule->root;
	default:
		return true;
	}
}

/* The bytes of a chunk at the end, out of what all had at first. */
static bool is_right(struct exchange *exchange, int rank, int64_t chunk)
{
	const struct send_schedule *schedule = exchange->schedule;
	int64_t from = exchange->starts[chunk], size = exchange->starts[chunk + 1] - from;
	int owner = schedule->operation == OPERATION_GATHER
			    ? (int)((schedule->root + chunk) % schedule->ranks)
			    : schedule->root;
	uint8_t *right =
		arena_copy(exchange->arena, &exchange->ranks[owner].given[from], (size_t)size + 1);
	for (int r = 0; r < schedule->ranks && schedule->operation == OPERATION_REDUCE; r++)
		if (r != owner)
			copy_combine(exchange->element, REDUCTION_SUM, right,
				&exchange->ranks[r].given[from],
				size / element_bytes(exchange->element));
	return memcmp(right, &exchange->ranks[rank].bytes[from], (size_t)size) == 0;
}

static const char *find_wrong(struct exchange *exchange, int rank, int64_t chunk)
{
	const struct send_schedule *schedule = exchange->schedule;
	struct arena_mark mark = arena_mark(exchange->arena);
	if (!send_schedule_belongs(schedule, rank, chunk))
		return NULL;
	if (exchange->ranks[rank].came[chunk] < 0)
		return arena_format(
			exchange->arena, "chunk %" PRId64 " never comes to rank %d", chunk, rank);
	if (exchange->ranks[rank].sums && exchange->ranks[rank].sums[chunk] != schedule->ranks)
		return arena_format(exchange->arena,
			"chunk %" PRId64 " on rank %d holds the parts of %" PRId64
			" ranks, not of %d",
			chunk, rank, exchange->ranks[rank].sums[chunk], schedule->ranks);
	bool right = !exchange->ranks[rank].bytes || is_right(exchange, rank, chunk);
	arena_release(exchange->arena, mark);
	return right ? NULL : arena_format(exchange->arena, "rank %d has other bytes", rank);
}

static const char *exchange_find_missing(struct exchange *exchange)
{
	const struct send_schedule *schedule = exchange->schedule;
	const char *why = NULL;
	for (int r = 0; r < schedule->ranks && !why; r++)
		for (int64_t c = 0; c < schedule->chunks && !why; c++) {
			int64_t bytes = exchange->starts[c + 1] - exchange->starts[c];
			if (!exchange_go_on(exchange, (1 + bytes) * schedule->ranks))
				return NULL;
			why = find_wrong(exchange, r, c);
		}
	return why;
}

struct schedule_result schedule_run(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, const struct stopper *stopper, struct arena *arena)
{
	struct exchange exchange = open_exchange(
		schedule, topology, ticks, bytes, element, data, seed, stopper, arena);
	int64_t begin = exchange_load(&exchange, exchange.starts[1]);
	struct run_time *times = arena_array(arena, struct run_time, schedule->message_count + 1);
	int round = 0;
	exchange.result.times = times;
	exchange.result.ticks = exchange.root_end = begin;
	for (size_t i = 0; i < schedule->message_count && !exchange.result.fault; i++) {
		const struct message *message = &schedule->messages[i];
		if (!exchange_go_on(&exchange,
			    bytes / number_max(1, schedule->chunks) * message->count + 1))
			break;
		if (message->round != round)
			begin = exchange.result.ticks;
		round = message->round;
		const char *why = take_ways(&exchange, message);
		why = why ? why : exchange_move(&exchange, message);
		if (why) {
			exchange.result.fault = arena_format(arena,
				"round %d, chunk %" PRId64 " from rank %d to rank %d: %s", round,
				message->first, message->from, message->to, why);
			break;
		}
		int64_t end = begin + exchange_message_time(&exchange, message);
		times[i] = (struct run_time){begin, end};
		exchange.result.ticks = number_max(exchange.result.ticks, end);
		if ((operation_pulls(schedule->operation) ? message->to : message->from) ==
			schedule->root)
			exchange.root_end = number_max(exchange.root_end, end);
		exchange.result.rounds = round + 1;
	}
	store_own(&exchange);
	if (!exchange.result.fault)
		exchange.result.fault = exchange_find_missing(&exchange);
	exchange.result.cycles = number_ceil_div(exchange.result.ticks, ticks->per_cycle);
	return exchange.result;
}
