#include "sim/transfer/copy_signal.h"

#include "base/array.h"

struct signal {
	struct array(int64_t) landed; /* ascending */
	int64_t all;
	int64_t *by; /* by stream */
};

struct copy_signals {
	const struct copy_program *program;
	struct arena *arena;
	struct signal *signals;
};

struct copy_signals *copy_signals_open(const struct copy_program *program, struct arena *arena)
{
	struct copy_signals *out = arena_new(arena, struct copy_signals);
	*out = (struct copy_signals){program, arena,
		arena_alloc_array(arena, (size_t)program->signal_count, sizeof *out->signals)};
	for (int i = 0; i < program->signal_count; i++)
		out->signals[i].by = arena_array(arena, int64_t, program->stream_count);
	for (size_t s = 0; program->signal_count && s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			const struct copy_instruction *instruction =
				&program->streams[s].instructions[i];
			if (instruction->kind != COPY_NOTIFY)
				continue;
			out->signals[instruction->flag].by[s]++;
			out->signals[instruction->flag].all++;
		}
	return out;
}

void copy_signals_notify(struct copy_signals *signals, int number, int64_t lands)
{
	struct signal *signal = &signals->signals[number];
	array_add(signals->arena, &signal->landed);
	size_t at = signal->landed.count - 1;
	for (; at > 0 && signal->landed.at[at - 1] > lands; at--)
		signal->landed.at[at] = signal->landed.at[at - 1];
	signal->landed.at[at] = lands;
}

int64_t copy_signals_passes(const struct copy_signals *signals, int number, int64_t from)
{
	const struct signal *signal = &signals->signals[number];
	const struct handshake *handshake = signals->program->handshake;
	size_t count = 0;
	while (count < signal->landed.count && signal->landed.at[count] <= from)
		count++;
	if (handshake_passes(handshake, (int64_t)count))
		return from;
	while (count < signal->landed.count) {
		int64_t at = signal->landed.at[count++];
		if (handshake_passes(handshake, (int64_t)count))
			return at;
	}
	return -1;
}

int64_t copy_signals_by(const struct copy_signals *signals, int signal, size_t stream)
{
	return signals->signals[signal].by[stream];
}

int64_t copy_signals_all(const struct copy_signals *signals, int signal)
{
	return signals->signals[signal].all;
}
