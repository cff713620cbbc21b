#include "base/arena.h"
#include "base/random.h"
#include "sim/graph/chip.h"

#include <time.h>

#include "tests/test.h"

/* The bytes of a memory by pieces, against one entry for each byte. */

enum { BYTES = 48 };

struct byte_model {
	bool written[BYTES];
	struct written_piece of[BYTES]; /* without its bytes */
};

static bool bytes_continue(const struct byte_model *model, int64_t at)
{
	const struct written_piece *a = &model->of[at], *b = &model->of[at + 1];
	return model->written[at] && model->written[at + 1] && a->base == b->base &&
	       a->tensor == b->tensor && a->step == b->step && a->part == b->part;
}

static void check_byte(const struct byte_model *model, struct pieces *pieces, int64_t at)
{
	const struct written_piece *found = pieces_find(pieces, at), *of = &model->of[at];
	int64_t low = at, high = at + 1;
	assert_int_equal(found != NULL, model->written[at]);
	if (!found)
		return;
	while (low > 0 && bytes_continue(model, low - 1))
		low--;
	while (high < BYTES && bytes_continue(model, high - 1))
		high++;
	assert_int_equal(found->low, low);
	assert_int_equal(found->high, high);
	assert_int_equal(found->base, of->base);
	assert_int_equal(found->tensor, of->tensor);
	assert_int_equal(found->step, of->step);
	assert_int_equal(found->part, of->part);
}

static void write_bytes(struct byte_model *model, struct pieces *pieces, struct random *random)
{
	struct written_piece piece = {.low = (int64_t)random_below(random, BYTES),
		.base = (int64_t)random_below(random, 2),
		.tensor = (int)random_below(random, 2),
		.step = (int)random_below(random, 2),
		.part = random_below(random, 2)};
	int64_t most = random_below(random, 4) ? 4 : BYTES;
	piece.high = piece.low + (int64_t)random_below(random, (uint64_t)most);
	if (piece.high > BYTES)
		piece.high = BYTES;
	pieces_write(pieces, piece);
	for (int64_t at = piece.low; at < piece.high; at++) {
		model->written[at] = true;
		model->of[at] = piece;
	}
}

TEST(pieces_hold_what_was_written_last)
{
	struct random random = random_open(73, 0);
	for (int round = 0; round < 40; round++) {
		struct pieces *pieces = pieces_open(arena);
		struct byte_model model = {0};
		for (int i = 0; i < 100; i++) {
			if (random_below(&random, 60) == 0) {
				pieces_clear(pieces);
				model = (struct byte_model){0};
			}
			write_bytes(&model, pieces, &random);
			for (int k = 0; k < 8; k++)
				check_byte(&model, pieces, (int64_t)random_below(&random, BYTES));
		}
		for (int64_t at = 0; at < BYTES; at++)
			check_byte(&model, pieces, at);
	}
}

/* The rows of an array by columns take a time in proportion to their number: 600,000 take 0.03 s, and hours if each
 * access looks at all pieces. */
TEST(rows_are_found_without_looking_at_all)
{
	enum { ROWS = 200000, COLUMNS = 3, PITCH = 8 };
	struct pieces *pieces = pieces_open(arena);
	clock_t begin = clock();
	for (int column = 0; column < COLUMNS; column++)
		for (int64_t row = 0; row < ROWS; row++) {
			int64_t low = row * PITCH + column;
			pieces_write(pieces, (struct written_piece){.low = low, .high = low + 1});
			assert_non_null(pieces_find(pieces, low));
			if (row % 1000 == 0)
				assert_true((clock() - begin) / CLOCKS_PER_SEC < 20);
		}
	assert_int_equal(pieces_find(pieces, PITCH)->high, PITCH + COLUMNS);
}
