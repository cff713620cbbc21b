#include "base/arena.h"
#include "sim/transfer/copy_signal.h"
#include "sim/transfer/copy_state.h"

#include <string.h>

/* What a stream knew when it set a flag. */
struct notice {
	struct notice *next;
	uint32_t known[];
};

struct pending {
	struct notice *first, *last;
};

struct copy_order {
	struct arena *arena;
	size_t streams;
	uint32_t *known;       /* by stream: of each stream, how many instructions */
	struct pending *flags; /* set and not waited for, in order */
	struct notice *spare;
	struct pending *signals; /* by signal and stream, all of them, in order */
	const struct copy_run *run;
};

struct copy_order *copy_order_open(struct copy_run *run)
{
	struct copy_order *order = arena_new(run->arena, struct copy_order);
	size_t streams = run->program->stream_count;
	*order = (struct copy_order){
		.arena = run->arena,
		.streams = streams,
		.known = arena_array(run->arena, uint32_t, streams * streams),
		.flags = arena_array(run->arena, struct pending, run->program->flag_count),
		.signals = arena_alloc_array(run->arena,
			(size_t)run->program->signal_count * streams, sizeof(struct pending)),
		.run = run,
	};
	return order;
}

static uint32_t *known_by(const struct copy_order *order, size_t stream)
{
	return &order->known[stream * order->streams];
}

void copy_order_step(struct copy_order *order, size_t stream)
{
	known_by(order, stream)[stream]++;
}

/* What the stream knows now, behind the others. */
static void add_notice(struct copy_order *order, struct pending *pending, size_t stream)
{
	size_t bytes = order->streams * sizeof(uint32_t);
	struct notice *notice = order->spare;
	if (notice)
		order->spare = notice->next;
	else
		notice = arena_alloc(order->arena, sizeof *notice + bytes);
	memcpy(notice->known, known_by(order, stream), bytes);
	notice->next = NULL;
	if (pending->first)
		pending->last->next = notice;
	else
		pending->first = notice;
	pending->last = notice;
}

static void learn(struct copy_order *order, size_t stream, const struct notice *notice)
{
	uint32_t *known = known_by(order, stream);
	for (size_t s = 0; s < order->streams; s++)
		if (notice->known[s] > known[s])
			known[s] = notice->known[s];
}

void copy_order_set(struct copy_order *order, size_t stream, int flag)
{
	add_notice(order, &order->flags[flag], stream);
}

void copy_order_wait(struct copy_order *order, size_t stream, int flag)
{
	struct pending *pending = &order->flags[flag];
	struct notice *notice = pending->first;
	pending->first = notice->next;
	learn(order, stream, notice);
	notice->next = order->spare;
	order->spare = notice;
}

void copy_order_notify(struct copy_order *order, size_t stream, int signal)
{
	add_notice(order, &order->signals[(size_t)signal * order->streams + stream], stream);
}

/* Without a stream's n-th notice the others are too few: it has come. */
void copy_order_await(struct copy_order *order, size_t stream, int signal)
{
	const struct copy_signals *signals = order->run->signals;
	int64_t all = copy_signals_all(signals, signal);
	int64_t least = handshake_least(order->run->program->handshake, all);
	for (size_t s = 0; s < order->streams; s++) {
		const struct notice *notice =
			order->signals[(size_t)signal * order->streams + s].first;
		int64_t surely = least - (all - copy_signals_by(signals, signal, s));
		for (int64_t n = 1; n < surely; n++)
			notice = notice->next;
		if (surely > 0)
			learn(order, stream, notice);
	}
}

struct copy_touch copy_order_now(const struct copy_order *order, size_t stream)
{
	return (struct copy_touch){(uint32_t)stream, known_by(order, stream)[stream]};
}

bool copy_order_before(const struct copy_order *order, struct copy_touch touch, size_t stream)
{
	return touch.at <= known_by(order, stream)[touch.stream];
}
