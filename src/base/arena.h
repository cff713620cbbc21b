#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * An arena hands out memory that is freed all at once.  One arena per
 * lifetime: the run, a round, a task, a scratch computation.  Memory comes
 * zeroed and aligned for any type.  Running out of memory, or asking for more
 * than a size_t can count, ends the program with exit status 4: no caller
 * checks for NULL.  An arena belongs to one thread at a time.
 */
struct arena;

struct arena_mark {
	void *block;
	size_t used;
	size_t total;
};

struct arena *arena_open(void);
void arena_close(struct arena *arena); /* NULL is fine */

/* `parent` takes over everything in `child` and closes it: what was handed out
 * lives as long as the parent.  Marks of the child are void; marks of the parent
 * taken before count what came as handed out after. */
void arena_adopt(struct arena *parent, struct arena *child);

void *arena_alloc(struct arena *arena, size_t size);
void *arena_alloc_array(struct arena *arena, size_t count, size_t size);
void *arena_copy(struct arena *arena, const void *bytes, size_t size);
char *arena_text(struct arena *arena, const char *text); /* a copy */
char *arena_format(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_format_list(struct arena *arena, const char *format, va_list list);

/* Everything handed out after the mark is given back. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_release(struct arena *arena, struct arena_mark mark);

/* Bytes handed out and not given back, padding included. */
size_t arena_used(const struct arena *arena);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count)                                                            \
	((type *)arena_alloc_array((arena), (size_t)(count), sizeof(type)))

#endif
