#include "search/drive/refusals.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void refusals_add(struct refusals *refusals, struct arena *arena, const char *why, uint64_t count)
{
	for (size_t i = 0; i < refusals->count; i++)
		if (strcmp(refusals->at[i].why, why) == 0) {
			refusals->at[i].count += count;
			return;
		}
	*array_add(arena, refusals) = (struct refusal){arena_text(arena, why), count};
}

static int more_frequent(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->why, y->why);
}

void refusals_sort(struct refusals *refusals)
{
	if (refusals->count)
		qsort(refusals->at, refusals->count, sizeof *refusals->at, more_frequent);
}

const char **refusals_lines(const struct refusals *refusals, struct arena *arena)
{
	const char **lines = arena_array(arena, const char *, refusals->count);
	for (size_t i = 0; i < refusals->count; i++)
		lines[i] = arena_format(arena, "%s (%llu candidates)", refusals->at[i].why,
			(unsigned long long)refusals->at[i].count);
	return lines;
}
