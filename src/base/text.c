#include "base/text.h"

#include "base/arena.h"
#include "base/fit.h"
#include "base/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t utf8_read(const char *at, size_t left, uint32_t *character)
{
	const unsigned char *bytes = (const unsigned char *)at;
	unsigned char first = bytes[0];
	if (first < 0x80) {
		*character = first;
		return 1;
	}
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length > left)
		return 0;
	uint32_t c = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3fu);
	}
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*character = c;
	return length;
}

size_t utf8_count(const char *bytes, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; count++) {
		uint32_t c;
		size_t size = utf8_read(bytes + i, length - i, &c);
		i += size ? size : 1;
	}
	return count;
}

int utf8_width(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		int width;
	} table[] = {
		{0x0300, 0x036f, 0},   /* combining marks */
		{0x1100, 0x115f, 2},   /* Hangul */
		{0x200b, 0x200f, 0},   /* zero-width characters */
		{0x2e80, 0xa4cf, 2},   /* CJK */
		{0xac00, 0xd7a3, 2},   /* Hangul syllables */
		{0xf900, 0xfaff, 2},   /* CJK compatibility */
		{0xfe00, 0xfe0f, 0},   /* variation selectors */
		{0xfe30, 0xfe6f, 2},   /* CJK compatibility forms */
		{0xfeff, 0xfeff, 0},   /* byte order mark */
		{0xff00, 0xff60, 2},   /* full width */
		{0xffe0, 0xffe6, 2},   /* full width */
		{0x1f300, 0x1faff, 2}, /* pictures */
		{0x20000, 0x3fffd, 2}, /* CJK */
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (c >= table[i].first && c <= table[i].last)
			return table[i].width;
	return 1;
}

size_t utf8_break(const char *at, size_t left)
{
	if (at[0] == '\n')
		return 1;
	if (at[0] == '\r')
		return left > 1 && at[1] == '\n' ? 2 : 1;
	uint32_t c;
	size_t size = (unsigned char)at[0] < 0x80 ? 0 : utf8_read(at, left, &c);
	return size && (c == 0x85 || c == 0x2028 || c == 0x2029) ? size : 0;
}

size_t utf8_special(const char *from, unsigned *number)
{
	const unsigned char *at = (const unsigned char *)from;
	if (at[0] < 0x20 || at[0] == 0x7f)
		*number = at[0];
	else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		*number = at[1];
	else if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
		*number = 0x2000u + (at[2] & 0x3f);
	else if (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf)
		*number = 0xfeff;
	else
		return 0;
	return *number < 0x80 ? 1 : *number < 0x800 ? 2 : 3;
}

void utf8_escape(struct text *text, const char *line)
{
	while (*line) {
		unsigned number;
		size_t length = utf8_special(line, &number);
		if (length > 1 || *line == 0x7f)
			text_add(text, "\\u%04x", number);
		else
			text_bytes(text, line, length = 1);
		line += length;
	}
}

bool utf8_is_obeyed(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

const char *utf8_shown(struct arena *arena, const char *text)
{
	size_t length = strlen(text), from = 0;
	struct text out = text_open(arena);
	for (size_t i = 0; i < length;) {
		uint32_t c = 0;
		size_t size = utf8_read(text + i, length - i, &c);
		if (size && !utf8_is_obeyed(c)) {
			i += size;
			continue;
		}
		text_bytes(&out, text + from, i - from);
		text_add(&out, size ? "\\u%04x" : "\\x%02x",
			size ? (unsigned)c : (unsigned)(unsigned char)text[i]);
		i += size ? size : 1;
		from = i;
	}
	if (!from)
		return text;
	text_bytes(&out, text + from, length - from);
	return text_read(&out);
}

void utf8_put(FILE *file, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0, size; i < length; i += size ? size : 1) {
		uint32_t c = 0;
		size = utf8_read(text + i, length - i, &c);
		if (size && !utf8_is_obeyed(c))
			fwrite(text + i, 1, size, file);
		else
			fprintf(file, size ? "\\u%04x" : "\\x%02x",
				size ? (unsigned)c : (unsigned)(unsigned char)text[i]);
	}
}

void utf8_print(FILE *file, const char *format, ...)
{
	struct arena *arena = arena_open();
	va_list list;
	va_start(list, format);
	utf8_put(file, fit_stream(arena, file, arena_format_list(arena, format, list)));
	va_end(list);
	arena_close(arena);
}

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

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

bool scan_text(const char **at, const char *text)
{
	const char *from = skip_blanks(*at);
	size_t length = strlen(text);
	if (strncmp(from, text, length))
		return false;
	*at = from + length;
	return true;
}

bool scan_integer(const char **at, int64_t *out)
{
	const char *from = skip_blanks(*at);
	size_t length = strspn(from, "0123456789");
	int64_t value = 0;
	for (size_t i = 0; i < length; i++) {
		if (!number_mul(value, 10, &value) || !number_add(value, from[i] - '0', &value))
			return false;
	}
	if (!length)
		return false;
	*at = from + length;
	*out = value;
	return true;
}

bool scan_end(const char **at)
{
	const char *from = skip_blanks(*at);
	if (*from)
		return false;
	*at = from;
	return true;
}
