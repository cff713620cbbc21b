#include "solvers/place/pack/pack.h"

#include "base/number.h"
#include "model/packing/buffer.h"
#include "solvers/place/packing.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Addresses are multiples of the least alignment `step` (of all alignments the greatest common
 * divisor).  So sizes can be counted in whole steps, as long as nothing else lies between
 * multiples of it; only the highest shape of a section may end inside the last step
 * of a capacity that is not a multiple, as `high` says.
 */
struct forming {
	const struct packing *packing;
	const bool *chosen;
	const int *takes;
	int64_t capacity;
	struct arena *arena;
	int *leader; /* the buffer at the head of its shape; -1: not chosen */
	int *order;  /* the chosen by leader, then start, parents before children */
	size_t order_count;
	struct shapes shapes;
};

static void room_reject(struct forming *forming, int buffer)
{
	if (forming->shapes.culprit < 0)
		forming->shapes.culprit = buffer;
}

static bool is_chosen(const struct forming *forming, size_t i)
{
	return !forming->chosen || forming->chosen[i];
}

int pack_head(const int *takes, size_t count, int i)
{
	size_t steps = 0;
	while (takes[i] >= 0 && steps++ < count)
		i = takes[i];
	if (takes[i] < 0)
		return i;
	int least = i; /* all around a ring of buffers of one step */
	for (int at = takes[i]; at != i; at = takes[at])
		least = at < least ? at : least;
	return least;
}

static void find_leaders(struct forming *forming)
{
	size_t count = forming->packing->count;
	for (size_t i = 0; i < count; i++) {
		forming->leader[i] = -1;
		if (!is_chosen(forming, i))
			continue;
		forming->leader[i] = pack_head(forming->takes, count, (int)i);
		forming->order[forming->order_count++] = (int)i;
	}
}

static int compare_by_leader(const void *left, const void *right, void *context)
{
	const struct forming *forming = context;
	int a = *(const int *)left, b = *(const int *)right;
	if (forming->leader[a] != forming->leader[b])
		return forming->leader[a] < forming->leader[b] ? -1 : 1;
	const struct buffer *x = &forming->packing->buffers[a], *y = &forming->packing->buffers[b];
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if ((forming->leader[a] == a) != (forming->leader[b] == b))
		return forming->leader[a] == a ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (a > b) - (a < b);
}

/* Members of one shape that live at once must do so lawfully. */
static void check_members(struct forming *forming, const int *members, size_t count)
{
	const struct buffer *buffers = forming->packing->buffers;
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct buffer *a = &buffers[members[i]], *b = &buffers[members[j]];
			if (a->start < b->end && b->start < a->end && a->start < a->end &&
				b->start < b->end && a->size && b->size &&
				!packing_may_take(
					forming->packing, (size_t)members[i], (size_t)members[j]) &&
				!packing_may_take(
					forming->packing, (size_t)members[j], (size_t)members[i]))
				room_reject(forming, members[i]);
		}
}

/* The members' common alignment and, if any is fixed, address. */
static void join_rules(
	struct forming *forming, const int *members, size_t count, int64_t *align, int64_t *fixed)
{
	*align = 1;
	*fixed = -1;
	for (size_t i = 0; i < count; i++) {
		const struct buffer *buffer = &forming->packing->buffers[members[i]];
		int64_t step = packing_step(forming->packing, (size_t)members[i]);
		int64_t times = step / number_gcd(*align, step);
		if (*align > forming->capacity || !number_mul(*align, times, align))
			*align = INT64_MAX; /* only address 0 is left */
		if (!buffer->is_fixed)
			continue;
		if (*fixed >= 0 && *fixed != buffer->address)
			room_reject(forming, members[0]);
		*fixed = buffer->address;
		if (*fixed < 0)
			room_reject(forming, members[i]);
	}
}

/* Heights and bounds in bytes; units come last. */
static void add_shape(struct forming *forming, const int *members, size_t count, int *of)
{
	struct shapes *shapes = &forming->shapes;
	int64_t align, fixed, size = 0, until = INT64_MIN;
	check_members(forming, members, count);
	join_rules(forming, members, count, &align, &fixed);
	size_t first = shapes->piece_count;
	for (size_t i = 0; i < count; i++) {
		const struct buffer *buffer = &forming->packing->buffers[members[i]];
		size = number_max(size, buffer->size);
		if (!buffer->size || buffer->start >= buffer->end)
			continue;
		bool is_open = forming->takes[members[i]] == TAKES_OPEN;
		int64_t start = number_max(buffer->start + is_open, until);
		until = number_max(until, buffer->end);
		if (start < buffer->end)
			shapes->pieces[shapes->piece_count++] = (struct piece){
				start, buffer->end, buffer->size, (int)shapes->count};
	}
	int64_t alone = packing_alone(
		shapes->reserved, shapes->reserved_count, forming->capacity, size, align, fixed);
	if (alone == UNPLACED)
		room_reject(forming, members[0]);
	bool is_alone = shapes->piece_count == first;
	for (size_t i = 0; i < count; i++) {
		of[members[i]] = is_alone ? -1 : (int)shapes->count;
		if (is_alone)
			((int64_t *)shapes->addresses)[members[i]] = alone;
	}
	if (is_alone)
		return;
	int64_t high = forming->capacity - size;
	shapes->at[shapes->count++] = (struct pack_shape){.piece_first = first,
		.piece_count = shapes->piece_count - first,
		.clear = size,
		.align = align,
		.low = fixed >= 0 ? fixed : 0,
		.high = fixed >= 0 ? fixed : high - high % align};
}

/* Whole steps, if all else lies on them. */
static void round_to_steps(struct forming *forming)
{
	struct shapes *shapes = &forming->shapes;
	struct byte_range *reserved = (struct byte_range *)shapes->reserved;
	int64_t step = 0;
	shapes->room = forming->capacity;
	for (size_t i = 0; i < shapes->count; i++)
		step = number_gcd(step, shapes->at[i].align);
	if (step <= 1 || shapes->room > INT64_MAX - step)
		return;
	for (size_t r = 0; r < shapes->reserved_count; r++)
		if (reserved[r].from % step ||
			(reserved[r].to % step && reserved[r].to < forming->capacity))
			return;
	shapes->room = number_align_up(forming->capacity, step);
	for (size_t r = 0; r < shapes->reserved_count; r++)
		reserved[r].to = number_align_up(reserved[r].to, step);
	for (size_t p = 0; p < shapes->piece_count; p++)
		shapes->pieces[p].height = number_align_up(shapes->pieces[p].height, step);
}

static int64_t shapes_find_unit(const struct shapes *shapes)
{
	int64_t unit = 0;
	for (size_t p = 0; p < shapes->piece_count; p++)
		unit = number_gcd(unit, shapes->pieces[p].height);
	for (size_t i = 0; i < shapes->count; i++)
		if (shapes->at[i].low == shapes->at[i].high)
			unit = number_gcd(unit, shapes->at[i].low);
	for (size_t r = 0; r < shapes->reserved_count; r++)
		unit = number_gcd(
			number_gcd(unit, shapes->reserved[r].from), shapes->reserved[r].to);
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < shapes->count; i++) {
			int64_t align = shapes->at[i].align;
			if (align == INT64_MAX || unit % align == 0 || align % unit == 0)
				continue;
			unit = number_gcd(unit, align);
			again = true;
		}
	}
	return unit ? unit : 1;
}

static void count_in_units(struct shapes *shapes)
{
	int64_t unit = shapes->unit = shapes_find_unit(shapes);
	shapes->room /= unit;
	for (size_t p = 0; p < shapes->piece_count; p++)
		shapes->pieces[p].height /= unit;
	for (size_t r = 0; r < shapes->reserved_count; r++) {
		((struct byte_range *)shapes->reserved)[r].from /= unit;
		((struct byte_range *)shapes->reserved)[r].to /= unit;
	}
	for (size_t i = 0; i < shapes->count; i++) {
		struct pack_shape *shape = &shapes->at[i];
		shape->align = shape->align <= unit ? 1 : number_ceil_div(shape->align, unit);
		shape->low /= unit;
		shape->high /= unit;
		shape->clear = number_ceil_div(shape->clear, unit);
		shape->height = 0;
		for (size_t p = 0; p < shape->piece_count; p++)
			shape->height = number_max(
				shape->height, shapes->pieces[shape->piece_first + p].height);
	}
}

struct shapes pack_shapes(const struct packing *packing, const bool *chosen, int64_t capacity,
	const int *takes, struct arena *arena)
{
	struct forming forming = {packing, chosen, takes, capacity, arena,
		arena_array(arena, int, packing->count), arena_array(arena, int, packing->count), 0,
		{.culprit = -1}};
	struct shapes *shapes = &forming.shapes;
	int *of = arena_array(arena, int, packing->count);
	int64_t *addresses = arena_array(arena, int64_t, packing->count);
	for (size_t i = 0; i < packing->count; i++) {
		of[i] = -1;
		addresses[i] = UNPLACED;
	}
	shapes->of = of;
	shapes->addresses = addresses;
	find_leaders(&forming);
	shapes->at = arena_array(arena, struct pack_shape, forming.order_count);
	shapes->pieces = arena_array(arena, struct piece, forming.order_count);
	if (forming.order_count)
		qsort_r(forming.order, forming.order_count, sizeof *forming.order,
			compare_by_leader, &forming);
	shapes->reserved = packing_reserved(arena, packing, capacity, &shapes->reserved_count);
	for (size_t i = 0, next; i < forming.order_count; i = next) {
		int leader = forming.leader[forming.order[i]];
		for (next = i + 1; next < forming.order_count &&
				   forming.leader[forming.order[next]] == leader;)
			next++;
		add_shape(&forming, forming.order + i, next - i, of);
	}
	round_to_steps(&forming);
	count_in_units(shapes);
	return *shapes;
}

struct room_dividing {
	const struct shapes *shapes;
	struct arena *arena;
	struct section_span *pieces, *spans; /* sections of pieces, of shapes */
	int section_count;
	int *order; /* shapes by first section, then by what they are */
	size_t pairs;
};

static void room_dividing_find_sections(struct room_dividing *dividing)
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
		dividing->spans[i] = (struct section_span){
			dividing->pieces[shape->piece_first].first, dividing->pieces[last].end};
	}
	arena_close(scratch);
}

static int compare_shapes(const struct room_dividing *dividing, int a, int b)
{
	const struct section_span *s = &dividing->spans[a], *t = &dividing->spans[b];
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

static int compare_by_section(const void *left, const void *right, void *context)
{
	int a = *(const int *)left, b = *(const int *)right;
	int order = compare_shapes(context, a, b);
	return order ? order : (a > b) - (a < b);
}

/* NULL for one piece.  Sections between two pieces do not exist: they touch. */
static const int64_t *find_heights(const struct room_dividing *dividing, int shape)
{
	const struct pack_shape *s = &dividing->shapes->at[shape];
	struct section_span span = dividing->spans[shape];
	if (s->piece_count < 2)
		return NULL;
	int64_t *heights = arena_array(dividing->arena, int64_t, span.end - span.first);
	for (size_t p = s->piece_first; p < s->piece_first + s->piece_count; p++)
		for (int at = dividing->pieces[p].first; at < dividing->pieces[p].end; at++)
			heights[at - span.first] = number_max(
				heights[at - span.first], dividing->shapes->pieces[p].height);
	return heights;
}

static void add_reserved(const struct room_dividing *dividing, struct room *room)
{
	for (size_t r = 0; r < dividing->shapes->reserved_count; r++) {
		struct byte_range range = dividing->shapes->reserved[r];
		room->items[room->item_count++] =
			(struct pack_item){0, room->section_count, range.to - range.from,
				range.to - range.from, 1, range.from, range.from, NULL, -1, -1};
	}
}

#ifndef NDEBUG
/* Asserts that each section has all items that live in it, those that start in it last, and that items that share a
 * section meet. */
static bool check_room(const struct room *room)
{
	for (int i = 0; i < room->item_count; i++) {
		const struct pack_item *item = &room->items[i];
		assert(0 <= item->first && item->first < item->end &&
			item->end <= room->section_count);
		assert(item->size > 0 && item->clear >= item->size && item->align > 0);
		assert(!i || room->items[i - 1].first <= item->first);
		assert(item->twin < i);
		for (size_t k = room->meet_first[i]; k < room->meet_first[i + 1]; k++) {
			const struct pack_item *other = &room->items[room->meets[k]];
			assert(other != item && item->first < other->end &&
				other->first < item->end);
		}
	}
	for (int s = 0; s < room->section_count; s++)
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
			const struct pack_item *item = &room->items[room->lives[k]];
			assert(item->first <= s && s < item->end);
			assert(k == room->section_first[s] || room->lives[k - 1] < room->lives[k]);
			assert((k < room->section_split[s]) == (item->first < s));
		}
	return true;
}
#endif

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
	/* items that meet live in the section in which the later of both begins */
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
	assert(check_room(room));
	return true;
}

static bool add_room(
	struct room_dividing *dividing, struct room *room, size_t from, size_t to, int end)
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
		struct section_span span = dividing->spans[shape];
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
	struct room_dividing dividing = {shapes, arena,
		arena_array(arena, struct section_span, shapes->piece_count),
		arena_array(arena, struct section_span, shapes->count), 0,
		arena_array(arena, int, shapes->count), 0};
	struct rooms rooms = {0, arena_array(arena, struct room, shapes->count), false};
	room_dividing_find_sections(&dividing);
	for (size_t i = 0; i < shapes->count; i++)
		dividing.order[i] = (int)i;
	if (shapes->count)
		qsort_r(dividing.order, shapes->count, sizeof *dividing.order, compare_by_section,
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
