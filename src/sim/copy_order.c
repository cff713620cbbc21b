#include "base/arena.h"
#include "sim/copy_state.h"

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

void copy_order_set(struct copy_order *order, size_t stream, int flag)
{
	size_t bytes = order->streams * sizeof(uint32_t);
	struct pending *pending = &order->flags[flag];
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

void copy_order_wait(struct copy_order *order, size_t stream, int flag)
{
	struct pending *pending = &order->flags[flag];
	struct notice *notice = pending->first;
	uint32_t *known = known_by(order, stream);
	pending->first = notice->next;
	for (size_t s = 0; s < order->streams; s++)
		if (notice->known[s] > known[s])
			known[s] = notice->known[s];
	notice->next = order->spare;
	order->spare = notice;
}

struct copy_touch copy_order_now(const struct copy_order *order, size_t stream)
{
	return (struct copy_touch){(uint32_t)stream, known_by(order, stream)[stream]};
}

bool copy_order_before(const struct copy_order *order, struct copy_touch touch, size_t stream)
{
	return touch.at <= known_by(order, stream)[touch.stream];
}
