#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/place_instances.h"

#include <string.h>

#include "tests/test.h"

/*
 * Guarantees of the generators of packings: a perfect packing fits where it was cut and, with
 * nothing taken out, fills its box; equal seeds draw equal packings; declarations are lawful.
 */
static void check_perfect(struct arena *arena, const struct perfect *perfect)
{
	const struct packing *packing = &perfect->packing;
	int *in_place = arena_array(arena, int, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		in_place[i] = -1;
	int64_t *addresses =
		arena_copy(arena, perfect->addresses, packing->count * sizeof *addresses);
	struct placement placement = {
		.count = packing->count, .addresses = addresses, .in_place_of = in_place};
	assert_int_equal(packing_check(packing, &placement).a, -1);
}

static int64_t area(const struct packing *packing, int64_t *steps)
{
	int64_t sum = 0;
	*steps = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		sum += buffer->size * (buffer->end - buffer->start);
		*steps = buffer->end > *steps ? buffer->end : *steps;
	}
	return sum;
}

BARE_TEST(perfect_packings_fill_their_box)
{
	long count = draws(60);
	uint64_t seed = draws_seed(91);
	size_t least = SIZE_MAX, most = 0;
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct perfect perfect = perfect_numbered(arena, seed, (uint64_t)draw);
		int64_t steps, sum = area(&perfect.packing, &steps);
		check_perfect(arena, &perfect);
		assert_in_range(perfect.packing.count, 95, 600);
		assert_true(sum <= steps * perfect.packing.capacity);
		if (draw % 2 == 0)
			assert_int_equal(sum, steps * perfect.packing.capacity);
		least = perfect.packing.count < least ? perfect.packing.count : least;
		most = perfect.packing.count > most ? perfect.packing.count : most;
		struct perfect again = perfect_numbered(arena, seed, (uint64_t)draw);
		assert_int_equal(again.packing.count, perfect.packing.count);
		assert_memory_equal(again.addresses, perfect.addresses,
			perfect.packing.count * sizeof *perfect.addresses);
		arena_close(arena);
	}
	assert_true(count < 30 || (least < 200 && most > 500));
}

TEST(a_box_without_room_is_cut_into_fewer)
{
	struct random random = random_open(1, 1);
	struct perfect_options options = {
		.count = 50, .steps = 3, .height = 4, .grain = 8, .wheels = 50};
	struct perfect perfect = perfect_draw(arena, &random, &options);
	assert_int_equal(perfect.packing.count, 12);
	check_perfect(arena, &perfect);
}

BARE_TEST(tight_packings_are_lawful)
{
	struct tight_options options = {
		.least = 2, .most = 30, .in_place = true, .alignment = true, .fixed = true};
	long count = draws(1000), children = 0, must = 0, aligned = 0, fixed = 0, reserved = 0;
	uint64_t seed = draws_seed(92);
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = tight_draw(arena, &random, &options);
		assert_in_range(packing.count, 1, 30);
		assert_true(packing.capacity > 0 && packing.alignment > 0);
		for (size_t i = 0; i < packing.count; i++) {
			const struct buffer *buffer = &packing.buffers[i];
			assert_true(buffer->size > 0 && buffer->start < buffer->end);
			assert_true(buffer->alignment >= 0);
			for (size_t k = 0; k < buffer->parent_count; k++) {
				const struct buffer *parent = &packing.buffers[buffer->parents[k]];
				assert_int_equal(parent->end, buffer->start + 1);
				assert_true(parent->size >= buffer->size);
			}
			children += buffer->parent_count > 0;
			must += buffer->must_take_over;
			aligned += buffer->alignment > 0;
			fixed += buffer->is_fixed;
		}
		reserved += (long)packing.reserved_count;
		arena_close(arena);
	}
	assert_true(!draws_are_many(count) ||
		    (children > count && must > count / 4 && aligned > count && fixed > count / 4 &&
			    reserved > count / 10));
}
