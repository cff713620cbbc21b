#include "sim/transfer/copy_sync.h"

#include "base/arena.h"

#include <string.h>

/* What one stream did and others see from a time on, with what it knew when it did it. */
struct notice {
	struct notice *next;
	int64_t at;
	size_t stream, i;
	uint32_t known[]; /* by stream: instructions; none without an order */
};

struct notices {
	struct notice *first, *last;
};

struct signal {
	struct notices landed; /* by time, all of them */
	int64_t all;           /* over the whole program; by stream */
	int64_t *by;
};

struct copy_sync {
	const struct copy_program *program;
	struct arena *arena;
	size_t streams;        /* that knowledge is kept of: all or none */
	uint32_t *known;       /* by stream: of each stream, how many instructions */
	struct notices *flags; /* set and not waited for, in order */
	struct signal *signals;
	struct notice *spare;
};

/* How often each stream will notify each signal. */
static void count_notices(struct copy_sync *sync)
{
	const struct copy_program *program = sync->program;
	for (int i = 0; i < program->signal_count; i++)
		sync->signals[i].by = arena_array(sync->arena, int64_t, program->stream_count);
	for (size_t s = 0; program->signal_count && s < program->stream_count; s++)
		for (size_t i = 0; i < program->streams[s].count; i++) {
			const struct copy_instruction *instruction =
				&program->streams[s].instructions[i];
			if (instruction->kind != COPY_NOTIFY)
				continue;
			sync->signals[instruction->flag].by[s]++;
			sync->signals[instruction->flag].all++;
		}
}

struct copy_sync *copy_sync_open(
	const struct copy_program *program, bool ordered, struct arena *arena)
{
	struct copy_sync *sync = arena_new(arena, struct copy_sync);
	size_t streams = ordered ? program->stream_count : 0;
	*sync = (struct copy_sync){.program = program,
		.arena = arena,
		.streams = streams,
		.known = arena_array(arena, uint32_t, streams * streams),
		.flags = arena_array(arena, struct notices, program->flag_count),
		.signals = arena_array(arena, struct signal, program->signal_count)};
	count_notices(sync);
	return sync;
}

static uint32_t *known_by(const struct copy_sync *sync, size_t stream)
{
	return &sync->known[stream * sync->streams];
}

void copy_sync_step(struct copy_sync *sync, size_t stream)
{
	if (sync->streams)
		known_by(sync, stream)[stream]++;
}

/* Behind all that are seen no later. */
static void add_notice(
	struct copy_sync *sync, struct notices *notices, size_t stream, size_t i, int64_t at)
{
	size_t bytes = sync->streams * sizeof(uint32_t);
	struct notice *notice = sync->spare, **link = &notices->first;
	if (notice)
		sync->spare = notice->next;
	else
		notice = arena_alloc(sync->arena, sizeof *notice + bytes);
	notice->at = at;
	notice->stream = stream;
	notice->i = i;
	if (bytes)
		memcpy(notice->known, known_by(sync, stream), bytes);
	if (notices->first && notices->last->at <= at)
		link = &notices->last->next;
	while (*link && (*link)->at <= at)
		link = &(*link)->next;
	notice->next = *link;
	*link = notice;
	if (!notice->next)
		notices->last = notice;
}

static void learn(struct copy_sync *sync, size_t stream, const struct notice *notice)
{
	uint32_t *known = known_by(sync, stream);
	for (size_t s = 0; s < sync->streams; s++)
		if (notice->known[s] > known[s])
			known[s] = notice->known[s];
}

void copy_flag_set(struct copy_sync *sync, int flag, size_t stream, size_t i, int64_t at)
{
	add_notice(sync, &sync->flags[flag], stream, i, at);
}

int64_t copy_flag_seen(const struct copy_sync *sync, int flag)
{
	const struct notice *notice = sync->flags[flag].first;
	return notice ? notice->at : -1;
}

void copy_flag_wait(struct copy_sync *sync, int flag, size_t stream)
{
	struct notice *notice = sync->flags[flag].first;
	sync->flags[flag].first = notice->next;
	learn(sync, stream, notice);
	notice->next = sync->spare;
	sync->spare = notice;
}

bool copy_flag_left(const struct copy_sync *sync, int flag, size_t *stream, size_t *i)
{
	const struct notices *notices = &sync->flags[flag];
	if (!notices->first)
		return false;
	*stream = notices->last->stream;
	*i = notices->last->i;
	return true;
}

void copy_signal_notify(struct copy_sync *sync, int signal, size_t stream, int64_t lands)
{
	add_notice(sync, &sync->signals[signal].landed, stream, 0, lands);
}

int64_t copy_signal_passes(const struct copy_sync *sync, int signal, int64_t from)
{
	const struct handshake *handshake = sync->program->handshake;
	const struct notice *notice = sync->signals[signal].landed.first;
	int64_t count = 0;
	for (; notice && notice->at <= from; notice = notice->next)
		count++;
	if (handshake_passes(handshake, count))
		return from;
	for (; notice; notice = notice->next)
		if (handshake_passes(handshake, ++count))
			return notice->at;
	return -1;
}

/* Without a stream's n-th notice the others are too few: it has come. */
bool copy_signal_await(struct copy_sync *sync, int number, size_t stream)
{
	const struct signal *signal = &sync->signals[number];
	int64_t least = handshake_least(sync->program->handshake, signal->all);
	for (size_t s = 0; least >= 0 && s < sync->streams; s++) {
		int64_t surely = least - (signal->all - signal->by[s]);
		const struct notice *notice = signal->landed.first;
		for (; surely > 0; notice = notice->next)
			if (notice->stream == s && --surely == 0)
				learn(sync, stream, notice);
	}
	return least >= 0;
}

struct copy_touch copy_sync_now(const struct copy_sync *sync, size_t stream)
{
	return (struct copy_touch){(uint32_t)stream, known_by(sync, stream)[stream]};
}

bool copy_sync_before(const struct copy_sync *sync, struct copy_touch touch, size_t stream)
{
	return touch.at <= known_by(sync, stream)[touch.stream];
}
