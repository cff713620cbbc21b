#include "solvers/place/pack_merge.h"

#include "base/array.h"

/* Blocks that end at a wall, and that begin there. */
struct chains {
	int last_end, last_begin; /* -1: none */
};

struct merging {
	struct array(struct block) blocks;
	struct array(struct chains) before; /* by block: in its chains */
	struct chains *chains;              /* by wall */
	struct arena *arena;
	int *ends, *begins; /* at a wall */
};

static int add_block(struct merging *merging, struct block block)
{
	int number = (int)merging->blocks.count;
	struct chains *end = &merging->chains[block.end], *begin = &merging->chains[block.first];
	*array_add(merging->arena, &merging->blocks) = block;
	*array_add(merging->arena, &merging->before) =
		(struct chains){end->last_end, begin->last_begin};
	end->last_end = begin->last_begin = number;
	return number;
}

/* The blocks left of a chain. */
static int find_side(const struct merging *merging, int wall, bool is_end, int *side)
{
	const struct chains *chains = &merging->chains[wall];
	int count = 0;
	for (int b = is_end ? chains->last_end : chains->last_begin; b >= 0;
		b = is_end ? chains->last_end : chains->last_begin) {
		chains = &merging->before.at[b];
		if (!merging->blocks.at[b].is_part)
			side[count++] = b;
	}
	return count;
}

static bool live_alike(const struct merging *merging, const int *blocks, int count)
{
	const struct block *one = &merging->blocks.at[blocks[0]];
	for (int k = 1; k < count; k++) {
		const struct block *other = &merging->blocks.at[blocks[k]];
		if (other->first != one->first || other->end != one->end)
			return false;
	}
	return true;
}

static int join(struct merging *merging, int lower, int upper)
{
	struct block *a = &merging->blocks.at[lower], *b = &merging->blocks.at[upper];
	bool is_stack = a->first == b->first;
	struct block block = {.first = a->first,
		.end = b->end,
		.size = a->size + (is_stack ? b->size : 0),
		.lower = lower,
		.upper = upper,
		.offset = is_stack ? a->size : 0};
	a->is_part = b->is_part = true;
	return add_block(merging, block);
}

static int join_all(struct merging *merging, const int *blocks, int count)
{
	int all = blocks[0];
	for (int k = 1; k < count; k++)
		all = join(merging, all, blocks[k]);
	return all;
}

/* True if the wall is gone. */
static bool merge_at(struct merging *merging, int wall)
{
	int end_count = find_side(merging, wall, true, merging->ends);
	int begin_count = find_side(merging, wall, false, merging->begins);
	if ((end_count > 1 && begin_count > 1) || !live_alike(merging, merging->ends, end_count) ||
		!live_alike(merging, merging->begins, begin_count))
		return false;
	int left = join_all(merging, merging->ends, end_count);
	int right = join_all(merging, merging->begins, begin_count);
	join(merging, left, right);
	return true;
}

/* Sections between which there is no wall any more are one. */
static void number_sections(struct merged *merged, const bool *walls, int *numbers)
{
	int count = 0;
	for (int s = 0; s < merged->section_count; s++) {
		numbers[s] = count;
		merged->spare[count] = merged->spare[s];
		count += s + 1 == merged->section_count || walls[s + 1];
	}
	numbers[merged->section_count] = count;
	merged->section_count = count;
	for (int b = 0; b < merged->block_count; b++) {
		merged->blocks[b].first = numbers[merged->blocks[b].first];
		merged->blocks[b].end = numbers[merged->blocks[b].end];
	}
}

struct merged pack_merge(const struct room *room, struct arena *arena)
{
	int n = room->item_count, m = room->section_count;
	struct merging merging = {.arena = arena,
		.chains = arena_array(arena, struct chains, m + 1),
		.ends = arena_array(arena, int, 2 * n),
		.begins = arena_array(arena, int, 2 * n)};
	struct merged merged = {.section_count = m, .spare = arena_array(arena, int64_t, m)};
	bool *walls = arena_array(arena, bool, m);
	for (int s = 0; s < m; s++) {
		merged.spare[s] = room_spare(room, s);
		walls[s] = s > 0;
	}
	for (int t = 0; t <= m; t++)
		merging.chains[t] = (struct chains){-1, -1};
	for (int i = 0; i < n; i++)
		add_block(&merging, (struct block){room->items[i].first, room->items[i].end,
					    room->items[i].size, -1, -1, 0, i, false});
	for (bool again = true; again;) {
		again = false;
		for (int t = 1; t < m; t++)
			if (walls[t] && !merged.spare[t - 1] && !merged.spare[t] &&
				merge_at(&merging, t)) {
				walls[t] = false;
				again = true;
			}
	}
	merged.blocks = merging.blocks.at;
	merged.block_count = (int)merging.blocks.count;
	number_sections(&merged, walls, arena_array(arena, int, m + 1));
	return merged;
}

void merged_lay(const struct merged *merged, int b, int64_t address, int64_t *addresses)
{
	const struct block *block = &merged->blocks[b];
	if (block->lower < 0) {
		addresses[block->item] = address;
		return;
	}
	merged_lay(merged, block->lower, address, addresses);
	merged_lay(merged, block->upper, address + block->offset, addresses);
}
