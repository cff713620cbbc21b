#include "solvers/place/pack_strand.h"

/* Ways kept of a wall, what happens there, and pairs looked at to list them, at most. */
enum { WAYS_MOST = 24, HAPPENS_MOST = 12, STEPS_MOST = 10000 };

struct outlook {
	struct weave *weave;
	const struct pairs *pairs;
	struct wall *wall;
	int chosen_count;
	uint64_t chosen[HAPPENS_MOST]; /* sets of two ends or more */
	int steps;
	bool is_moot; /* too many ways, or one that asks for nothing */
};

static void add_way(struct outlook *outlook)
{
	struct wall *wall = outlook->wall;
	size_t size = (size_t)outlook->chosen_count * sizeof *outlook->chosen;
	for (int k = 0; k < wall->way_count; k++)
		if (wall->ways[k].count == outlook->chosen_count &&
			!memcmp(wall->ways[k].sets, outlook->chosen, size))
			return;
	outlook->is_moot = wall->way_count == WAYS_MOST || !outlook->chosen_count;
	if (!outlook->is_moot)
		wall->ways[wall->way_count++] = (struct way){outlook->chosen_count,
			arena_copy(outlook->weave->arena, outlook->chosen, size)};
}

static void list_ways(struct outlook *outlook, uint64_t ends, uint64_t begins)
{
	if (!ends || !begins) {
		if (!ends && !begins)
			add_way(outlook);
		return;
	}
	int low = __builtin_ctzll(ends), end = outlook->pairs->first[low + 1];
	for (int k = outlook->pairs->first[low]; k < end && !outlook->is_moot; k++) {
		struct pair pair = outlook->pairs->at[k];
		outlook->is_moot |= ++outlook->steps > STEPS_MOST;
		if ((pair.ends & ~ends) || (pair.begins & ~begins))
			continue;
		bool is_set = pair.ends & (pair.ends - 1);
		if (is_set)
			outlook->chosen[outlook->chosen_count++] = pair.ends;
		list_ways(outlook, ends & ~pair.ends, begins & ~pair.begins);
		outlook->chosen_count -= is_set;
	}
}

static void find_pending(struct weave *weave)
{
	int m = weave->merged.section_count;
	for (int pass = 0; pass < 2; pass++) {
		for (int t = 1; t < m; t++)
			for (int s = weave->walls[t].ready; weave->walls[t].way_count && s < t;
				s++) {
				struct wall *wall = &weave->walls[s];
				if (pass)
					wall->pending[wall->pending_count] = t;
				wall->pending_count++;
			}
		for (int s = 0; !pass && s < m; s++) {
			struct wall *wall = &weave->walls[s];
			wall->pending = arena_array(weave->arena, int, wall->pending_count);
			wall->pending_count = 0;
		}
	}
}

void weave_look_out(struct weave *weave)
{
	for (int t = 1; t < weave->merged.section_count; t++) {
		struct wall *wall = &weave->walls[t];
		if (wall->change || wall->end_count > HAPPENS_MOST ||
			wall->begin_count > HAPPENS_MOST)
			continue;
		struct arena *scratch = arena_open();
		int64_t ends[HAPPENS_MOST], begins[HAPPENS_MOST];
		for (int k = 0; k < wall->end_count; k++)
			ends[k] = weave->sizes.at[wall->ends[k]];
		for (int k = 0; k < wall->begin_count; k++)
			begins[k] = weave->sizes.at[wall->begins[k]];
		struct pairs pairs =
			pairs_find(ends, wall->end_count, begins, wall->begin_count, scratch);
		struct outlook outlook = {.weave = weave, .pairs = &pairs, .wall = wall};
		wall->ways = arena_array(weave->arena, struct way, WAYS_MOST);
		list_ways(&outlook, (UINT64_C(1) << wall->end_count) - 1,
			(UINT64_C(1) << wall->begin_count) - 1);
		if (outlook.is_moot)
			wall->way_count = 0;
		arena_close(scratch);
	}
	find_pending(weave);
}

static const struct tree *follow(struct weave *weave, struct arena *arena, const struct tree *tree,
	const struct wall *wall, const struct way *way)
{
	double freedom;
	int leaves[SIDE_MOST];
	for (int k = 0; tree && k < way->count; k++) {
		int count = weave_part(wall->ends, way->sets[k], leaves);
		weave_spend(weave);
		tree = weave_join(weave, arena, tree, leaves, count, NULL, 0, &freedom);
	}
	return tree;
}

const struct tree *weave_foresee(
	struct weave *weave, struct arena *arena, const struct tree *tree, int from)
{
	for (bool again = true; again;) {
		again = false;
		for (int p = 0; p < weave->walls[from].pending_count; p++) {
			const struct wall *wall = &weave->walls[weave->walls[from].pending[p]];
			const struct tree *only = NULL;
			int good = 0;
			for (int k = 0; k < wall->way_count && good < 2; k++) {
				const struct tree *after =
					follow(weave, arena, tree, wall, &wall->ways[k]);
				good += after != NULL;
				only = after ? after : only;
			}
			if (!good)
				return NULL;
			if (good == 1 && only->hash != tree->hash) {
				tree = only;
				again = true;
			}
		}
	}
	return tree;
}
