#include "solvers/place/load.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/packing/packing_sums.h"
#include "solvers/place/packing.h"

/* The topmost of a step needs no padding: the most that any buffer's own is, is left out. */
int64_t packing_load(const struct packing *packing, struct arena *arena)
{
	int64_t step = packing_common_step(packing), least = 0, padding = 0;
	struct arena_mark mark = arena_mark(arena);
	struct packing rounded = *packing;
	struct buffer *buffers = arena_array(arena, struct buffer, packing->count);
	for (size_t i = 0; i < packing->count; i++) {
		buffers[i] = packing->buffers[i];
		int64_t size = buffers[i].size;
		int64_t floor = buffers[i].is_fixed ? buffers[i].address : 0;
		buffers[i].size = number_align_up(size, step);
		least = number_max(least, floor + size);
		padding = number_max(padding, buffers[i].size - size);
	}
	rounded.buffers = buffers;
	struct load_curve curve = load_curve(arena, &rounded, NULL);
	int64_t most = curve.most < curve.count ? curve.steps[curve.most].bytes : 0;
	arena_release(arena, mark);
	return number_max(least, most - padding);
}
