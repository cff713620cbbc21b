#include "model/transfer/schedule.h"

const struct send_schedule *schedule_make(
	struct arena *arena, const struct synthesis *synthesis, const struct messages *messages)
{
	const struct topology *topology = synthesis->topology;
	struct send_schedule *schedule = arena_new(arena, struct send_schedule);
	struct message *sorted = arena_array(arena, struct message, messages->count + 1);
	*schedule = (struct send_schedule){.ranks = topology->ranks,
		.root = topology->root,
		.chunks = synthesis->chunks,
		.message_count = messages->count,
		.messages = sorted};
	for (size_t i = 0; i < messages->count; i++)
		if (messages->at[i].round >= schedule->rounds)
			schedule->rounds = messages->at[i].round + 1;
	size_t *next = arena_array(arena, size_t, schedule->rounds + 1);
	for (size_t i = 0; i < messages->count; i++)
		next[messages->at[i].round + 1]++;
	for (int r = 0; r < schedule->rounds; r++)
		next[r + 1] += next[r];
	for (size_t i = 0; i < messages->count; i++)
		sorted[next[messages->at[i].round]++] = messages->at[i];
	return schedule;
}

const struct send_schedule *schedule_reverse(
	struct arena *arena, const struct send_schedule *schedule)
{
	struct send_schedule *reverse = arena_copy(arena, schedule, sizeof *reverse);
	size_t count = schedule->message_count;
	struct message *messages = arena_array(arena, struct message, count + 1);
	reverse->operation =
		schedule->operation == OPERATION_SCATTER ? OPERATION_GATHER : OPERATION_REDUCE;
	for (size_t i = 0; i < count; i++) {
		const struct message *message = &schedule->messages[count - 1 - i];
		messages[i] = (struct message){schedule->rounds - 1 - message->round, message->to,
			message->from, message->first, message->count};
	}
	reverse->messages = messages;
	return reverse;
}

int64_t schedule_bytes(int64_t bytes, int element, int64_t chunks, int64_t first)
{
	int64_t elements = bytes / element, longer = elements % chunks;
	return element * (first * (elements / chunks) + number_min(first, longer));
}
