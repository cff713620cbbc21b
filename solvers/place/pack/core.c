#include "solvers/place/pack/core.h"

#include "base/number.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/pack/shape.h"

#include <stdlib.h>
#include <string.h>

struct reducing {
	struct run *run;
	const struct packing *packing;
	int64_t capacity;
	uint64_t nodes, left; /* for one proof, for all that come */
	bool *set;            /* does not fit */
	bool *trial;
	size_t count;
};

/* In steps; 0: it lives then. */
static uint64_t distance_to(const struct buffer *buffer, int64_t step)
{
	if (buffer->start > step)
		return (uint64_t)buffer->start - (uint64_t)step;
	return buffer->end <= step ? (uint64_t)step - (uint64_t)buffer->end + 1 : 0;
}

/* A child that must take over can be kept if a parent comes in; a set that must not fit with
 * all else that comes has it only together with all of them. */
static void drop_orphans(const struct reducing *reducing, bool *set)
{
	const struct packing *packing = reducing->packing;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < packing->count; i++) {
			const struct buffer *child = &packing->buffers[i];
			if (!set[i] || !child->must_take_over)
				continue;
			for (size_t k = 0; k < child->parent_count && set[i]; k++)
				set[i] = set[child->parents[k]] ||
					 !packing_may_take(packing, i, (size_t)child->parents[k]);
			again |= !set[i];
		}
	}
}

/* If the trial still does not fit, it is the set. */
static bool try_set(struct reducing *reducing)
{
	struct arena *arena = arena_open();
	struct pack_question question = {.packing = reducing->packing,
		.chosen = reducing->trial,
		.capacity = reducing->capacity,
		.nodes = reducing->nodes};
	drop_orphans(reducing, reducing->trial);
	struct pack_answer answer = pack(reducing->run, &question, arena);
	arena_close(arena);
	reducing->left -= reducing->left < answer.nodes + 1 ? reducing->left : answer.nodes + 1;
	if (answer.status != VERDICT_NO)
		return false;
	memcpy(reducing->set, reducing->trial, reducing->count * sizeof *reducing->set);
	return true;
}

/* The smallest window around the step, doubling, whose buffers do not fit. */
static bool find_window(struct reducing *reducing, const bool *chosen, int64_t step)
{
	for (uint64_t reach = 1; reducing->left; reach = reach * 2 + 1) {
		bool all = true;
		for (size_t i = 0; i < reducing->count; i++) {
			bool is_chosen = !chosen || chosen[i];
			reducing->trial[i] =
				is_chosen &&
				distance_to(&reducing->packing->buffers[i], step) <= reach;
			all &= reducing->trial[i] == is_chosen;
		}
		if (try_set(reducing))
			return true;
		if (all)
			return false;
	}
	return false;
}

struct far {
	uint64_t distance;
	int64_t size;
	int buffer;
};

/* The farthest first, of those the smallest. */
static int compare_far(const void *left, const void *right)
{
	const struct far *a = left, *b = right;
	if (a->distance != b->distance)
		return a->distance > b->distance ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* One after the other is left out, as long as the rest does not fit; first in large groups. */
static void leave_out(struct reducing *reducing, int64_t step, struct arena *arena)
{
	struct far *far = arena_array(arena, struct far, reducing->count);
	size_t count = 0;
	for (size_t i = 0; i < reducing->count; i++) {
		const struct buffer *buffer = &reducing->packing->buffers[i];
		if (reducing->set[i])
			far[count++] =
				(struct far){distance_to(buffer, step), buffer->size, (int)i};
	}
	if (count)
		qsort(far, count, sizeof *far, compare_far);
	for (size_t group = count / 4 + 1;; group /= 2) {
		for (size_t k = 0; k < count && reducing->left; k += group) {
			bool changes = false;
			memcpy(reducing->trial, reducing->set, reducing->count * sizeof(bool));
			for (size_t m = k; m < k + group && m < count; m++) {
				changes |= reducing->trial[far[m].buffer];
				reducing->trial[far[m].buffer] = false;
			}
			if (changes)
				try_set(reducing);
		}
		if (group == 1)
			return;
	}
}

struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena)
{
	size_t count = question->packing->count;
	struct arena *scratch = arena_open();
	struct reducing reducing = {run, question->packing, question->capacity,
		PACK_CORE_NODES_LEAST + 2 * proof->nodes, 0, arena_array(scratch, bool, count),
		arena_array(scratch, bool, count), count};
	reducing.left = reducing.nodes * PACK_CORE_PROOFS_MOST;
	struct pack_core core = {0, NULL};
	if (find_window(&reducing, question->chosen, proof->hardest)) {
		int *buffers = arena_array(arena, int, count);
		leave_out(&reducing, proof->hardest, scratch);
		for (size_t i = 0; i < count; i++)
			if (reducing.set[i])
				buffers[core.count++] = (int)i;
		core.buffers = buffers;
	}
	arena_close(scratch);
	return core;
}
