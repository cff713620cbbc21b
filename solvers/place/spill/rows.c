#include "solvers/place/spill/rows.h"

#include "base/array.h"
#include "base/bisect.h"

#include <stdlib.h>

/* Between two successive times at which something begins or ends. */
struct segment {
	int64_t load; /* if all are kept */
	int item_count, pair_count;
	bool begins, ends; /* something does, at its start, at its end */
	bool wanted;
};

struct sweep {
	struct arena *arena;
	struct spill_model *model;
	int segment_count;
	int64_t *times; /* one more */
	struct segment *segments;
};

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* The segment that begins at an event, or the first after it. */
static int segment_at(const struct sweep *sweep, int64_t time)
{
	size_t at;
	bisect(at, 0, sweep->segment_count, sweep->times[at] < time);
	return (int)at;
}

static bool lives(const struct spill_item *item)
{
	return item->from < item->to;
}

static void find_segments(struct sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	int64_t *times = arena_array(sweep->arena, int64_t, 2 * (size_t)model->item_count + 2);
	size_t count = 0, kept = 0;
	for (int i = 0; i < model->item_count; i++)
		if (lives(&model->items[i])) {
			times[count++] = model->items[i].from;
			times[count++] = model->items[i].to;
		}
	qsort(times, count, sizeof *times, by_time);
	for (size_t i = 0; i < count; i++)
		if (!kept || times[i] != times[kept - 1])
			times[kept++] = times[i];
	sweep->times = times;
	sweep->segment_count = kept ? (int)kept - 1 : 0;
	sweep->segments = arena_array(sweep->arena, struct segment, kept + 1);
}

/* How much is there in each segment, from what begins and ends. */
static void measure(struct sweep *sweep)
{
	const struct spill_model *model = sweep->model;
	struct segment *segments = sweep->segments;
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		if (!lives(item))
			continue;
		int from = segment_at(sweep, item->from), to = segment_at(sweep, item->to);
		segments[from].begins = true;
		segments[from].load += item->size;
		segments[from].item_count++;
		segments[to - 1].ends = true;
		segments[to].load -= item->size;
		segments[to].item_count--;
	}
	for (int s = 1; s < sweep->segment_count; s++) {
		segments[s].load += segments[s - 1].load;
		segments[s].item_count += segments[s - 1].item_count;
	}
	for (int p = 0; p < model->pair_count; p++) {
		const struct spill_pair *pair = &model->pairs[p];
		struct segment *segment =
			&segments[segment_at(sweep, model->items[pair->second].from)];
		segment->pair_count++;
		segment->load -= pair->one ? pair->size : 0;
	}
}

/* Neighbours without pairs that hold all of it make a segment needless. */
static void choose(struct sweep *sweep)
{
	struct segment *segments = sweep->segments;
	for (int s = 0; s < sweep->segment_count; s++) {
		bool before = s > 0 && !segments[s].begins && !segments[s - 1].pair_count;
		bool after = s + 1 < sweep->segment_count && !segments[s].ends &&
			     !segments[s + 1].pair_count;
		segments[s].wanted = segments[s].load > sweep->model->room && !before && !after;
	}
}

struct load_of {
	int64_t load;
	int segment;
};

static int by_load(const void *a, const void *b)
{
	const struct load_of *x = a, *y = b;
	if (x->load != y->load)
		return x->load < y->load ? 1 : -1;
	return x->segment - y->segment;
}

/* Those with most load, while there is room for their entries.  How many that are. */
static int limit(struct sweep *sweep, size_t entries_most)
{
	struct segment *segments = sweep->segments;
	struct load_of *order = arena_array(sweep->arena, struct load_of, sweep->segment_count);
	int count = 0, kept = 0;
	size_t entries = 0;
	for (int s = 0; s < sweep->segment_count; s++)
		if (segments[s].wanted)
			order[count++] = (struct load_of){segments[s].load, s};
	qsort(order, (size_t)count, sizeof *order, by_load);
	for (int k = 0; k < count; k++) {
		struct segment *segment = &segments[order[k].segment];
		entries += (size_t)segment->item_count;
		segment->wanted = entries <= entries_most;
		kept += segment->wanted;
	}
	return kept;
}

/* Rows of their sizes, and where each segment's row is, or the next. */
static struct spill_row *open_rows(struct sweep *sweep, int count, int *row_of)
{
	struct spill_row *rows = arena_array(sweep->arena, struct spill_row, count);
	int next = 0;
	for (int s = 0; s <= sweep->segment_count; s++) {
		row_of[s] = next;
		if (s == sweep->segment_count || !sweep->segments[s].wanted)
			continue;
		rows[next].time = sweep->times[s];
		rows[next].items = arena_array(sweep->arena, int, sweep->segments[s].item_count);
		rows[next++].pairs = arena_array(sweep->arena, int, sweep->segments[s].pair_count);
	}
	return rows;
}

static void fill_rows(struct sweep *sweep, struct spill_row *rows, const int *row_of)
{
	struct spill_model *model = sweep->model;
	for (int i = 0; i < model->item_count; i++) {
		struct spill_item *item = &model->items[i];
		if (!lives(item))
			continue;
		item->row = row_of[segment_at(sweep, item->from)];
		item->row_end = row_of[segment_at(sweep, item->to)];
		for (int r = item->row; r < item->row_end; r++)
			rows[r].items[rows[r].item_count++] = i;
	}
	for (int p = 0; p < model->pair_count; p++) {
		int s = segment_at(sweep, model->items[model->pairs[p].second].from);
		if (!sweep->segments[s].wanted)
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
	find_segments(&sweep);
	measure(&sweep);
	choose(&sweep);
	model->row_count = limit(&sweep, entries_most);
	int *row_of = arena_array(arena, int, sweep.segment_count + 1);
	struct spill_row *rows = open_rows(&sweep, model->row_count, row_of);
	fill_rows(&sweep, rows, row_of);
	model->rows = rows;
	share_pairs(&sweep);
}
