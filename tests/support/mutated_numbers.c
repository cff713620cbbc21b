#include "tests/support/mutated_text.h"

#include "base/arena.h"
#include "tests/support/draws.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LITERALS_MOST = 512, DIGITS_MOST = 24 };

struct literal {
	size_t from, to;
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t digits(const char *text, size_t at)
{
	while (isdigit((unsigned char)text[at]))
		at++;
	return at;
}

/* Digits, maybe a fraction, maybe an exponent. */
static size_t literal_end(const char *text, size_t at)
{
	size_t end = digits(text, at);
	if (text[end] == '.' && isdigit((unsigned char)text[end + 1]))
		end = digits(text, end + 1);
	if (text[end] == 'e' || text[end] == 'E') {
		size_t exponent = end + 1 + (text[end + 1] == '-' || text[end + 1] == '+');
		if (isdigit((unsigned char)text[exponent]))
			end = digits(text, exponent);
	}
	return end;
}

/* Literals of the text; those that end a word, as in PE_2 or M4, too if `words`. */
static size_t find_literals(const char *text, bool words, struct literal *out)
{
	size_t count = 0;
	for (size_t at = 0; text[at] && count < LITERALS_MOST;) {
		if (text[at] == '#' && (!at || isspace((unsigned char)text[at - 1]))) {
			at += strcspn(text + at, "\n"); /* a comment */
			continue;
		}
		if (!isdigit((unsigned char)text[at])) {
			at++;
			continue;
		}
		size_t end = literal_end(text, at);
		if (words || !at || !in_word(text[at - 1]))
			out[count++] = (struct literal){at, end};
		at = end;
	}
	return count;
}

static int64_t divisor_of(struct random *random, int64_t value)
{
	int64_t divisor = 1 + draw_below(random, 16);
	while (divisor > 1 && value % divisor)
		divisor--;
	return draw_chance(random, 2) ? divisor : value / divisor;
}

/* Returns a number that a user could have meant. */
static const char *near_number(struct arena *arena, struct random *random, int64_t value)
{
	int64_t bounded = value > 0 && value < INT32_MAX ? value : 1;
	switch (random_below(random, 6)) {
	case 0:
		return arena_format(arena, "%" PRId64, bounded + 1);
	case 1:
		return arena_format(arena, "%" PRId64, bounded - 1);
	case 2:
		return arena_format(arena, "%" PRId64, 2 * bounded);
	case 3:
		return arena_format(arena, "%" PRId64, (bounded + 1) / 2);
	case 4:
		return arena_format(arena, "%" PRId64, divisor_of(random, bounded));
	default:
		return arena_format(arena, "%" PRId64, draw_below(random, 9));
	}
}

/* Returns a number that no user would mean. */
static const char *far_number(struct arena *arena, struct random *random, const char *old)
{
	static const char *const limits[] = {"0", "-1", "-0", "127", "128", "255", "256", "32767",
		"65535", "65536", "2147483647", "2147483648", "4294967295", "4294967296",
		"9007199254740993", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "-9223372036854775808",
		"-9223372036854775809", "123456789012345678901234567890", "1e300", "-1e300",
		"1e-300", "1e400", "4.9e-324", ".inf", "nan", "0.0", "0.1", "0.999999999999", "1e9",
		"1e18", "9.523809523809523e-10", "07", "0x10", "0b1", "1_000", "+1", "1.", ".5"};
	static const char *const forms[] = {"-%s", "%s.5", "0.%s", "%s%s", "%sKiB", "%sGiB",
		"%sMHz", "%sGB/s", "%spJ", "%sns", "%sB", "%s*%s", "2**%s", "%s-%s", "%s/3", "(%s)",
		"1/%s", "%s e3", "\"%s\"", "~", "[%s]", "%s, %s", "%s:%s", "a%s"};
	enum { LIMITS = sizeof limits / sizeof *limits, FORMS = sizeof forms / sizeof *forms };
	if (draw_chance(random, 3))
		return arena_format(arena, "%" PRIu64,
			(UINT64_C(1) << random_below(random, 63)) - draw_chance(random, 3));
	if (draw_chance(random, 2))
		return limits[random_below(random, LIMITS)];
	const char *form = forms[random_below(random, FORMS)], *made = "";
	for (const char *at = form; *at; at++) {
		bool here = at[0] == '%';
		made = arena_format(
			arena, "%s%.*s", made, here ? (int)strlen(old) : 1, here ? old : at);
		at += here;
	}
	return made;
}

static const char *other_number(struct arena *arena, struct random *random, const char *old)
{
	if (random_below(random, 3) < 2)
		return near_number(arena, random, strtoll(old, NULL, 10));
	return far_number(arena, random, old);
}

/* One literal, or each that says the same. */
static const char *change_one(struct arena *arena, struct random *random, const char *text)
{
	struct literal *all = arena_array(arena, struct literal, LITERALS_MOST);
	size_t count = find_literals(text, draw_chance(random, 4), all);
	if (!count)
		return mutated_bytes(arena, random, text);
	const struct literal *one = &all[random_below(random, count)];
	size_t length = one->to - one->from;
	const char *old = arena_format(arena, "%.*s", (int)length, text + one->from);
	const char *with = other_number(arena, random, old);
	if (!draw_chance(random, 3))
		return spliced_text(arena, text, one->from, one->to, with);
	const char *made = text;
	for (size_t i = count; i > 0; i--)
		if (all[i - 1].to - all[i - 1].from == length &&
			memcmp(text + all[i - 1].from, old, length) == 0)
			made = spliced_text(arena, made, all[i - 1].from, all[i - 1].to, with);
	return made;
}

const char *mutated_numbers(struct arena *arena, struct random *random, const char *seed)
{
	const char *text = seed;
	uint64_t changes = draw_chance(random, 2) ? 1 : 1 + random_below(random, 3);
	for (uint64_t i = 0; i < changes && *text; i++)
		text = change_one(arena, random, text);
	return *text ? text : seed;
}
