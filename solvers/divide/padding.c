#include "solvers/divide/padding.h"

#include "solvers/divide/distribute.h"

#include "base/arena.h"
#include "base/number.h"

/* Padding a loop lengthens only dimension `dim`, and the stick. */
static bool only_here(const struct iteration *iteration, int operand, int dim, int loop)
{
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++)
		if (d != dim && coordinate_loops(&coordinates->dims[d]) >> loop & 1)
			return false;
	const struct coordinate *coordinate = &coordinates->dims[dim];
	for (int p = 0; p < coordinate->part_count; p++)
		if (coordinate->parts[p].loop == loop && coordinate->parts[p].modulus)
			return false;
	return true;
}

/*
 * No size beyond the next multiple of `cores` helps if that one does not: its
 * largest divisor is `cores` itself, and more elements only lengthen the span.
 */
static bool pad(struct iteration *padded, int operand, int loop, int64_t *splits, int64_t limit,
	int64_t cores, struct span_padding *out)
{
	int64_t first = padded->size[loop] + 1, last = number_align_up(first, cores);
	int64_t grain = padded->stick[loop] ? padded->stick[loop] : 1;
	for (int64_t size = first; size <= last; size++) {
		int64_t split = core_split(size, cores);
		padded->size[loop] = size;
		padded->range[loop] = size * grain;
		splits[loop] = split;
		if (iteration_span(padded, operand, splits) > limit)
			continue;
		*out = (struct span_padding){loop, size * grain, size, split};
		return true;
	}
	return false;
}

struct span_padding padding_find(struct arena *arena, const struct iteration *iteration,
	int operand, const int64_t *least, int64_t limit, int64_t cores)
{
	struct span_padding best = {.loop = -1};
	int dim = iteration_span_dim(iteration, operand, least);
	if (dim < 0)
		return best;
	uint32_t loops = coordinate_loops(&iteration->coordinates[operand].dims[dim]);
	struct arena_mark mark = arena_mark(arena);
	for (int l = 0; l < iteration->loop_count; l++) {
		if (!(loops >> l & 1))
			continue;
		if (best.loop < 0)
			best.loop = l;
		if (!only_here(iteration, operand, dim, l))
			continue;
		struct iteration *padded = arena_copy(arena, iteration, sizeof *iteration);
		int64_t splits[OP_LOOPS_MOST], others = 1;
		for (int k = 0; k < iteration->loop_count; k++) {
			splits[k] = least[k];
			others *= k == l ? 1 : least[k];
		}
		struct span_padding found;
		if (pad(padded, operand, l, splits, limit, number_max(cores / others, 1), &found) &&
			(!best.extent || found.extent - iteration->range[l] <
						 best.extent - iteration->range[best.loop]))
			best = found;
	}
	arena_release(arena, mark);
	return best;
}
