#include "cost/transfer/schedule.h"

#include "base/wide.h"

static wide time_of(int64_t bytes, struct ratio rate)
{
	wide work = (wide)bytes * rate.den;
	return rate.num ? (work + rate.num - 1) / rate.num : 0;
}

static wide load_time(const struct copy_ticks *ticks, int64_t bytes)
{
	return ticks->in_latency + time_of(bytes, ticks->in_rate);
}

static wide message_time(
	const struct send_schedule *schedule, const struct copy_ticks *ticks, int64_t bytes)
{
	struct ratio rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	wide send = ticks->out_latency + ticks->link_latency + time_of(bytes, rate);
	wide load = load_time(ticks, bytes);
	wide longer = load > send ? load : send;
	if (schedule->operation == OPERATION_REDUCE)
		longer += ticks->combine_latency + time_of(bytes, ticks->combine_rate);
	return longer;
}

/* The chunks of two lengths, one after the other, into the root's own buffer. */
static wide own_time(const struct copy_ticks *ticks, int64_t chunks, int64_t bytes, int element)
{
	int64_t elements = bytes / element, longer = elements % chunks, size = elements / chunks;
	return (wide)chunks * ticks->out_latency +
	       (wide)longer * time_of((size + 1) * element, ticks->out_rate) +
	       (wide)(chunks - longer) * time_of(size * element, ticks->out_rate);
}

bool schedule_price(const struct send_schedule *schedule, const struct copy_ticks *ticks,
	int64_t bytes, int element, struct schedule_cost *out)
{
	int64_t begin_bytes = schedule_bytes(bytes, element, schedule->chunks, 1);
	wide begin = load_time(ticks, begin_bytes);
	wide end = begin, root_end = begin, sent = 0;
	int64_t largest = begin_bytes;
	bool pulls = operation_pulls(schedule->operation);
	bool split =
		schedule->operation == OPERATION_SCATTER || schedule->operation == OPERATION_GATHER;
	int round = 0;
	for (size_t i = 0; i < schedule->message_count; i++) {
		const struct message *message = &schedule->messages[i];
		int64_t last = message->first + message->count;
		int64_t size = schedule_bytes(bytes, element, schedule->chunks, last) -
			       schedule_bytes(bytes, element, schedule->chunks, message->first);
		if (message->round != round)
			begin = end;
		round = message->round;
		wide through = begin + message_time(schedule, ticks, size);
		end = through > end ? through : end;
		int end_rank = pulls ? message->to : message->from;
		if (end_rank == schedule->root && through > root_end)
			root_end = through;
		sent += size;
		largest = number_max(largest, size);
	}
	root_end += split ? own_time(ticks, 1, begin_bytes, element)
			  : own_time(ticks, schedule->chunks, bytes, element);
	end = root_end > end ? root_end : end;
	if (end > INT64_MAX || sent > INT64_MAX || largest > INT64_MAX / 2)
		return false;
	*out = (struct schedule_cost){schedule->rounds, (int64_t)end, (int64_t)sent, 2 * largest};
	return true;
}
