#include "tests/support/place_instances.h"

#include "base/arena.h"
#include "base/number.h"

enum { PERFECT_BYTES = 1048576, UNITS_MOST = 12, PARENTS_MOST = 2 };

struct rectangle {
	int64_t left, right, bottom, top; /* half-open; steps, grains */
};

struct cutting {
	struct random *random;
	const struct perfect_options *options;
	int rivals; /* the largest of this many drawn rectangles is cut next */
	size_t count;
	struct rectangle *at;
};

static int64_t draw_between(struct random *random, int64_t least, int64_t most)
{
	return least + (int64_t)random_below(random, (uint64_t)(most - least) + 1);
}

static bool draw_percent(struct random *random, int percent)
{
	return (int64_t)random_below(random, 100) < percent;
}

static int64_t width(struct rectangle r)
{
	return r.right - r.left;
}

static int64_t height(struct rectangle r)
{
	return r.top - r.bottom;
}

static void add(struct cutting *cutting, struct rectangle rectangle)
{
	cutting->at[cutting->count++] = rectangle;
}

static void halve(struct cutting *cutting, size_t i)
{
	struct rectangle whole = cutting->at[i], other = whole;
	bool upright = height(whole) < 2 || (width(whole) >= 2 && random_below(cutting->random, 2));
	if (upright) {
		other.left = draw_between(cutting->random, whole.left + 1, whole.right - 1);
		cutting->at[i].right = other.left;
	} else {
		other.bottom = draw_between(cutting->random, whole.bottom + 1, whole.top - 1);
		cutting->at[i].top = other.bottom;
	}
	add(cutting, other);
}

/* Four rectangles go round the fifth, one way or the other. */
static void wheel(struct cutting *cutting, size_t i)
{
	struct random *random = cutting->random;
	struct rectangle r = cutting->at[i];
	int64_t x = draw_between(random, r.left + 1, r.right - 2);
	int64_t right = draw_between(random, x + 1, r.right - 1);
	int64_t y = draw_between(random, r.bottom + 1, r.top - 2);
	int64_t top = draw_between(random, y + 1, r.top - 1);
	cutting->at[i] = (struct rectangle){x, right, y, top};
	if (random_below(random, 2)) {
		add(cutting, (struct rectangle){r.left, right, r.bottom, y});
		add(cutting, (struct rectangle){right, r.right, r.bottom, top});
		add(cutting, (struct rectangle){x, r.right, top, r.top});
		add(cutting, (struct rectangle){r.left, x, y, r.top});
	} else {
		add(cutting, (struct rectangle){x, r.right, r.bottom, y});
		add(cutting, (struct rectangle){right, r.right, y, r.top});
		add(cutting, (struct rectangle){r.left, right, top, r.top});
		add(cutting, (struct rectangle){r.left, x, r.bottom, top});
	}
}

static bool can_be_cut(struct rectangle r)
{
	return width(r) > 1 || height(r) > 1;
}

/* The largest of some; the count if none of them can be cut. */
static size_t choose(const struct cutting *cutting)
{
	size_t chosen = cutting->count;
	int64_t largest = 0;
	for (int k = 0; k < cutting->rivals; k++) {
		size_t i = random_below(cutting->random, cutting->count);
		int64_t area = width(cutting->at[i]) * height(cutting->at[i]);
		if (area > largest && can_be_cut(cutting->at[i])) {
			chosen = i;
			largest = area;
		}
	}
	for (size_t i = 0; i < cutting->count && chosen == cutting->count; i++)
		if (can_be_cut(cutting->at[i]))
			chosen = i;
	return chosen;
}

static void cut(struct cutting *cutting)
{
	while (cutting->count < cutting->options->count) {
		size_t i = choose(cutting);
		if (i == cutting->count)
			return;
		struct rectangle r = cutting->at[i];
		bool room = width(r) >= 3 && height(r) >= 3 &&
			    cutting->count + 4 <= cutting->options->count;
		if (room && draw_percent(cutting->random, cutting->options->wheels))
			wheel(cutting, i);
		else
			halve(cutting, i);
	}
}

static void shuffle(struct random *random, struct rectangle *at, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = random_below(random, i);
		struct rectangle moved = at[i - 1];
		at[i - 1] = at[j];
		at[j] = moved;
	}
}

struct perfect perfect_draw(
	struct arena *arena, struct random *random, const struct perfect_options *options)
{
	struct cutting cutting = {.random = random,
		.options = options,
		.rivals = (int)draw_between(random, 1, 4),
		.at = arena_array(arena, struct rectangle, options->count)};
	add(&cutting, (struct rectangle){0, options->steps, 0, options->height});
	cut(&cutting);
	shuffle(random, cutting.at, cutting.count);
	size_t count = cutting.count - cutting.count * (size_t)options->removed / 1000;
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	int64_t *addresses = arena_array(arena, int64_t, count);
	for (size_t i = 0; i < count; i++) {
		struct rectangle r = cutting.at[i];
		buffers[i] = (struct buffer){.name = arena_format(arena, "b%zu", i),
			.size = height(r) * options->grain,
			.start = r.left,
			.end = r.right};
		addresses[i] = r.bottom * options->grain;
	}
	return (struct perfect){{.capacity = options->height * options->grain,
					.alignment = options->grain,
					.count = count,
					.buffers = buffers},
		addresses};
}

struct perfect perfect_numbered(struct arena *arena, uint64_t seed, uint64_t number)
{
	static const int wheels[] = {0, 25, 50, 100};
	static const int64_t grains[] = {256, 1024, 4096};
	struct random random = random_open(seed, number);
	int64_t grain = grains[random_below(&random, 3)];
	struct perfect_options options = {
		.count = (size_t)draw_between(&random, 100, 600),
		.steps = draw_between(&random, 100, 2000),
		.height = PERFECT_BYTES / grain,
		.grain = grain,
		.wheels = wheels[random_below(&random, 4)],
		.removed = number % 2 ? (int)draw_between(&random, 1, 50) : 0,
	};
	return perfect_draw(arena, &random, &options);
}

/* The most bytes that live at once; what a child may take over counts once. */
static int64_t load(const struct packing *packing)
{
	int64_t most = 0;
	for (size_t k = 0; k < packing->count; k++) {
		int64_t time = packing->buffers[k].start, bytes = 0;
		for (size_t i = 0; i < packing->count; i++) {
			const struct buffer *buffer = &packing->buffers[i];
			int64_t start = buffer->start + (buffer->parent_count > 0);
			if (start <= time && time < buffer->end)
				bytes += buffer->size;
		}
		most = number_max(most, bytes);
	}
	return most;
}

static struct buffer *draw_buffers(
	struct arena *arena, struct random *random, size_t count, int64_t grain)
{
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	int64_t steps = draw_between(random, 3, (int64_t)count / 2 + 4);
	int64_t longest = draw_between(random, 2, steps),
		ragged = random_below(random, 3) ? 1 : grain;
	for (size_t i = 0; i < count; i++) {
		int64_t start = draw_between(random, 0, steps - 1);
		int64_t most = number_min(longest, steps - start);
		int64_t size = draw_between(random, 1, UNITS_MOST) * grain;
		buffers[i] = (struct buffer){
			.size = size - (int64_t)random_below(random, (uint64_t)ragged),
			.start = start,
			.end = start + draw_between(random, 1, most)};
	}
	return buffers;
}

static void draw_parents(
	struct arena *arena, struct random *random, struct buffer *buffers, size_t count)
{
	for (size_t c = 1; c < count; c++) {
		int *parents = arena_array(arena, int, PARENTS_MOST);
		struct buffer *child = &buffers[c];
		for (size_t p = 0; p < c && child->parent_count < PARENTS_MOST; p++) {
			if (random_below(random, count))
				continue;
			if (!child->parent_count) {
				int64_t life = child->end - child->start;
				child->start = buffers[p].end - 1;
				child->end = child->start + life;
			}
			if (child->start != buffers[p].end - 1)
				continue;
			child->size = number_min(child->size, buffers[p].size);
			parents[child->parent_count++] = (int)p;
		}
		child->parents = parents;
		child->must_take_over = child->parent_count && random_below(random, 5) == 0;
	}
}

static void draw_addresses(struct arena *arena, struct random *random, struct packing *packing,
	struct buffer *buffers, int64_t grain)
{
	int64_t units = packing->capacity / grain;
	for (int k = 0; k < 2; k++) {
		struct buffer *buffer = &buffers[random_below(random, packing->count)];
		int64_t step = buffer->alignment ? buffer->alignment : packing->alignment;
		buffer->is_fixed = true;
		buffer->address = draw_between(random, 0, units / 2) * grain / step * step;
	}
	if (random_below(random, 2)) {
		struct byte_range *ranges = arena_array(arena, struct byte_range, 2);
		packing->reserved_count = 1 + random_below(random, 2);
		packing->reserved = ranges;
		for (size_t r = 0; r < packing->reserved_count; r++) {
			ranges[r].from = draw_between(random, 0, packing->capacity);
			ranges[r].to = ranges[r].from + draw_between(random, 1, 2 * grain);
		}
	}
}

struct packing tight_draw(
	struct arena *arena, struct random *random, const struct tight_options *options)
{
	static const int64_t grains[] = {1, 3, 64}, steps[] = {1, 2, 3, 4, 6, 8};
	size_t count =
		(size_t)draw_between(random, (int64_t)options->least, (int64_t)options->most);
	int64_t grain = grains[random_below(random, 3)];
	struct buffer *buffers;
	if (random_below(random, 3)) {
		buffers = draw_buffers(arena, random, count, grain);
	} else {
		struct perfect_options box = {.count = count,
			.steps = draw_between(random, 3, (int64_t)count + 2),
			.height = draw_between(random, 4, UNITS_MOST),
			.grain = grain,
			.wheels = 50,
			.removed = 100};
		struct packing whole = perfect_draw(arena, random, &box).packing;
		count = whole.count;
		buffers = arena_copy(arena, whole.buffers, count * sizeof *buffers);
	}
	if (options->in_place && random_below(random, 2))
		draw_parents(arena, random, buffers, count);
	bool aligned = options->alignment && random_below(random, 2);
	for (size_t i = 0; i < count; i++) {
		buffers[i].name = arena_format(arena, "b%zu", i);
		if (aligned && random_below(random, 2))
			buffers[i].alignment = steps[random_below(random, 6)];
	}
	struct packing packing = {.alignment = grain, .count = count, .buffers = buffers};
	int64_t least = load(&packing), spare = draw_between(random, 0, 1) * least / 5;
	packing.capacity = least + draw_between(random, -1, 3) * grain + spare;
	packing.capacity = number_max(packing.capacity + (int64_t)random_below(random, 2), 1);
	if (options->fixed && random_below(random, 2))
		draw_addresses(arena, random, &packing, buffers, grain);
	return packing;
}
