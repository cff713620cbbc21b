#include "sim/schedule.h"

#include "base/random.h"
#include "base/wide.h"

#include <inttypes.h>
#include <string.h>

struct ranks {
	const struct send_schedule *schedule;
	const struct topology *topology;
	const struct copy_ticks *ticks;
	struct arena *arena;
	int64_t *starts; /* of chunks, in bytes, and the end of the last */
	uint8_t **bytes; /* by rank: the tensor */
	int **came;      /* by rank and chunk: the round after which it is there; -1: it is not */
	int *link_used, *sent, *received; /* the last round in which, by link and rank */
	int *channels;                    /* by link: messages in that round */
	int64_t root_end;                 /* when the root has sent its last */
	struct schedule_result result;
};

static void divide(struct ranks *ranks, int64_t bytes, int element)
{
	int64_t chunks = ranks->schedule->chunks, elements = bytes / element, at = 0;
	ranks->starts = arena_array(ranks->arena, int64_t, chunks + 1);
	for (int64_t c = 0; c < chunks; c++) {
		ranks->starts[c] = at * element;
		at += elements / chunks + (c < elements % chunks);
	}
	ranks->starts[chunks] = at * element;
}

static struct ranks open_ranks(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, struct arena *arena)
{
	struct ranks ranks = {
		.schedule = schedule, .topology = topology, .ticks = ticks, .arena = arena};
	struct random random = random_open(seed, 0);
	divide(&ranks, bytes, element);
	ranks.bytes = arena_array(arena, uint8_t *, schedule->ranks);
	ranks.came = arena_array(arena, int *, schedule->ranks);
	ranks.link_used = arena_array(arena, int, topology->link_count + 1);
	ranks.channels = arena_array(arena, int, topology->link_count + 1);
	ranks.sent = arena_array(arena, int, schedule->ranks);
	ranks.received = arena_array(arena, int, schedule->ranks);
	for (size_t l = 0; l < topology->link_count; l++)
		ranks.link_used[l] = -1;
	for (int r = 0; r < schedule->ranks; r++) {
		ranks.sent[r] = ranks.received[r] = -1;
		ranks.bytes[r] = data ? arena_alloc(arena, (size_t)bytes + 1) : NULL;
		ranks.came[r] = arena_array(arena, int, schedule->chunks);
		for (int64_t c = 0; c < schedule->chunks; c++)
			ranks.came[r][c] = r == schedule->root ? 0 : -1;
	}
	for (int64_t i = 0; data && i < bytes; i++)
		ranks.bytes[schedule->root][i] = (uint8_t)random_next(&random);
	return ranks;
}

/* NULL, or what the message does wrong. */
static const char *take_ways(struct ranks *ranks, const struct message *message)
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

static const char *move(struct ranks *ranks, const struct message *message)
{
	int64_t end = message->first + message->count;
	if (message->first < 0 || message->count < 1 || end > ranks->schedule->chunks)
		return "there are no such chunks";
	for (int64_t c = message->first; c < end; c++) {
		int there = ranks->came[message->from][c];
		if (there < 0 || there > message->round)
			return "the sender does not have the chunk yet";
		if (ranks->came[message->to][c] >= 0)
			return "the receiver has the chunk already";
		ranks->came[message->to][c] = message->round + 1;
	}
	int64_t from = ranks->starts[message->first], to = ranks->starts[end];
	if (ranks->bytes[message->to])
		memcpy(&ranks->bytes[message->to][from], &ranks->bytes[message->from][from],
			(size_t)(to - from));
	ranks->result.buffer_bytes = number_max(ranks->result.buffer_bytes, 2 * (to - from));
	ranks->result.link_bytes += to - from;
	ranks->result.messages++;
	return NULL;
}

static int64_t transfer(int64_t latency, int64_t bytes, struct ratio rate)
{
	int64_t moving = 0;
	if (rate.num)
		ratio_time(bytes, rate, &moving);
	return latency + moving;
}

static int64_t load(const struct ranks *ranks, int64_t bytes)
{
	return transfer(ranks->ticks->in_latency, bytes, ranks->ticks->in_rate);
}

/* A send, and beside it the load of what is sent next. */
static int64_t time_of(const struct ranks *ranks, const struct message *message)
{
	const struct copy_ticks *ticks = ranks->ticks;
	struct ratio rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	int64_t bytes =
		ranks->starts[message->first + message->count] - ranks->starts[message->first];
	return number_max(load(ranks, bytes),
		transfer(ticks->out_latency + ticks->link_latency, bytes, rate));
}

/* The root's own buffer, behind all that it sends. */
static void store_own(struct ranks *ranks)
{
	const struct copy_ticks *ticks = ranks->ticks;
	int64_t at = ranks->root_end;
	for (int64_t c = 0; c < ranks->schedule->chunks; c++) {
		int64_t bytes = ranks->starts[c + 1] - ranks->starts[c];
		at += transfer(ticks->out_latency, bytes, ticks->out_rate);
		ranks->result.buffer_bytes = number_max(ranks->result.buffer_bytes, 2 * bytes);
	}
	ranks->result.ticks = number_max(ranks->result.ticks, at);
}

static const char *find_missing(const struct ranks *ranks, int64_t bytes)
{
	const struct send_schedule *schedule = ranks->schedule;
	for (int r = 0; r < schedule->ranks; r++) {
		for (int64_t c = 0; c < schedule->chunks; c++)
			if (ranks->came[r][c] < 0)
				return arena_format(ranks->arena,
					"chunk %" PRId64 " never comes to rank %d", c, r);
		if (ranks->bytes[r] &&
			memcmp(ranks->bytes[r], ranks->bytes[schedule->root], (size_t)bytes) != 0)
			return arena_format(ranks->arena, "rank %d has other bytes", r);
	}
	return NULL;
}

struct schedule_result schedule_run(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, struct arena *arena)
{
	struct ranks ranks =
		open_ranks(schedule, topology, ticks, bytes, element, data, seed, arena);
	int64_t begin = load(&ranks, ranks.starts[1]);
	int round = 0;
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
		ranks.result.ticks = number_max(ranks.result.ticks, end);
		if (message->from == schedule->root)
			ranks.root_end = number_max(ranks.root_end, end);
		ranks.result.rounds = round + 1;
	}
	store_own(&ranks);
	if (!ranks.result.fault)
		ranks.result.fault = find_missing(&ranks, bytes);
	ranks.result.cycles = number_ceil_div(ranks.result.ticks, ticks->per_cycle);
	return ranks.result;
}
