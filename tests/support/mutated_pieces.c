#include "tests/support/mutated_pieces.h"

#include <ctype.h>
#include <string.h>

enum { BRACKETS_MOST = 32 };

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t indent_of(const char *line)
{
	return strspn(line, " ");
}

static bool is_blank(const char *line)
{
	char first = line[indent_of(line)];
	return first == '\n' || first == '#' || !first;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* The end of a line with what stands deeper. */
static const char *block_end(const char *line)
{
	size_t indent = indent_of(line);
	const char *at = next_line(line);
	while (*at && (is_blank(at) || indent_of(at) > indent))
		at = next_line(at);
	return at;
}

static size_t find_blocks(const char *text, struct piece *out)
{
	size_t count = 0, parents[64] = {0};
	for (const char *line = text; *line && count < PIECES_MOST / 2; line = next_line(line)) {
		size_t indent = indent_of(line);
		if (is_blank(line) || indent > 62)
			continue;
		size_t at = (size_t)(line - text);
		for (size_t deeper = indent + 1; deeper < 64; deeper++)
			parents[deeper] = at + 1;
		out[count++] = (struct piece){
			at, (size_t)(block_end(line) - text), (int)indent, parents[indent]};
	}
	return count;
}

static bool begins_comment(const char *text, size_t at)
{
	return text[at] == '#' && (!at || isspace((unsigned char)text[at - 1]));
}

/* Past the closing quote, if there is one on this line. */
static size_t quoted_end(const char *text, size_t at)
{
	size_t end = at + 1 + strcspn(text + at + 1, text[at] == '"' ? "\"\n" : "'\n");
	return text[end] == text[at] ? end : at;
}

static size_t find_entries(const char *text, struct piece *out, size_t most)
{
	size_t count = 0, open[BRACKETS_MOST], from[BRACKETS_MOST];
	int depth = 0;
	for (size_t at = 0; text[at] && count < most; at++) {
		char c = text[at];
		if (begins_comment(text, at)) {
			at += strcspn(text + at, "\n") - 1;
		} else if ((c == '"' || c == '\'') && (!at || !in_word(text[at - 1]))) {
			at = quoted_end(text, at);
		} else if ((c == '{' || c == '[') && depth < BRACKETS_MOST) {
			open[depth] = at;
			from[depth++] = at + 1;
		} else if (depth && (c == ',' || c == '}' || c == ']')) {
			out[count++] = (struct piece){from[depth - 1], at, -1, open[depth - 1]};
			from[depth - 1] = at + 1;
			depth -= c != ',';
		}
	}
	return count;
}

size_t find_pieces(const char *text, struct piece *out)
{
	size_t count = find_blocks(text, out);
	return count + find_entries(text, out + count, PIECES_MOST - count);
}

/* In brackets up to the comma, else up to the end of the line. */
static size_t value_end(const char *text, size_t at, bool in_brackets)
{
	int depth = 0;
	for (; text[at] && text[at] != '\n'; at++) {
		char c = text[at];
		if ((c == '"' || c == '\'') && !in_word(text[at - 1]))
			at = quoted_end(text, at);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth < 0)
			break;
		else if (c == ',' && !depth && in_brackets)
			break;
	}
	return at;
}

size_t find_pairs(const char *text, struct pair *out)
{
	size_t count = 0;
	int depth = 0;
	for (size_t at = 0; text[at] && count < PIECES_MOST; at++) {
		char c = text[at];
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (begins_comment(text, at)) {
			at += strcspn(text + at, "\n") - 1;
			continue;
		}
		if (c != ':' || !at || !in_word(text[at - 1]) || !strchr(" \n", text[at + 1]))
			continue;
		size_t key = at;
		while (key && (in_word(text[key - 1]) || text[key - 1] == '-'))
			key--;
		size_t value = at + 1 + strspn(text + at + 1, " ");
		out[count++] = (struct pair){key, at, value, value_end(text, value, depth > 0)};
	}
	return count;
}

size_t find_words(const char *text, struct piece_word *out)
{
	size_t count = 0;
	for (size_t at = 0; text[at] && count < PIECES_MOST;) {
		if (begins_comment(text, at)) {
			at += strcspn(text + at, "\n");
			continue;
		}
		size_t end = at;
		while (in_word(text[end]))
			end++;
		if (end > at && !isdigit((unsigned char)text[at]))
			out[count++] = (struct piece_word){at, end};
		at = end > at ? end : at + 1;
	}
	return count;
}
