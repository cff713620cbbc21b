#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The instructions that wait only for the clock, earliest first, ties to the
 * lower number.  Four children a node: flatter, and a node's children share
 * a cache line.  The caller gives room for as many as can wait at once.
 */
struct event {
	int64_t time; /* ticks */
	uint32_t instruction;
};

struct heap {
	struct event *at;
	size_t count;
};

static inline bool event_before(struct event a, struct event b)
{
	return a.time < b.time || (a.time == b.time && a.instruction < b.instruction);
}

static inline void heap_add(struct heap *heap, struct event event)
{
	size_t i = heap->count++;
	while (i > 0) {
		size_t parent = (i - 1) / 4;
		if (!event_before(event, heap->at[parent]))
			break;
		heap->at[i] = heap->at[parent];
		i = parent;
	}
	heap->at[i] = event;
}

/* Takes the earliest off; the heap must not be empty. */
static inline struct event heap_take(struct heap *heap)
{
	struct event top = heap->at[0], last = heap->at[--heap->count];
	size_t i = 0;
	for (;;) {
		size_t first = 4 * i + 1, least = first;
		if (first >= heap->count)
			break;
		size_t end = first + 4 < heap->count ? first + 4 : heap->count;
		for (size_t child = first + 1; child < end; child++) {
			if (event_before(heap->at[child], heap->at[least]))
				least = child;
		}
		if (!event_before(heap->at[least], last))
			break;
		heap->at[i] = heap->at[least];
		i = least;
	}
	heap->at[i] = last;
	return top;
}

#endif
