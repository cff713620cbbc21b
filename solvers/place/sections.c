#include "solvers/place/sections.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>

struct moment {
	int64_t at;
	size_t life;
	bool is_start;
};

/* Ends come before starts. */
static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->is_start != b->is_start)
		return a->is_start ? 1 : -1;
	return (a->life > b->life) - (a->life < b->life);
}

int sections_find(size_t count, const struct life *lives, struct stay *stays)
{
	struct arena *arena = arena_open();
	struct moment *moments = arena_array(arena, struct moment, 2 * count);
	for (size_t k = 0; k < count; k++) {
		moments[2 * k] = (struct moment){lives[k].start, k, true};
		moments[2 * k + 1] = (struct moment){lives[k].end, k, false};
	}
	if (count)
		qsort(moments, 2 * count, sizeof *moments, compare_moments);
	bool has_ended = false;
	int section = 0;
	for (size_t m = 0; m < 2 * count; m++) {
		struct stay *stay = &stays[moments[m].life];
		section += moments[m].is_start && has_ended;
		has_ended = !moments[m].is_start;
		if (moments[m].is_start)
			stay->first = section;
		else
			stay->end = section + 1;
	}
	arena_close(arena);
	return count ? section + 1 : 0;
}
