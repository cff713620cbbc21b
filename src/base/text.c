#include "base/text.h"

#include "base/arena.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text text_open(struct arena *arena)
{
	return (struct text){.arena = arena};
}

static void reserve(struct text *text, size_t more)
{
	size_t need = text->length + more + 1;
	if (need <= text->capacity)
		return;
	size_t capacity = text->capacity ? text->capacity * 2 : 64;
	while (capacity < need)
		capacity *= 2;
	char *at = arena_alloc(text->arena, capacity);
	if (text->length)
		memcpy(at, text->at, text->length);
	text->at = at;
	text->capacity = capacity;
}

void text_bytes(struct text *text, const char *bytes, size_t count)
{
	reserve(text, count);
	if (count)
		memcpy(text->at + text->length, bytes, count);
	text->length += count;
	text->at[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	reserve(text, (size_t)length);
	vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
	va_end(again);
	text->length += (size_t)length;
}

void text_fold(struct text *text, size_t width, const char *indent, const char *sentence)
{
	size_t column = 0;
	while (*(sentence += strspn(sentence, " "))) {
		size_t length = strcspn(sentence, " ");
		bool begins = column == 0 || column + 1 + length > width;
		if (begins)
			text_add(text, "%s%s", column ? "\n" : "", indent);
		column = begins ? strlen(indent) : column + 1;
		text_add(text, "%s%.*s", begins ? "" : " ", (int)length, sentence);
		column += length;
		sentence += length;
	}
	text_add(text, "\n");
}

const char *text_read(const struct text *text)
{
	return text->at ? text->at : "";
}

const char *text_of_file(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	struct text text = text_open(arena);
	char bytes[4096];
	size_t count;
	while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
		text_bytes(&text, bytes, count);
	int error = ferror(file) ? errno : 0;
	fclose(file);
	errno = error;
	return error ? NULL : text_read(&text);
}

bool text_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
