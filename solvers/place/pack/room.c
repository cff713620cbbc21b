#include "solvers/place/pack/room.h"

#include "base/number.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/sections.h"

#include <stdlib.h>

struct dividing {
	const struct shapes *shapes;
	struct arena *arena;
	struct stay *pieces, *spans; /* sections of pieces, of shapes */
	int section_count;
	int *order; /* shapes by first section, then by what they are */
	size_t pairs;
};

static void find_sections(struct dividing *dividing)
{
	const struct shapes *shapes = dividing->shapes;
	struct arena *scratch = arena_open();
	struct life *lives = arena_array(scratch, struct life, shapes->piece_count);
	for (size_t p = 0; p < shapes->piece_count; p++)
		lives[p] = (struct life){shapes->pieces[p].start, shapes->pieces[p].end};
	dividing->section_count = sections_find(shapes->piece_count, lives, dividing->pieces);
	for (size_t i = 0; i < shapes->count; i++) {
		const struct pack_shape *shape = &shapes->at[i];
		size_t last = shape->piece_first + shape->piece_count - 1;
		dividing->spans[i] = (struct stay){
			dividing->pieces[shape->piece_first].first, dividing->pieces[last].end};
	}
	arena_close(scratch);
}

static int compare_shapes(const struct dividing *dividing, int a, int b)
{
	const struct stay *s = &dividing->spans[a], *t = &dividing->spans[b];
	const struct pack_shape *x = &dividing->shapes->at[a], *y = &dividing->shapes->at[b];
	if (s->first != t->first)
		return s->first < t->first ? -1 : 1;
	if (s->end != t->end)
		return s->end < t->end ? -1 : 1;
	if (x->height != y->height)
		return x->height < y->height ? -1 : 1;
	if (x->clear != y->clear)
		return x->clear < y->clear ? -1 : 1;
	if (x->align != y->align)
		return x->align < y->align ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	if (x->piece_count != y->piece_count)
		return x->piece_count < y->piece_count ? -1 : 1;
	return x->piece_count > 1 ? (a > b) - (a < b) : 0;
}

static int compare_in_order(const void *left, const void *right, void *context)
{
	int a = *(const int *)left, b = *(const int *)right;
	int order = compare_shapes(context, a, b);
	return order ? order : (a > b) - (a < b);
}

/* NULL for one piece.  Sections between two pieces do not exist: they touch. */
static const int64_t *find_heights(const struct dividing *dividing, int shape)
{
	const struct pack_shape *s = &dividing->shapes->at[shape];
	struct stay span = dividing->spans[shape];
	if (s->piece_count < 2)
		return NULL;
	int64_t *heights = arena_array(dividing->arena, int64_t, span.end - span.first);
	for (size_t p = s->piece_first; p < s->piece_first + s->piece_count; p++)
		for (int at = dividing->pieces[p].first; at < dividing->pieces[p].end; at++)
			heights[at - span.first] = number_max(
				heights[at - span.first], dividing->shapes->pieces[p].height);
	return heights;
}

static void add_reserved(const struct dividing *dividing, struct room *room)
{
	for (size_t r = 0; r < dividing->shapes->reserved_count; r++) {
		struct byte_range range = dividing->shapes->reserved[r];
		room->items[room->item_count++] =
			(struct pack_item){0, room->section_count, range.to - range.from,
				range.to - range.from, 1, range.from, range.from, NULL, -1, -1};
	}
}

bool room_connect(struct room *room, size_t *pairs, struct arena *arena)
{
	size_t *first = arena_array(arena, size_t, room->section_count + 2);
	size_t *meet_first = arena_array(arena, size_t, room->item_count + 2);
	for (int i = 0; i < room->item_count; i++) {
		const struct pack_item *item = &room->items[i];
		*pairs += (size_t)(item->end - item->first);
		if (*pairs > PACK_PAIRS_MOST)
			return false;
		for (int s = item->first; s < item->end; s++)
			first[s + 2]++;
	}
	for (int s = 0; s < room->section_count; s++)
		first[s + 2] += first[s + 1];
	int *lives = arena_array(arena, int, first[room->section_count + 1]);
	for (int i = 0; i < room->item_count; i++)
		for (int s = room->items[i].first; s < room->items[i].end; s++)
			lives[first[s + 1]++] = i;
	/* Those that meet: live in the section where the later of both begins. */
	for (int round = 0; round < 2; round++) {
		int *meets =
			round ? arena_array(arena, int, meet_first[room->item_count + 1]) : NULL;
		for (int i = 0; i < room->item_count; i++) {
			int s = room->items[i].first;
			for (size_t k = first[s]; k < first[s + 1]; k++) {
				int j = lives[k];
				if (j == i || (room->items[j].first == s && j > i))
					continue;
				if (round) {
					meets[meet_first[i + 1]++] = j;
					meets[meet_first[j + 1]++] = i;
				} else {
					meet_first[i + 2]++;
					meet_first[j + 2]++;
					*pairs += 2;
				}
			}
			if (*pairs > PACK_PAIRS_MOST)
				return false;
		}
		for (int i = 0; !round && i < room->item_count; i++)
			meet_first[i + 2] += meet_first[i + 1];
		room->meets = meets;
	}
	size_t *split = arena_array(arena, size_t, room->section_count);
	for (int s = 0; s < room->section_count; s++) {
		split[s] = first[s];
		while (split[s] < first[s + 1] && room->items[lives[split[s]]].first < s)
			split[s]++;
	}
	int *twins = arena_array(arena, int, room->item_count);
	for (int i = 0; i < room->item_count; i++)
		twins[i] = room->items[i].twin;
	room->section_split = split;
	room->twins = twins;
	room->section_first = first;
	room->meet_first = meet_first;
	room->lives = lives;
	return true;
}

static bool add_room(struct dividing *dividing, struct room *room, size_t from, size_t to, int end)
{
	const struct shapes *shapes = dividing->shapes;
	int first = dividing->spans[dividing->order[from]].first, before = -1;
	room->section_count = end - first;
	room->height = shapes->room;
	room->items =
		arena_array(dividing->arena, struct pack_item, to - from + shapes->reserved_count);
	add_reserved(dividing, room);
	for (size_t o = from; o < to; o++) {
		int shape = dividing->order[o];
		const struct pack_shape *s = &shapes->at[shape];
		struct stay span = dividing->spans[shape];
		bool is_twin = before >= 0 && !compare_shapes(dividing, before, shape);
		room->items[room->item_count] = (struct pack_item){span.first - first,
			span.end - first, s->height, number_max(s->height, s->clear), s->align,
			s->low, s->high, find_heights(dividing, shape),
			is_twin ? room->item_count - 1 : -1, shape};
		room->item_count++;
		before = shape;
	}
	return room_connect(room, &dividing->pairs, dividing->arena);
}

struct rooms pack_rooms(const struct shapes *shapes, struct arena *arena)
{
	struct dividing dividing = {shapes, arena,
		arena_array(arena, struct stay, shapes->piece_count),
		arena_array(arena, struct stay, shapes->count), 0,
		arena_array(arena, int, shapes->count), 0};
	struct rooms rooms = {0, arena_array(arena, struct room, shapes->count), false};
	find_sections(&dividing);
	for (size_t i = 0; i < shapes->count; i++)
		dividing.order[i] = (int)i;
	if (shapes->count)
		qsort_r(dividing.order, shapes->count, sizeof *dividing.order, compare_in_order,
			&dividing);
	for (size_t from = 0, to; from < shapes->count && !rooms.too_large; from = to) {
		int end = dividing.spans[dividing.order[from]].end;
		for (to = from + 1;
			to < shapes->count && dividing.spans[dividing.order[to]].first < end; to++)
			end = end > dividing.spans[dividing.order[to]].end
				      ? end
				      : dividing.spans[dividing.order[to]].end;
		rooms.too_large = !add_room(&dividing, &rooms.at[rooms.count++], from, to, end);
	}
	return rooms;
}
