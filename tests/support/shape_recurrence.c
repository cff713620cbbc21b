#include "tests/support/shape_recurrence.h"

#include "base/arena.h"
#include "model/recurrence/recurrence_einsum.h"

bool shape_recurrence(struct arena *arena, const struct shape *shape, struct recurrence *out,
	int *streams, const char **why)
{
	struct recurrence_einsum *einsum = arena_new(arena, struct recurrence_einsum);
	if (!recurrence_einsum_of_shape(arena, shape, einsum, why))
		return false;
	bool good = recurrence_einsum(arena, einsum, out, why);
	int next = 0;
	for (int written = 0; written < 2; written++)
		for (int t = 0; t < shape->space_count; t++)
			if (shape->spaces[t].written == written)
				streams[t] = einsum->streams[next++];
	return good;
}
