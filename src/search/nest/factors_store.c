#include "search/nest/factors_store.h"

#include "base/array.h"

const struct factors *factors_store_get(struct factors_store *store, struct arena *arena,
	int64_t extent, bool imperfect, int loop_count, const struct factor_bounds *bounds)
{
	if (!store)
		return factors_make(arena, extent, imperfect, loop_count, bounds, NULL);
	for (size_t i = 0; i < store->count; i++)
		if (factors_are(store->at[i], extent, imperfect, loop_count, bounds))
			return store->at[i];
	const struct factors *made =
		factors_make(store->arena, extent, imperfect, loop_count, bounds, &store->stopper);
	if (!made)
		return NULL;
	*array_add(store->arena, store) = made;
	return made;
}
