#include "solvers/place/peak_bound.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/packing/unfit.h"
#include "solvers/place/pack/pack.h"
#include "solvers/place/packing.h"

/* What lives in steps [from, to), clipped. */
struct clipped {
	struct packing packing; /* without those that can lie at the bottom */
	int64_t bottom;         /* bytes of those */
	bool is_all;            /* nothing lives later, nor, where it grows that way, earlier */
};

/* A multiple of what the addresses are multiples of; 0: too large. */
static int64_t common_multiple(const struct packing *packing)
{
	int64_t multiple = 1;
	for (size_t i = 0; i < packing->count; i++) {
		int64_t step = packing_step(packing, i);
		if (!number_mul(multiple / number_gcd(multiple, step), step, &multiple))
			return 0;
	}
	return multiple;
}

/* Which buffers nothing could share bytes with and that leave all else lawful if it is moved by
 * their size. */
static bool *find_movable(const struct packing *packing, struct arena *arena)
{
	bool *movable = arena_array(arena, bool, packing->count);
	int64_t multiple = common_multiple(packing);
	bool is_bound = packing->reserved_count > 0 || multiple == 0;
	for (size_t i = 0; i < packing->count; i++)
		is_bound |= packing->buffers[i].is_fixed;
	for (size_t i = 0; i < packing->count; i++)
		movable[i] = !is_bound && packing->buffers[i].parent_count == 0 &&
			     packing->buffers[i].size % multiple == 0;
	for (size_t i = 0; i < packing->count; i++)
		for (size_t k = 0; k < packing->buffers[i].parent_count; k++)
			movable[packing->buffers[i].parents[k]] = false;
	return movable;
}

static struct clipped clip(const struct window *window, const bool *movable, int64_t from,
	int64_t to, struct arena *arena)
{
	const struct packing *packing = window->packing;
	struct clipped clipped = {.is_all = true};
	int *kept = arena_array(arena, int, packing->count);
	size_t count = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (buffer->start >= buffer->end)
			continue;
		clipped.is_all &=
			buffer->end <= to && (buffer->start >= from || !window->grows_left);
		if (buffer->start >= to || buffer->end <= from)
			continue;
		if (movable[i] && buffer->start <= from && buffer->end >= to)
			clipped.bottom += buffer->size;
		else
			kept[count++] = (int)i;
	}
	clipped.packing = packing_of_some(arena, packing, count, kept);
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	for (size_t i = 0; i < count; i++) {
		buffers[i] = clipped.packing.buffers[i];
		buffers[i].start = number_max(buffers[i].start, from);
		buffers[i].end = number_min(buffers[i].end, to);
	}
	clipped.packing.buffers = buffers;
	return clipped;
}

static enum verdict ask(struct run *run, struct window *window, const struct packing *packing)
{
	struct pack_question question = {
		.packing = packing, .capacity = packing->capacity, .nodes = window->nodes};
	if (window->bound > window->packing->capacity || packing->count > window->most)
		return VERDICT_OPEN;
	struct arena *arena = arena_open();
	struct pack_answer answer = pack(run, &question, arena);
	window->spent += answer.nodes + 1;
	arena_close(arena);
	return answer.status;
}

void peak_bound(struct run *run, struct window *window)
{
	const struct packing *packing = window->packing;
	struct arena *arena = arena_open();
	const bool *movable = find_movable(packing, arena);
	enum verdict status = VERDICT_YES;
	int64_t from = window->step, to = from + 1;
	bool is_all = false;
	while (status == VERDICT_YES && !is_all) {
		struct arena_mark mark = arena_mark(arena);
		struct clipped clipped = clip(window, movable, from, to, arena);
		is_all = clipped.is_all;
		do {
			clipped.packing.capacity = window->bound - clipped.bottom;
			status = ask(run, window, &clipped.packing);
			if (status == VERDICT_NO)
				window->bound += window->grain;
		} while (status == VERDICT_NO);
		arena_release(arena, mark);
		int64_t width = to - from, left = window->grows_left ? (width + 1) / 2 : 0;
		if (!number_add(from, -left, &from) || !number_add(to, width - left, &to))
			break;
	}
	arena_close(arena);
}
