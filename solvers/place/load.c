#include "solvers/place/load.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "solvers/place/packing.h"

#include <stdlib.h>

struct load_change {
	int64_t time;
	wide bytes; /* more from this step on */
};

static int compare_changes(const void *left, const void *right)
{
	const struct load_change *a = left, *b = right;
	return (a->time > b->time) - (a->time < b->time);
}

/* The topmost of a step needs no padding: the most that any buffer's own is, is left out. */
int64_t packing_load(const struct packing *packing, struct arena *arena)
{
	int64_t step = packing_common_step(packing), least = 0, padding = 0;
	struct arena_mark mark = arena_mark(arena);
	struct load_change *changes = arena_array(arena, struct load_change, 2 * packing->count);
	size_t count = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		wide bytes = ((wide)buffer->size + step - 1) / step * step;
		int64_t floor = buffer->is_fixed ? buffer->address : 0, end;
		least = number_max(least, number_add(floor, buffer->size, &end) ? end : INT64_MAX);
		padding = number_max(padding, (int64_t)(bytes - buffer->size));
		bool child = buffer->parent_count > 0;
		if (buffer->start >= buffer->end || (child && buffer->start + 1 == buffer->end))
			continue;
		changes[count++] = (struct load_change){buffer->start + child, bytes};
		changes[count++] = (struct load_change){buffer->end, -bytes};
	}
	if (count)
		qsort(changes, count, sizeof *changes, compare_changes);
	wide live = 0, most = 0;
	for (size_t i = 0; i < count; i++) {
		live += changes[i].bytes;
		if ((i + 1 == count || changes[i + 1].time != changes[i].time) && live > most)
			most = live;
	}
	arena_release(arena, mark);
	most -= padding;
	if (most > INT64_MAX)
		return INT64_MAX;
	return number_max(least, (int64_t)most);
}
