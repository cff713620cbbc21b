#include "sim/transfer/schedule.h"

#include "base/random.h"
#include "base/wide.h"
#include "sim/transfer/copy_combine.h"

#include <inttypes.h>
#include <string.h>

struct exchange {
	const struct send_schedule *schedule;
	const struct topology *topology;
	const struct copy_ticks *ticks;
	struct arena *arena;
	int64_t *starts; /* of chunks, in bytes, and the end of the last */
	uint8_t **bytes; /* by rank: the tensor */
	int **came;      /* by rank and chunk: the round after which it is there; -1: it is not */
	int **went;      /* of a reduction: the round in which it was sent on; -1: it was not */
	int64_t **sums;  /* likewise: ranks whose parts it holds */
	enum element element;             /* to add with */
	uint8_t **given;                  /* by rank: what it had at first */
	int *link_used, *sent, *received; /* the last round in which, by link and rank */
	int *channels;                    /* by link: messages in that round */
	int64_t root_end;                 /* when the root has sent its last */
	struct schedule_result result;
};

static void divide(struct exchange *ranks, int64_t bytes, int element)
{
	int64_t chunks = ranks->schedule->chunks, elements = bytes / element, at = 0;
	ranks->starts = arena_array(ranks->arena, int64_t, chunks + 1);
	for (int64_t c = 0; c < chunks; c++) {
		ranks->starts[c] = at * element;
		at += elements / chunks + (c < elements % chunks);
	}
	ranks->starts[chunks] = at * element;
}

/* Whether a rank has a chunk at first. */
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
	struct exchange *ranks, int r, int64_t bytes, bool data, struct random *random)
{
	const struct send_schedule *schedule = ranks->schedule;
	struct arena *arena = ranks->arena;
	bool reduces = schedule->operation == OPERATION_REDUCE;
	ranks->bytes[r] = data ? arena_alloc(arena, (size_t)bytes + 1) : NULL;
	ranks->came[r] = arena_array(arena, int, schedule->chunks);
	ranks->went[r] = reduces ? arena_array(arena, int, schedule->chunks) : NULL;
	ranks->sums[r] = reduces ? arena_array(arena, int64_t, schedule->chunks) : NULL;
	for (int64_t c = 0; c < schedule->chunks; c++) {
		bool has = has_at_first(schedule, r, c);
		ranks->came[r][c] = has ? 0 : -1;
		if (reduces) {
			ranks->went[r][c] = -1;
			ranks->sums[r][c] = 1;
		}
		for (int64_t i = ranks->starts[c]; data && has && i < ranks->starts[c + 1]; i++)
			ranks->bytes[r][i] = (uint8_t)random_next(random);
	}
	if (data)
		ranks->given[r] = arena_copy(arena, ranks->bytes[r], (size_t)bytes + 1);
}

static struct exchange open_ranks(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, struct arena *arena)
{
	struct exchange ranks = {
		.schedule = schedule, .topology = topology, .ticks = ticks, .arena = arena};
	struct random random = random_open(seed, 0);
	divide(&ranks, bytes, element);
	ranks.element = element == 1   ? ELEMENT_UINT8
			: element == 2 ? ELEMENT_UINT16
				       : ELEMENT_UINT32;
	ranks.bytes = arena_array(arena, uint8_t *, schedule->ranks);
	ranks.given = arena_array(arena, uint8_t *, schedule->ranks);
	ranks.came = arena_array(arena, int *, schedule->ranks);
	ranks.went = arena_array(arena, int *, schedule->ranks);
	ranks.sums = arena_array(arena, int64_t *, schedule->ranks);
	ranks.link_used = arena_array(arena, int, topology->link_count + 1);
	ranks.channels = arena_array(arena, int, topology->link_count + 1);
	ranks.sent = arena_array(arena, int, schedule->ranks);
	ranks.received = arena_array(arena, int, schedule->ranks);
	for (size_t l = 0; l < topology->link_count; l++)
		ranks.link_used[l] = -1;
	for (int r = 0; r < schedule->ranks; r++) {
		ranks.sent[r] = ranks.received[r] = -1;
		open_rank(&ranks, r, bytes, data, &random);
	}
	return ranks;
}

/* NULL, or what the message does wrong. */
static const char *take_ways(struct exchange *ranks, const struct message *message)
{
	int link = -1, round = message->round;
	bool inside = message->from >= 0 && message->from < ranks->topology->ranks &&
		      message->to >= 0 && message->to < ranks->topology->ranks;
	if (inside)
		link = topology_link(ranks->topology, message->from, message->to);
	if (link < 0)
		return "there is no link";
	if (ranks->link_used[link] != round)
		ranks->channels[link] = 0;
	if (ranks->channels[link]++ == ranks->topology->channels)
		return "the link is taken";
	ranks->link_used[link] = round;
	if (ranks->topology->ports == PORTS_ALL)
		return NULL;
	if (ranks->sent[message->from] == round)
		return "the sender has one port";
	if (ranks->received[message->to] == round)
		return "the receiver has one port";
	ranks->sent[message->from] = ranks->received[message->to] = round;
	return NULL;
}

static const char *copy_chunk(struct exchange *ranks, const struct message *message, int64_t c)
{
	int there = ranks->came[message->from][c];
	int64_t from = ranks->starts[c], to = ranks->starts[c + 1];
	if (there < 0 || there > message->round)
		return "the sender does not have the chunk yet";
	if (ranks->came[message->to][c] >= 0)
		return "the receiver has the chunk already";
	ranks->came[message->to][c] = message->round + 1;
	if (ranks->bytes[message->to])
		memcpy(&ranks->bytes[message->to][from], &ranks->bytes[message->from][from],
			(size_t)(to - from));
	return NULL;
}

/* Nothing may come to a part that is sent on in the round or was before it. */
static const char *add_chunk(struct exchange *ranks, const struct message *message, int64_t c)
{
	int64_t from = ranks->starts[c], size = ranks->starts[c + 1] - from;
	if (ranks->came[message->from][c] > message->round)
		return "something is added to the chunk in the same round";
	if (ranks->went[message->from][c] >= 0)
		return "the sender has sent the chunk already";
	if (ranks->went[message->to][c] >= 0)
		return "the receiver has sent the chunk already";
	ranks->came[message->to][c] = message->round + 1;
	ranks->went[message->from][c] = message->round;
	ranks->sums[message->to][c] += ranks->sums[message->from][c];
	if (ranks->bytes[message->to])
		copy_combine(ranks->element, REDUCTION_SUM, &ranks->bytes[message->to][from],
			&ranks->bytes[message->from][from], size / element_bytes(ranks->element));
	return NULL;
}

static const char *move(struct exchange *ranks, const struct message *message)
{
	int64_t end = message->first + message->count;
	const char *why = NULL;
	if (message->first < 0 || message->count < 1 || end > ranks->schedule->chunks)
		return "there are no such chunks";
	for (int64_t c = message->first; c < end && !why; c++)
		why = ranks->schedule->operation == OPERATION_REDUCE
			      ? add_chunk(ranks, message, c)
			      : copy_chunk(ranks, message, c);
	int64_t size = ranks->starts[end] - ranks->starts[message->first];
	ranks->result.buffer_bytes = number_max(ranks->result.buffer_bytes, 2 * size);
	ranks->result.link_bytes += size;
	ranks->result.messages++;
	return why;
}

static int64_t transfer(int64_t latency, int64_t bytes, struct ratio rate)
{
	int64_t moving = 0;
	if (rate.num)
		ratio_time(bytes, rate, &moving);
	return latency + moving;
}

static int64_t load(const struct exchange *ranks, int64_t bytes)
{
	return transfer(ranks->ticks->in_latency, bytes, ranks->ticks->in_rate);
}

/* A send, and beside it the load of what is sent next; then the sum. */
static int64_t time_of(const struct exchange *ranks, const struct message *message)
{
	const struct copy_ticks *ticks = ranks->ticks;
	struct ratio rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	int64_t bytes =
		ranks->starts[message->first + message->count] - ranks->starts[message->first];
	int64_t time = number_max(load(ranks, bytes),
		transfer(ticks->out_latency + ticks->link_latency, bytes, rate));
	if (ranks->schedule->operation == OPERATION_REDUCE)
		time += transfer(ticks->combine_latency, bytes, ticks->combine_rate);
	return time;
}

/* Whether a chunk is one that the root stores for itself. */
static bool stores_own(const struct exchange *ranks, int64_t chunk)
{
	enum operation operation = ranks->schedule->operation;
	return chunk == 0 || operation == OPERATION_BROADCAST || operation == OPERATION_REDUCE;
}

/* The root's own buffer, behind all that it sends or gets. */
static void store_own(struct exchange *ranks)
{
	const struct copy_ticks *ticks = ranks->ticks;
	int64_t at = ranks->root_end;
	for (int64_t c = 0; c < ranks->schedule->chunks && stores_own(ranks, c); c++) {
		int64_t bytes = ranks->starts[c + 1] - ranks->starts[c];
		at += transfer(ticks->out_latency, bytes, ticks->out_rate);
		ranks->result.buffer_bytes = number_max(ranks->result.buffer_bytes, 2 * bytes);
	}
	ranks->result.ticks = number_max(ranks->result.ticks, at);
}

/* Whether a chunk belongs to a rank at the end. */
static bool belongs(const struct send_schedule *schedule, int rank, int64_t chunk)
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
static bool is_right(struct exchange *ranks, int rank, int64_t chunk)
{
	const struct send_schedule *schedule = ranks->schedule;
	int64_t from = ranks->starts[chunk], size = ranks->starts[chunk + 1] - from;
	int owner = schedule->operation == OPERATION_GATHER
			    ? (int)((schedule->root + chunk) % schedule->ranks)
			    : schedule->root;
	uint8_t *right = arena_copy(ranks->arena, &ranks->given[owner][from], (size_t)size + 1);
	for (int r = 0; r < schedule->ranks && schedule->operation == OPERATION_REDUCE; r++)
		if (r != owner)
			copy_combine(ranks->element, REDUCTION_SUM, right, &ranks->given[r][from],
				size / element_bytes(ranks->element));
	return memcmp(right, &ranks->bytes[rank][from], (size_t)size) == 0;
}

static const char *find_wrong(struct exchange *ranks, int rank, int64_t chunk)
{
	const struct send_schedule *schedule = ranks->schedule;
	struct arena_mark mark = arena_mark(ranks->arena);
	if (!belongs(schedule, rank, chunk))
		return NULL;
	if (ranks->came[rank][chunk] < 0)
		return arena_format(
			ranks->arena, "chunk %" PRId64 " never comes to rank %d", chunk, rank);
	if (ranks->sums[rank] && ranks->sums[rank][chunk] != schedule->ranks)
		return arena_format(ranks->arena,
			"chunk %" PRId64 " on rank %d holds the parts of %" PRId64
			" ranks, not of %d",
			chunk, rank, ranks->sums[rank][chunk], schedule->ranks);
	bool right = !ranks->bytes[rank] || is_right(ranks, rank, chunk);
	arena_release(ranks->arena, mark);
	return right ? NULL : arena_format(ranks->arena, "rank %d has other bytes", rank);
}

static const char *find_missing(struct exchange *ranks)
{
	const struct send_schedule *schedule = ranks->schedule;
	const char *why = NULL;
	for (int r = 0; r < schedule->ranks && !why; r++)
		for (int64_t c = 0; c < schedule->chunks && !why; c++)
			why = find_wrong(ranks, r, c);
	return why;
}

struct schedule_result schedule_run(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, struct arena *arena)
{
	struct exchange ranks =
		open_ranks(schedule, topology, ticks, bytes, element, data, seed, arena);
	int64_t begin = load(&ranks, ranks.starts[1]);
	struct send_time *times = arena_array(arena, struct send_time, schedule->message_count + 1);
	int round = 0;
	ranks.result.times = times;
	ranks.result.ticks = ranks.root_end = begin;
	for (size_t i = 0; i < schedule->message_count && !ranks.result.fault; i++) {
		const struct message *message = &schedule->messages[i];
		if (message->round != round)
			begin = ranks.result.ticks;
		round = message->round;
		const char *why = take_ways(&ranks, message);
		why = why ? why : move(&ranks, message);
		if (why) {
			ranks.result.fault = arena_format(arena,
				"round %d, chunk %" PRId64 " from rank %d to rank %d: %s", round,
				message->first, message->from, message->to, why);
			break;
		}
		int64_t end = begin + time_of(&ranks, message);
		times[i] = (struct send_time){begin, end};
		ranks.result.ticks = number_max(ranks.result.ticks, end);
		if ((operation_pulls(schedule->operation) ? message->to : message->from) ==
			schedule->root)
			ranks.root_end = number_max(ranks.root_end, end);
		ranks.result.rounds = round + 1;
	}
	store_own(&ranks);
	if (!ranks.result.fault)
		ranks.result.fault = find_missing(&ranks);
	ranks.result.cycles = number_ceil_div(ranks.result.ticks, ticks->per_cycle);
	return ranks.result;
}
