#include "solvers/place/pack_weave.h"

#include "solvers/place/pack_strand.h"

#include <stdlib.h>

const struct tree *weave_leaf(const struct weave *weave, struct arena *arena, int leaf)
{
	uint64_t last = leaf < weave->merged.block_count ? (uint64_t)weave->last[leaf] : 0;
	uint64_t size = (uint64_t)weave->sizes.at[leaf];
	return tree_leaf(arena, leaf, last * UINT64_C(0x9e3779b97f4a7c15) + size);
}

int weave_waste(struct weave *weave, int64_t size)
{
	*array_add(weave->arena, &weave->sizes) = size;
	if (weave->sizes.count > weave->marked_room) {
		weave->marked_room = 2 * weave->sizes.count;
		weave->marked = arena_array(weave->arena, bool, weave->marked_room);
	}
	return (int)weave->sizes.count - 1;
}

const struct tree *weave_join(struct weave *weave, struct arena *arena, const struct tree *tree,
	const int *ends, int end_count, const int *begins, int begin_count, double *freedom)
{
	struct tree_set set = {weave->marked, 0, end_count};
	const struct tree *instead = NULL, *leaves[SIDE_MOST];
	for (int k = 0; k < end_count; k++) {
		weave->marked[ends[k]] = true;
		set.some |= UINT64_C(1) << (ends[k] % 64);
	}
	for (int k = 0; k < begin_count; k++)
		leaves[k] = weave_leaf(weave, arena, begins[k]);
	if (begin_count)
		instead = tree_any(arena, leaves, begin_count);
	const struct tree *after = tree_together(arena, tree, &set, instead, freedom);
	for (int k = 0; k < end_count; k++)
		weave->marked[ends[k]] = false;
	return after;
}

int weave_part(const int *leaves, uint64_t part, int *out)
{
	int count = 0;
	for (; part; part &= part - 1)
		out[count++] = leaves[__builtin_ctzll(part)];
	return count;
}

void weave_leaves(const struct weave *weave, const struct crossing *crossing, struct leaves *leaves)
{
	const struct wall *wall = &weave->walls[crossing->wall];
	leaves->end_count = leaves->begin_count = 0;
	for (int k = 0; k < wall->end_count; k++)
		leaves->ends[leaves->end_count++] = wall->ends[k];
	for (int k = 0; k < crossing->out_count; k++)
		leaves->ends[leaves->end_count++] = crossing->outs[k];
	for (int k = 0; k < wall->begin_count; k++)
		leaves->begins[leaves->begin_count++] = wall->begins[k];
	for (int k = 0; k < crossing->in_count; k++)
		leaves->begins[leaves->begin_count++] = crossing->ins[k];
}

const struct pairs *weave_pairs(
	struct weave *weave, const struct crossing *crossing, const struct leaves *leaves)
{
	int64_t sizes[2 * CHANGES_MOST], ends[SIDE_MOST], begins[SIDE_MOST];
	int count = 0;
	for (int k = 0; k < crossing->out_count; k++)
		sizes[count++] = weave->sizes.at[crossing->outs[k]];
	for (int k = 0; k < crossing->in_count; k++)
		sizes[count++] = weave->sizes.at[crossing->ins[k]];
	for (size_t k = 0; k < weave->known.count; k++) {
		const struct known_pairs *known = weave->known.at[k];
		if (known->out_count == crossing->out_count &&
			known->in_count == crossing->in_count &&
			!memcmp(known->sizes, sizes, (size_t)count * sizeof *sizes))
			return &known->pairs;
	}
	for (int k = 0; k < leaves->end_count; k++)
		ends[k] = weave->sizes.at[leaves->ends[k]];
	for (int k = 0; k < leaves->begin_count; k++)
		begins[k] = weave->sizes.at[leaves->begins[k]];
	struct known_pairs *known = arena_new(weave->known_arena, struct known_pairs);
	known->out_count = crossing->out_count;
	known->in_count = crossing->in_count;
	memcpy(known->sizes, sizes, (size_t)count * sizeof *sizes);
	known->pairs = pairs_find(
		ends, leaves->end_count, begins, leaves->begin_count, weave->known_arena);
	*array_add(weave->known_arena, &weave->known) = known;
	return &known->pairs;
}

const struct tree *weave_join_groups(struct weave *weave, struct arena *arena,
	const struct tree *tree, const struct crossing *crossing, bool begins)
{
	struct leaves leaves;
	weave_leaves(weave, crossing, &leaves);
	for (int g = 0; g < crossing->group_count; g++) {
		int outs[SIDE_MOST], ins[SIDE_MOST];
		int out_count = weave_part(leaves.ends, crossing->groups[g].ends, outs);
		int in_count = weave_part(leaves.begins, crossing->groups[g].begins, ins);
		double freedom;
		tree = weave_join(
			weave, arena, tree, outs, out_count, ins, begins ? in_count : 0, &freedom);
	}
	return tree;
}

const struct tree *weave_begin(
	const struct weave *weave, struct arena *arena, const int *wastes, int count)
{
	const struct wall *wall = &weave->walls[0];
	int blocks = wall->begin_count;
	const struct tree **leaves = arena_array(arena, const struct tree *, blocks + count);
	for (int k = 0; k < blocks; k++)
		leaves[k] = weave_leaf(weave, arena, wall->begins[k]);
	for (int k = 0; k < count; k++)
		leaves[blocks + k] = weave_leaf(weave, arena, wastes[k]);
	return tree_any(arena, leaves, blocks + count);
}

/* All items may lie anywhere, and what is to spare changes at no more than a quarter of the walls. */
static bool is_plain(const struct room *room)
{
	int changes = 0;
	for (int s = 0; s < room->section_count; s++) {
		int64_t spare = room_spare(room, s);
		if (spare < 0)
			return false;
		changes += s > 0 && spare != room_spare(room, s - 1);
	}
	if (4 * changes > room->section_count)
		return false;
	for (int i = 0; i < room->item_count; i++) {
		const struct item *item = &room->items[i];
		if (item->heights || item->shape == -1 || item->align != 1 || item->low != 0 ||
			item->high != room->height - item->size || item->clear != item->size)
			return false;
	}
	return true;
}

/* Which blocks end and begin where. */
static void find_walls(struct weave *weave)
{
	const struct merged *merged = &weave->merged;
	int m = merged->section_count;
	weave->walls = arena_array(weave->arena, struct wall, m + 1);
	weave->last = arena_array(weave->arena, int, merged->block_count);
	for (int pass = 0; pass < 2; pass++) {
		for (int b = 0; b < merged->block_count; b++) {
			const struct block *block = &merged->blocks[b];
			if (block->is_part)
				continue;
			int first = weave->is_backwards ? m - block->end : block->first;
			weave->last[b] = weave->is_backwards ? m - block->first : block->end;
			struct wall *begin = &weave->walls[first];
			struct wall *end = &weave->walls[weave->last[b]];
			if (pass) {
				begin->begins[begin->begin_count] = b;
				end->ends[end->end_count] = b;
			}
			begin->begin_count++;
			end->end_count++;
			end->ready = end->ready > first ? end->ready : first;
		}
		for (int t = 0; !pass && t <= m; t++) {
			struct wall *wall = &weave->walls[t];
			wall->begins = arena_array(weave->arena, int, wall->begin_count);
			wall->ends = arena_array(weave->arena, int, wall->end_count);
			wall->begin_count = wall->end_count = 0;
		}
	}
}

static void find_changes(struct weave *weave)
{
	int m = weave->merged.section_count;
	int64_t before = 0;
	for (int t = 0; t < m; t++) {
		int64_t spare = weave->merged.spare[weave->is_backwards ? m - 1 - t : t];
		weave->walls[t].change = spare - before;
		before = spare;
	}
}

struct weave *weave_open(const struct room *room, bool is_backwards, struct arena *arena)
{
	if (!is_plain(room))
		return NULL;
	struct weave *weave = arena_new(arena, struct weave);
	*weave = (struct weave){.arena = arena,
		.merged = pack_merge(room, arena),
		.is_backwards = is_backwards,
		.addresses = arena_array(arena, int64_t, room->item_count)};
	for (int b = 0; b < weave->merged.block_count; b++)
		*array_add(arena, &weave->sizes) = weave->merged.blocks[b].size;
	weave->marked_room = weave->sizes.count;
	weave->marked = arena_array(arena, bool, weave->marked_room);
	find_walls(weave);
	find_changes(weave);
	weave_look_out(weave);
	return weave;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate_strand *a = left, *b = right;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->parent - b->parent;
}

/* A set of hashes, of which 0 is none. */
struct hashes {
	size_t rows;
	uint64_t *at;
};

static bool add_hash(struct hashes *hashes, uint64_t hash)
{
	size_t row = hash & (hashes->rows - 1);
	while (hashes->at[row] && hashes->at[row] != hash)
		row = (row + 1) & (hashes->rows - 1);
	bool is_new = !hashes->at[row];
	hashes->at[row] = hash;
	return is_new;
}

/* The strand that a candidate is; its new wastes begin. */
static struct strand follow(struct weave *weave, const struct strand *parent,
	const struct candidate_strand *candidate, const struct tree *tree, struct arena *history)
{
	struct strand strand = *parent;
	struct crossing *crossing = arena_copy(history, &candidate->crossing, sizeof *crossing);
	crossing->groups = arena_copy(history, candidate->crossing.groups,
		(size_t)crossing->group_count * sizeof *crossing->groups);
	strand.tree = tree;
	strand.freedom = candidate->freedom;
	strand.last = crossing;
	for (int k = 0; k < crossing->out_count; k++)
		for (int w = 0; w < strand.waste_count; w++)
			if (strand.wastes[w] == crossing->outs[k])
				strand.wastes[w--] = strand.wastes[--strand.waste_count];
	for (int k = 0; k < crossing->in_count; k++)
		strand.wastes[strand.waste_count++] = crossing->ins[k];
	return strand;
}

/* The best candidates that are not alike and can go on, as strands. */
static int select_strands(struct weave *weave, const struct strand *parents, struct strand *strands,
	struct arena *arena, struct arena *history)
{
	size_t count = weave->candidates.count;
	struct arena *scratch = arena_open();
	struct hashes hashes = {16, NULL};
	while (hashes.rows < 2 * count)
		hashes.rows *= 2;
	hashes.at = arena_array(scratch, uint64_t, hashes.rows);
	if (count)
		qsort(weave->candidates.at, count, sizeof *weave->candidates.at,
			compare_candidates);
	int selected = 0;
	for (size_t k = 0; k < count && selected < weave->width && weave_spend(weave); k++) {
		struct candidate_strand *candidate = &weave->candidates.at[k];
		struct crossing *crossing = &candidate->crossing;
		if (!add_hash(&hashes, candidate->hash | 1))
			continue;
		struct arena_mark mark = arena_mark(scratch);
		size_t leaf_count = weave->sizes.count;
		for (int w = 0; w < crossing->in_count; w++)
			crossing->ins[w] = weave_waste(weave, candidate->in_sizes[w]);
		const struct tree *tree = weave_join_groups(
			weave, scratch, parents[candidate->parent].tree, crossing, true);
		tree = weave_foresee(weave, scratch, tree, crossing->wall);
		if (tree)
			strands[selected++] = follow(weave, &parents[candidate->parent], candidate,
				tree_copy(arena, tree), history);
		else
			weave->sizes.count = leaf_count;
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return selected;
}

struct beginning {
	struct weave *weave;
	struct arena *arena, *history;
	struct strand *strands;
	int count;
};

static void begin_strand(void *context, const int64_t *sizes, int count, double less)
{
	struct beginning *beginning = context;
	struct weave *weave = beginning->weave;
	if (beginning->count == weave->width)
		return;
	struct crossing *crossing = arena_new(beginning->history, struct crossing);
	struct strand *strand = &beginning->strands[beginning->count];
	crossing->in_count = count;
	for (int k = 0; k < count; k++)
		crossing->ins[k] = strand->wastes[k] = weave_waste(weave, sizes[k]);
	strand->waste_count = count;
	strand->freedom = -less;
	strand->last = crossing;
	strand->tree = weave_begin(weave, beginning->arena, crossing->ins, count);
	beginning->count++;
}

/* What lives in the first section, with wastes for what there is to spare. */
static int begin(
	struct weave *weave, struct strand *strands, struct arena *arena, struct arena *history)
{
	struct beginning beginning = {weave, arena, history, strands, 0};
	if (weave->walls[0].change)
		weave_split(weave, 0, weave->walls[0].change, begin_strand, &beginning);
	else
		begin_strand(&beginning, NULL, 0, 0);
	return beginning.count;
}

/* Crosses all walls; the crossings of the best strand, or NULL. */
static const struct crossing *cross_walls(struct weave *weave, struct arena *history)
{
	struct arena *arena = arena_open();
	struct strand *strands = arena_array(arena, struct strand, weave->width);
	int count = begin(weave, strands, arena, history);
	for (int t = 1; t < weave->merged.section_count && count && !weave->is_out; t++) {
		struct arena *next_arena = arena_open();
		struct strand *next = arena_array(next_arena, struct strand, weave->width);
		weave->known_arena = arena_open();
		memset(&weave->known, 0, sizeof weave->known);
		memset(&weave->candidates, 0, sizeof weave->candidates);
		for (int k = 0; k < count && !weave->is_out; k++)
			weave_cross(weave, &strands[k], k, t);
		count = select_strands(weave, strands, next, next_arena, history);
		arena_close(weave->known_arena);
		arena_close(arena);
		arena = next_arena;
		strands = next;
	}
	const struct crossing *last = strands->last;
	arena_close(arena);
	return count && !weave->is_out ? last : NULL;
}

bool weave_run(struct weave *weave, struct run *run, int width, bool is_bold, uint64_t nodes)
{
	struct arena *history = arena_open();
	weave->run = run;
	weave->width = width;
	weave->is_bold = is_bold;
	weave->limit = nodes ? weave->nodes + nodes : 0;
	weave->is_out = false;
	weave->sizes.count = (size_t)weave->merged.block_count;
	const struct crossing *last = cross_walls(weave, history);
	if (last)
		weave_lay_out(weave, last);
	arena_close(history);
	run_spend(run, weave->nodes - weave->charged);
	weave->charged = weave->nodes;
	return last != NULL;
}

bool weave_has_spare(const struct weave *weave)
{
	for (int s = 0; s < weave->merged.section_count; s++)
		if (weave->merged.spare[s])
			return true;
	return false;
}

uint64_t weave_nodes(const struct weave *weave)
{
	return weave->nodes;
}

int64_t weave_address(const struct weave *weave, int item)
{
	return weave->addresses[item];
}
