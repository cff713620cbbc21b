#include "cost/schedule.h"

#include "base/text.h"
#include "base/wide.h"

static wide message_time(const struct copy_ticks *ticks, int64_t bytes)
{
	struct ratio rate = ticks->link_rate.num ? ticks->link_rate : ticks->out_rate;
	wide work = (wide)bytes * rate.den;
	wide moving = rate.num ? (work + rate.num - 1) / rate.num : 0;
	return ticks->out_latency + ticks->link_latency + moving;
}

bool schedule_price(const struct send_schedule *schedule, const struct copy_ticks *ticks,
	int64_t bytes, int element, struct schedule_cost *out)
{
	wide total = 0, longest = 0, sent = 0;
	int round = 0;
	for (size_t i = 0; i < schedule->message_count; i++) {
		const struct message *message = &schedule->messages[i];
		int64_t end = message->first + message->count;
		int64_t size = schedule_bytes(bytes, element, schedule->chunks, end) -
			       schedule_bytes(bytes, element, schedule->chunks, message->first);
		wide time = message_time(ticks, size);
		if (message->round != round) {
			total += longest;
			longest = 0;
			round = message->round;
		}
		longest = time > longest ? time : longest;
		sent += size;
	}
	total += longest;
	if (total > INT64_MAX || sent > INT64_MAX)
		return false;
	*out = (struct schedule_cost){schedule->rounds, (int64_t)total, (int64_t)sent};
	return true;
}

static int64_t log2_up(int ranks)
{
	int64_t q = 0;
	while ((INT64_C(1) << q) < ranks)
		q++;
	return q;
}

/* The longest way down a tree in heap order. */
static int64_t heap_height(int ranks)
{
	int64_t most = 0;
	for (int rank = 1; rank < ranks; rank++) {
		int64_t height = 0;
		for (int at = rank; at > 0; at = (at - 1) / 2)
			height += at % 2 ? 1 : 2;
		most = number_max(most, height);
	}
	return most;
}

int64_t algorithm_rounds(const char *algorithm, int ranks, int64_t chunks)
{
	if (ranks == 1)
		return 0;
	if (text_equal(algorithm, "flat"))
		return (ranks - 1) * chunks;
	if (text_equal(algorithm, "chain"))
		return chunks + ranks - 2;
	if (text_equal(algorithm, "binomial"))
		return log2_up(ranks) * chunks;
	if (text_equal(algorithm, "binary_tree"))
		return ranks == 2 ? chunks : 2 * (chunks - 1) + heap_height(ranks);
	if (text_equal(algorithm, "round_optimal"))
		return chunks - 1 + log2_up(ranks);
	return -1;
}
