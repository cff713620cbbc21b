#include "base/arena.h"

#include "base/fatal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
	struct block *before;
	size_t size; /* usable bytes behind the header */
	size_t used;
	size_t zeroed; /* bytes from here on were never handed out: still zero */
};

struct arena {
	struct block *last;
	struct block *spare; /* given back by arena_release, for the next need */
	size_t total;
};

enum {
	ALIGNMENT = 16,
	FIRST_BLOCK = 16 * 1024,
	LARGEST_STEP = 4 * 1024 * 1024,
};

static size_t round_up(size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		fatal("out of memory: %zu bytes asked for", size);
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static const size_t header = (sizeof(struct block) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

static struct block *block_open(size_t size, struct block *before)
{
	if (size > SIZE_MAX - header)
		fatal("out of memory: %zu bytes asked for", size);
	struct block *block = calloc(1, header + size);
	if (!block)
		fatal("out of memory: %zu bytes asked for", size);
	block->before = before;
	block->size = size;
	return block;
}

struct arena *arena_open(void)
{
	struct arena *arena = calloc(1, sizeof *arena);
	if (!arena)
		fatal("out of memory");
	return arena;
}

static void free_blocks(struct block *last)
{
	while (last) {
		struct block *before = last->before;
		free(last);
		last = before;
	}
}

void arena_close(struct arena *arena)
{
	if (!arena)
		return;
	free_blocks(arena->last);
	free_blocks(arena->spare);
	free(arena);
}

/* The first spare block that is large enough: fresh memory costs a page fault a page. */
static struct block *take_spare(struct arena *arena, size_t size)
{
	for (struct block **at = &arena->spare; *at; at = &(*at)->before) {
		struct block *block = *at;
		if (block->size < size)
			continue;
		*at = block->before;
		block->before = arena->last;
		return block;
	}
	return NULL;
}

/* The child's blocks go on top: a mark of the parent still finds its own block below. */
void arena_adopt(struct arena *parent, struct arena *child)
{
	struct block *oldest = child->last;
	if (oldest) {
		while (oldest->before)
			oldest = oldest->before;
		oldest->before = parent->last;
		parent->last = child->last;
		parent->total += child->total;
	}
	free_blocks(child->spare);
	free(child);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size = round_up(size ? size : 1);
	struct block *block = arena->last;
	if (!block || block->size - block->used < size) {
		size_t step = block ? block->size * 2 : FIRST_BLOCK;
		if (step > LARGEST_STEP)
			step = LARGEST_STEP;
		struct block *spare = take_spare(arena, size);
		block = arena->last = spare ? spare : block_open(size > step ? size : step, block);
	}
	char *at = (char *)block + header + block->used;
	size_t end = block->used + size;
	if (block->used < block->zeroed) {
		size_t stale = (end < block->zeroed ? end : block->zeroed) - block->used;
		memset(at, 0, stale);
	}
	block->used = end;
	if (block->zeroed < end)
		block->zeroed = end;
	arena->total += size;
	return at;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		fatal("out of memory: %zu elements of %zu bytes asked for", count, size);
	return arena_alloc(arena, count * size);
}

void *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
	void *copy = arena_alloc(arena, size);
	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
	return arena_copy(arena, text, strlen(text) + 1);
}

char *arena_format_list(struct arena *arena, const char *format, va_list list)
{
	va_list again;
	va_copy(again, list);
	size_t size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
	char *text = arena_alloc(arena, size);
	vsnprintf(text, size, format, again);
	va_end(again);
	return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char *text = arena_format_list(arena, format, list);
	va_end(list);
	return text;
}

struct arena_mark arena_mark(const struct arena *arena)
{
	return (struct arena_mark){
		.block = arena->last,
		.used = arena->last ? arena->last->used : 0,
		.total = arena->total,
	};
}

void arena_release(struct arena *arena, struct arena_mark mark)
{
	while (arena->last && arena->last != mark.block) {
		struct block *block = arena->last;
		arena->last = block->before;
		block->used = 0;
		block->before = arena->spare;
		arena->spare = block;
	}
	if (arena->last)
		arena->last->used = mark.used;
	arena->total = mark.total;
}

size_t arena_used(const struct arena *arena)
{
	return arena->total;
}
