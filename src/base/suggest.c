#include "base/arena.h"
#include "base/diag.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 }; /* nobody misspells longer words by a letter */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours; case is free. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
	int rows[3][LONGEST + 1];
	int *before = rows[0], *last = rows[1], *now = rows[2];
	for (size_t j = 0; j <= m; j++)
		last[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			char x = lower(a[i - 1]), y = lower(b[j - 1]);
			now[j] = least(last[j - 1] + (x != y), 1 + least(last[j], now[j - 1]));
			if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
				now[j] = least(now[j], before[j - 2] + 1);
		}
		int *row = before;
		before = last;
		last = now;
		now = row;
	}
	return last[m];
}

/* The nearest of the words at most `limit` away; `longer`: or one that `word` begins. */
static const char *nearest_word(
	const char *word, size_t length, const char *const *known, int limit, bool longer)
{
	const char *nearest = NULL;
	int best = 2 * limit + 2;
	for (; *known; known++) {
		size_t size = strlen(*known);
		if (size > LONGEST)
			continue;
		bool begins = longer && length >= 3 && strncasecmp(word, *known, length) == 0;
		int d = distance(word, length, *known, size);
		if (!begins && (d > limit || d >= (int)length))
			continue;
		int rank = 2 * least(d, limit) + !begins;
		if (rank < best) {
			best = rank;
			nearest = *known;
		}
	}
	return nearest;
}

const char *suggest(const char *word, const char *const *known)
{
	size_t length = strlen(word);
	if (length == 0 || length > LONGEST)
		return NULL;
	return nearest_word(word, length, known, 1 + (int)length / 4, true);
}

const char *suggestion(struct arena *arena, const char *near, const char *otherwise)
{
	return near ? arena_format(arena, "; did you mean '%s'?", near) : otherwise;
}

const char *suggest_misspelt(const char *word, const char *const *known)
{
	size_t length = strlen(word);
	if (length == 0 || length > LONGEST)
		return NULL;
	return nearest_word(word, length, known, 1 + (int)length / 8, false);
}
