#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing string in an arena; `at` is always terminated once text was added.
 * Growing moves it; the old place stays allotted until the arena ends.
 */
struct arena;

struct text {
	struct arena *arena;
	char *at;
	size_t length, capacity;
};

struct text text_open(struct arena *arena);
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a sentence in lines of at most `width` columns, each after `indent`; a longer word has a line of its own. */
void text_fold(struct text *text, size_t width, const char *indent, const char *sentence);
void text_bytes(struct text *text, const char *bytes, size_t count);

/* The string so far; "" when nothing was added. */
const char *text_read(const struct text *text);

/* All bytes of a file; NULL, with errno, if it cannot be read. */
const char *text_of_file(struct arena *arena, const char *path);

/* The same bytes; neither may be NULL. */
bool text_equal(const char *a, const char *b);

#endif
