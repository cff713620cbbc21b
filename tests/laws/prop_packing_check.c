#include "base/random.h"
#include "model/packing/buffer.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/*
 * The checker of layouts beside one that looks at every byte in every step, on layouts with every
 * constraint of the format; and the transfers that a layout saves, beside a walk through its uses.
 */
enum { CAPACITY = 24, STEPS = 10, BUFFERS_MOST = 6, PARTS_MOST = 12 };

struct drawn {
	struct packing packing;
	struct placement placement;
	struct buffer buffers[BUFFERS_MOST];
	int parents[BUFFERS_MOST][BUFFERS_MOST];
	struct use uses[BUFFERS_MOST][STEPS];
	struct byte_range reserved[2];
	int64_t addresses[BUFFERS_MOST];
	int in_place_of[BUFFERS_MOST];
	struct residence_part parts[PARTS_MOST];
};

static void draw_buffer(struct drawn *d, struct random *random, size_t i)
{
	struct buffer *buffer = &d->buffers[i];
	int64_t start = draw_below(random, STEPS - 1);
	*buffer = (struct buffer){.name = "b",
		.size = draw_below(random, 9),
		.start = start,
		.end = start + 1 + draw_below(random, STEPS - start),
		.alignment = draw_below(random, 3) ? 0 : 1 + draw_below(random, 4),
		.is_fixed = draw_below(random, 8) == 0,
		.address = 4 * draw_below(random, 5),
		.weight = draw_below(random, 9),
		.parents = d->parents[i],
		.uses = d->uses[i],
		.must_take_over = draw_below(random, 8) == 0};
	for (size_t p = 0; p < i; p++)
		if (draw_below(random, 2))
			d->parents[i][buffer->parent_count++] = (int)p;
	for (int64_t at = buffer->start; draw_below(random, 2) && at < buffer->end; at++)
		if (draw_below(random, 2))
			d->uses[i][buffer->use_count++] =
				(struct use){at, draw_below(random, 2), draw_below(random, 3)};
	if (i && draw_below(random, 3) == 0 && d->buffers[i - 1].end > 1) {
		buffer->start = d->buffers[i - 1].end - 1;
		buffer->end = buffer->start + 1 + draw_below(random, 3);
		buffer->use_count = 0;
	}
}

static void draw_place(struct drawn *d, struct random *random, size_t i)
{
	const struct buffer *buffer = &d->buffers[i];
	d->in_place_of[i] = -1;
	d->addresses[i] = draw_below(random, 5) ? 2 * draw_below(random, 10) : UNPLACED;
	if (buffer->parent_count && draw_below(random, 2)) {
		d->in_place_of[i] = buffer->parents[0];
		d->addresses[i] = d->addresses[buffer->parents[0]];
	}
	if (buffer->use_count < 2 || draw_below(random, 3))
		return;
	d->addresses[i] = draw_below(random, 9) ? UNPLACED : 0;
	for (size_t u = 0; u + 1 < buffer->use_count && d->placement.part_count < PARTS_MOST; u++)
		if (draw_below(random, 2))
			d->parts[d->placement.part_count++] = (struct residence_part){(int)i,
				buffer->uses[u].at + (draw_below(random, 9) == 0),
				buffer->uses[u + 1].at + 1, 2 * draw_below(random, 9)};
}

/* Some buffers apart from each other, each for one or more parts of its life as it should be:
 * drawn as above, what is there in parts is hardly ever right. */
static void draw_in_parts(struct drawn *d, struct random *random, size_t i)
{
	struct buffer *buffer = &d->buffers[i];
	buffer->size = draw_below(random, 5);
	buffer->alignment = 0;
	buffer->is_fixed = buffer->must_take_over = false;
	buffer->parent_count = buffer->use_count = 0;
	for (int64_t at = buffer->start; at < buffer->end; at++)
		if (draw_below(random, 4))
			d->uses[i][buffer->use_count++] =
				(struct use){at, draw_below(random, 2), draw_below(random, 3)};
	d->in_place_of[i] = -1;
	d->addresses[i] = UNPLACED;
	for (size_t u = 0; u + 1 < buffer->use_count && d->placement.part_count < PARTS_MOST;
		u += 2)
		d->parts[d->placement.part_count++] = (struct residence_part){
			(int)i, buffer->uses[u].at, buffer->uses[u + 1].at + 1, 4 * (int64_t)i};
}

static void draw(struct drawn *d, struct random *random)
{
	memset(d, 0, sizeof *d);
	size_t count = 1 + (size_t)draw_below(random, BUFFERS_MOST);
	d->placement = (struct placement){
		.count = count, .addresses = d->addresses, .in_place_of = d->in_place_of};
	bool in_parts = draw_below(random, 8) == 0;
	for (size_t i = 0; i < count; i++) {
		draw_buffer(d, random, i);
		if (in_parts)
			draw_in_parts(d, random, i);
		else
			draw_place(d, random, i);
	}
	d->placement.parts = d->parts;
	d->packing = (struct packing){.capacity = CAPACITY,
		.alignment = 1 + draw_below(random, 2),
		.count = count,
		.buffers = d->buffers,
		.reserved = d->reserved,
		.reserved_count = draw_below(random, 4) ? 0 : 2};
	for (size_t r = 0; r < 2; r++)
		d->reserved[r].to = (d->reserved[r].from = draw_below(random, CAPACITY)) +
				    draw_below(random, 4);
}

/* Returns the address of a buffer at a step; -1 if it is absent. */
static int64_t address_at(const struct drawn *d, size_t i, int64_t step)
{
	if (step < d->buffers[i].start || step >= d->buffers[i].end)
		return -1;
	if (d->addresses[i] != UNPLACED)
		return d->addresses[i];
	for (size_t k = 0; k < d->placement.part_count; k++)
		if ((size_t)d->parts[k].buffer == i && step >= d->parts[k].from &&
			step < d->parts[k].to)
			return d->parts[k].address;
	return -1;
}

static bool takes(const struct drawn *d, size_t c, size_t p)
{
	for (size_t k = 0; k < d->buffers[c].parent_count; k++)
		if ((size_t)d->buffers[c].parents[k] == p)
			return d->buffers[p].end == d->buffers[c].start + 1 &&
			       d->buffers[c].size <= d->buffers[p].size &&
			       d->addresses[p] != UNPLACED && d->addresses[c] == d->addresses[p];
	return false;
}

static bool is_free(const struct drawn *d, int64_t step)
{
	for (int64_t byte = 0; byte < 2 * CAPACITY; byte++) {
		int owners[BUFFERS_MOST], count = 0;
		for (size_t i = 0; i < d->packing.count; i++) {
			int64_t at = address_at(d, i, step);
			if (at >= 0 && byte >= at && byte < at + d->buffers[i].size)
				owners[count++] = (int)i;
		}
		if (count && byte >= CAPACITY)
			return false;
		for (size_t r = 0; r < d->packing.reserved_count && count; r++)
			if (byte >= d->reserved[r].from && byte < d->reserved[r].to)
				return false;
		for (int a = 0; a < count; a++)
			for (int b = 0; b < a; b++) {
				size_t i = (size_t)owners[a], j = (size_t)owners[b];
				bool i_takes = takes(d, i, j), j_takes = takes(d, j, i);
				if (!i_takes && !j_takes)
					return false;
				if (d->in_place_of[i_takes ? i : j] < 0)
					return false;
			}
	}
	return true;
}

static bool may_lie(const struct drawn *d, size_t i, int64_t address)
{
	const struct buffer *buffer = &d->buffers[i];
	int64_t alignment = buffer->alignment ? buffer->alignment : d->packing.alignment;
	return address >= 0 && address % alignment == 0 && address + buffer->size <= CAPACITY &&
	       (!buffer->is_fixed || address == buffer->address);
}

static bool has_use(const struct buffer *buffer, int64_t step)
{
	bool has = false;
	for (size_t u = 0; u < buffer->use_count; u++)
		has |= buffer->uses[u].at == step;
	return has;
}

static bool is_right(const struct drawn *d)
{
	bool right = true;
	for (size_t i = 0; i < d->packing.count; i++) {
		int parent = d->in_place_of[i];
		if (d->addresses[i] == UNPLACED)
			continue;
		right &= may_lie(d, i, d->addresses[i]);
		right &= parent < 0 ? !d->buffers[i].must_take_over : takes(d, i, (size_t)parent);
	}
	for (size_t k = 0; k < d->placement.part_count; k++) {
		const struct residence_part *part = &d->parts[k];
		size_t i = (size_t)part->buffer;
		right &= d->addresses[i] == UNPLACED && !d->buffers[i].must_take_over;
		right &= part->from < part->to && has_use(&d->buffers[i], part->from) &&
			 has_use(&d->buffers[i], part->to - 1) && may_lie(d, i, part->address);
		for (size_t m = 0; m < k; m++)
			right &= (size_t)d->parts[m].buffer != i || d->parts[m].to <= part->from;
	}
	for (int64_t step = 0; step < 2 * STEPS && right; step++)
		right = is_free(d, step);
	return right;
}

TEST(the_checker_agrees_with_a_map_of_bytes)
{
	uint64_t seed = draws_seed(1);
	long count = draws(60000), right = 0, in_parts = 0;
	for (long i = 0; i < count; i++) {
		static struct drawn d;
		struct random random = random_open(seed, (uint64_t)i);
		draw(&d, &random);
		struct packing_fault fault = packing_check(&d.packing, &d.placement);
		if ((fault.a < 0) != is_right(&d))
			fail_msg("draw %ld: the checker says %s of %d, %d", i,
				fault.why ? fault.why : "nothing", fault.a, fault.b);
		right += fault.a < 0;
		in_parts += fault.a < 0 && d.placement.part_count > 0;
	}
	assert_true(!draws_are_many(count) || (right > count / 20 && in_parts > count / 500));
}

/* Is it there all the time between two steps, the last included? */
static bool stays(const struct drawn *d, size_t i, int64_t from, int64_t to)
{
	for (size_t k = 0; k < d->placement.part_count; k++)
		if ((size_t)d->parts[k].buffer == i && d->parts[k].from <= from &&
			d->parts[k].to > to)
			return true;
	return d->addresses[i] != UNPLACED;
}

static int64_t saved_by(const struct drawn *d, size_t i)
{
	const struct buffer *buffer = &d->buffers[i];
	int64_t saved = 0;
	if (!buffer->use_count)
		return d->addresses[i] != UNPLACED ? buffer->weight : 0;
	for (size_t u = 0; u < buffer->use_count; u++) {
		if (!buffer->uses[u].write) {
			if (u && stays(d, i, buffer->uses[u - 1].at, buffer->uses[u].at))
				saved += use_weight(buffer, &buffer->uses[u]);
			continue;
		}
		bool all = true;
		size_t r = u + 1;
		for (; r < buffer->use_count && !buffer->uses[r].write; r++)
			all &= stays(d, i, buffer->uses[r - 1].at, buffer->uses[r].at);
		if (all && r > u + 1)
			saved += use_weight(buffer, &buffer->uses[u]);
	}
	return saved;
}

TEST(what_is_saved_is_what_does_not_move)
{
	uint64_t seed = draws_seed(2);
	long count = draws(60000), some = 0;
	for (long i = 0; i < count; i++) {
		static struct drawn d;
		struct random random = random_open(seed, (uint64_t)i);
		draw(&d, &random);
		if (packing_check(&d.packing, &d.placement).a >= 0)
			continue;
		int64_t saved = 0;
		for (size_t k = 0; k < d.packing.count; k++)
			saved += saved_by(&d, k);
		if (placement_saved(&d.packing, &d.placement) != saved)
			fail_msg("draw %ld: %lld is saved, not %lld", i, (long long)saved,
				(long long)placement_saved(&d.packing, &d.placement));
		assert_true(saved <= packing_weights(&d.packing));
		some += saved && d.placement.part_count;
	}
	assert_true(!draws_are_many(count) || some > 0);
}
