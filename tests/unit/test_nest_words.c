#include "sim/nest/nest_run.h"

#include "tests/test.h"

/* All boxes in a square of 4 x 4 words, as sets of 16 bits. */
enum { SIDE = 4, SETS = 1 << (SIDE * SIDE) };

static uint32_t bits_of(const struct nest_box *box)
{
	uint32_t bits = 0;
	for (int64_t i = box->low[0]; box->words && i < box->high[0]; i++) {
		for (int64_t j = box->low[1]; j < box->high[1]; j++)
			bits |= 1u << (i * SIDE + j);
	}
	return bits;
}

/* Box number n; empty ones among them. */
static struct nest_box box_number(int n)
{
	struct nest_box box;
	for (int r = 0; r < 2; r++) {
		box.low[r] = n % (SIDE + 1);
		n /= SIDE + 1;
		box.high[r] = n % (SIDE + 1);
		n /= SIDE + 1;
	}
	assert_true(nest_box_finish(2, &box));
	return box;
}

enum { BOXES = (SIDE + 1) * (SIDE + 1) * (SIDE + 1) * (SIDE + 1) };

static uint32_t walk(const struct nest_words *set)
{
	uint32_t bits = 0;
	int64_t count = 0, last = -1;
	for (struct nest_walk at = nest_walk_first(2, set); at.any; nest_walk_next(2, set, &at)) {
		int64_t word = at.at[0] * SIDE + at.at[1];
		assert_true(word > last);
		last = word;
		count++;
		bits |= 1u << word;
	}
	assert_int_equal(count, set->count);
	return bits;
}

TEST(sets_are_equal_when_their_words_are)
{
	static struct nest_words first[SETS];
	static bool known[SETS];
	static uint32_t found[SETS];
	int distinct = 0;
	for (int a = 0; a < BOXES; a++) {
		for (int b = 0; b < BOXES; b++) {
			struct nest_box box = box_number(a), hole = box_number(b);
			struct nest_words set;
			nest_words_without(2, &box, &hole, &set);
			uint32_t bits = bits_of(&box) & ~bits_of(&hole);
			assert_int_equal(walk(&set), bits);
			assert_int_equal(nest_words_inside(2, &set, &hole), !bits);
			if (!bits)
				continue;
			assert_true(nest_words_inside(2, &set, &box));
			if (!known[bits]) {
				known[bits] = true;
				first[bits] = set;
				found[distinct++] = bits;
			}
			assert_true(nest_words_equal(2, &set, &first[bits]));
			assert_int_equal(
				nest_words_hash(2, &set), nest_words_hash(2, &first[bits]));
		}
	}
	for (int x = 0; x < distinct; x++) {
		for (int y = 0; y < x; y++)
			assert_false(nest_words_equal(2, &first[found[x]], &first[found[y]]));
	}
	assert_true(distinct > 600);
}

TEST(boxes_meet_in_boxes)
{
	for (int a = 0; a < BOXES; a++) {
		for (int b = 0; b < BOXES; b++) {
			struct nest_box one = box_number(a), other = box_number(b), both;
			nest_box_meet(2, &one, &other, &both);
			assert_int_equal(bits_of(&both), bits_of(&one) & bits_of(&other));
			assert_int_equal(
				nest_box_equal(2, &one, &other), bits_of(&one) == bits_of(&other));
		}
	}
}

TEST(a_word_without_ranks)
{
	struct nest_box scalar = {0}, nothing = {0};
	assert_true(nest_box_finish(0, &scalar));
	assert_int_equal(scalar.words, 1);
	struct nest_words set;
	nest_words_without(0, &scalar, &nothing, &set);
	struct nest_walk at = nest_walk_first(0, &set);
	assert_true(at.any);
	nest_walk_next(0, &set, &at);
	assert_false(at.any);
	nest_words_without(0, &scalar, &scalar, &set);
	assert_false(nest_walk_first(0, &set).any);
}
