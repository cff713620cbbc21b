#include "solvers/place/pack/shape.h"

#include "base/number.h"
#include "model/packing/packing_sums.h"
#include "solvers/place/packing.h"

#include <stdlib.h>

/*
 * Addresses are multiples of the least alignment `step` (of all alignments the greatest common
 * divisor).  So sizes can be counted in whole steps, as long as nothing else lies between
 * multiples of it; only the highest shape of a section may end inside the last step of a capacity
 * that is no multiple, which `high` sees to.
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

static void reject(struct forming *forming, int buffer)
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

static int compare_in_order(const void *left, const void *right, void *context)
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
				reject(forming, members[i]);
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
			reject(forming, members[0]);
		*fixed = buffer->address;
		if (*fixed < 0)
			reject(forming, members[i]);
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
		reject(forming, members[0]);
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

static int64_t find_unit(const struct shapes *shapes)
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
	int64_t unit = shapes->unit = find_unit(shapes);
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
		qsort_r(forming.order, forming.order_count, sizeof *forming.order, compare_in_order,
			&forming);
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
