#include "solvers/place/spill/rows.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/sections.h"

#include <stdlib.h>

/* A largest set of items that are there at once, as sections.h finds them. */
struct section {
	int64_t time; /* when they all are: the last of them begins */
	int64_t load; /* if all are kept */
	int item_count, pair_count;
	bool begins, wanted;
};

struct sweep {
	struct arena *arena;
	struct spill_model *model;
	int section_count;
	struct section *sections;
	struct stay *stays; /* by item */
};

static void find_sections(struct sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	struct life *lives = arena_array(sweep->arena, struct life, model->item_count);
	struct stay *found = arena_array(sweep->arena, struct stay, model->item_count);
	size_t count = 0;
	sweep->stays = arena_array(sweep->arena, struct stay, model->item_count);
	for (int i = 0; i < model->item_count; i++)
		if (model->items[i].from < model->items[i].to)
			lives[count++] = (struct life){model->items[i].from, model->items[i].to};
	sweep->section_count = sections_find(count, lives, found);
	sweep->sections = arena_array(sweep->arena, struct section, sweep->section_count + 1);
	for (int i = model->item_count; i-- > 0;)
		if (model->items[i].from < model->items[i].to)
			sweep->stays[i] = found[--count];
}

/* The section where a pair is there together, since the second begins in the last step of the first;
 * -1: the second has no step. */
static int section_of(const struct sweep *sweep, const struct spill_pair *pair)
{
	struct stay stay = sweep->stays[pair->second];
	return stay.first < stay.end ? stay.first : -1;
}

/* How much is there in each section, from what begins and ends in it. */
static void measure(struct sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	struct section *sections = sweep->sections;
	for (int i = 0; i < model->item_count; i++) {
		struct section *first = &sections[sweep->stays[i].first];
		struct section *end = &sections[sweep->stays[i].end];
		if (first == end)
			continue;
		first->time = first->begins ? number_max(first->time, model->items[i].from)
					    : model->items[i].from;
		first->begins = true;
		first->load += model->items[i].size;
		first->item_count++;
		end->load -= model->items[i].size;
		end->item_count--;
	}
	for (int s = 1; s < sweep->section_count; s++) {
		sections[s].load += sections[s - 1].load;
		sections[s].item_count += sections[s - 1].item_count;
	}
	for (int p = 0; p < model->pair_count; p++) {
		int s = section_of(sweep, &model->pairs[p]);
		if (s < 0)
			continue;
		sections[s].pair_count++;
		sections[s].load -= model->pairs[p].one ? model->pairs[p].size : 0;
	}
}

struct load_of {
	int64_t load;
	int section;
};

static int by_load(const void *a, const void *b)
{
	const struct load_of *x = a, *y = b;
	if (x->load != y->load)
		return x->load < y->load ? 1 : -1;
	return x->section - y->section;
}

/* Those too large for the room, with most load first while there is room for their entries.  How many
 * that are. */
static int limit(struct sweep *sweep, size_t entries_most)
{
	struct section *sections = sweep->sections;
	struct load_of *order = arena_array(sweep->arena, struct load_of, sweep->section_count);
	int count = 0, kept = 0;
	size_t entries = 0;
	for (int s = 0; s < sweep->section_count; s++)
		if (sections[s].load > sweep->model->room)
			order[count++] = (struct load_of){sections[s].load, s};
	qsort(order, (size_t)count, sizeof *order, by_load);
	for (int k = 0; k < count; k++) {
		struct section *section = &sections[order[k].section];
		entries += (size_t)section->item_count;
		section->wanted = entries <= entries_most;
		kept += section->wanted;
	}
	return kept;
}

/* Where each section's row is, or the next. */
static struct spill_row *open_rows(struct sweep *sweep, int count, int *row_of)
{
	struct spill_row *rows = arena_array(sweep->arena, struct spill_row, count);
	int next = 0;
	for (int s = 0; s < sweep->section_count; s++) {
		const struct section *section = &sweep->sections[s];
		row_of[s] = next;
		if (section->wanted)
			rows[next++] = (struct spill_row){.time = section->time,
				.items = arena_array(sweep->arena, int, section->item_count),
				.pairs = arena_array(sweep->arena, int, section->pair_count)};
	}
	row_of[sweep->section_count] = next;
	return rows;
}

static void fill_rows(struct sweep *sweep, struct spill_row *rows, const int *row_of)
{
	struct spill_model *model = sweep->model;
	for (int i = 0; i < model->item_count; i++) {
		struct spill_item *item = &model->items[i];
		item->row = row_of[sweep->stays[i].first];
		item->row_end = row_of[sweep->stays[i].end];
		for (int r = item->row; r < item->row_end; r++)
			rows[r].items[rows[r].item_count++] = i;
	}
	for (int p = 0; p < model->pair_count; p++) {
		int s = section_of(sweep, &model->pairs[p]);
		if (s < 0 || !sweep->sections[s].wanted)
			continue;
		struct spill_row *row = &rows[row_of[s]];
		model->pairs[p].row = row_of[s];
		row->pairs[row->pair_count++] = p;
	}
}

/* Each item's pairs. */
static void share_pairs(struct sweep *sweep)
{
	struct spill_model *model = sweep->model;
	for (int round = 0; round < 2; round++) { /* counted, then noted */
		for (int i = 0; i < model->item_count && round; i++) {
			struct spill_item *item = &model->items[i];
			item->pairs = arena_array(sweep->arena, int, item->pair_count);
			item->pair_count = 0;
		}
		for (int p = 0; p < model->pair_count; p++) {
			const struct spill_pair *pair = &model->pairs[p];
			int ends[] = {pair->first, pair->second};
			for (int k = 0; k < 2 && pair->row >= 0; k++) {
				struct spill_item *item = &model->items[ends[k]];
				if (round)
					item->pairs[item->pair_count] = p;
				item->pair_count++;
			}
		}
	}
}

void spill_rows_make(struct arena *arena, struct spill_model *model, size_t entries_most)
{
	struct sweep sweep = {.arena = arena, .model = model};
	find_sections(&sweep);
	measure(&sweep);
	model->row_count = limit(&sweep, entries_most);
	int *row_of = arena_array(arena, int, sweep.section_count + 1);
	struct spill_row *rows = open_rows(&sweep, model->row_count, row_of);
	fill_rows(&sweep, rows, row_of);
	model->rows = rows;
	share_pairs(&sweep);
}
