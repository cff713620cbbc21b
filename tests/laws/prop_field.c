#include "base/arena.h"
#include "base/diag.h"
#include "base/random.h"
#include "base/text.h"
#include "spec/field.h"
#include "spec/node.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/* A map that is written from a table is read by it as the same map: fields of all types, some of them missing. */
struct inner {
	int64_t whole;
	const char *text;
};

enum colour { RED, GREEN, BLUE };

struct outer {
	const char *text, *extra;
	bool flag, switched, has_inner;
	int small;
	int64_t whole, size;
	double number, energy;
	struct ratio ratio, rate, clock, time;
	enum colour colour;
	struct texts texts;
	struct numbers numbers;
	struct inner inner;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct field inner_fields[] = {
	{"whole", FIELD_WHOLE, .required = true, .least = INT64_MIN, .most = INT64_MAX,
		INTO(struct inner, whole)},
	{"text", FIELD_TEXT, INTO(struct inner, text)},
	{0},
};
static const struct noun inner_noun = {.name = "inner", .fields = inner_fields};

static bool is_switched(const void *whole)
{
	return ((const struct outer *)whole)->switched;
}

static bool has_inner(const void *whole)
{
	return ((const struct outer *)whole)->has_inner;
}

#define OUTER(member) INTO(struct outer, member)

static const struct field outer_fields[] = {
	{"switched", FIELD_FLAG, .omit = "false", OUTER(switched)},
	{"has_inner", FIELD_FLAG, .required = true, OUTER(has_inner)},
	{"text", FIELD_TEXT, OUTER(text)},
	{"extra", FIELD_TEXT, .required = true, .has = is_switched, OUTER(extra)},
	{"flag", FIELD_FLAG, OUTER(flag)},
	{"small", FIELD_WHOLE, .least = -9, .most = 9, .omit = "0", OUTER(small)},
	{"whole", FIELD_WHOLE, .least = INT64_MIN, .most = INT64_MAX, OUTER(whole)},
	{"size", FIELD_SIZE, .most = INT64_MAX, OUTER(size)},
	{"number", FIELD_NUMBER, OUTER(number)},
	{"energy", FIELD_ENERGY, OUTER(energy)},
	{"ratio", FIELD_RATIO, OUTER(ratio)},
	{"rate", FIELD_RATE, OUTER(rate)},
	{"clock", FIELD_CLOCK, OUTER(clock)},
	{"time", FIELD_TIME, OUTER(time)},
	{"colour", FIELD_CHOICE, .words = colours, .omit = "red", OUTER(colour)},
	{"texts", FIELD_TEXT, .shape = SHAPE_SOME, OUTER(texts)},
	{"numbers", FIELD_WHOLE, .shape = SHAPE_LIST, .item = "a number", .least = INT64_MIN,
		.most = INT64_MAX, OUTER(numbers)},
	{"inner", FIELD_MAP, .noun = &inner_noun, .has = has_inner, OUTER(inner)},
	{0},
};
static const struct noun outer_noun = {.name = "outer", .fields = outer_fields};

static const char *draw_text(struct random *random)
{
	static const char *const texts[] = {"a", "two words", "it's: \"so\"", "12", "true", "~",
		"-", "# none", "[a, b]", "{", "null", " x ", "\u2028", "a\\n", "\t"};
	return texts[random_below(random, sizeof texts / sizeof *texts)];
}

static int64_t draw_whole(struct random *random)
{
	return (int64_t)random_next(random) >> random_below(random, 64);
}

static double draw_number(struct random *random)
{
	return (double)random_below(random, 1 << 20) / (double)(1 << random_below(random, 11));
}

static struct ratio draw_ratio(struct random *random)
{
	struct ratio ratio = {0, 1};
	ratio_make(1 + draw_below(random, 1000000), 1 + draw_below(random, 1000), &ratio);
	return ratio;
}

static struct outer draw_outer(struct arena *arena, struct random *random)
{
	size_t count = random_below(random, 4);
	const char **texts = arena_array(arena, const char *, count + 1);
	int64_t *numbers = arena_array(arena, int64_t, count + 1);
	for (size_t i = 0; i < count; i++) {
		texts[i] = draw_text(random);
		numbers[i] = draw_whole(random);
	}
	struct outer outer = {.switched = random_below(random, 2),
		.flag = random_below(random, 2),
		.has_inner = random_below(random, 2),
		.small = (int)draw_below(random, 19) - 9,
		.whole = draw_whole(random),
		.size = draw_whole(random) & INT64_MAX,
		.number = draw_number(random),
		.energy = draw_number(random),
		.ratio = draw_ratio(random),
		.clock = draw_ratio(random),
		.time = draw_ratio(random),
		.colour = (enum colour)random_below(random, 3)};
	if (random_below(random, 2))
		outer.text = draw_text(random);
	if (outer.switched)
		outer.extra = draw_text(random);
	if (random_below(random, 2))
		outer.rate = draw_ratio(random);
	if (random_below(random, 2))
		outer.texts = (struct texts){texts, count};
	if (random_below(random, 2))
		outer.numbers = (struct numbers){numbers, count};
	if (outer.has_inner)
		outer.inner =
			(struct inner){draw_whole(random), random_below(random, 2) ? "b" : NULL};
	return outer;
}

static const char *write_outer(struct arena *arena, const struct outer *outer, bool block)
{
	struct text text = text_open(arena);
	text_add(&text, block ? "" : "{");
	fields_write(&text, &outer_noun, outer, block ? "\n" : ", ");
	text_add(&text, block ? "\n" : "}\n");
	return text_read(&text);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? text_equal(a, b) : a == b;
}

static bool is_same(const struct outer *a, const struct outer *b)
{
	const struct ratio *ratios[] = {
		&a->ratio, &a->rate, &a->clock, &a->time, &b->ratio, &b->rate, &b->clock, &b->time};
	bool same = is_same_text(a->text, b->text) && is_same_text(a->extra, b->extra) &&
		    a->flag == b->flag && a->switched == b->switched && a->small == b->small &&
		    a->whole == b->whole && a->size == b->size && a->number == b->number &&
		    a->energy == b->energy && a->colour == b->colour &&
		    a->inner.whole == b->inner.whole &&
		    is_same_text(a->inner.text, b->inner.text) && !a->texts.at == !b->texts.at &&
		    !a->numbers.at == !b->numbers.at && a->texts.count == b->texts.count &&
		    a->numbers.count == b->numbers.count;
	for (int i = 0; i < 4; i++)
		same &= ratios[i]->num == ratios[i + 4]->num &&
			(!ratios[i]->num || ratios[i]->den == ratios[i + 4]->den);
	for (size_t i = 0; same && i < a->texts.count; i++)
		same = text_equal(a->texts.at[i], b->texts.at[i]);
	for (size_t i = 0; same && i < a->numbers.count; i++)
		same = a->numbers.at[i] == b->numbers.at[i];
	return same;
}

BARE_TEST(what_is_written_is_read_the_same)
{
	struct random random = random_open(draws_seed(38), 0);
	for (long i = 0; i < draws(400); i++) {
		struct arena *arena = arena_open();
		struct reading reading = {.arena = arena, .diag = diag_open(arena)};
		struct outer outer = draw_outer(arena, &random), again = {0};
		struct reader map;
		const char *text = write_outer(arena, &outer, i % 2);
		const struct node *node =
			node_read_text(arena, "f", text, strlen(text), reading.diag);
		if (!node || !noun_open(&map, &reading, node, "outer", &outer_noun))
			fail_msg("draw %ld is not a map:\n%s", i, text);
		fields_read(&map, &outer_noun, &again, NULL);
		reader_done(&map);
		if (diag_failed(reading.diag) || !is_same(&again, &outer))
			fail_msg("draw %ld:\n%s is read as\n%s", i, text,
				write_outer(arena, &again, i % 2));
		arena_close(arena);
	}
}
