#include "search/transfer/chunk_order.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdbool.h>
#include <stdlib.h>

/* Something to sort: by key, then by number. */
struct sort_entry {
	int64_t key, number;
};

static int by_key(const void *left, const void *right)
{
	const struct sort_entry *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

const int64_t *order_johnson(const struct chunk_job *jobs, int64_t count, struct arena *arena)
{
	struct sort_entry *entries = arena_array(arena, struct sort_entry, count + 1);
	int64_t *order = arena_array(arena, int64_t, count + 1), first = 0;
	for (int64_t i = 0; i < count; i++)
		if (jobs[i].load < jobs[i].store)
			entries[first++] = (struct sort_entry){jobs[i].load, i};
	int64_t next = first;
	for (int64_t i = 0; i < count; i++)
		if (jobs[i].load >= jobs[i].store)
			entries[next++] = (struct sort_entry){-jobs[i].store, i};
	qsort(entries, (size_t)first, sizeof *entries, by_key);
	qsort(entries + first, (size_t)(count - first), sizeof *entries, by_key);
	for (int64_t i = 0; i < count; i++)
		order[i] = entries[i].number;
	return order;
}

/*
 * Jobs and one of no load and no store, where the tour begins and ends.  Places are by growing
 * store: the one of place k is followed by that of place after[k].  At first the k-th store is
 * followed by the k-th load, which is cheapest but may be several cycles; those are joined
 * by exchanging what follows places k and k + 1, at the least cost first.
 */
struct tour {
	int64_t count; /* with the one of nothing */
	const struct sort_entry *stores,
		*loads; /* sorted; the number of the one of nothing is -1 */
	int64_t *after, *cycle;
};

static int64_t find_cycle(struct tour *tour, int64_t place)
{
	while (tour->cycle[place] != place)
		place = tour->cycle[place] = tour->cycle[tour->cycle[place]];
	return place;
}

static bool join(struct tour *tour, int64_t a, int64_t b)
{
	a = find_cycle(tour, a);
	b = find_cycle(tour, b);
	tour->cycle[a] = b;
	return a != b;
}

static void exchange(struct tour *tour, int64_t place)
{
	int64_t kept = tour->after[place];
	tour->after[place] = tour->after[place + 1];
	tour->after[place + 1] = kept;
}

/* What it costs to exchange at each place, sorted. */
static struct sort_entry *list_exchanges(const struct tour *tour, struct arena *arena)
{
	const struct sort_entry *b = tour->stores, *a = tour->loads;
	struct sort_entry *exchanges = arena_array(arena, struct sort_entry, tour->count);
	for (int64_t k = 0; k + 1 < tour->count; k++) {
		int64_t low = number_max(b[k].key, a[k].key);
		int64_t high = number_min(b[k + 1].key, a[k + 1].key);
		exchanges[k] = (struct sort_entry){number_max(0, high - low), k};
	}
	qsort(exchanges, (size_t)(tour->count - 1), sizeof *exchanges, by_key);
	return exchanges;
}

/* Of the places chosen, those whose load is no less than their store from the last to the first,
 * then the others from the first to the last. */
static void exchange_all(struct tour *tour, const bool *chosen)
{
	for (int64_t k = tour->count - 2; k >= 0; k--)
		if (chosen[k] && tour->stores[k].key <= tour->loads[k].key)
			exchange(tour, k);
	for (int64_t k = 0; k + 1 < tour->count; k++)
		if (chosen[k] && tour->stores[k].key > tour->loads[k].key)
			exchange(tour, k);
}

static struct sort_entry *sorted(
	const struct chunk_job *jobs, int64_t count, bool stores, struct arena *arena)
{
	struct sort_entry *entries = arena_array(arena, struct sort_entry, count + 1);
	for (int64_t i = 0; i < count; i++)
		entries[i] = (struct sort_entry){stores ? jobs[i].store : jobs[i].load, i};
	entries[count] = (struct sort_entry){0, -1};
	qsort(entries, (size_t)count + 1, sizeof *entries, by_key);
	return entries;
}

const int64_t *order_gilmore_gomory(
	const struct chunk_job *jobs, int64_t count, struct arena *arena)
{
	struct tour tour = {.count = count + 1,
		.stores = sorted(jobs, count, true, arena),
		.loads = sorted(jobs, count, false, arena),
		.after = arena_array(arena, int64_t, count + 1),
		.cycle = arena_array(arena, int64_t, count + 1)};
	int64_t *place = arena_array(arena, int64_t, count + 1); /* by number + 1 */
	bool *chosen = arena_array(arena, bool, count + 1);
	int64_t *order = arena_array(arena, int64_t, count + 1);
	for (int64_t k = 0; k <= count; k++) {
		place[tour.stores[k].number + 1] = k;
		tour.cycle[k] = k;
	}
	for (int64_t k = 0; k <= count; k++) {
		tour.after[k] = place[tour.loads[k].number + 1];
		join(&tour, k, tour.after[k]);
	}
	const struct sort_entry *exchanges = list_exchanges(&tour, arena);
	for (int64_t i = 0; i < count; i++) {
		int64_t k = exchanges[i].number;
		chosen[k] = join(&tour, k, k + 1);
	}
	exchange_all(&tour, chosen);
	int64_t at = tour.after[place[0]];
	for (int64_t i = 0; i < count; i++, at = tour.after[at])
		order[i] = tour.stores[at].number;
	return order;
}
