#include "cost/transfer/schedule.h"

#include "cost/transfer/course.h"

/* Out of a rank's own memory into its scratchpad, and back; over one link. */
static const struct leg own = {.stores = 1};
static const struct leg next = {.stores = 1, .remote = 1, .store_hops = 1};

static wide message_time(
	const struct send_schedule *schedule, const struct copy_ticks *ticks, int64_t bytes)
{
	wide send = course_store(ticks, &next, bytes), load = course_load(ticks, &own, bytes);
	wide longer = load > send ? load : send;
	if (schedule->operation == OPERATION_REDUCE)
		longer += course_combine(ticks, bytes);
	return longer;
}

/* The chunks of two lengths, one after the other, into the root's own buffer. */
static wide own_time(const struct copy_ticks *ticks, int64_t chunks, int64_t bytes, int element)
{
	int64_t elements = bytes / element, longer = elements % chunks, size = elements / chunks;
	return (wide)longer * course_store(ticks, &own, (size + 1) * element) +
	       (wide)(chunks - longer) * course_store(ticks, &own, size * element);
}

bool schedule_price(const struct send_schedule *schedule, const struct copy_ticks *ticks,
	int64_t bytes, int element, struct schedule_cost *out)
{
	int64_t begin_bytes = schedule_bytes(bytes, element, schedule->chunks, 1);
	wide begin = course_load(ticks, &own, begin_bytes);
	wide end = begin, root_end = begin, sent = 0;
	int64_t largest = begin_bytes;
	bool pulls = operation_pulls(schedule->operation);
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
	root_end += operation_splits(schedule->operation)
			    ? own_time(ticks, 1, begin_bytes, element)
			    : own_time(ticks, schedule->chunks, bytes, element);
	end = root_end > end ? root_end : end;
	if (end > INT64_MAX || sent > INT64_MAX || largest > INT64_MAX / 2)
		return false;
	*out = (struct schedule_cost){schedule->rounds, (int64_t)end, (int64_t)sent, 2 * largest};
	return true;
}
